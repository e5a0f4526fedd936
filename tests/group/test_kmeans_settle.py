"""k-means of small tables: descents by single rows against their twin, what they end at, and ten starts of Lloyd."""

from __future__ import annotations

import numpy as np
import pytest
import threadpoolctl

import unweave
from tests.reference import lloyd_settle as slow
from unweave.kernels.kmeans_moves import settle

KINDS = ("plain", "weights", "some weights zero", "far from zero")


def table(kind, dtype, seed=0, n=120, d=3):
    """Rows without clusters, the weights of the rows, and those as `fit` takes them."""
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(n, d)), rng.random(n) + 0.1
    if kind == "some weights zero":
        weights[::5] = 0.0
    if kind == "far from zero":
        X += 1000.0
    weighted = "weights" in kind
    return X.astype(dtype), weights if weighted else np.ones(n), weights if weighted else None


def descend(X, weights, centres, fresh=None, labels=None, counts=None, squares=None):
    """The kernel from nothing, or from a settled state in which some centres are fresh."""
    n, k = len(X), len(centres)
    centres = np.array(centres, np.float64)
    fresh = np.ones(k, bool) if fresh is None else fresh
    labels = np.full(n, -1, np.int32) if labels is None else labels.copy()
    counts = np.zeros(k) if counts is None else counts.copy()
    squares = np.zeros(n) if squares is None else squares.copy()
    value = settle(X, weights, 1, centres, fresh, counts, labels, squares, np.inf, np.inf)
    return labels, centres, value, counts, squares


@pytest.mark.parametrize("kind", KINDS[:3])
@pytest.mark.parametrize("k", [2, 5])
def test_the_kernel_equals_its_twin(kind, dtype, k):
    X, weights, _ = table(kind, dtype, seed=k)
    labels, centres, value, counts, squares = descend(X, weights, X[:k])
    expected = slow.settle(X, weights, X[:k])
    assert np.array_equal(labels[weights > 0], expected[0][weights > 0])
    np.testing.assert_allclose(centres, expected[1], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(value, expected[2], rtol=1e-9)
    # From a settled state with one centre moved, only what that changes is looked at, and the end is the same.
    fresh = np.arange(k) == 1
    moved = np.where(fresh[:, None], X[7].astype(np.float64), centres)
    local = descend(X, weights, moved, fresh, labels, counts, squares)
    expected = slow.settle(X, weights, moved)
    assert np.array_equal(local[0][weights > 0], expected[0][weights > 0])
    np.testing.assert_allclose(local[2], expected[2], rtol=1e-9)


def test_a_descent_that_will_not_do_is_given_up():
    X, weights, _ = table("plain", np.float64)
    _, _, value, _, _ = descend(X, weights, X[:5])
    state = np.full(len(X), -1, np.int32), np.zeros(5), np.zeros(len(X))
    given = settle(X, weights, 1, X[:5].copy(), np.ones(5, bool), state[1], state[0], state[2], 0.5 * value, 0.5)
    assert given == np.inf


@pytest.mark.parametrize("kind", KINDS)
def test_no_row_alone_can_lower_the_objective(kind, dtype):
    X, weights, given = table(kind, dtype, n=300)
    model = unweave.KMeans(6, random_state=1).fit(X, sample_weight=given)
    assert "single rows" in model.plan_.solver and model.history_.stopped == "nothing changes any more"
    assert (np.diff(model.history_.objective) <= 0).all()
    assert np.array_equal(model.labels_, model.predict(X))
    centres, counts = model.cluster_centers_.astype(np.float64), np.bincount(model.labels_, weights, 6)
    falls = [
        slow.gain(x, w, a, centres, counts)[1] for x, w, a in zip(X.astype(np.float64), weights, model.labels_) if w > 0
    ]
    assert max(falls) < (1e-3 if dtype == np.float32 else 1e-8) * model.objective_
    squares = ((X.astype(np.float64) - centres[model.labels_]) ** 2).sum(axis=1)
    np.testing.assert_allclose(model.inertia_, weights @ squares, rtol=1e-4 if dtype == np.float32 else 1e-9)


def shapes():
    """Tables in which k-means has many places to stop: few are the best."""
    from sklearn.datasets import load_digits, load_iris, load_wine, make_moons

    rng = np.random.default_rng(0)
    turn = rng.uniform(0, 2 * np.pi, 600)
    wine = load_wine().data
    return {
        "cloud": rng.normal(size=(800, 2)),
        "cube": rng.random((400, 5)),
        "moons": make_moons(500, noise=0.05, random_state=0)[0],
        "rings": (np.repeat([1.0, 2.5, 4.0], 200) + 0.1 * rng.normal(size=600))[:, None]
        * np.column_stack([np.cos(turn), np.sin(turn)]),
        "line": np.sort(rng.exponential(size=(300, 1)), axis=0),
        "iris": load_iris().data,
        "wine": (wine - wine.mean(axis=0)) / wine.std(axis=0),
        "digits": load_digits().data[::3],
    }


@pytest.mark.parametrize("name", list(shapes()))
@pytest.mark.parametrize("k", [3, 8])
def test_one_call_is_no_worse_than_ten_starts_of_lloyd(name, k):
    from sklearn.cluster import KMeans

    X = shapes()[name]
    ours = np.median([unweave.KMeans(k, random_state=seed).fit(X).inertia_ for seed in range(5)])
    with threadpoolctl.threadpool_limits(1):  # small loops on many threads wait for each other
        peer = np.median([KMeans(k, n_init=10, random_state=seed).fit(X).inertia_ for seed in range(5)])
    assert ours <= (1 + 1e-4) * peer


def test_the_same_seed_gives_the_same_bits_and_a_killed_fit_goes_on(tmp_path):
    X, _, weights = table("weights", np.float32, n=500)
    whole = unweave.KMeans(20, random_state=3).fit(X, sample_weight=weights)
    assert whole.n_iter_ > 3

    class Killed(Exception):
        pass

    def die(progress):
        if progress.iteration == whole.n_iter_ - 2:
            raise Killed

    path = tmp_path / "fit.unweave"
    with pytest.raises(Killed):
        unweave.KMeans(20, random_state=3, callback=die, checkpoint=path).fit(X, sample_weight=weights)
    again = unweave.KMeans(20, random_state=3, checkpoint=path).fit(X, sample_weight=weights)
    assert again.cluster_centers_.tobytes() == whole.cluster_centers_.tobytes() and again.n_iter_ == whole.n_iter_


@pytest.mark.parametrize("k", [2, 4, 6])
def test_as_many_clusters_as_rows_and_rows_that_coincide(k):
    X = np.repeat(np.arange(6.0)[:, None], 2, axis=1)
    assert unweave.KMeans(6).fit(X).inertia_ == 0
    many = np.repeat(X[:k], 5, axis=0)
    model = unweave.KMeans(k).fit(many)
    assert model.inertia_ == 0 and len(np.unique(model.labels_)) == k
