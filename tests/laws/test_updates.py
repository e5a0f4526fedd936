"""Laws that every half-step obeys on every model and penalty that it does not refuse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.losses import get_loss
from unweave.objectives import Blocks, Dense, Observed, Sparse
from unweave.penalties import L1, Both, ElasticNet, Fixed, Ridge, Smooth, get_penalty
from unweave.penalties import Sparse as SSparse
from unweave.scale.visits import Here, Loader
from unweave.solve.alternate import transform_effort
from unweave.updates import UPDATES, Effort, Half, first_rows

N, M, K = 17, 9, 3
BY_NAME = {update.name: update for update in UPDATES}
MODELS = {
    "quadratic": ("squared", "dense"), "entries": ("squared", "masked"), "entries (weighted)": ("squared", "weighted"),
    "counts": ("kl", "sparse"), "kl with holes": ("kl", "masked"), "huber": ("huber", "dense"),
    "absolute": ("absolute", "observed"), "logistic": ("logistic", "masked"), "hinge": ("hinge", "dense"),
    "categorical": ("categorical", "dense"), "blocks": ("squared", "masked blocks"),
}  # fmt: skip
PENALTIES = {
    **{name: get_penalty(name) for name in (
        "free", "nonnegative", "simplex", "one-hot", "orthonormal", "unit-norm", "boolean", "l1-ball", "l2-ball",
        "nuclear",
    )},
    "smooth": Smooth(0.3),
    "sparse(2)": SSparse(2), "ridge(0.5)": Ridge(0.5), "l1(0.3)": L1(0.3), "elastic-net": ElasticNet(0.5, 0.4),
        **{
        f"nonnegative+{name}": Both("nonnegative", name)
        for name in ("l1", "elastic-net", "l2-ball", "unit-norm")
    },
}  # fmt: skip


def make_objective(loss: str, storage: str, dtype, seed: int = 0):
    rng = np.random.default_rng(seed)
    if loss in ("logistic", "hinge"):
        X = rng.random((N, M)) < 0.4
    elif loss == "categorical":
        X = rng.choice(3, (N, M))
    else:
        X = rng.poisson(2.0, (N, M)) * (1 if loss == "kl" else rng.choice([1.0, 1.0, 6.0], (N, M)))
    X = X.astype(dtype)
    ready = get_loss(loss).prepare(X)
    X = np.ascontiguousarray(ready.encode(X), dtype=dtype)
    if storage == "dense":
        return Dense(X, ready)
    if storage == "sparse":
        return Sparse(sp.csr_array(X), ready)
    weights = (rng.random(X.shape) < 0.7).astype(dtype)
    weights[5], weights[0] = 0, 1  # a row with nothing observed, and one with everything
    if storage == "weighted":
        weights *= rng.choice([0.5, 1.0, 3.0], X.shape).astype(dtype)
    if storage == "observed":
        rows, columns = np.nonzero(weights)
        return Observed(sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape), ready)
    dense = Dense(np.where(weights != 0, X, 0).astype(dtype), ready, weights)
    if storage != "masked blocks":
        return dense

    load = Loader([np.arange(8), np.arange(8, N)], lambda rows, i: dense.take(rows))
    return Blocks(load, [8, N - 8], load(0), False, Here())


def half_step(model: str, penalty: str, side: str, dtype, seed: int = 1):
    """A row model, an allowed factor to begin with, and the penalty as the half-step sees it."""
    objective = make_objective(*MODELS[model], dtype)
    rng = np.random.default_rng(seed)
    rows, columns = objective.shape[0], objective.n_predictions
    U, Z = rng.standard_normal((rows, K)) + 0.5, rng.standard_normal((K, columns)) + 0.5
    if objective.loss.nonnegative or "nonnegative" in penalty:
        U, Z = np.abs(U) + 0.1, np.abs(Z) + 0.1
    half = Half(PENALTIES[penalty], transposed=side == "columns")
    if side == "rows":
        row_model, F = objective.rows_given(np.ascontiguousarray(Z, dtype=dtype)), U
    else:
        row_model, F = objective.columns_given(np.ascontiguousarray(U, dtype=dtype)), Z.T
    return row_model, half.prox(np.ascontiguousarray(F, dtype=dtype), 0.0), half


def willing() -> list[tuple[str, str, str, str]]:
    """(update, model, penalty, side) of everything that no update refuses."""
    return [
        (update.name, model, penalty, side)
        for model in MODELS
        for penalty in PENALTIES
        for side in ("rows", "columns")
        for row_model, _, half in [half_step(model, penalty, side, np.float64)]
        for update in UPDATES
        if update.refuses(row_model, half) is None
    ]


WILLING = willing()
every_half_step = pytest.mark.parametrize("update, model, penalty, side", WILLING)


def total(model, F, half) -> float:
    return model.value(F) + half.value(F)


@every_half_step
def test_a_half_step_never_raises_the_objective_and_keeps_its_promises(update, model, penalty, side, dtype):
    row_model, F, half = half_step(model, penalty, side, dtype)
    kept = F.copy()
    F.setflags(write=False)
    before = total(row_model, F, half)
    assert np.isfinite(before)
    slack = (1e-9 if dtype == np.float64 else 2e-5) * (1 + abs(before))
    for effort in (Effort(1), Effort(12, 1e-6)):
        new = BY_NAME[update](row_model, F, half, effort)
        assert np.array_equal(F, kept), "the old factor was changed"
        assert not np.shares_memory(new, F)
        assert new.dtype == dtype and new.shape == F.shape
        assert np.isfinite(new).all()
        assert np.isfinite(half.value(new)), "the result is not allowed"
        assert total(row_model, new, half) <= before + slack


SETTLES = [
    case for case in WILLING
    if case[0] != "mirror" and case[1] in ("quadratic", "entries", "entries (weighted)", "huber", "logistic")
    and PENALTIES[case[2]].convex
]  # fmt: skip


@pytest.mark.parametrize("update, model, penalty, side", SETTLES)
def test_a_converged_factor_stays(update, model, penalty, side):
    row_model, F, half = half_step(model, penalty, side, np.float64)
    step = BY_NAME[update]
    settled = F
    for _ in range(3 if "smooth" in penalty else 1):  # which the weights in a bound of the loss follow slowly
        settled = step(row_model, settled, half, Effort(400 if update == "reweighted" else 1500, 1e-10))
    again = step(row_model, settled, half, Effort(5))
    assert total(row_model, again, half) == pytest.approx(total(row_model, settled, half), rel=1e-5, abs=1e-7)
    assert np.abs(again - settled).max() <= 1e-2 * max(1.0, np.abs(settled).max())


@pytest.mark.parametrize("side", ["rows", "columns"])
@pytest.mark.parametrize("model", MODELS)
def test_a_refusal_is_a_sentence(model, side):
    for penalty in PENALTIES:
        row_model, _, half = half_step(model, penalty, side, np.float64)
        for update in UPDATES:
            refusal = update.refuses(row_model, half)
            assert refusal is None or (isinstance(refusal, str) and len(refusal.split()) >= 4)


@pytest.mark.parametrize("update", UPDATES, ids=lambda update: update.name)
def test_an_update_has_a_name_a_title_and_something_to_do(update):
    assert update.name and update.title and update.__doc__
    assert any(case[0] == update.name for case in WILLING) or update.name in ("conjugate-gradient", "active-set")


@pytest.mark.parametrize("nonnegative", [False, True])
def test_active_sets_of_many_components_are_the_best_there_is(nonnegative, dtype):
    """Few components are left to others; of many, no step of another update finds a lower objective."""
    objective, k = make_objective("squared", "dense", dtype), 40
    model = objective.rows_given(np.random.default_rng(9).standard_normal((k, M)).astype(dtype))
    half = Half(Both("nonnegative", L1(0.3)) if nonnegative else L1(0.3))
    F = np.zeros((N, k), dtype)
    assert BY_NAME["active-set"].refuses(model, half) is None
    found = BY_NAME["active-set"](model, F, half, Effort(20, 1e-10))
    assert total(model, found, half) <= total(model, F, half)
    for other in ("coordinate", "proximal"):
        if other in BY_NAME and BY_NAME[other].refuses(model, half) is None:
            further = BY_NAME[other](model, found, half, Effort(50, 1e-10))
            assert total(model, further, half) >= total(model, found, half) * (1 - 1e-5)


@pytest.mark.parametrize("storage", ["masked", "weighted", "observed"])
@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_conjugate_gradients_on_many_components_never_raise_the_objective(storage, strength, dtype):
    update = BY_NAME.get("conjugate-gradient")
    if update is None:
        pytest.skip("there is no such update")
    rng, objective = np.random.default_rng(9), make_objective("squared", storage, dtype)
    k = getattr(update, "_LEAST", 64)
    model, half = objective.rows_given(rng.standard_normal((k, M)).astype(dtype)), Half(Ridge(strength))
    assert update.refuses(model, half) is None
    F = rng.standard_normal((N, k)).astype(dtype)
    kept, before = F.copy(), total(model, F, half)
    for effort in (Effort(8), transform_effort(dtype)):
        new = update(model, F, half, effort)
        assert np.array_equal(F, kept) and new.dtype == dtype
        assert np.isfinite(new).all() and total(model, new, half) <= before


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("model", MODELS)
def test_some_update_does_every_half_step_unless_kl_would_go_negative(model, penalty):
    done = [case for case in WILLING if case[1] == model and case[2] == penalty]
    signed = not any(word in penalty for word in ("nonnegative", "simplex", "one-hot", "boolean"))
    assert bool(done) != (MODELS[model][0] == "kl" and signed)


def left(update, objective, Z, half, sweeps=40):
    """What `transform` runs: a fixed start, until every row settles (cut short where that takes long)."""
    model, effort = objective.rows_given(Z), transform_effort(objective.dtype)
    if model.lipschitz is None or model.reweights or update == "multiplicative":
        effort = Effort(sweeps, effort.tol)
    return BY_NAME[update](model, first_rows(model, half, BY_NAME[update]), half, effort)


LEFT = [case[:3] for case in WILLING if case[3] == "rows" and not Half(PENALTIES[case[2]]).tied]


@pytest.mark.parametrize("update, model, penalty", [case for case in LEFT if "blocks" not in case[1]])
def test_the_code_of_a_row_does_not_depend_on_the_other_rows(update, model, penalty, dtype):
    objective = make_objective(*MODELS[model], dtype)
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((K, objective.n_predictions)).astype(dtype)
    Z = np.abs(Z) if objective.loss.nonnegative or "nonnegative" in penalty else Z
    half = Half(PENALTIES[penalty])
    codes = left(update, objective, Z, half)
    tolerance = 1e-6 if dtype == np.float64 else 1e-4
    size = tolerance * max(1, np.abs(codes).max())
    for rows in (np.array([11]), rng.permutation(N)[:9]):
        alone, together = left(update, objective.take(rows), Z, half), codes[rows]
        if not np.allclose(alone, together, rtol=tolerance, atol=size):  # cut short: what counts is where they settle
            alone, together = (left(update, o, Z, half, 2000) for o in (objective.take(rows), objective))
            together = together[rows]
        np.testing.assert_allclose(alone, together, rtol=tolerance, atol=size)


@pytest.mark.parametrize("update, model, penalty", LEFT)
def test_the_first_rows_are_allowed(update, model, penalty, dtype):
    row_model, F, half = half_step(model, penalty, "rows", dtype)
    start = first_rows(row_model, half, BY_NAME[update])
    assert start.shape == F.shape and start.dtype == dtype
    assert np.isfinite(start).all() and np.isfinite(half.value(start))


@pytest.mark.parametrize("model", ["quadratic", "entries", "entries (weighted)"])
@pytest.mark.parametrize("strength", [0.0, 0.7])
def test_least_squares_is_the_normal_equations(model, strength):
    objective = make_objective(*MODELS[model], np.float64)
    Z = np.random.default_rng(3).standard_normal((K, M))
    half = Half(Ridge(strength))
    codes = BY_NAME["least-squares"](objective.rows_given(Z), np.zeros((N, K)), half, Effort())
    weights = np.ones((N, M)) if objective.weights is None else objective.weights
    for i in range(N):
        gram = (Z * weights[i]) @ Z.T + strength * np.eye(K)
        want = np.linalg.pinv(gram) @ (Z * weights[i]) @ objective.X[i]
        np.testing.assert_allclose(codes[i], want, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("penalty", ["nonnegative", "l1(0.3)", "elastic-net", "nonnegative+elastic-net"])
@pytest.mark.parametrize("model", ["quadratic", "entries"])
def test_coordinate_descent_and_proximal_gradient_reach_the_same_codes(model, penalty):
    objective = make_objective(*MODELS[model], np.float64)
    Z = np.random.default_rng(4).standard_normal((K, M))
    half = Half(PENALTIES[penalty])
    one, two = (left(update, objective, Z, half) for update in ("coordinate", "proximal"))
    seen = np.arange(N) != 5 if model == "entries" else np.ones(N, bool)
    np.testing.assert_allclose(one[seen], two[seen], rtol=1e-5, atol=1e-6)


def test_mirror_descent_and_projected_gradient_reach_the_same_mixtures():
    objective = make_objective("squared", "dense", np.float64)
    Z = np.random.default_rng(4).standard_normal((K, M))
    half = Half(PENALTIES["simplex"])
    model = objective.rows_given(Z)
    one, two = (model.value(left(update, objective, Z, half)) for update in ("mirror", "proximal"))
    assert two <= one * (1 + 1e-9) and one == pytest.approx(two, rel=2e-2)  # mirror descent is slow near the boundary


@pytest.mark.parametrize("model", ["quadratic", "entries", "logistic", "huber", "counts"])
def test_nearest_and_flip_beat_every_other_choice(model):
    objective = make_objective(*MODELS[model], np.float64)
    Z = np.abs(np.random.default_rng(5).standard_normal((K, M))) + 0.1
    rows = objective.rows_given(Z)
    choices = ((np.arange(2**K)[:, None] >> np.arange(K)) & 1).astype(float)
    for update, penalty, codes in (("nearest", "one-hot", np.eye(K)), ("flip", "boolean", choices)):
        best = rows.row_values(left(update, objective, Z, Half(PENALTIES[penalty])))
        for code in codes:
            assert (best <= rows.row_values(np.tile(code, (N, 1))) + 1e-9).all()


def test_procrustes_is_the_best_rotation():
    objective = make_objective("squared", "dense", np.float64)
    rng = np.random.default_rng(6)
    model, half = objective.columns_given(rng.standard_normal((N, K))), Half(PENALTIES["orthonormal"], transposed=True)
    best = model.value(BY_NAME["procrustes"](model, np.eye(M)[:, :K].copy(), half, Effort()))
    for _ in range(50):
        assert best <= model.value(np.linalg.qr(rng.standard_normal((M, K)))[0]) + 1e-9


def test_a_fixed_side_stays_as_it_was():
    objective = make_objective("squared", "dense", np.float64)
    values = np.random.default_rng(7).standard_normal((N, K))
    model = objective.rows_given(np.random.default_rng(8).standard_normal((K, M)))
    new = BY_NAME["proximal"](model, values, Half(Fixed(values)), Effort())
    assert np.array_equal(new, values)


def test_the_offset_answers_to_no_penalty():
    half = Half(L1(5.0), transposed=True, exempt=(1,))
    F = np.array([[1.0, 9.0], [2.0, -9.0]])
    assert np.array_equal(half.prox(F, 1.0), [[0.0, 9.0], [0.0, -9.0]])
    assert half.value(F) == 15.0 and half.terms is None
