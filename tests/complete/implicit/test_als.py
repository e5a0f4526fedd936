"""ImplicitALS: the objective, the contract, recommending and bad input."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import implicit as slow
from unweave.complete.implicit.als import ImplicitALS
from unweave.data.named import NamedTable


def counts(rng, n=40, m=60, share=0.2):
    """Counts with empty, short and full rows."""
    X = np.where(rng.random((n, m)) < share, rng.integers(1, 6, (n, m)), 0)
    X[0] = 0
    X[1], X[1, 3] = 0, 2
    X[2] = 1
    return X


# -- fits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["cholesky", "cg", "subspace"])
@pytest.mark.parametrize("weighting", ["plain", "root", "count"])
def test_the_reported_objective_is_the_true_one_and_falls(rng, dtype, solver, weighting):
    X = counts(rng).astype(dtype)
    model = ImplicitALS(6, ridge=0.3, alpha=0.8, solver=solver, weighting=weighting, tol=0).fit(sp.csr_array(X))
    power = {"plain": 0, "root": 0.5, "count": 1}[weighting]
    ridges = tuple(0.3 * np.maximum((X > 0).sum(axis), 1.0) ** power for axis in (1, 0))
    truth = slow.objective(X, 0.8, model.codes_, model.components_, ridges)
    assert model.objective_ == pytest.approx(truth, rel=1e-5 if dtype == np.float32 else 1e-10)
    path = model.history_.objective
    assert (np.diff(path) <= 1e-5 * path[0]).all() and model.objective_ <= path[-1] * (1 + 1e-5)
    assert model.components_.dtype == model.codes_.dtype == dtype


def test_all_solvers_settle_at_the_same_objective(rng):
    X = sp.csr_array(counts(rng).astype(float))
    found = [
        ImplicitALS(3, ridge=1.0, solver=s, max_iter=400, tol=1e-12).fit(X) for s in ("cholesky", "cg", "subspace")
    ]
    assert found[1].objective_ == pytest.approx(found[0].objective_, rel=1e-6)
    assert found[2].objective_ == pytest.approx(found[0].objective_, rel=1e-6)
    assert found[0].certificate_.kind == "kkt" and found[0].certificate_.gap < 1e-3


def test_subspace_takes_several_blocks(rng):
    X = sp.csr_array(counts(rng, 90, 120).astype(float))
    one = ImplicitALS(80, solver="subspace", max_iter=60, tol=0).fit(X)
    two = ImplicitALS(80, solver="cholesky", max_iter=60, tol=0).fit(X)
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-2)


@pytest.mark.parametrize("k", [5, 150])
def test_transform_is_the_end_of_fit_and_each_row_stands_alone(rng, k):
    X = sp.csr_array(counts(rng, 60, 160).astype(float))
    model = ImplicitALS(k, ridge=1.0, weighting="plain", max_iter=5)
    codes = model.fit_transform(X)
    np.testing.assert_array_equal(codes, model.transform(X))
    np.testing.assert_array_equal(codes, model.codes_)
    np.testing.assert_allclose(model.transform(X[7:9]), codes[7:9], rtol=1e-7, atol=1e-10)
    expected, _ = slow.solve_rows(X.toarray(), 1.0, model.components_.T, 1.0)
    np.testing.assert_allclose(codes, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("solver", ["cholesky", "cg", "subspace"])
def test_one_and_two_threads_agree_to_the_bit(rng, two_threads, dtype, solver):
    X = sp.csr_array((rng.random((1500, 400)) < 0.1).astype(dtype))
    one, two = two_threads(lambda: ImplicitALS(40, solver=solver, max_iter=3).fit(X))
    np.testing.assert_array_equal(one.codes_, two.codes_)
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.history_.objective, two.history_.objective)


def test_every_storage_gives_the_same_fit(rng):
    X = counts(rng).astype(float)
    zeros = sp.csr_array(X)
    zeros.data[::3] = 0.0  # stored zeros are not interactions
    dense = zeros.toarray()
    table = NamedTable(sp.csr_array(dense), kind="ratings", missing="zeros")
    first = ImplicitALS(4).fit(dense).codes_
    for storage in (sp.csr_array(dense), sp.csr_matrix(dense), sp.coo_matrix(dense), zeros, table):
        np.testing.assert_array_equal(ImplicitALS(4).fit(storage).codes_, first)
    assert zeros.nnz > zeros.count_nonzero()  # and the table that was given is left as it was


def test_the_planner_says_what_it_chose(rng):
    X = sp.csr_array(counts(rng, 200, 200).astype(float))
    assert "Cholesky" in str(ImplicitALS(8, max_iter=1).fit(X).plan_)
    assert "conjugate" in str(ImplicitALS(64, max_iter=1).fit(X).plan_)
    assert "Cholesky" in str(ImplicitALS(64, alpha=1e5, max_iter=1).fit(X).plan_)
    assert "blocks" in str(ImplicitALS(150, alpha=1e5, max_iter=1).fit(X).plan_)
    assert ImplicitALS(500, max_iter=1).fit(X).n_components_ == 200


def test_callback_checkpoint_and_seed(rng, tmp_path):
    X = sp.csr_array(counts(rng).astype(float))
    seen = []
    ImplicitALS(4, callback=lambda p: seen.append(p.objective) or len(seen) == 2).fit(X)
    assert len(seen) == 2
    path = tmp_path / "half.ckpt"
    whole = ImplicitALS(4, max_iter=8, tol=0).fit(X)

    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        ImplicitALS(4, max_iter=8, tol=0, checkpoint=path, callback=stop).fit(X)
    again = ImplicitALS(4, max_iter=8, tol=0, checkpoint=path).fit(X)
    np.testing.assert_array_equal(again.codes_, whole.codes_)
    np.testing.assert_array_equal(ImplicitALS(4, max_iter=8, tol=0).fit(X).codes_, whole.codes_)
    other = ImplicitALS(4, max_iter=8, tol=0, random_state=1).fit(X)
    assert not np.array_equal(other.codes_, whole.codes_)


def test_running_out_of_sweeps_is_nothing_to_warn_of(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ImplicitALS(4, max_iter=2).fit(counts(rng).astype(float))


# -- recommending --------------------------------------------------------------------------------------------------


def two_tastes(rng, n=60, m=20):
    """Even users like the first half of the items, odd ones the second; half of it is known."""
    taste = (np.arange(m) < m // 2)[None, :] == (np.arange(n) % 2 == 0)[:, None]
    return np.where(taste & (rng.random((n, m)) < 0.5), 1.0, 0.0)


def test_recommends_unseen_items_of_the_users_taste(rng):
    X = two_tastes(rng)
    model = ImplicitALS(4).fit(sp.csr_array(X))
    for user in range(6):
        items, scores = model.recommend(user, n=3)
        assert not X[user, items].any() and (np.diff(scores) <= 0).all()
        assert ((items < 10) == (user % 2 == 0)).all()
    assert (model.similar(0, n=3)[0] < 10).all()


# -- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"ridge": -1}, ValueError, "ridge"),
        ({"ridge": "much"}, ValueError, "ridge"),
        ({"ridge": [1]}, TypeError, "ridge"),
        ({"alpha": 0}, ValueError, "alpha"),
        ({"alpha": np.nan}, ValueError, "alpha"),
        ({"alpha": 1e300}, ValueError, "rescale"),
        ({"n_components": 0}, ValueError, "n_components"),
        ({"n_components": 2.5}, TypeError, "n_components"),
        ({"solver": "qr"}, ValueError, "solver"),
        ({"weighting": "log"}, ValueError, "weighting"),
        ({"missing": "nan"}, ValueError, "missing"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"callback": 3}, TypeError, "callback"),
    ],
)
def test_bad_parameters_are_named(rng, change, error, match):
    with pytest.raises(error, match=match):
        ImplicitALS(**change).fit(counts(rng).astype(float))


@pytest.mark.parametrize(
    ("spoil", "match"),
    [(-1.0, "Negative"), (np.nan, "NaN"), (np.inf, "inf")],
)
def test_bad_values_are_refused_in_fit_and_transform(rng, spoil, match):
    good = counts(rng).astype(float)
    bad = good.copy()
    bad[5, 5] = spoil
    model = ImplicitALS(2).fit(good)
    for X in (bad, sp.csr_array(bad)):
        for call in (ImplicitALS(2).fit, model.transform, model.partial_fit):
            with pytest.raises(ValueError, match=match):
                call(X)


def test_tables_without_interactions(rng):
    for X in (np.zeros((3, 4)), sp.csr_array((3, 4))):
        with pytest.raises(ValueError, match="no interaction"):
            ImplicitALS(2).fit(X)
        assert not ImplicitALS(2).fit(np.ones((5, 4))).transform(X).any()
    with pytest.raises(ValueError, match="no interaction"):
        ImplicitALS(2).fit([np.zeros((2, 3)), np.zeros((2, 3))])


def test_no_ridge_gives_finite_answers(rng):
    model = ImplicitALS(50, ridge=0).fit(counts(rng, 30, 20).astype(np.float32))
    assert np.isfinite(model.codes_).all() and np.isfinite(model.components_).all()


@given(
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(1, 12),
    st.integers(0, 2**31),
    st.sampled_from([0, 1e-3, 10, "auto"]),
)
def test_any_small_table_gives_finite_answers(n, m, k, seed, ridge):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, m)) < 0.5, 10.0 ** rng.integers(-6, 6, (n, m)), 0)
    if not X.any():
        return
    model = ImplicitALS(k, ridge=ridge, max_iter=3).fit(X)
    assert np.isfinite(model.codes_).all() and np.isfinite(model.objective_) and model.objective_ >= -1e-6
    assert np.isfinite(model.predict(X)).all()
