"""SoftImpute: the convex answer, its certificate, its path, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.complete.nuclear.tables import planted, stored
from tests.reference import nuclear as reference
from unweave import Factorization, SoftImpute
from unweave.complete.nuclear.soft_impute import norm_bound
from unweave.complete.nuclear.strengths import judged_path, largest_strength, way_down
from unweave.data.hold_out import hold_out
from unweave.linalg.sparse import SparseProduct
from unweave.losses import Squared
from unweave.objectives import Observed
from unweave.penalties import Ridge
from unweave.solve.sparse_plus_low_rank import ObservedEntries


@pytest.mark.parametrize("tau", [0.3, 1.0, 4.0])
def test_it_finds_the_answer_of_the_dense_loop(tau):
    _, X = planted(noise=0.1)
    seen = ~np.isnan(X)
    best = reference.soft_impute(np.where(seen, X, 0), seen, tau)
    model = SoftImpute(strength=tau, tol=1e-7, max_iter=2000).fit(X)
    M = model.inverse_transform(model.codes_)
    value = reference.objective(np.where(seen, X, 0), seen, best, tau)
    assert reference.objective(np.where(seen, X, 0), seen, M, tau) <= value * (1 + 1e-6)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(M, best, atol=2e-3 * np.abs(best).max())


def test_objective_never_rises_and_the_certificate_is_below_it():
    _, X = planted(noise=0.1)
    model = SoftImpute(strength=0.5, tol=1e-6).fit(X)
    objective = np.array(model.history_.objective)
    assert (np.diff(objective) <= 1e-10 * objective[0]).all()
    found = model.certificate_
    assert found.kind == "duality" and found.exact
    assert found.lower_bound <= model.objective_ and found.gap < 1e-3
    assert model.certify(X).exact and model.certificate_.gap < 1e-3


def test_certificate_holds_for_an_answer_that_is_far_off():
    _, X = planted(noise=0.1)
    seen = ~np.isnan(X)
    best = reference.soft_impute(np.where(seen, X, 0), seen, 1.0)
    value = reference.objective(np.where(seen, X, 0), seen, best, 1.0)
    early = SoftImpute(strength=1.0, max_iter=1, tol=0).fit(X)
    assert early.certificate_.lower_bound <= value * (1 + 1e-9) < early.objective_


def test_a_limit_on_the_rank_is_kept():
    _, X = planted(noise=0.1)
    model = SoftImpute(2, strength=0.3).fit(X)
    assert model.rank_ == model.components_.shape[0] == 2
    assert model.objective_ > SoftImpute(strength=0.3).fit(X).objective_


def test_sparse_and_dense_tables_give_the_same():
    _, X = planted(noise=0.1)
    one, two = SoftImpute(strength=0.5).fit(X), SoftImpute(strength=0.5).fit(stored(X))
    np.testing.assert_array_equal(one.components_, two.components_)


def test_complete_tables_are_shrunk_in_one_step(rng):
    X = rng.standard_normal((30, 20))
    model = SoftImpute(strength=3.0).fit(X)
    np.testing.assert_allclose(model.inverse_transform(model.codes_), reference.shrink(X, 3.0), atol=1e-9)
    assert model.n_iter_ == 1 and model.certificate_.gap < 1e-6


def test_same_as_two_ridges():
    _, X = planted(noise=0.1)
    model = SoftImpute(strength=1.0, tol=1e-7).fit(X)
    twin = Factorization(
        model.rank_ + 2, codes="nuclear", components="free", missing="nan", solver="shrinkage", max_iter=3000, tol=1e-10
    ).fit(X)
    assert model.objective_ == pytest.approx(twin.objective_, rel=1e-5)


@pytest.mark.parametrize("shares", [(1.0, 1.0), (4.0, 0.25)])
def test_the_solver_of_any_factorisation_is_this_one(shares):
    """Ridges λ₁ and λ₂ are the nuclear norm with τ = √(λ₁λ₂), however unequal; each side costs half of it."""
    _, X = planted(noise=0.1)
    model = SoftImpute(strength=1.0, tol=1e-8).fit(X)
    one, two = (Ridge(strength=share) for share in shares)
    k = model.rank_ + 2
    twin = Factorization(k, codes=one, components=two, missing="nan", solver="shrinkage", tol=1e-8).fit(X)
    assert twin.objective_ == pytest.approx(model.objective_, rel=1e-6)
    sparse = Factorization(k, codes=one, components=two, missing="zeros", solver="shrinkage", tol=1e-8).fit(stored(X))
    np.testing.assert_array_equal(sparse.components_, twin.components_)
    assert twin.components_.shape == (k, X.shape[1]) and twin.codes_.shape == (len(X), k)
    costs = shares[0] * (twin.codes_**2).sum(), shares[1] * (twin.components_**2).sum()
    assert costs[0] == pytest.approx(costs[1], rel=1e-3)
    assert (np.diff(twin.history_.objective) <= 1e-12 * twin.history_.objective[0]).all()


@pytest.mark.parametrize("tau", [1e6, 1e3])
def test_a_large_strength_leaves_nothing(tau):
    _, X = planted(noise=0.1)
    model = SoftImpute(strength=tau).fit(X)
    assert model.rank_ == 0 and not model.components_.any() and not model.codes_.any()
    assert model.certificate_.gap < 1e-6


def test_transform_is_fit_transform_to_the_bit(dtype):
    X = planted(noise=0.1)[1].astype(dtype)
    model = SoftImpute(strength=0.5)
    codes = model.fit_transform(X)
    np.testing.assert_array_equal(codes, model.transform(X))
    np.testing.assert_array_equal(codes, model.codes_)
    assert model.components_.dtype == codes.dtype == dtype


def test_threads_change_no_bit(two_threads):
    _, X = planted(400, 300, share=0.3, noise=0.1)
    one, two = two_threads(lambda: SoftImpute(strength=0.5, max_iter=6, tol=0).fit(X))
    np.testing.assert_array_equal(one.components_, two.components_)
    assert one.objective_ == two.objective_


def test_the_path_is_kept_and_can_be_given():
    _, X = planted(noise=0.1)
    model = SoftImpute(strength=0.5, path=4).fit(X)
    assert len(model.path_["strength"]) == 4 and model.path_["strength"][-1] == 0.5
    assert (np.diff(model.path_["objective"]) < 0).all() and (model.path_["rank"][1:] >= model.path_["rank"][0]).all()
    given = SoftImpute(strength=0.5, path=[9.0, 2.0, 0.1]).fit(X)
    np.testing.assert_array_equal(given.path_["strength"], [9.0, 2.0, 0.5])
    assert given.objective_ == pytest.approx(model.objective_, rel=1e-3)


def test_auto_strength_comes_close_to_the_best_on_entries_never_seen():
    M, X = planted(150, 120, noise=0.5)
    model = SoftImpute().fit(X)
    hidden = np.isnan(X)
    errors = {tau: _error(SoftImpute(strength=tau).fit(X), M, hidden) for tau in (0.5, 1, 2, 4, 8)}
    assert _error(model, M, hidden) < 1.15 * min(errors.values())
    assert set(model.path_) == {"strength", "rank", "objective", "held_out_error"}


def _error(model, M, hidden):
    return np.sqrt(np.mean((model.inverse_transform(model.codes_) - M)[hidden] ** 2))


def test_exact_recovery_by_the_path():
    """1000×1000, rank 10, 12 % observed: relative error below 1e-4 at tol=1e-4, τ chosen by the path alone."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((1000, 10)) @ rng.standard_normal((10, 1000))
    X = stored(np.where(rng.random(M.shape) < 0.12, M, np.nan))
    model = SoftImpute(strength="auto", tol=1e-4).fit(X)
    assert model.rank_ == 10
    assert np.linalg.norm(model.codes_ @ model.components_ - M) < 1e-4 * np.linalg.norm(M)


def test_checkpoint_goes_on_where_it_stopped(tmp_path):
    _, X = planted(noise=0.1)
    straight = SoftImpute(strength=0.5, max_iter=8, tol=0).fit(X)

    def stop(progress):
        if progress.iteration == 4:
            raise KeyboardInterrupt

    path = tmp_path / "fit.ckpt"
    with pytest.warns(UserWarning, match="interrupted"):
        SoftImpute(strength=0.5, max_iter=8, tol=0, checkpoint=path, callback=stop).fit(X)
    again = SoftImpute(strength=0.5, max_iter=8, tol=0, checkpoint=path).fit(X)
    np.testing.assert_array_equal(straight.components_, again.components_)
    assert not path.exists()


# -- parts ------------------------------------------------------------------------------------------------------------


@given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 30))
def test_norm_bound_is_proven_and_tight(seed, n, m):
    R = np.random.default_rng(seed).standard_normal((n, m))
    bound, proven = norm_bound(SparseProduct(sp.csr_array(R)), True)
    truth = np.linalg.norm(R, 2)
    assert proven and truth * (1 - 1e-12) <= bound <= truth * (1 + 1e-4)


def test_ways_down_end_at_the_strength():
    assert way_down(10.0, 20.0, None) == [20.0]
    assert way_down(27.0, 1.0, None) == pytest.approx([9.0, 3.0, 1.0])
    assert way_down(27.0, 1.0, 1) == [1.0]


def test_held_out_entries_are_not_learned_from():
    table = Observed(stored(planted(noise=0.1)[1]), Squared())
    entries = ObservedEntries.of(table)
    split = hold_out(table.entries(), np.random.default_rng(0), 0.1)
    train, test = (ObservedEntries.of(Observed(part, table.loss)) for part in split)
    assert train.nnz + test.nnz == entries.nnz
    both = train.matrix(train.values) + test.matrix(test.values)
    assert abs(both - entries.matrix(entries.values)).max() == 0
    path = judged_path(train, test, [0.5 * largest_strength(entries), 1.0], 10, 0)
    assert path["held_out_error"][1] < path["held_out_error"][0]


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, word",
    [
        ({"strength": 0}, "strength"), ({"strength": -1}, "strength"), ({"strength": "best"}, "strength"),
        ({"strength": np.nan}, "strength"), ({"strength": None}, "strength"), ({"path": 0}, "path"),
        ({"path": []}, "path"), ({"path": [1, -1]}, "path"), ({"path": "long"}, "path"), ({"path": [np.inf]}, "path"),
        ({"n_components": 0}, "n_components"), ({"n_components": 1.5}, "n_components"),
        ({"n_components": 10**6}, "n_components"), ({"tol": -1}, "tol"), ({"max_iter": 0}, "max_iter"),
        ({"missing": "gone"}, "missing"), ({"random_state": -1}, "random_state"), ({"callback": 3}, "callback"),
    ],
)  # fmt: skip
def test_bad_settings_are_named(settings, word):
    _, X = planted(noise=0.1)
    with pytest.raises((ValueError, TypeError), match=word):
        SoftImpute(**{"strength": 1.0, **settings}).fit(X)


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="no observed entry"):
        SoftImpute().fit(np.full((4, 3), np.nan))
    with pytest.raises(ValueError, match="infinity"):
        SoftImpute().fit(np.array([[1.0, np.inf], [2.0, 3.0]]))
    with pytest.raises(ValueError, match="blocks"):
        SoftImpute().fit([np.eye(3), np.eye(3)])


@given(st.integers(0, 10**6), st.integers(2, 9), st.integers(2, 9), st.sampled_from([1e-6, 1.0, 1e6]))
def test_small_tables_never_give_nan(seed, n, m, scale):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, m)) < 0.5, scale * rng.standard_normal((n, m)), np.nan)
    X[0, 0] = scale
    X[:, -1] = np.nan  # a column nobody observed
    model = SoftImpute(strength=0.1 * scale, max_iter=20, tol=0).fit(X)
    M = model.inverse_transform(model.transform(X))
    assert np.isfinite(M).all() and np.isfinite(model.objective_) and not M[:, -1].any()
