"""Laws that every registered loss obeys, in float32 and float64."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import ParameterGrid

from tests.reference import losses as slow
from unweave.losses import LOSSES, ColumnLosses, Huber, Weighted, get_loss

pytestmark = pytest.mark.filterwarnings("error")
DTYPES = [np.float32, np.float64]
MIXED = ["squared", "logistic", "categorical", "huber", "ordinal", "squared", "absolute", "hinge", "categorical", "kl"]
FORMULAS = [name for name in LOSSES if name != "weighted"]
SPECS = [*LOSSES, "columns", "huber(0.3)", "weighted(3)", "columns(majorised)"]


def table(spec: str, rng: np.random.Generator, dtype: type, n: int = 40, m: int = 3) -> np.ndarray:
    """Data in the domain of a loss, a tenth of it not observed."""
    if spec.startswith("columns"):
        names = column_names(spec)
        return np.concatenate([table(name, rng, dtype, n, 1) for name in names], axis=1)
    if spec in ("logistic", "hinge"):
        X = rng.random((n, m)) < 0.4
    elif spec in ("ordinal", "categorical"):
        X = rng.choice([-2.0, 1.0, 1.5, 7.0], size=(n, m))
    elif spec == "kl":
        X = rng.poisson(2.0, size=(n, m))
    elif spec == "itakura-saito":
        X = rng.gamma(2.0, 2.0, size=(n, m)) + 0.01
    else:
        X = rng.standard_t(3, size=(n, m)) * 2 + 1
    X = X.astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def column_names(spec: str) -> list[str]:
    return MIXED if spec == "columns" else ["huber", "squared", "absolute"]


def build(spec: str):
    if spec.startswith("columns"):
        return ColumnLosses(column_names(spec))
    return {"huber(0.3)": Huber(0.3), "weighted(3)": Weighted([0.5, 2.0, 0.0])}.get(spec) or get_loss(spec)


def case(spec: str, dtype: type, seed: int = 0, size: float = 2.0):
    """A prepared loss, encoded full data and two predictions."""
    rng = np.random.default_rng(seed)
    X = table(spec.split("(")[0] if not spec.startswith("columns") else spec, rng, dtype)
    loss = build(spec).prepare(X)
    x = np.nan_to_num(loss.encode(X), nan=1.0 if spec == "itakura-saito" else 0.0)
    shape = (x.shape[0], loss.prediction_columns(x.shape[1]))
    p, q = (size * rng.standard_normal((2, *shape))).astype(dtype)
    if loss.nonnegative:
        p, q = np.abs(p) + dtype(0.05), np.abs(q) + dtype(0.05)
    return loss, x, p, q


def owners(loss, m: int) -> np.ndarray:
    """The data column that each prediction column belongs to."""
    widths = loss.widths_ if isinstance(loss, ColumnLosses) else np.full(m, loss.width)
    return np.repeat(np.arange(m), widths)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", SPECS)
def test_shapes_dtype_and_sign(spec, dtype):
    loss, x, p, _ = case(spec, dtype)
    value, gradient = loss.value(x, p), loss.gradient(x, p)
    assert value.shape == x.shape and value.dtype == dtype
    assert gradient.shape == p.shape and gradient.dtype == dtype
    assert value.min() >= 0 and np.isfinite(value).all() and np.isfinite(gradient).all()
    predicted = loss.predict(p)
    assert predicted.shape == x.shape and predicted.dtype == dtype


@pytest.mark.parametrize("spec", SPECS)
def test_bend_is_finite_difference_of_the_gradient(spec):
    loss, x, p, _ = case(spec, np.float64)
    if not loss.bends:
        with pytest.raises(NotImplementedError, match="bends"):
            loss.bend(x, p)
        return
    h = 1e-6 * np.abs(p)
    slope = (loss.gradient(x, p + h) - loss.gradient(x, p - h)) / (2 * h)
    bend = loss.bend(x, p)
    assert bend.min() >= 0
    np.testing.assert_allclose(bend, slope, rtol=1e-4, atol=1e-6 * bend.max())


@pytest.mark.parametrize("spec", SPECS)
def test_gradient_is_finite_difference(spec):
    loss, x, p, _ = case(spec, np.float64)
    gradient, own, h = loss.gradient(x, p), owners(loss, x.shape[1]), 1e-6
    for c in range(p.shape[1]):
        ahead, behind = p.copy(), p.copy()
        ahead[:, c] += h
        behind[:, c] -= h
        slope = (loss.value(x, ahead) - loss.value(x, behind)) / (2 * h)
        # Between the pieces of a loss the second derivative jumps: there the difference is off by h * curvature.
        jump = h * (1.0 if loss.curvature is None else loss.curvature)
        np.testing.assert_allclose(gradient[:, c], slope[:, own[c]], rtol=1e-5, atol=1e-7 + jump)
        others = np.delete(slope, own[c], axis=1)
        assert not others.any()


@pytest.mark.parametrize("spec", SPECS)
def test_float32_agrees_with_float64(spec):
    loss, x, p, _ = case(spec, np.float32)
    wide = loss.value(x.astype(np.float64), p.astype(np.float64))
    np.testing.assert_allclose(loss.value(x, p), wide, rtol=2e-4, atol=2e-6)
    wide = loss.gradient(x.astype(np.float64), p.astype(np.float64))
    np.testing.assert_allclose(loss.gradient(x, p), wide, rtol=2e-4, atol=2e-5 * (1 + np.abs(wide).max() / 1e3))


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.1, 1.0, 10.0]))
@pytest.mark.parametrize("spec", [spec for spec in SPECS if spec not in ("kl", "itakura-saito", "columns")])
def test_curvature_bounds_the_change_of_the_gradient(spec, seed, size):
    """l(q) <= l(p) + g(p).(q - p) + 1/2 sum c (q - p)^2, entry by entry, which is what the updates rely on."""
    loss, x, p, q = case(spec, np.float64, seed, size)
    bound, own = loss.column_curvature(x.shape[1]), owners(loss, x.shape[1])
    assert bound.shape == (p.shape[1],)
    assert bound.max() <= loss.curvature * (1 + 1e-12)
    model = np.zeros_like(x)
    np.add.at(model.T, own, (loss.gradient(x, p) * (q - p) + 0.5 * bound * (q - p) ** 2).T)
    model += loss.value(x, p)
    assert np.all(loss.value(x, q) <= model + 1e-9 * (1 + np.abs(model)))


def test_divergences_have_no_curvature_bound():
    loss, x, _, _ = case("columns", np.float64)
    for name in ("kl", "itakura-saito"):
        assert get_loss(name).curvature is None and get_loss(name).column_curvature(4) is None
    assert loss.curvature is None and loss.column_curvature(x.shape[1]) is None and loss.nonnegative


@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.01, 1.0, 10.0]))
@pytest.mark.parametrize("spec", ["squared", "weighted", "weighted(3)", "huber", "huber(0.3)", "absolute",
                                  "columns(majorised)"])  # fmt: skip
def test_weights_majorise(spec, seed, size):
    loss, x, p, q = case(spec, np.float64, seed, size)
    w = loss.weights(x, p)
    assert w.shape == x.shape and w.min() >= 0
    bound = loss.value(x, p) + 0.5 * w * ((q - x) ** 2 - (p - x) ** 2)
    assert np.all(loss.value(x, q) <= bound + 1e-9 * (1 + np.abs(bound)))
    np.testing.assert_allclose(w * (p - x), loss.gradient(x, p), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("spec", SPECS)
def test_weights_or_none(spec):
    loss, x, p, _ = case(spec, np.float32)
    w = loss.weights(x, p)
    if w is None:
        assert not loss.reweights
    else:
        assert w.dtype == np.float32
    assert not loss.reweights or w is not None


@pytest.mark.parametrize("spec", [spec for spec in SPECS if not spec.startswith("columns")])
@pytest.mark.parametrize("seed", [0, 1])
def test_constant_beats_other_constants(spec, seed):
    rng = np.random.default_rng(seed)
    X = table(spec.split("(")[0], rng, np.float64, n=30, m=3)
    loss = build(spec).prepare(X)
    x = loss.encode(X)
    best = loss.constants(x)
    assert best.shape == (3 * loss.width,) and np.isfinite(best).all()
    seen = ~np.isnan(x)

    def total(p):
        return np.where(seen, loss.value(np.nan_to_num(x), np.broadcast_to(p, (30, p.size))), 0).sum()

    for _ in range(200):
        other = best + rng.choice([1e-3, 0.1, 1.0]) * rng.standard_normal(best.size)
        if loss.nonnegative:
            other = np.maximum(other, 1e-3)
        assert total(best) <= total(other) + 1e-10


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", ["hinge", "ordinal", "categorical"])
def test_encode_then_predict_comes_back(spec, dtype):
    loss, _, _, _ = case(spec, dtype)
    X = table(spec, np.random.default_rng(5), dtype)
    code = loss.encode(X)
    assert code.dtype == dtype and np.array_equal(np.isnan(code), np.isnan(X))
    x = np.nan_to_num(code)
    if spec == "hinge":
        p = 4 * x - 2
    elif spec == "ordinal":
        p = np.where(x[..., None] > np.arange(loss.width), 2.0, -2.0).reshape(len(x), -1)
    else:
        p = 5.0 * (x[..., None] == np.arange(loss.width)).reshape(len(x), -1)
    back = loss.predict(p.astype(dtype))
    assert np.array_equal(back[~np.isnan(X)], X[~np.isnan(X)])


@pytest.mark.parametrize("spec", FORMULAS)
def test_agrees_with_the_formula(spec):
    loss, x, p, _ = case(spec, np.float64)
    extra = {"eps": loss.eps_} if spec == "absolute" else {}
    rows = p.reshape(*x.shape, loss.width)
    expected = [
        [getattr(slow, spec.replace("-", "_"))(x[i, j], rows[i, j], **extra) for j in range(3)] for i in range(len(x))
    ]
    np.testing.assert_allclose(loss.value(x, p), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", SPECS)
def test_extreme_predictions_stay_finite_and_silent(spec, dtype):
    loss, x, p, _ = case(spec, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (0.0, 1e-12, 1e3, 1e6):
            far = (np.sign(p) * size).astype(dtype)
            value, gradient = loss.value(x, far), loss.gradient(x, far)
            assert np.isfinite(value).all() and np.isfinite(gradient).all() and value.min() >= 0


@pytest.mark.parametrize("spec", SPECS)
def test_prepare_leaves_the_original_and_clone_forgets(spec):
    X = table(spec if spec.startswith("columns") else spec.split("(")[0], np.random.default_rng(0), np.float64)
    loss = build(spec)
    before, data = dict(vars(loss)), X.copy()
    ready = loss.prepare(X)
    ready.encode(X)
    assert vars(loss) == before and ready is not loss
    assert np.array_equal(X, data, equal_nan=True)
    again = pickle.loads(pickle.dumps(ready))
    p = np.ones((len(X), ready.prediction_columns(X.shape[1])))
    x = np.nan_to_num(ready.encode(X))
    assert np.array_equal(again.value(x, p), ready.value(x, p))
    assert set(vars(clone(ready))) == set(before)
    assert repr(clone(ready)) == repr(loss)


@pytest.mark.parametrize("name", LOSSES)
def test_parameters_can_be_set_and_searched(name):
    loss = get_loss(name)
    assert loss.name == name and type(loss) is LOSSES[name]
    params = loss.get_params()
    for choice in ParameterGrid({key: [value] for key, value in params.items()} or [{}]):
        assert clone(loss).set_params(**choice).get_params() == params


@pytest.mark.parametrize("spec", ["absolute", "ordinal", "categorical"])
def test_use_before_prepare_is_refused_in_words(spec):
    with pytest.raises(NotFittedError, match=r"prepare\(X\)"):
        get_loss(spec).value(np.zeros((2, 1)), np.zeros((2, 1)))
