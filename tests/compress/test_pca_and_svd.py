"""PCA and the truncated SVD against worked numbers, NumPy and scikit-learn, however the table is stored."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA as SklearnPCA

import unweave
from tests.test_equivalences import low_rank, same_span, tail

POINTS = [
    (2.5, 2.4), (0.5, 0.7), (2.2, 2.9), (1.9, 2.2), (3.1, 3.0), (2.3, 2.7), (2, 1.6), (1, 1.1), (1.5, 1.6), (1.1, 0.9)
]  # fmt: skip


def test_pca_of_ten_points_has_the_known_eigenvalues():
    model = unweave.PCA().fit(np.array(POINTS))
    np.testing.assert_allclose(model.explained_variance_, [1.28402771, 0.0490833989], atol=1e-8)
    np.testing.assert_allclose(np.abs(model.components_[0]), [0.6778734, 0.73517866], atol=1e-7)


@pytest.mark.parametrize("solver", ["auto", "svd", "power"])
def test_svd_of_the_textbook_matrix(solver):
    model = unweave.TruncatedSVD(2, solver=solver).fit([[3.0, 2, 2], [2, 3, -2]])
    np.testing.assert_allclose(model.singular_values_, [5, 3], atol=1e-8)


@pytest.mark.parametrize("k", [1, 3, 14])
def test_pca_is_the_svd_of_the_centred_table(k):
    X = low_rank()
    centred = X - X.mean(axis=0)
    _, s, Vt = np.linalg.svd(centred, full_matrices=False)
    model = unweave.PCA(k).fit(X)
    np.testing.assert_allclose(model.singular_values_, s[:k], rtol=1e-8)
    assert same_span(model.components_, Vt[:k])
    assert model.objective_ == pytest.approx(tail(centred, k), rel=1e-8, abs=1e-9)
    assert unweave.TruncatedSVD(k).fit(centred).objective_ == pytest.approx(model.objective_, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("storage", ["dense", "sparse", "blocks", "float32"])
def test_pca_agrees_with_scikit_learn(whiten, storage):
    X = low_rank(80, 12)
    data = {
        "dense": X, "sparse": sp.csr_array(X), "blocks": [X[:30], X[30:31], X[31:]], "float32": X.astype(np.float32)
    }[storage]  # fmt: skip
    tolerance = 1e-3 if storage == "float32" else 1e-6
    ours, theirs = unweave.PCA(4, whiten=whiten).fit(data), SklearnPCA(4, whiten=whiten, svd_solver="full").fit(X)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "noise_variance_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=tolerance, atol=tolerance)
    sign = np.sign((ours.components_ * theirs.components_).sum(axis=1))
    np.testing.assert_allclose(ours.components_ * sign[:, None], theirs.components_, atol=tolerance)
    codes = ours.transform(data)
    np.testing.assert_allclose(codes * sign, theirs.transform(X), atol=10 * tolerance)
    back = theirs.inverse_transform(theirs.transform(X))
    np.testing.assert_allclose(ours.inverse_transform(codes), back, atol=10 * tolerance)
    # Whitening scales codes, not the model: its covariance is that of the plain fit.
    covariance = SklearnPCA(4, svd_solver="full").fit(X).get_covariance()
    np.testing.assert_allclose(ours.get_covariance(), covariance, rtol=tolerance, atol=10 * tolerance)


def test_a_share_of_the_variance_keeps_as_many_components_as_scikit_learn():
    X = low_rank()
    for share in (0.3, 0.8, 0.99):
        assert unweave.PCA(share).fit(X).n_components_ == SklearnPCA(share, svd_solver="full").fit(X).n_components_


@pytest.mark.parametrize("storage", ["dense", "sparse", "blocks"])
def test_truncated_svd_agrees_with_numpy(storage):
    X = low_rank(50, 11)
    X[np.abs(X) < 0.5] = 0
    data = {"dense": X, "sparse": sp.csr_array(X), "blocks": [X[:20], X[20:]]}[storage]
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    model = unweave.TruncatedSVD(5).fit(data)
    np.testing.assert_allclose(model.singular_values_, s[:5], rtol=1e-7)
    assert same_span(model.components_, Vt[:5])
    np.testing.assert_allclose(model.inverse_transform(model.transform(data)), (U[:, :5] * s[:5]) @ Vt[:5], atol=1e-6)
    assert model.objective_ == pytest.approx(tail(X, 5), rel=1e-7)


def test_pca_of_stored_entries_is_pca_with_holes(rng):
    X = rng.random((80, 2)) @ rng.random((2, 9)) + 1 + 0.1 * rng.standard_normal((80, 9))
    known = rng.random(X.shape) < 0.8
    holes = unweave.PCA(2, missing="nan", tol=1e-9, max_iter=2000).fit(np.where(known, X, np.nan))
    stored = unweave.PCA(2, missing="zeros", tol=1e-9, max_iter=2000).fit(sp.csr_array(np.where(known, X, 0)))
    assert np.isclose(stored.objective_, holes.objective_, rtol=1e-4)
