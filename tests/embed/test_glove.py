"""GloVe: both ways of fitting it, and what it refuses."""

import numpy as np
import pytest

from unweave import Cooccurrence, GloVe
from unweave.embed.pairs import AlternatePairs, Pairs, balanced

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(120, 0.1), size=6)
    return Cooccurrence(window=5).fit([rng.choice(120, size=80, p=topics[i % 6]).tolist() for i in range(300)])


def loss(model, N):
    rows, columns = np.repeat(np.arange(N.shape[0]), np.diff(N.indptr)), N.indices
    predicted = (model.word_vectors_[rows].astype(float) * model.context_vectors_[columns]).sum(axis=1)
    predicted += model.biases_[rows] + model.context_biases_[columns]
    weights = np.minimum(1, (N.data / model.x_max) ** model.alpha)
    return 0.5 * float((weights * (predicted - np.log(N.data)) ** 2).sum())


@pytest.mark.parametrize("solver", ["als", "adagrad"])
def test_the_objective_is_that_of_the_published_vectors(pairs, solver):
    model = GloVe(8, solver=solver, max_iter=4, random_state=0).fit(pairs)
    assert model.objective_ == pytest.approx(loss(model, pairs.counts_), rel=1e-4)
    np.testing.assert_array_equal(model.vectors_.array, model.word_vectors_ + model.context_vectors_)


def test_als_never_rises_and_gets_below_adagrad_in_fewer_passes(pairs):
    als = GloVe(8, max_iter=10, tol=0, random_state=0).fit(pairs)
    adagrad = GloVe(8, solver="adagrad", max_iter=30, random_state=0).fit(pairs)
    assert (np.diff(als.history_.objective) <= 0).all()
    assert als.objective_ < adagrad.objective_ < 0.5 * adagrad.history_.objective[0]


def test_a_table_of_one_side_is_fitted_from_both(pairs):
    rng = np.random.default_rng(2)
    left = Cooccurrence(window=3, side="left").fit([rng.integers(0, 40, size=50).tolist() for _ in range(60)])
    model = GloVe(30, alpha=0, max_iter=100, random_state=0).fit(left)
    assert model.objective_ == pytest.approx(loss(model, left.counts_), rel=1e-3)
    assert model.objective_ < 0.05 * 0.5 * float((np.log(left.counts_.data) ** 2).sum())


def test_a_round_of_exact_rows_is_where_many_steps_lead(pairs, monkeypatch):
    N = pairs.counts_
    weights = np.minimum(1, (N.data / 10) ** 0.75)
    problem = Pairs(N, np.log(N.data), weights, 0.3, symmetric=True)
    scheme = AlternatePairs(problem, 5, True)
    monkeypatch.setattr("unweave.embed.pairs._STEPS", 60)
    state = scheme.begin(0)
    X, Y = scheme.step(state)[0]["codes"].astype(float), state["contexts"].astype(float)
    W, T = np.zeros(N.shape), np.zeros(N.shape)
    W[N.nonzero()], T[N.nonzero()] = weights, np.log(N.data)
    for i in (0, 17, N.shape[0] - 1):
        free = Y[:, 1:]  # what is beside the ones: vectors and the bias, which bears no ridge
        A = (free * W[i][:, None]).T @ free + 0.3 * np.diag([1.0] * 5 + [0.0])
        wanted = np.linalg.solve(A, free.T @ (W[i] * (T[i] - Y[:, 0])))
        found = X[i, 1:]
        np.testing.assert_allclose(free @ found, free @ wanted, atol=5e-3 * np.abs(free @ wanted).max())


def test_balanced_factors_have_the_same_products():
    rng = np.random.default_rng(0)
    X, Y = (rng.normal(size=(n, 7)).astype(np.float32) for n in (30, 20))
    new = balanced(X, 100 * Y)
    A, B = new["codes"][:, 1:-1], new["contexts"][:, 1:-1]
    wanted = X[:, 1:-1] @ (100 * Y[:, 1:-1]).T
    np.testing.assert_allclose(A @ B.T, wanted, atol=1e-5 * np.abs(wanted).max())
    np.testing.assert_allclose(A.T @ A, B.T @ B, atol=1e-5 * np.abs(A.T @ A).max())
    np.testing.assert_array_equal(new["codes"][:, [0, -1]], X[:, [0, -1]])


def test_more_components_than_symbols():
    model = GloVe(9, min_count=1, max_iter=3, random_state=0).fit([["a", "b", "c"]])
    assert model.vectors_.array.shape == (3, 9) and np.isfinite(model.vectors_.array).all()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"solver": "newton"}, "solver"),
        ({"target": "sqrt"}, "target"),
        ({"x_max": 0}, "x_max"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"solver": "svd"}, "biases=False"),
        ({"solver": "svd", "biases": False}, "alpha=0"),
        ({"solver": "svd", "biases": False, "alpha": 0, "ridge": 1}, "ridge=0"),
        ({"solver": "svd", "biases": False, "alpha": 0}, "log1p"),
        ({"target": "log1p", "alpha": 0}, "biases=False"),
        ({"solver": "adagrad", "ridge": 1}, "ridge"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_what_cannot_be_done_is_told_with_the_remedy(pairs, more, words):
    with pytest.raises(ValueError, match=words):
        GloVe(**{"max_iter": 2, **more}).fit(pairs)


def test_steps_that_are_too_long_are_told(pairs):
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="learning_rate=1e\\+20"):
        GloVe(4, solver="adagrad", learning_rate=1e20, max_iter=3).fit(pairs)
