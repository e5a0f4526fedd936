"""Orthogonal NMF: a relaxation of k-means."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import unweave
from unweave.explain.parts.orthogonal import HalfLineScheme, OrthogonalNMF
from unweave.losses import Squared
from unweave.objectives import Dense

sides = pytest.mark.parametrize("side", ["codes", "components"])


def rays(n=90, m=10, k=3, seed=0):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.gamma(1, size=(k, m)), n // k, axis=0) * rng.gamma(1, size=(n, 1))
    return X + 0.01 * rng.random((n, m))


@given(seed=st.integers(0, 2**31), k=st.integers(1, 5), side=st.sampled_from(["codes", "components"]))
def test_it_never_costs_more_than_k_means(seed, k, side):
    X = np.random.default_rng(seed).normal(size=(20, 8))
    model = OrthogonalNMF(k, side=side, random_state=seed).fit(X)
    groups = unweave.KMeans(k, random_state=seed).fit(X if side == "codes" else X.T)
    assert model.objective_ <= groups.objective_ * (1 + 1e-9)
    tail = 0.5 * np.square(np.linalg.svd(X, compute_uv=False)[k:]).sum()
    assert model.objective_ >= tail * (1 - 1e-9)
    values = np.asarray(model.history_.objective)
    assert (np.diff(values) <= 1e-9 * (1 + values[0])).all()


def test_the_normalised_indicator_costs_what_k_means_costs():
    X = np.random.default_rng(0).normal(size=(30, 5))
    groups = unweave.KMeans(4).fit(X)
    state = HalfLineScheme(Dense(X, Squared()), "codes", groups.labels_, 4).begin()
    cost = 0.5 * np.square(X - state["factor"] @ state["lines"]).sum()
    assert cost == pytest.approx(groups.objective_)


@sides
@pytest.mark.parametrize("as_table", [np.asarray, sp.csr_array])
def test_the_factor_is_orthonormal_and_not_negative(side, as_table, dtype):
    X = rays().astype(dtype)
    model = OrthogonalNMF(3, side=side).fit(as_table(X))
    F = model.codes_ if side == "codes" else model.components_.T
    assert F.min() >= 0 and F.dtype == dtype
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-5)
    assert (np.count_nonzero(F, axis=1) <= 1).all()
    assert model.codes_.min() >= -1e-6 and model.components_.min() >= -1e-6  # the data are not negative
    assert model.objective_ == pytest.approx(0.5 * np.square(X - model.codes_ @ model.components_).sum(), rel=1e-3)


def test_rays_are_clusters_where_k_means_cuts_them():
    X = rays()
    model = OrthogonalNMF(3, tol=1e-9).fit(X)
    assert all(len(set(model.labels_[i : i + 30])) == 1 for i in (0, 30, 60)) and len(set(model.labels_)) == 3
    assert model.objective_ < 0.05 * unweave.KMeans(3).fit(X).objective_
    np.testing.assert_allclose(model.transform(X), model.codes_, atol=1e-4)
    doubled = model.transform(2 * X[:4])
    np.testing.assert_allclose(doubled, 2 * model.transform(X[:4]), rtol=1e-9)


def test_columns_can_be_grouped():
    X = rays().T
    model = OrthogonalNMF(3, side="components").fit(X)
    assert len(model.labels_) == X.shape[1]
    assert all(len(set(model.labels_[i : i + 30])) == 1 for i in (0, 30, 60))
    np.testing.assert_allclose(model.transform(X), X @ model.components_.T, rtol=1e-6, atol=1e-9)


def test_threads_do_not_matter(two_threads):
    X = np.random.default_rng(0).normal(size=(3000, 40))
    one, two = two_threads(lambda: OrthogonalNMF(4).fit(X))
    assert np.array_equal(one.components_, two.components_) and one.objective_ == two.objective_


def test_edges_and_bad_arguments():
    repeated = OrthogonalNMF(3).fit(np.repeat(np.array([[1.0, 2], [3, -1]]), 4, axis=0))
    assert np.isfinite(repeated.components_).all() and repeated.objective_ < 1e-9
    assert OrthogonalNMF("auto").fit(rays()).n_components_ >= 2
    assert not hasattr(OrthogonalNMF(), "partial_fit")
    for arguments, words in (({"side": "both"}, "side='both'"), ({"n_components": 91}, "n_components"),
                             ({"n_components": "auto", "side": "components"}, "side='codes'")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            OrthogonalNMF(**arguments).fit(rays())
    model = OrthogonalNMF(2).fit(rays())
    assert model.certify(rays()).kind == "eckart-young"
