"""Laws that every registered penalty obeys, in float32 and float64."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from unweave.penalties import (
    L1,
    PENALTIES,
    Both,
    ElasticNet,
    Fixed,
    L1Ball,
    L2Ball,
    Nuclear,
    Ridge,
    Smooth,
    Sparse,
    get_penalty,
)

pytestmark = pytest.mark.filterwarnings("error")
DTYPES = [np.float32, np.float64]
SHAPE = (6, 4)
CASES = {name: kind() for name, kind in PENALTIES.items()} | {
    "fixed(values)": Fixed(np.arange(24.0).reshape(SHAPE)),
    "ridge(0.3)": Ridge(0.3), "l1(0.3)": L1(0.3), "elastic-net(2, 0.2)": ElasticNet(2.0, 0.2),
    "nuclear(0.3)": Nuclear(0.3), "smooth(0.3, 1)": Smooth(0.3, 1),
    "l1-ball(2.5)": L1Ball(2.5), "l2-ball(0.5)": L2Ball(0.5), "sparse(2)": Sparse(2), "ridge(0)": Ridge(0),
    **{f"nonnegative+{name}": Both("nonnegative", name)
       for name in ("free", "nonnegative", "ridge", "l1", "elastic-net", "l1-ball", "l2-ball", "unit-norm", "simplex",
                    "one-hot", "boolean")},
    "nonnegative+sparse(2)": Both(Sparse(2), "nonnegative"),
}  # fmt: skip
CONSTRAINTS = [key for key, penalty in CASES.items() if not penalty.is_penalty]
every_case = pytest.mark.parametrize("key", CASES)
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)


def factor(seed: int, dtype: type = np.float64, size: float = 2.0, shape: tuple[int, int] = SHAPE) -> np.ndarray:
    return (size * np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def cost(penalty, Y, F, step) -> float:
    """step*value(Y) + 1/2 ||Y - F||^2, with a step for each row if the penalty is separable."""
    if np.ndim(step):
        return sum(cost(penalty, Y[i : i + 1], F[i : i + 1], float(s)) for i, s in enumerate(step[:, 0]))
    value = penalty.value(Y)
    return (step * value if value else 0.0) + 0.5 * float(np.square(Y - F).sum())


def competitors(penalty, Y, F, rng):
    """Allowed points: random ones, projected if need be, and small changes of Y."""
    for size in (1e-4, 1e-2, 0.3, 3.0):
        for base in (Y, F):
            near = base + size * rng.standard_normal(Y.shape) * (rng.random(Y.shape) < rng.choice([0.2, 1.0]))
            yield near if penalty.is_penalty else penalty.prox(near)
            yield near
    yield np.zeros_like(F)
    yield penalty.prox(rng.standard_normal(F.shape))


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.1, 1.0, 10.0]), step=st.sampled_from([0.01, 1.0, 7.0]))
@every_case
def test_prox_beats_competitors(key, seed, size, step):
    penalty, F, rng = CASES[key], factor(seed, size=size), np.random.default_rng(seed)
    Y = penalty.prox(F, step)
    best = cost(penalty, Y, F, step)
    assert math.isfinite(best)
    for other in competitors(penalty, Y, F, rng):
        assert best <= cost(penalty, other, F, step) + 1e-8 * (1 + best)


@every_case
def test_a_step_for_each_row(key):
    penalty, F = CASES[key], factor(1)
    steps = np.array([0.0, 0.1, 0.5, 1.0, 2.0, 9.0])[:, None]
    if not penalty.separable:
        if penalty.is_penalty:
            with pytest.raises(ValueError, match="step must be one number"):
                penalty.prox(F, steps)
        same = np.full((6, 1), 0.5)
        assert np.array_equal(penalty.prox(F, same), penalty.prox(F, 0.5))
        return
    rows = np.vstack([penalty.prox(F[i : i + 1], float(steps[i, 0])) for i in range(6)])
    np.testing.assert_allclose(penalty.prox(F, steps), rows, rtol=1e-13, atol=1e-15)


@both_dtypes
@pytest.mark.parametrize("key", CONSTRAINTS)
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_projection_is_feasible_and_idempotent(key, dtype, size):
    penalty, F = CASES[key], factor(2, dtype, size)
    once = penalty.prox(F)
    assert penalty.value(once) == 0.0
    np.testing.assert_allclose(penalty.prox(once), once, atol=40 * np.finfo(dtype).eps, rtol=40 * np.finfo(dtype).eps)
    assert np.array_equal(penalty.prox(F, 0.1), penalty.prox(F, 10.0)), "a projection does not depend on the step"


@both_dtypes
@every_case
def test_input_untouched_dtype_and_shape_kept(key, dtype):
    penalty, F = CASES[key], factor(3, dtype)
    before = F.copy()
    F.setflags(write=False)
    for step in (0.5, np.float64(0.5), np.full((6, 1), 0.5)):
        Y = penalty.prox(F, step)
        assert Y.dtype == dtype and Y.shape == F.shape and not np.shares_memory(Y, F)
        Y[...] = 0
    value = penalty.value(F)
    assert isinstance(value, float) and not math.isnan(value)
    assert np.array_equal(F, before)


@every_case
def test_float32_agrees_with_float64(key):
    penalty, F = CASES[key], factor(4, np.float32)
    wide = penalty.prox(F.astype(np.float64), 0.5)
    np.testing.assert_allclose(penalty.prox(F, 0.5), wide, rtol=1e-5, atol=1e-5)


@both_dtypes
@every_case
@pytest.mark.parametrize("kind", ["zero", "equal", "huge", "tiny", "negative", "one column", "one row"])
def test_never_nan_never_an_empty_row(key, dtype, kind):
    penalty = CASES[key]
    shape = {"one column": (6, 1), "one row": (1, 4)}.get(kind, SHAPE)
    if "fixed(" in key and shape != SHAPE:
        pytest.skip("values of another shape")
    limits = np.finfo(dtype)
    F = {
        "zero": np.zeros(shape), "equal": np.ones(shape), "huge": factor(5) * (float(limits.max) / 100),
        "tiny": factor(5) * float(limits.tiny), "negative": -np.abs(factor(5)),
    }.get(kind, factor(5, shape=shape)).astype(dtype)  # fmt: skip
    Y = penalty.prox(F, 0.5)
    assert np.isfinite(Y).all()
    if any(word in key for word in ("simplex", "hull", "unit-norm", "one-hot")):
        assert np.abs(Y).max(axis=1).min() > 0
    if not penalty.is_penalty:
        assert penalty.value(Y) == 0.0


@every_case
def test_traits_are_true(key):
    penalty, F = CASES[key], factor(6)
    Y = penalty.prox(F)
    assert penalty.acts in ("entries", "rows", "matrix") and penalty.separable == (penalty.acts != "matrix")
    if penalty.scale_free:
        assert all(penalty.value(t * Y) == 0 for t in (1e-3, 1e3))
    elif penalty.is_penalty:
        assert penalty.value(2 * Y) > penalty.value(Y) > 0 or key == "ridge(0)"
    elif key not in ("cone", "fixed"):
        assert max(penalty.value(t * Y) for t in (1e-3, 1e3)) == math.inf
    if penalty.convex:
        other = penalty.prox(factor(7))
        middle = penalty.value(0.5 * (Y + other))
        assert middle <= 0.5 * (penalty.value(Y) + penalty.value(other)) + 1e-9
    if penalty.acts == "entries":
        flat = penalty.prox(F.reshape(-1, 1), 0.5).reshape(SHAPE)
        assert np.array_equal(flat, penalty.prox(F, 0.5))
    if penalty.acts == "rows":
        assert np.allclose(penalty.prox(F[2:4], 0.5), penalty.prox(F, 0.5)[2:4], rtol=1e-14)


@every_case
def test_separable_terms_tell_the_value(key):
    penalty, F = CASES[key], factor(8)
    terms = penalty.separable_terms()
    if terms is None:
        return
    l1, ridge, nonnegative = terms
    assert isinstance(nonnegative, bool) and penalty.acts == "entries"
    F = np.abs(F) if nonnegative else F
    assert penalty.value(F) == pytest.approx(l1 * np.abs(F).sum() + ridge / 2 * np.square(F).sum())
    assert nonnegative == (penalty.value(-np.abs(F)) == math.inf)


@every_case
def test_clone_pickle_and_parameters(key):
    penalty, F = CASES[key], factor(9)
    for copy in (clone(penalty), pickle.loads(pickle.dumps(penalty)), type(penalty)(**penalty.get_params(deep=False))):
        assert copy.name == penalty.name
        assert np.array_equal(copy.prox(F, 0.5), penalty.prox(F, 0.5))
    shallow = penalty.get_params(deep=False)
    assert clone(penalty).set_params(**shallow).get_params(deep=False).keys() == shallow.keys()


@pytest.mark.parametrize("name", PENALTIES)
def test_names(name):
    penalty = get_penalty(name)
    assert penalty.name == name and type(penalty) is PENALTIES[name] and get_penalty(penalty) is penalty


@pytest.mark.parametrize("kind, parameter, values", [
    (Ridge, "strength", [-1.0, math.nan, math.inf, "1", None, True]),
    (L1, "strength", [-1.0, math.nan, "1"]),
    (Nuclear, "strength", [-1.0, math.nan, None]),
    (ElasticNet, "strength", [-1.0, math.nan]),
    (ElasticNet, "l1_ratio", [-0.1, 1.1, math.nan, "half"]),
    (L1Ball, "radius", [0.0, -1.0, math.nan, "1"]),
    (L2Ball, "radius", [0.0, -1.0, math.inf, None]),
    (Sparse, "nonzeros", [0, -1, 1.5, "2", True]),
    (Fixed, "values", [[1.0, 2.0], "abc", [[math.nan]]]),
])  # fmt: skip
def test_bad_parameters_are_named(kind, parameter, values):
    for value in values:
        penalty = kind(**{parameter: value})
        for use in (penalty.validate, lambda p=penalty: p.value(factor(0)), lambda p=penalty: p.prox(factor(0), 1.0)):
            with pytest.raises(ValueError, match=parameter):
                use()
        with pytest.raises(ValueError, match=f"components: .*{parameter}"):
            get_penalty(penalty, argument="components")


@every_case
def test_bad_steps_and_shapes_are_named(key):
    penalty = CASES[key]
    for step in (-1.0, math.nan, math.inf, np.ones(4), np.ones((4, 1)), np.ones(SHAPE)):
        with pytest.raises(ValueError, match="step must be"):
            penalty.prox(factor(0), step)
    with pytest.raises(ValueError, match="F must be a matrix"):
        penalty.prox(np.ones(3), 1.0)


@pytest.mark.parametrize("key", CONSTRAINTS)
def test_nan_is_never_allowed(key):
    if key in ("free", "fixed", "sparse", "sparse(2)"):
        pytest.skip("no entry of these is looked at")
    F = CASES[key].prox(factor(1))
    F[0, 0] = math.nan
    assert CASES[key].value(F) == math.inf
