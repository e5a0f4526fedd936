"""Laws that every objective and its row models obey: how a table is stored does not change what is asked of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from unweave import Factorization
from unweave.losses import LOSSES, ColumnLosses, Weighted, get_loss
from unweave.objectives import Blocks, Dense, Observed, Sparse
from unweave.objectives.models import Quadratic
from unweave.objectives.opening import open_table
from unweave.scale.visits import Here, Loader

N, M, K = 23, 6, 3
MIXED = ["squared", "logistic", "categorical", "huber", "ordinal", "absolute"]
ALL_LOSSES = [*LOSSES, "columns"]
NARROW = [name for name in LOSSES if name not in ("ordinal", "categorical")]  # one prediction a column
COMPLETE = ["dense", "sparse", "blocks", "sparse blocks"]
PARTIAL = ["masked", "weighted", "observed", "masked blocks"]
every_loss = pytest.mark.parametrize("name", ALL_LOSSES)
every_narrow = pytest.mark.parametrize("name", NARROW)


def table(name: str, rng, n: int = N, m: int = M) -> np.ndarray:
    """Data in the domain of a loss, about half of it zero where zero is in the domain."""
    if name == "columns":
        return np.concatenate([table(part, rng, n, 1) for part in MIXED], axis=1)
    if name in ("logistic", "hinge"):
        return (rng.random((n, m)) < 0.4).astype(float)
    if name in ("ordinal", "categorical"):
        return rng.choice([0.0, 1.0, 2.0], size=(n, m))
    if name == "kl":
        return rng.poisson(1.5, (n, m)).astype(float)
    if name == "itakura-saito":
        return rng.gamma(2.0, size=(n, m)) + 0.1
    return np.round(rng.standard_t(3, (n, m)) * 2, 1) * (rng.random((n, m)) < 0.6)


def prepared(name: str, X: np.ndarray):
    loss = ColumnLosses(MIXED) if name == "columns" else get_loss(name)
    ready = loss.prepare(X)
    return ready, np.ascontiguousarray(ready.encode(X), dtype=X.dtype)


def factors(objective, rng) -> tuple[np.ndarray, np.ndarray]:
    U, Z = rng.standard_normal((objective.shape[0], K)), rng.standard_normal((K, objective.n_predictions))
    if objective.loss.nonnegative:
        U, Z = np.abs(U) + 0.1, np.abs(Z) + 0.1
    return U.astype(objective.dtype), Z.astype(objective.dtype)


def blocks_of(objective) -> Blocks:
    """The same table cut into blocks of 5, 10 and 8 rows."""
    spans = [(0, 5), (5, 15), (15, objective.shape[0])]

    load = Loader(spans, lambda span, i: objective.take(np.arange(*span)))
    return Blocks(load, [b - a for a, b in spans], load(0), objective.complete, Here())


def make(name: str, storage: str, dtype, seed: int = 0):
    """An objective of that storage, and the dense one that must agree with it; None where a loss does not fit."""
    rng = np.random.default_rng(seed)
    loss, X = prepared(name, table(name, rng).astype(dtype))
    weights = None
    if storage in PARTIAL:
        weights = (rng.random(X.shape) < 0.7).astype(dtype)
        weights[4], weights[0] = 0, 1  # a row with nothing observed, and one with everything
        if storage == "weighted":
            weights *= rng.choice([0.5, 1.0, 3.0], X.shape).astype(dtype)
        X = np.where(weights != 0, X, 0).astype(dtype)
    dense = Dense(X, loss, weights)
    if storage in ("dense", "masked", "weighted"):
        return dense, dense
    if storage in ("blocks", "masked blocks"):
        return blocks_of(dense), dense
    if name not in NARROW:
        return None
    if storage == "observed":
        rows, columns = np.nonzero(weights)
        stored = sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
        return Observed(stored, loss), dense
    sparse = Sparse(sp.csr_array(X), loss)
    return (sparse if storage == "sparse" else blocks_of(sparse)), dense


def tolerance(dtype) -> float:
    return 2e-4 if dtype == np.float32 else 1e-9


def agree(a, b, dtype, size: float = 1.0):
    scale = max(size, float(np.abs(np.asarray(b, dtype=np.float64)).max(initial=0)))
    np.testing.assert_allclose(a, b, rtol=tolerance(dtype), atol=tolerance(dtype) * scale)


def models(objective, U, Z):
    """Both row models, each with the factor it is a function of."""
    return [(objective.rows_given(Z), U), (objective.columns_given(U), np.ascontiguousarray(Z.T))]


CASES = [
    (name, storage) for name in ALL_LOSSES for storage in COMPLETE + PARTIAL
    if name in NARROW or storage not in ("sparse", "sparse blocks", "observed")
]  # fmt: skip
every_case = pytest.mark.parametrize("name, storage", CASES)


@every_case
def test_values_and_gradients_do_not_depend_on_the_storage(name, storage, dtype):
    objective, dense = make(name, storage, dtype)
    U, Z = factors(dense, np.random.default_rng(1))
    assert objective.shape == dense.shape and objective.n_predictions == dense.n_predictions
    assert objective.value(U, Z) == pytest.approx(dense.value(U, Z), rel=tolerance(dtype))
    agree(objective.row_values(U, Z), dense.row_values(U, Z), dtype)
    agree(objective.column_values(U, Z), dense.column_values(U, Z), dtype)
    for side in ("rows", "columns"):
        gradient = objective.gradient(U, Z, side)
        assert gradient.dtype == dtype
        agree(gradient, dense.gradient(U, Z, side), dtype)


@every_case
def test_totals_are_sums_over_rows_and_over_columns(name, storage, dtype):
    objective, _ = make(name, storage, dtype)
    U, Z = factors(objective, np.random.default_rng(1))
    total = objective.value(U, Z)
    assert objective.row_values(U, Z).sum() == pytest.approx(total, rel=tolerance(dtype))
    assert objective.column_values(U, Z).sum() == pytest.approx(total, rel=tolerance(dtype))
    assert objective.accurate_value(U, Z) == pytest.approx(total, rel=10 * tolerance(dtype))


@every_case
def test_both_row_models_say_the_value_and_the_gradient_of_the_objective(name, storage, dtype):
    objective, dense = make(name, storage, dtype)
    U, Z = factors(dense, np.random.default_rng(2))
    total = dense.value(U, Z)
    for (model, F), side in zip(models(objective, U, Z), ("rows", "columns"), strict=True):
        assert model.shape == F.shape and model.dtype == dtype
        assert model.value(F) == pytest.approx(total, rel=tolerance(dtype), abs=tolerance(dtype))
        gradient = model.gradient(F)
        assert gradient.dtype == dtype and gradient.shape == F.shape
        agree(gradient, dense.gradient(U, Z, side), dtype)


@every_case
def test_row_values_differ_from_the_loss_of_each_row_by_a_constant(name, storage, dtype):
    objective, dense = make(name, storage, dtype)
    rng = np.random.default_rng(3)
    (U, Z), (V, _) = factors(dense, rng), factors(dense, rng)
    model = objective.rows_given(Z)
    change = model.row_values(V) - model.row_values(U)
    agree(change, dense.row_values(V, Z) - dense.row_values(U, Z), dtype, 30.0)


@every_case
def test_the_gradient_is_the_slope_of_the_value(name, storage):
    objective, _ = make(name, storage, np.float64)
    rng = np.random.default_rng(4)
    for model, F in models(objective, *factors(objective, rng)):
        way, h = rng.standard_normal(F.shape), 1e-6
        slope = (model.value(F + h * way) - model.value(F - h * way)) / (2 * h)
        # Hinge and absolute have corners: a step across one is off by at most its size.
        assert slope == pytest.approx(float(np.vdot(model.gradient(F), way)), rel=2e-5, abs=2e-4)


@every_case
def test_lipschitz_bounds_how_fast_the_gradient_changes(name, storage, dtype):
    objective, _ = make(name, storage, dtype)
    rng = np.random.default_rng(5)
    for model, F in models(objective, *factors(objective, rng)):
        bound = model.lipschitz
        if bound is None:
            assert name in ("kl", "itakura-saito", "hinge")
            continue
        assert bound.shape in ((1, 1), (len(F), 1)) and bound.dtype == dtype and (bound > 0).all()
        for size in (1e-2, 1.0, 10.0):
            G = F + (size * rng.standard_normal(F.shape)).astype(dtype)
            change = np.linalg.norm((model.gradient(G) - model.gradient(F)).astype(np.float64), axis=1)
            moved = np.linalg.norm((G - F).astype(np.float64), axis=1)
            slack = 100 * np.finfo(dtype).eps * np.abs(model.gradient(F)).max()
            if model.separable:
                assert (change <= 1.0001 * np.broadcast_to(bound[:, 0], len(F)) * moved + slack).all()
            else:
                assert np.linalg.norm(change) <= 1.0001 * float(bound.max()) * np.linalg.norm(moved) + slack


@every_case
def test_a_model_of_some_rows_agrees_with_the_model_of_all(name, storage, dtype):
    objective, _ = make(name, storage, dtype)
    rows = np.array([7, 0, 22, 4])
    for model, F in models(objective, *factors(objective, np.random.default_rng(6))):
        pick = rows % len(F)
        smaller = model.take(pick)
        if smaller is None:
            continue
        part = np.ascontiguousarray(F[pick])
        assert smaller.shape == part.shape and smaller.kind == model.kind
        agree(smaller.row_values(part), model.row_values(F)[pick], dtype)
        agree(smaller.gradient(part), model.gradient(F)[pick], dtype)


@every_case
def test_an_objective_of_some_rows_agrees_with_the_whole(name, storage, dtype):
    objective, _ = make(name, storage, dtype)
    rows = np.array([3, 19, 4])
    U, Z = factors(objective, np.random.default_rng(6))
    smaller = objective.take(rows)
    if smaller is None:
        assert objective.in_blocks
        return
    agree(smaller.row_values(U[rows], Z), objective.row_values(U, Z)[rows], dtype)


@every_case
@pytest.mark.parametrize("held", [[0], [2], [0, 1]])
def test_a_model_with_held_columns_agrees_with_the_full_one(name, storage, held, dtype):
    objective, _ = make(name, storage, dtype)
    free = [t for t in range(K) if t not in held]
    for model, F in models(objective, *factors(objective, np.random.default_rng(7))):
        rest, part = model.hold(F, held), np.ascontiguousarray(F[:, free])
        assert rest.shape == part.shape
        assert rest.value(part) == pytest.approx(model.value(F), rel=tolerance(dtype), abs=tolerance(dtype))
        agree(rest.gradient(part), model.gradient(F)[:, free], dtype)
        moved = part * dtype(1.5)
        full = F.copy()
        full[:, free] = moved
        agree(rest.row_values(moved) - rest.row_values(part), model.row_values(full) - model.row_values(F), dtype, 30.0)
        if rest.lipschitz is not None:
            assert np.isfinite(rest.lipschitz).all()


@every_case
def test_holding_nothing_changes_nothing(name, storage):
    objective, _ = make(name, storage, np.float64)
    for model, F in models(objective, *factors(objective, np.random.default_rng(7))):
        assert model.hold(F, []) is model


@pytest.mark.parametrize("name", ["squared", "kl", "logistic", "huber", "hinge", "absolute"])
@pytest.mark.parametrize("storage", ["dense", "masked", "weighted"])
def test_columns_are_the_rows_of_the_transposed_table(name, storage, dtype):
    _, dense = make(name, storage, dtype)
    turned = Dense(
        np.ascontiguousarray(dense.X.T), dense.loss,
        None if dense.weights is None else np.ascontiguousarray(dense.weights.T),
    )  # fmt: skip
    U, Z = factors(dense, np.random.default_rng(8))
    F = np.ascontiguousarray(Z.T)
    ours, theirs = dense.columns_given(U), turned.rows_given(np.ascontiguousarray(U.T))
    assert ours.kind == theirs.kind
    assert ours.value(F) == pytest.approx(theirs.value(F), rel=tolerance(dtype))
    agree(ours.gradient(F), theirs.gradient(F), dtype)
    agree(ours.row_values(F), theirs.row_values(F), dtype)


@pytest.mark.parametrize("name", ["squared", "kl", "logistic"])
def test_sparse_columns_are_the_rows_of_the_transposed_table(name, dtype):
    sparse, _ = make(name, "sparse", dtype)
    turned = Sparse(sp.csr_array(sparse.X.T), sparse.loss)
    U, Z = factors(sparse, np.random.default_rng(8))
    F = np.ascontiguousarray(Z.T)
    ours, theirs = sparse.columns_given(U), turned.rows_given(np.ascontiguousarray(U.T))
    assert ours.kind == theirs.kind
    assert ours.value(F) == pytest.approx(theirs.value(F), rel=tolerance(dtype))
    agree(ours.gradient(F), theirs.gradient(F), dtype)


@every_narrow
def test_observed_everywhere_is_complete(name, dtype):
    _, dense = make(name, "dense", dtype)
    rows, columns = np.nonzero(np.ones(dense.shape))
    stored = sp.csr_array((dense.X[rows, columns], (rows, columns)), shape=dense.shape)
    U, Z = factors(dense, np.random.default_rng(9))
    for other in (Observed(stored, dense.loss), Dense(dense.X, dense.loss, np.ones_like(dense.X))):
        assert other.value(U, Z) == pytest.approx(dense.value(U, Z), rel=tolerance(dtype))
        assert other.n_observed == dense.n_observed == dense.X.size
        for (theirs, F), (ours, _) in zip(models(other, U, Z), models(dense, U, Z), strict=True):
            assert theirs.value(F) == pytest.approx(ours.value(F), rel=tolerance(dtype))
            agree(theirs.gradient(F), ours.gradient(F), dtype)
            change = theirs.row_values(F * dtype(2)) - theirs.row_values(F)
            agree(change, ours.row_values(F * dtype(2)) - ours.row_values(F), dtype, 30.0)


@every_loss
def test_entries_that_were_not_observed_do_not_matter(name, dtype):
    _, dense = make(name, "masked", dtype)
    other = np.where(dense.weights != 0, dense.X, 1).astype(dtype)
    changed = Dense(other, dense.loss, dense.weights)
    U, Z = factors(dense, np.random.default_rng(10))
    assert changed.value(U, Z) == dense.value(U, Z)
    for (a, F), (b, _) in zip(models(changed, U, Z), models(dense, U, Z), strict=True):
        assert np.array_equal(a.gradient(F), b.gradient(F))


@pytest.mark.parametrize("storage", COMPLETE)
def test_a_quadratic_is_the_direct_residual(storage, dtype):
    objective, dense = make("squared", storage, dtype)
    U, Z = factors(dense, np.random.default_rng(11))
    residual = dense.X.astype(np.float64) - U.astype(np.float64) @ Z.astype(np.float64)
    for model, F in models(objective, U, Z):
        assert isinstance(model, Quadratic)
        assert model.value(F) == pytest.approx(0.5 * np.square(residual).sum(), rel=tolerance(dtype))
    rows = objective.rows_given(Z)
    agree(rows.row_values(U) + 0.5 * rows.row_norms(), 0.5 * np.square(residual).sum(axis=1), dtype)
    agree(objective.row_norms(), np.square(dense.X).sum(axis=1), dtype)
    assert objective.half_norm == pytest.approx(0.5 * np.square(dense.X.astype(np.float64)).sum(), rel=tolerance(dtype))


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_a_perfect_fit_has_an_accurate_value_near_zero(storage, dtype):
    rng = np.random.default_rng(12)
    U, Z = rng.standard_normal((N, 2)).astype(dtype), (100 * rng.standard_normal((2, M))).astype(dtype)
    X, loss = U @ Z, get_loss("squared")
    objective = Dense(X, loss) if storage == "dense" else Sparse(sp.csr_array(X), loss)
    assert objective.accurate_value(U, Z) <= 100 * X.size * (np.finfo(dtype).eps * np.abs(X).max()) ** 2


@pytest.mark.parametrize("name", ["huber", "absolute"])
@pytest.mark.parametrize("storage", ["dense", "masked", "weighted", "observed"])
def test_a_majoriser_touches_and_lies_above(name, storage, dtype):
    objective, _ = make(name, storage, dtype)
    rng = np.random.default_rng(13)
    for model, F in models(objective, *factors(objective, rng)):
        assert model.reweights
        bound = model.majorise(F)
        assert bound.kind == "entries" and bound.dtype == dtype
        agree(bound.gradient(F), model.gradient(F), dtype)
        here = model.value(F) - bound.value(F)
        for size in (1e-3, 0.1, 1.0, 10.0):
            G = F + (size * rng.standard_normal(F.shape)).astype(dtype)
            assert model.value(G) - bound.value(G) <= here + tolerance(dtype) * (1 + abs(here))


@pytest.mark.parametrize("name", ["huber", "absolute"])
def test_a_majoriser_with_held_columns_touches_too(name):
    objective, _ = make(name, "masked", np.float64)
    for model, F in models(objective, *factors(objective, np.random.default_rng(14))):
        rest, part = model.hold(F, [1]), np.ascontiguousarray(F[:, [0, 2]])
        bound = rest.majorise(part)
        agree(bound.gradient(part), rest.gradient(part), np.float64)


@pytest.mark.parametrize("name, storage", [("kl", s) for s in COMPLETE + PARTIAL] + [("squared", "dense")])
def test_the_denominator_is_a_non_negative_part_of_the_gradient(name, storage, dtype):
    objective, dense = make(name, storage, dtype)
    U, Z = (np.abs(part) + dtype(0.1) for part in factors(dense, np.random.default_rng(15)))
    for model, F in models(objective, U, Z):
        below = model.denominator(F)
        above = below - model.gradient(F)
        assert below.shape == F.shape and below.min() >= 0
        assert above.min() >= -tolerance(dtype) * np.abs(below).max()


@pytest.mark.parametrize("storage", ["dense", "masked"])
def test_weights_of_columns_count_once(storage, dtype):
    from unweave.data.table import Table
    from unweave.objectives.opening import make_objective

    _, dense = make("squared", storage, dtype)
    by_column = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 4.0])
    loss = Weighted(by_column).prepare(dense.X)
    objective = make_objective(Table(dense.X, None if dense.weights is None else dense.weights != 0), loss)
    U, Z = factors(dense, np.random.default_rng(18))
    want = float(dense.column_values(U, Z) @ by_column)
    assert objective.rows_given(Z).value(U) == pytest.approx(want, rel=tolerance(dtype))
    assert objective.value(U, Z) == pytest.approx(want, rel=tolerance(dtype))
    agree(objective.gradient(U, Z, "rows"), objective.rows_given(Z).gradient(U), dtype)


@pytest.mark.parametrize("storage", PARTIAL)
def test_a_row_with_nothing_observed_costs_nothing(storage, dtype):
    objective, dense = make("squared", storage, dtype)
    U, Z = factors(dense, np.random.default_rng(16))
    assert objective.row_values(U, Z)[4] == 0
    assert not objective.rows_given(Z).gradient(U)[4].any()


def test_values_do_not_depend_on_the_threads(two_threads):
    rng = np.random.default_rng(17)
    X = (rng.random((4000, 150)) < 0.3).astype(float)
    loss = get_loss("logistic").prepare(X)
    objective = Dense(X, loss)
    U, Z = factors(objective, rng)
    one, two = two_threads(lambda: (objective.value(U, Z), objective.gradient(U, Z, "columns")))
    assert one[0] == two[0] and np.array_equal(one[1], two[1])


# -- through the door --------------------------------------------------------------------------------------------------


def through_the_door(name: str, odd: str, dtype) -> np.ndarray:
    """A table of a loss as users have them, zeros among it: one row, the same column twice, far from 1, or plain."""
    rng = np.random.default_rng(7)
    X = table(name, rng, 1 if odd == "one row" else N)
    if name == "ordinal":
        X = -X  # zero is not the first level
    if odd == "duplicate columns":
        X[:, 1] = X[:, 0]
    if odd in ("huge", "tiny") and name in IN_UNITS:
        X = X * (1e12 if odd == "huge" else 1e-12)
    return X.astype(dtype)


IN_UNITS = ("squared", "absolute", "kl")
ZEROS_ARE_DATA = [name for name in LOSSES if name not in ("weighted", "itakura-saito")]
ODD = ["plain", "one row", "duplicate columns", "huge", "tiny"]


def stored_as(X: np.ndarray) -> dict:
    """The same table in every storage that takes zeros as data, each with its `missing`."""
    half = X.shape[0] // 2
    rows, columns = np.nonzero(np.ones(X.shape))
    every = sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
    return {
        "dense": (X, None),
        "sparse": (sp.csr_array(X), None),
        "every entry stored": (every, "zeros"),
        "blocks": ([X[:half], X[half:]], None),
        "sparse blocks": ([sp.csr_array(X[:half]), sp.csr_array(X[half:])], None),
    }


def with_holes(X: np.ndarray) -> dict:
    """The same partly observed table in every storage."""
    hole = np.random.default_rng(3).random(X.shape) < 0.3
    hole[:, 0] = hole[-1] = False
    half, Y = X.shape[0] // 2, np.where(hole, np.nan, X).astype(X.dtype)
    rows, columns = np.nonzero(~hole)
    stored = sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
    return {
        "NaN": (Y, "nan"),
        "stored": (stored, "zeros"),
        "blocks": ([Y[:half], Y[half:]], "nan"),
        "stored blocks": ([stored[:half], stored[half:]], "zeros"),
    }


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", ZEROS_ARE_DATA)
def test_the_same_factors_cost_the_same_however_the_table_is_stored(name, odd, dtype):
    X = through_the_door(name, odd, dtype)
    for storages in (stored_as(X), with_holes(X)):
        costs, factor = {}, None
        for storage, (data, missing) in storages.items():
            estimator = Factorization(missing=missing)
            objective, _ = open_table(estimator, data, missing, name)
            factor = factor or factors(objective, np.random.default_rng(1))
            U, Z = factor
            scale = dtype(np.abs(X).max() or 1) if name in IN_UNITS else dtype(1)
            costs[storage] = objective.value(U * scale, Z)
            assert objective.value(0 * U, Z) >= 0
        first = next(iter(costs.values()))
        for storage, cost in costs.items():
            assert cost == pytest.approx(first, rel=tolerance(dtype)), storage


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ZEROS_ARE_DATA)
def test_fits_of_every_storage_end_at_the_same_objective(name):
    X = through_the_door(name, "plain", np.float64)
    side = "nonnegative" if name == "kl" else "ridge"
    for storages in (stored_as(X), with_holes(X)):
        # They may part on the way to one of several minima, so they begin near one.
        first, missing = next(iter(storages.values()))
        model = Factorization(2, loss=name, codes=side, components=side, missing=missing, max_iter=100).fit(first)
        model.set_params(init=(model.codes_, model.components_), max_iter=5)
        reached = [clone(model).set_params(missing=missing).fit(data).objective_ for data, missing in storages.values()]
        np.testing.assert_allclose(reached, reached[0], rtol=1e-3, err_msg=str(list(storages)))
