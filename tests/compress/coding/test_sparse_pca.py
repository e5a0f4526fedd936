"""Sparse components."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave


@pytest.fixture
def X(rng):
    axes = np.zeros((3, 30))
    for t in range(3):
        axes[t, 8 * t : 8 * t + 6] = 1
    return rng.normal(size=(120, 3)) * [3, 2, 1] @ axes + 0.3 * rng.normal(size=(120, 30)) + 5


def test_planted_columns_are_found(X):
    model = unweave.SparsePCA(3).fit(X)
    assert [np.flatnonzero(z).tolist() for z in model.components_] == [list(range(8 * t, 8 * t + 6)) for t in range(3)]
    np.testing.assert_allclose(model.codes_.T @ model.codes_, np.eye(3), atol=1e-10)
    value = 0.5 * np.square(X - X.mean(axis=0) - model.codes_ @ model.components_).sum()
    np.testing.assert_allclose(model.objective_, value + model.strength_ * np.abs(model.components_).sum())
    assert (np.diff(model.history_.objective) <= 1e-9 * model.objective_).all()
    assert model.certificate_.gap < 1e-2


def test_no_strength_is_pca(X):
    model, known = unweave.SparsePCA(2, strength=0).fit(X), unweave.PCA(2).fit(X)
    cosines = np.linalg.svd(np.linalg.qr(model.components_.T)[0].T @ known.components_.T)[1]
    np.testing.assert_allclose(cosines, 1)
    np.testing.assert_allclose(model.objective_, known.objective_)


def test_sparse_tables_are_centred_without_filling(X, rng):
    Y = np.where(rng.random(X.shape) < 0.7, 0, X)
    dense, sparse = unweave.SparsePCA(3).fit(Y), unweave.SparsePCA(3).fit(sp.csr_array(Y))
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-8)
    np.testing.assert_allclose(sparse.objective_, dense.objective_)
    np.testing.assert_allclose(sparse.transform(sp.csr_array(Y)), dense.transform(Y), atol=1e-8)


def test_units_do_not_matter(X):
    one, other = unweave.SparsePCA(3).fit(X), unweave.SparsePCA(3).fit(1024 * X)
    np.testing.assert_allclose(other.components_, 1024 * one.components_, rtol=1e-6, atol=1e-6)


def test_near_scikit_learn_by_its_own_objective(X):
    # which allows codes that are not orthogonal, and so has answers that are a little better
    from sklearn.decomposition import SparsePCA

    centred, alpha = X - X.mean(axis=0), 2.0
    peer = SparsePCA(3, alpha=alpha, random_state=0, max_iter=2000, tol=1e-10).fit(centred)
    ours = unweave.SparsePCA(3, strength=alpha).fit(X)
    assert ours.objective_ <= peer.error_[-1] * (1 + 2e-3)


def test_strengths_that_leave_nothing(X):
    with pytest.warns(UserWarning, match="every component is zero: strength=1e\\+06"):
        model = unweave.SparsePCA(2, strength=1e6).fit(X)
    assert not model.components_.any() and np.isfinite(model.transform(X)).all()
    np.testing.assert_allclose(model.inverse_transform(model.transform(X))[0], X.mean(axis=0))


def test_refusals_name_the_argument(X):
    with pytest.raises(ValueError, match="n_components=31 must be at most"):
        unweave.SparsePCA(31).fit(X)
    with pytest.raises(ValueError, match="strength='big'"):
        unweave.SparsePCA(2, strength="big").fit(X)
    assert not hasattr(unweave.SparsePCA(2), "partial_fit")


@pytest.mark.parametrize("overlap", [0, 2])
@pytest.mark.parametrize("seed", range(4))
def test_the_law_beside_scikit_learn_on_planted_tables(seed, overlap):
    # The same sum, ½‖X − mean − U·Z‖² + λ‖Z‖₁; theirs lets codes of length one lean on each other, ours keeps them
    # orthogonal, which costs 0.2 to 2.7 % of it on 24 such tables. What is read off, the columns, is the same.
    from sklearn.decomposition import SparsePCA

    rng = np.random.default_rng(seed)
    axes = np.zeros((4, 32))
    for t in range(4):
        axes[t, 7 * t : 7 * t + 7 + overlap] = rng.choice([-1, 1], 7 + overlap) * rng.uniform(0.6, 1.4, 7 + overlap)
    X = rng.normal(size=(150, 4)) * [4, 3.3, 2.7, 2.2] @ axes + 0.5 * rng.normal(size=(150, 32)) + rng.normal(size=32)
    ours = unweave.SparsePCA(4).fit(X)
    alpha, centred = ours.strength_, X - X.mean(axis=0)
    theirs = SparsePCA(4, alpha=alpha, random_state=0, max_iter=2000, tol=1e-9).fit(centred)
    assert ours.objective_ <= 1.03 * theirs.error_[-1]

    for Z in (ours.components_, theirs.components_):
        nearest = np.abs(Z @ axes.T / np.linalg.norm(axes, axis=1)).argmax(axis=0)
        np.testing.assert_array_equal(Z[nearest] != 0, axes != 0)
