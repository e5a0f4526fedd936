"""Equivalences between models, and worked numbers that anyone can check by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import rel_entr
from sklearn.linear_model import Lasso

import unweave
from unweave.penalties import L1, Fixed, Nuclear, Ridge


def low_rank(n=60, m=14, k=4, noise=0.3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, m)) + noise * rng.standard_normal((n, m)) + 1.0


def tail(X, k: int) -> float:
    """Half the sum of the squared singular values beyond the first k."""
    return 0.5 * float(np.square(np.linalg.svd(X, compute_uv=False)[k:]).sum())


def same_span(A, B) -> bool:
    one, two = (np.linalg.qr(part.T)[0] for part in (A, B))
    return bool(np.allclose(one @ one.T, two @ two.T, atol=1e-6))


@pytest.mark.parametrize("model", [unweave.PCA(1), unweave.TruncatedSVD(1), unweave.NMF(1), unweave.Factorization(1)])
def test_six_points_on_a_line_need_one_component(model):
    X = np.outer(np.arange(1.0, 7), [1.0, 2, 3])
    model.fit(X)
    assert model.objective_ <= 1e-10 * np.square(X).sum()
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-5)


@pytest.mark.parametrize("sides", [("free", "free"), ("free", "orthonormal"), ("orthonormal", "free")])
def test_free_and_orthonormal_sides_are_the_svd(sides):
    X = low_rank()
    model = unweave.Factorization(3, codes=sides[0], components=sides[1]).fit(X)
    assert model.objective_ == pytest.approx(tail(X, 3), rel=1e-8)
    assert model.certificate_.kind == "eckart-young" and model.certificate_.gap < 1e-6


def test_kmeans_is_the_one_hot_factorisation_from_the_same_start():
    X = low_rank(200, 5, seed=3)
    centres = X[[3, 50, 99, 150]]
    ours = unweave.KMeans(4, init=centres, tol=1e-12).fit(X)
    sentence = unweave.Factorization(4, codes="one-hot", init=centres, tol=1e-12).fit(X)
    assert sentence.objective_ == pytest.approx(ours.objective_, rel=1e-9)
    assert np.array_equal(sentence.codes_.toarray(), ours.codes_.toarray())
    assert ours.inertia_ == pytest.approx(2 * ours.objective_)
    direct = np.square(X - ours.cluster_centers_[ours.labels_]).sum()
    assert ours.inertia_ == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_the_kl_objective_is_the_relative_entropy(storage):
    X = np.random.default_rng(0).poisson(2.0, (40, 15)).astype(float)
    model = unweave.NMF(3, loss="kl", max_iter=60, tol=1e-4).fit(sp.csr_array(X) if storage == "sparse" else X)
    P = model.codes_ @ model.components_
    assert model.objective_ == pytest.approx(rel_entr(X, P).sum() - X.sum() + P.sum(), rel=1e-8)
    # Scale moved from the components (now distributions) to the codes: nothing changes, and totals match.
    sums = model.components_.sum(axis=1)
    P = (model.codes_ * sums) @ (model.components_ / sums[:, None])
    assert P.sum(axis=1) == pytest.approx(X.sum(axis=1), rel=1e-4)
    assert model.objective_ == pytest.approx(rel_entr(X, P).sum(), rel=1e-3)


def test_als_with_a_tiny_ridge_reaches_the_svd():
    X = low_rank()
    rng = np.random.default_rng(1)
    start = rng.standard_normal((3, X.shape[1]))
    model = unweave.Factorization(
        3, codes=Ridge(1e-8), components=Ridge(1e-8), solver="least-squares", init=start, tol=1e-12, max_iter=2000
    ).fit(X)
    assert model.objective_ == pytest.approx(tail(X, 3), rel=1e-5)


def test_als_over_a_full_table_with_every_entry_marked_observed_reaches_the_svd():
    X = low_rank()
    model = unweave.Factorization(3, loss="weighted", tol=1e-12, max_iter=2000).fit(X, weights=np.ones_like(X))
    assert model.objective_ == pytest.approx(tail(X, 3), rel=1e-5)


@pytest.mark.parametrize("solver", ["auto", "shrinkage"])
def test_the_nuclear_norm_of_a_complete_table_is_shrinkage(solver):
    X, strength = low_rank(), 6.0
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    kept = np.maximum(s - strength, 0)
    model = unweave.Factorization(14, codes=Nuclear(strength), solver=solver).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.codes_), (U * kept) @ Vt, atol=1e-6)
    want = 0.5 * np.square(s - kept).sum() + strength * kept.sum()
    assert model.objective_ == pytest.approx(want, rel=1e-7)


def test_shrinkage_and_ridge_least_squares_agree_on_a_table_with_holes():
    X = low_rank()
    X[np.random.default_rng(2).random(X.shape) < 0.2] = np.nan
    sides = {"codes": Ridge(2.0), "components": Ridge(2.0), "missing": "nan", "tol": 1e-10, "max_iter": 3000}
    one = unweave.Factorization(14, solver="shrinkage", **sides).fit(X)
    two = unweave.Factorization(14, **sides).fit(X)
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-3)
    seen = ~np.isnan(X)
    direct = 0.5 * np.square((X - two.inverse_transform(two.codes_))[seen]).sum()
    direct += np.square(two.codes_).sum() + np.square(two.components_).sum()
    assert two.objective_ == pytest.approx(direct, rel=1e-8)


@pytest.mark.parametrize("strength", [0.05, 1.0, 5.0])
def test_lasso_codes_with_fixed_components_are_the_lasso(strength):
    X = low_rank(25, 14)
    Z = np.random.default_rng(4).standard_normal((6, 14))
    model = unweave.Factorization(6, codes=L1(strength), components=Fixed(Z)).fit(X)
    lasso = Lasso(alpha=strength / 14, fit_intercept=False, tol=1e-12, max_iter=100000)
    want = np.array([lasso.fit(Z.T, row).coef_ for row in X])
    np.testing.assert_allclose(model.codes_, want, atol=1e-6)
    assert model.certificate_.kind == "duality" and 0 <= model.certificate_.gap < 1e-6
    assert model.certificate_.lower_bound <= model.objective_
    direct = 0.5 * np.square(X - want @ Z).sum() + strength * np.abs(want).sum()
    assert model.objective_ == pytest.approx(direct, rel=1e-8)


def test_simplex_codes_with_fixed_components_close_the_duality_gap():
    X = low_rank(25, 14)
    Z = np.random.default_rng(5).standard_normal((5, 14)) + 1
    model = unweave.Factorization(5, codes="simplex", components=Fixed(Z)).fit(X)
    np.testing.assert_allclose(model.codes_.sum(axis=1), 1, atol=1e-9)
    assert model.codes_.min() >= 0
    assert model.certificate_.kind == "duality" and 0 <= model.certificate_.gap < 1e-5


def bounds():
    X = np.abs(low_rank())
    centred = X - X.mean(axis=0)
    return X, {
        "pca": (unweave.PCA(3), tail(centred, 3)), "svd": (unweave.TruncatedSVD(3), tail(X, 3)),
        "nmf": (unweave.NMF(3), tail(X, 3)), "kmeans": (unweave.KMeans(3), max(tail(X, 3), tail(centred, 2))),
        "free": (unweave.Factorization(3), tail(X, 3)),
        "one-hot": (unweave.Factorization(3, codes="one-hot"), max(tail(X, 3), tail(centred, 2))),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["pca", "svd", "nmf", "kmeans", "free", "one-hot"])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_the_eckart_young_bound_is_half_the_tail_and_never_above_the_objective(name, storage):
    X, cases = bounds()
    model, want = cases[name]
    data = sp.csr_array(X) if storage == "sparse" else X
    model.fit(data)
    for found in (model.certificate_, model.certify(data)):
        assert found.kind == "eckart-young" and found.exact
        assert found.lower_bound == pytest.approx(want, rel=1e-6)
        assert found.lower_bound <= model.objective_ * (1 + 1e-9)
        assert found.gap == pytest.approx((model.objective_ - want) / want, abs=1e-6)
        assert ("can be better" in str(found)) == (found.gap < 1e-6) != ("%" in str(found))


@pytest.mark.parametrize("bias_ridge", [0.5, 0.1, 2.0])
@pytest.mark.parametrize(("weighting", "power"), [("plain", 0.0), ("root", 0.5), ("count", 1.0)])
def test_matrix_completion_predicts_by_its_codes_and_components(weighting, power, bias_ridge):
    X = low_rank()
    X[np.random.default_rng(6).random(X.shape) < 0.3] = np.nan
    model = unweave.MatrixCompletion(3, ridge=0.5, bias_ridge=bias_ridge, weighting=weighting, max_iter=500).fit(X)
    U, Z = model.codes_, model.components_
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), U @ Z, atol=1e-8)
    assert np.all(U[:, -1] == 1) and np.all(Z[-2] == 1)
    residual = (X - U @ Z)[~np.isnan(X)]
    bias = Z[-1] - model.mean_
    users, items = ((~np.isnan(X)).sum(axis=axis) ** power for axis in (1, 0))
    spread = X[~np.isnan(X)].std()
    vectors, biases = 0.5 * spread, bias_ridge
    of_users = users @ (vectors * np.square(U[:, :-2]).sum(axis=1) + biases * U[:, -2] ** 2)
    ridge = 0.5 * (of_users + items @ (vectors * np.square(Z[:-2]).sum(axis=0) + biases * bias**2))
    assert model.objective_ == pytest.approx(0.5 * np.square(residual).sum() + ridge, rel=1e-8)
