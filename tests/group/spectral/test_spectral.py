"""Clusters of a graph."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.group.spectral import SpectralClustering
from unweave.group.spectral.graph import MOST_ROWS, normalised_cut, smoothest

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def moons(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.05, random_state=0)


def blobs(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    label = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 8 * np.eye(3)[label][:, :2], label


def same(a, b, k) -> bool:
    return len(set(zip(a, b))) == k


def test_finds_shapes_that_are_not_round():
    X, label = moons()
    assert same(SpectralClustering(2).fit_predict(X), label, 2)


@pytest.mark.parametrize("affinity", ["nearest", "rbf"])
def test_new_rows_get_the_cluster_of_their_neighbours(affinity):
    X, label = blobs()
    model = SpectralClustering(3, affinity=affinity).fit(X)
    assert same(model.labels_, label, 3)
    assert np.mean(model.predict(X) == model.labels_) > 0.98
    assert np.array_equal(model.predict(X[:7] + 1e-9), model.labels_[:7])
    assert model.anomaly_score(X).shape == (150,) and np.isfinite(model.anomaly_score(X)).all()


def test_nystrom_gives_training_rows_their_own_place():
    X, _ = blobs()
    model = SpectralClustering(3, affinity="rbf").fit(X)
    np.testing.assert_allclose(model._place(X), model.embedding_, atol=1e-6)


def test_precomputed_affinities_dense_and_sparse():
    X, label = blobs()
    W = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    dense, sparse = (SpectralClustering(3, affinity="precomputed").fit(w) for w in (W, sp.csr_array(W)))
    assert same(dense.labels_, label, 3) and same(sparse.labels_, label, 3)
    assert np.array_equal(dense.predict(W[:5]), dense.labels_[:5])


def test_eigenvectors_are_those_of_the_random_walk():
    rng = np.random.default_rng(0)
    W = rng.random((700, 700))
    W = W + W.T
    values, F, parts = smoothest(W, 3, 0)
    degree = W.sum(axis=1)
    assert parts == 1 and values[0] == 1
    np.testing.assert_allclose(W @ F / degree[:, None], F * values, atol=1e-6)
    np.testing.assert_allclose(F.T @ (degree[:, None] * F), np.eye(3), atol=1e-6)


def test_parts_that_do_not_hang_together_are_told_apart():
    block = np.ones((5, 5))
    W = sp.csr_array(sp.block_diag([block, block, block]))
    values, F, parts = smoothest(W, 3, 0)
    assert parts == 3 and values.tolist() == [1, 1, 1] and np.linalg.matrix_rank(F) == 3
    labels = SpectralClustering(3, affinity="precomputed").fit(W).labels_
    assert same(labels, np.repeat([0, 1, 2], 5), 3)
    with pytest.warns(UserWarning, match="falls into 3 parts"):
        SpectralClustering(2, affinity="precomputed").fit(W)


def test_objective_is_the_normalised_cut_and_the_bound_holds():
    X, _ = moons()
    model = SpectralClustering(2).fit(X)
    assert model.certificate_.lower_bound <= model.objective_ <= 2
    W = np.array([[0, 2, 1.0], [2, 0, 0], [1, 0, 0]])
    assert normalised_cut(W, np.array([0, 0, 1]), 2) == pytest.approx(1 / 5 + 1 / 1)


def test_seeds_and_threads_repeat(two_threads):
    X, _ = moons()
    one, two = two_threads(lambda: SpectralClustering(2).fit(X))
    assert np.array_equal(one.labels_, two.labels_) and np.array_equal(one.embedding_, two.embedding_)


@pytest.mark.parametrize("affinity", ["nearest", "rbf"])
def test_equal_rows_and_one_row_end_without_nan(affinity):
    for X, k in ((np.ones((12, 2)), 2), (np.ones((1, 2)), 1), (np.repeat(np.eye(2), 20, axis=0), 2)):
        with np.errstate(divide="raise", invalid="raise"):
            model = SpectralClustering(k, affinity=affinity, n_neighbors=3).fit(X)
        assert np.isfinite(model.embedding_).all() and len(model.labels_) == len(X)
        assert np.isfinite(model.anomaly_score(X)).all()


@pytest.mark.parametrize(
    "options, X, says",
    [
        ({"n_clusters": 5}, np.eye(3), "n_samples=3"),
        ({"affinity": "kind"}, np.eye(3), "affinity='kind'"),
        ({"n_clusters": 2, "n_neighbors": 0}, np.eye(3), "n_neighbors"),
        ({"n_clusters": 2, "affinity": "rbf", "gamma": -1.0}, np.eye(3), "gamma"),
        ({"n_clusters": 1, "affinity": "precomputed"}, np.ones((2, 3)), "square"),
        ({"n_clusters": 1, "affinity": "precomputed"}, -np.eye(2), "not negative"),
        ({"n_clusters": 1, "affinity": "precomputed"}, np.array([[0, 1.0], [0, 0]]), "symmetric"),
        ({"n_clusters": 1}, [[np.nan]], "TableImputer"),
        ({"n_clusters": 1, "affinity": "rbf"}, np.zeros((MOST_ROWS + 1, 1)), "affinity='nearest'"),
    ],
)
def test_bad_input_is_refused_in_words(options, X, says):
    with pytest.raises(ValueError, match=says):
        SpectralClustering(**options).fit(X)
