"""PMIEmbedding and LogBilinear beyond the theory: gradients, sizes, and what they refuse."""

import numpy as np
import pytest
from scipy.optimize import check_grad

from unweave import Cooccurrence, LogBilinear, PMIEmbedding
from unweave.embed.log_bilinear import _Contrast, _Softmax


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(3)
    return Cooccurrence(window=2, side="right").fit([rng.integers(0, 9, size=20).tolist() for _ in range(9)])


@pytest.mark.parametrize("kind", [_Softmax, _Contrast])
@pytest.mark.parametrize("biases", [True, False])
def test_gradients_by_differences(pairs, kind, biases):
    problem = kind(pairs.counts_, 2, biases, 0.1, 4.0)
    x = problem.first(np.random.default_rng(0))
    free = slice(None) if biases else slice(0, 2 * 9 * 2)

    def value(z):
        y = x.copy()
        y[free] = z
        return problem.value_and_gradient(y)[0]

    def gradient(z):
        y = x.copy()
        y[free] = z
        return problem.value_and_gradient(y)[1][free]

    assert check_grad(value, gradient, x[free]) < 1e-6


def test_without_biases_there_are_none(pairs):
    assert not LogBilinear(2, biases=False, max_iter=5).fit(pairs).context_biases_.any()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_searched_or_decomposed_the_components_are_the_same():
    rng = np.random.default_rng(4)
    topics = rng.dirichlet(np.full(1500, 0.01), size=8)
    pairs = Cooccurrence(window=5, min_count=1).fit(
        [rng.choice(1500, 100, p=topics[i % 8]).tolist() for i in range(400)]
    )
    model = PMIEmbedding(8, random_state=0, tol=1e-10).fit(pairs)
    from unweave.embed.pmi import pmi_table

    s = np.linalg.svd(pmi_table(pairs.counts_).toarray(), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, s[:8], rtol=1e-3)
    assert model.objective_ == pytest.approx(0.5 * float((s[8:] ** 2).sum()), rel=1e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PMIEmbedding(10), "more than the 9 symbols"),
        (lambda: PMIEmbedding(2, shift=0), "shift"),
        (lambda: PMIEmbedding(2, shift=1e9), "positive=False"),
        (lambda: PMIEmbedding(2, smoothing=-1), "smoothing"),
        (lambda: PMIEmbedding(2, exponent=-1), "exponent"),
        (lambda: LogBilinear(2, loss="hinge"), "softmax"),
        (lambda: LogBilinear(2, negatives=0), "negatives"),
        (lambda: LogBilinear(2, ridge=-1), "ridge"),
    ],
)
def test_what_cannot_be_done_is_told_with_the_remedy(pairs, make, words):
    with pytest.raises(ValueError, match=words):
        make().fit(pairs)


def test_vocabularies_of_many_symbols_are_for_others(pairs, monkeypatch):
    monkeypatch.setattr("unweave.embed.log_bilinear._MOST", 5)
    with pytest.raises(ValueError, match="max_vocabulary"):
        LogBilinear(2).fit(pairs)
