"""Topics are judged on words of new documents, never on entries that they do not model as missing."""

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.explain.topics.measures import document_completion, halves
from unweave.select import Completion, choose
from unweave.select.trial import Trial


def documents(rng, n=200, m=120, k=4, length=60):
    topics, shares = rng.dirichlet(np.full(m, 0.05), k), rng.dirichlet(np.full(k, 2 / k), n)
    return sp.csr_array(np.array([rng.multinomial(length, p / p.sum()) for p in shares @ topics]).astype(float))


def test_the_score_is_the_perplexity_of_documents_that_were_not_fitted(rng):
    X = documents(rng)
    found = Completion(n_repeats=1).values(Trial(unweave.PLSA(), "n_components", 3), X, 5)
    draw = np.random.default_rng(5)
    order = draw.permutation(200)
    model = unweave.PLSA(3).fit(X[order[40:]])
    parts = halves(X[order[:40]], int(draw.integers(2**31)))
    assert found.tolist() == [document_completion(model.topics_, *parts)]


@pytest.mark.parametrize("kind", [unweave.LDA, unweave.PLSA, unweave.SimplexTopics])
def test_the_number_of_topics_is_found(kind, rng):
    choice = choose(kind(), documents(rng), [1, 2, 3, 4, 5, 8], by=Completion(n_repeats=1))
    assert choice.best == 4 and choice.by == "completion"


def test_too_many_topics_cost(rng):
    scores = choose(unweave.PLSA(), documents(rng), [1, 4, 40]).scores
    assert scores[4] < scores[40] and scores[4] < scores[1]


def test_dense_sparse_and_frames_are_alike(rng):
    pandas = pytest.importorskip("pandas")
    X = documents(rng, 60)
    want = choose(unweave.PLSA(), X, [1, 2]).scores
    for same in (X.toarray(), pandas.DataFrame(X.toarray())):
        assert choose(unweave.PLSA(), same, [1, 2]).scores == want


def test_what_is_refused(rng):
    with pytest.raises(TypeError, match="PCA has no topics to complete documents by: choose by 'bi-cross-validation'"):
        choose(unweave.PCA(), np.ones((9, 9)), [1], by="completion")
    with pytest.raises(ValueError, match="share"):
        Completion(share=1.0)
    with pytest.raises(ValueError, match="n_repeats"):
        Completion(n_repeats=0)
    with pytest.raises(ValueError, match="whole counts"):
        choose(unweave.LDA(), documents(rng) * 0.5, [1, 2])
