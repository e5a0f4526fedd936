"""Rows as mixtures of centres."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from unweave.group.soft.codes import NearSimplex
from unweave.group.soft.model import SoftClustering
from unweave.penalties import Simplex

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
every_solver = pytest.mark.parametrize("solver", ["auto", "projected", "mirror", "penalty"])


def mixtures(n: int = 200, k: int = 3, d: int = 5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(k, 0.4), n) @ (4 * rng.normal(size=(k, d))) + 0.01 * rng.normal(size=(n, d))


@every_solver
def test_mixtures_are_found(solver, dtype):
    X = mixtures().astype(dtype)
    model = SoftClustering(3, solver=solver).fit(X)
    assert model.codes_.dtype == dtype and model.cluster_centers_.shape == (3, 5)
    assert model.objective_ < 0.05 * 0.5 * ((X - X.mean(axis=0)) ** 2).sum()
    assert (np.diff(model.history_.objective) <= 1e-5 * model.history_.objective[0]).all()
    sums = model.codes_.sum(axis=1)
    assert (model.codes_ >= 0).all()
    np.testing.assert_allclose(sums, 1, atol=0.2 if solver == "penalty" else 1e-5)


@every_solver
def test_labels_are_the_largest_share_and_transform_repeats_the_fit(solver):
    X = mixtures()
    model = SoftClustering(3, solver=solver).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    assert np.array_equal(model.transform(X), model.codes_)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, rtol=1e-6)
    assert np.array_equal(proba.argmax(axis=1), model.labels_)
    assert np.array_equal(model.fit_predict(X), model.labels_)


def test_mirror_stays_at_the_answer_of_projected_gradient():
    X = mixtures()
    projected = SoftClustering(3, solver="projected", tol=1e-7).fit(X)
    start = projected.codes_, projected.components_
    mirror = SoftClustering(3, solver="mirror", init=start, max_iter=20).fit(X)
    assert mirror.history_.objective[-1] <= 1.001 * projected.objective_


def test_a_strong_penalty_is_the_simplex():
    X = mixtures()
    held = SoftClustering(3, solver="projected").fit(X)
    loose = SoftClustering(3, solver="penalty", strength=1e4).fit(X)
    np.testing.assert_allclose(loose.codes_.sum(axis=1), 1, atol=1e-3)
    assert loose.objective_ == pytest.approx(held.objective_, rel=0.5, abs=1.0)


@given(st.integers(1, 6), st.floats(0.0, 50.0), st.integers(0, 50))
def test_prox_of_the_penalty_is_a_minimum(k, strength, seed):
    f = 2 * np.random.default_rng(seed).normal(size=(1, k))
    penalty = NearSimplex(strength)
    y = penalty.prox(f, 0.7)

    def cost(v):
        return 0.7 * 0.5 * strength * (v.sum() - 1) ** 2 + 0.5 * ((v - f[0]) ** 2).sum()

    best = minimize(cost, np.full(k, 1 / k), bounds=[(0, None)] * k, tol=1e-12)
    assert (y >= 0).all() and cost(y[0]) <= best.fun + 1e-6


def test_prox_of_a_strong_penalty_is_the_projection():
    F = np.random.default_rng(0).normal(size=(20, 4))
    np.testing.assert_allclose(NearSimplex(1e9).prox(F), Simplex().prox(F), atol=1e-6)
    assert NearSimplex(2.0).value(np.array([[1.0, 1.0]])) == 1.0
    assert NearSimplex(2.0).value(np.array([[-1.0, 1.0]])) == np.inf


def test_missing_entries_and_anomalies():
    X = mixtures()
    X[::7, 1] = np.nan
    model = SoftClustering(3, missing="nan").fit(X)
    odd = np.where(np.isnan(X), np.nan, X + 50)
    assert np.isfinite(model.codes_).all() and np.median(model.anomaly_score(odd)) > model.anomaly_score(X).max()


def test_threads_repeat(two_threads):
    X = mixtures()
    one, two = two_threads(lambda: SoftClustering(3).fit(X))
    assert np.array_equal(one.codes_, two.codes_)


@pytest.mark.parametrize("solver", ["auto", "mirror", "penalty"])
def test_equal_rows_end_without_nan(solver):
    for X in (np.ones((6, 2)), np.zeros((6, 2))):
        model = SoftClustering(2, solver=solver).fit(X)
        assert np.isfinite(model.codes_).all() and np.isfinite(model.cluster_centers_).all()
        assert model.objective_ == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(
    "options, X, says",
    [
        ({"n_clusters": 5}, np.eye(3), "n_samples=3"),
        ({"n_clusters": 2, "solver": "magic"}, np.eye(3), "solver='magic'"),
        ({"n_clusters": 2, "solver": "penalty", "strength": -1}, np.eye(3), "strength"),
        ({"n_clusters": 1}, [[np.nan]], "NaN"),
    ],
)
def test_bad_input_is_refused_in_words(options, X, says):
    with pytest.raises(ValueError, match=says):
        SoftClustering(**options).fit(X)


def test_partial_fit_takes_the_hard_constraint_only():
    X = mixtures()
    model = SoftClustering(3).partial_fit(X[:100]).partial_fit(X[100:])
    np.testing.assert_allclose(model.transform(X).sum(axis=1), 1, atol=1e-6)
    with pytest.raises(ValueError, match="needs the whole table"):
        SoftClustering(3, solver="penalty").partial_fit(X)


@pytest.mark.parametrize("solver", ["auto", "mirror", "penalty"])
def test_the_origin_does_not_matter(solver):
    X = mixtures()
    here = SoftClustering(3, solver=solver, max_iter=40).fit(X)
    for shift in (100.0, 1e5, 1e8):
        there = SoftClustering(3, solver=solver, max_iter=40).fit(X + shift)
        rounding = 1e-13 * shift
        assert there.objective_ == pytest.approx(here.objective_, rel=0.02 + rounding)
        np.testing.assert_allclose(there.cluster_centers_ - shift, here.cluster_centers_, atol=0.05 + rounding)
        assert (np.diff(there.history_.objective) <= 1e-9 * there.history_.objective[0]).all()
        assert np.array_equal(there.transform(X + shift), there.codes_)
        assert there.score(X + shift) == pytest.approx(here.score(X), rel=0.02 + rounding)
        residual = there.inverse_transform(there.codes_) - (X + shift)
        np.testing.assert_allclose(np.linalg.norm(residual, axis=1), there.anomaly_score(X + shift), atol=1e-7 * shift)


def test_the_origin_does_not_matter_in_float32_with_holes_or_in_blocks():
    X = mixtures()
    best = SoftClustering(3).fit(X).objective_
    for table in ((X + 1e3).astype(np.float32), [X[:90] + 1e5, X[90:] + 1e5]):
        model = SoftClustering(3).fit(table)
        assert model.objective_ < 1.2 * best + 0.05
        assert (np.diff(model.history_.objective) <= 1e-6 * model.history_.objective[0]).all()
    X[::7, 1] = np.nan
    near, far = (SoftClustering(3, missing="nan").fit(X + shift) for shift in (0.0, 1e5))
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-3)
    assert far.anomaly_score(X + 1e5) == pytest.approx(near.anomaly_score(X), rel=1e-2, abs=1e-6)


def test_sparse_tables_keep_their_zeros_and_stored_entries_their_mean():
    X = np.where(np.abs(mixtures()) < 0.5, 0, mixtures())
    dense, sparse = SoftClustering(3).fit(X), SoftClustering(3).fit(sp.csr_array(X))
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=0.05)
    np.testing.assert_allclose(dense.transform(sp.csr_array(X)), dense.codes_, atol=1e-6)
    stored = SoftClustering(3, missing="zeros").fit(sp.csr_array(X))
    holes = SoftClustering(3, missing="zeros").fit(X)
    assert stored.objective_ == pytest.approx(holes.objective_, rel=1e-6)


def test_a_start_is_given_in_the_units_of_the_data():
    X = mixtures() + 500
    found = SoftClustering(3).fit(X)
    again = SoftClustering(3, init=found.cluster_centers_, max_iter=2).fit(X)
    both = SoftClustering(3, init=(found.codes_, found.cluster_centers_), max_iter=2).fit(X)
    assert again.objective_ <= 1.001 * found.objective_ and both.objective_ <= 1.001 * found.objective_
    with pytest.raises(ValueError, match="init"):
        SoftClustering(3, init=found.cluster_centers_[:, :2]).fit(X)


def test_streams_label_their_block_and_certify_looks_again():
    X = mixtures() + 1000
    model = SoftClustering(3).fit(X)
    gap = model.certificate_.gap
    assert model.certify(X).gap == pytest.approx(gap, rel=1e-6)
    model.partial_fit(X[:50])
    assert np.array_equal(model.codes_, model.transform(X[:50])) and len(model.labels_) == 50
    assert model.objective_ == pytest.approx(0.5 * (model.anomaly_score(X[:50]) ** 2).sum(), rel=1e-6)
    fresh = SoftClustering(3).partial_fit(X)
    assert np.array_equal(fresh.codes_, fresh.transform(X)) and fresh.score(X) < 0


def test_a_fit_of_a_small_table_takes_few_calls():
    """Steps are compiled: no more than a handful of projections by NumPy in the whole fit."""
    X, calls = mixtures(), []
    original = Simplex._prox
    try:
        Simplex._prox = lambda self, F, step: calls.append(1) or original(self, F, step)
        model = SoftClustering(5, max_iter=50).fit(X)
    finally:
        Simplex._prox = original
    assert model.n_iter_ == 50 and len(calls) < 10
