"""One loss for each column, against a slow loop over the columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from unweave.losses import Categorical, ColumnLosses, Huber, Ordinal, Squared, Weighted, get_loss

NAMES = ["squared", "logistic", "categorical", "huber", "ordinal", "squared", "absolute", "hinge", "kl", "weighted"]


@pytest.fixture(params=[np.float32, np.float64])
def X(request):
    rng = np.random.default_rng(0)
    n = 60
    kinds = {
        "squared": lambda: 100 * rng.standard_normal(n), "huber": lambda: rng.standard_t(2, n),
        "absolute": lambda: rng.standard_t(2, n), "weighted": lambda: rng.standard_normal(n) + 5,
        "logistic": lambda: rng.random(n) < 0.2, "hinge": lambda: rng.random(n) < 0.7,
        "kl": lambda: rng.poisson(3, n), "ordinal": lambda: rng.integers(1, 6, n),
        "categorical": lambda: rng.choice([2, 5, 9], n),
    }  # fmt: skip
    X = np.column_stack([kinds[name]() for name in NAMES]).astype(request.param)
    X[rng.random(X.shape) < 0.15] = np.nan
    return X


def test_against_a_slow_loop(X):
    loss = ColumnLosses(NAMES).prepare(X)
    code = loss.encode(X)
    x = np.nan_to_num(code)
    p = np.abs(np.random.default_rng(1).standard_normal((len(X), loss.width_total_))).astype(X.dtype) + X.dtype.type(
        0.1
    )
    value, gradient, at = loss.value(x, p), loss.gradient(x, p), 0
    assert value.dtype == gradient.dtype == X.dtype
    for j, name in enumerate(NAMES):
        own = get_loss(name).prepare(X[:, j])
        seen = own.encode(X[:, j])[~np.isnan(X[:, j])]
        best = own.constant(seen).astype(X.dtype)
        scale = np.mean([own.value(seen[i : i + 1], best)[0] for i in range(len(seen))], dtype=np.float64)
        part = slice(at, at + own.width)
        at += own.width
        assert loss.slices_[j] == part and loss.widths_[j] == own.width
        assert loss.scales_[j] == pytest.approx(scale, rel=1e-5)
        np.testing.assert_allclose(value[:, [j]], own.value(x[:, [j]], p[:, part]) / scale, rtol=1e-5)
        np.testing.assert_allclose(
            gradient[:, part], own.gradient(x[:, [j]], p[:, part]) / scale, rtol=1e-5, atol=1e-30
        )
        np.testing.assert_allclose(loss.constants(code)[part], own.constant(seen))
        np.testing.assert_allclose(loss.predict(p)[:, [j]], own.predict(p[:, part]))
    assert at == loss.width_total_ == loss.prediction_columns(len(NAMES))


def test_every_column_costs_one_at_its_best_constant(X):
    loss = ColumnLosses(NAMES).prepare(X)
    code = loss.encode(X)
    p = np.broadcast_to(loss.constants(code).astype(X.dtype), (len(X), loss.width_total_))
    value = np.where(np.isnan(code), np.nan, loss.value(np.nan_to_num(code), p))
    np.testing.assert_allclose(np.nanmean(value, axis=0), 1.0, rtol=1e-4)


def test_units_do_not_vote():
    x = np.random.default_rng(0).standard_normal((30, 1))
    X = np.hstack([x, 1000 * x])
    loss = ColumnLosses(["squared", "squared"]).prepare(X)
    value = loss.value(X, np.zeros_like(X))
    np.testing.assert_allclose(value[:, 0], value[:, 1])


def test_constant_and_empty_columns_are_divided_by_one():
    X = np.array([[5.0, 1.0, np.nan], [5.0, 1.0, np.nan]])
    loss = ColumnLosses(["squared", "logistic", "absolute"]).prepare(X)
    assert loss.scales_.tolist() == [1.0, 1.0, 1.0]
    assert np.isfinite(loss.constants(loss.encode(X))).all()


def test_columns_of_one_loss_are_grouped(X):
    assert len(ColumnLosses(["squared"] * X.shape[1]).prepare(X)._groups) == 1
    two = [Huber(1.0), Huber(2.0)] * 5
    assert len(ColumnLosses(two).prepare(X)._groups) == 2


def test_equal_widths_share_a_group_whatever_the_levels():
    X = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    loss = ColumnLosses([Categorical(), Categorical()]).prepare(X)
    assert len(loss._groups) == 1 and loss.width == 3
    assert loss.predict(np.array([[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]])).tolist() == [[2.0, 30.0]]


def test_weights_of_single_columns():
    X = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 2.0]])
    loss = ColumnLosses([Weighted([2.0]), Weighted([6.0]), Squared()]).prepare(X)
    assert loss.scales_.tolist() == [1.0, 3.0, 0.5]
    assert loss.column_curvature(3).tolist() == [2.0, 2.0, 2.0]


def test_errors_name_the_column():
    X = np.array([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match=r"column 1: loss='logistic' needs data of 0 and 1; found 2\.0"):
        ColumnLosses(["logistic", "logistic"]).prepare(X)
    loss = ColumnLosses([Squared(), Ordinal()]).prepare(X)
    with pytest.raises(ValueError, match="column 1: loss='ordinal' learned the levels"):
        loss.encode(np.array([[1.0, 9.0]]))
    with pytest.raises(ValueError, match="3 entries, one for each data column"):
        ColumnLosses(["squared"] * 3).prepare(X)
    with pytest.raises(ValueError, match="at least one loss"):
        get_loss([])
    with pytest.raises(ValueError, match=r"unknown loss 'logistc'.*Did you mean 'logistic'"):
        get_loss(["squared", "logistc"])
    with pytest.raises(ValueError, match="must hold losses or their names"):
        get_loss(["squared", ["huber"]])


def test_clone_and_traits():
    loss = ColumnLosses(["huber", Weighted()])
    assert repr(clone(loss)) == repr(loss)
    assert loss.reweights and not loss.nonnegative
    assert not ColumnLosses(["huber", "logistic"]).reweights
    assert ColumnLosses(["squared", "kl"]).nonnegative
