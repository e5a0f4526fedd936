from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tests.explain.topics.corpora import planted
from unweave.data.named import NamedTable
from unweave.explain.topics.lda import LDA
from unweave.explain.topics.plsa import PLSA
from unweave.explain.topics.simplex import SimplexTopics

MODELS = [
    LDA(4, max_iter=30, tol=0),
    PLSA(4, max_iter=60, tol=0),
    SimplexTopics(4),
]
NAMES = [f"w{j}" for j in range(40)]


@pytest.fixture(params=MODELS, ids=lambda m: f"{type(m).__name__} {getattr(m, 'loss', '')}")
def model(request):
    from sklearn.base import clone

    return clone(request.param)


@pytest.mark.filterwarnings("ignore:stopped after max_iter")
def test_one_interface(model):
    X, _ = planted()
    X[5] = 0
    model.fit(sp.csr_array(X))
    assert model.topics_.shape == (4, 40) and np.abs(model.topics_.sum(axis=1) - 1).max() < 1e-6
    assert model.topics_.min() >= 0
    top = model.top_words(3)
    assert len(top) == 4 and top[2][0] == str(int(model.topics_[2].argmax()))
    theta = model.document_topics(X)
    assert theta.shape == (200, 4) and np.abs(theta.sum(axis=1) - 1).max() < 1e-6 and theta.min() >= 0
    alone = model.document_topics(np.zeros((1, 40)))[0]
    np.testing.assert_allclose(theta[5], alone, rtol=1e-6)
    rows = model.describe(5)
    assert [row.share for row in rows] == sorted((row.share for row in rows), reverse=True)
    assert sum(row.share for row in rows) == pytest.approx(1, abs=1e-4)
    assert len(str(rows).splitlines()) == 5 and "<table>" in rows._repr_html_()
    assert list(rows.to_frame().columns) == ["topic", "share", "words"]
    assert model.coherence(X, "npmi", 5).shape == (4,)
    # Logistic topics sit on few words, and those they leave out are surprises.
    assert 1 < model.perplexity(X) <= 41


@pytest.mark.parametrize(
    "fitted", [LDA(4, max_iter=5, tol=0), PLSA(4, max_iter=5, tol=0), SimplexTopics(4, max_iter=5, tol=0)]
)
def test_words_have_names(fitted):
    X, _ = planted(n=60)
    for table in (
        pd.DataFrame(X, columns=NAMES),
        NamedTable(X, columns=NAMES),
        NamedTable(sp.csr_array(X), columns=NAMES),
    ):
        fitted.fit(table)
        assert set(fitted.top_words(2)[0]) <= set(NAMES)
        assert fitted.transform(table).shape == (60, 4)
    fitted.fit(X)
    assert fitted.top_words(1, vocabulary=NAMES)[0][0] in NAMES
    with pytest.raises(ValueError, match="vocabulary has 2 words"):
        fitted.top_words(1, vocabulary=["a", "b"])
    with pytest.raises(ValueError, match="n must be at least 1"):
        fitted.describe(0)


@pytest.mark.parametrize("fitted", [PLSA(2), SimplexTopics(2)])
def test_bad_input(fitted):
    with pytest.raises(ValueError, match="Negative values"):
        fitted.fit([[1.0, -1.0], [0, 1]])
    with pytest.raises(ValueError, match="holds no words"):
        fitted.fit(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="n_components must be at least 1"):
        fitted.set_params(n_components=0).fit(np.eye(2))


def test_simplex_topics_are_the_sentence_on_frequencies():
    import unweave

    X, _ = planted(n=80)
    model = SimplexTopics(4, init="k-means++").fit(X)
    same = unweave.Factorization(4, codes="simplex", components="simplex", tol=1e-5).fit(
        X / X.sum(axis=1, keepdims=True)
    )
    np.testing.assert_allclose(model.topics_, same.components_, atol=1e-6)
    with pytest.raises(ValueError, match="loss='kl' is not known"):
        SimplexTopics(2, loss="kl").fit(np.eye(3))
    with pytest.raises(ValueError, match="every topic would be one word"):
        SimplexTopics(2, loss="logistic").fit(np.eye(3))
