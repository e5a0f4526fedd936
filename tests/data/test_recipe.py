"""From a file to a model: what is left out, what is scaled, and that it can be undone."""

import numpy as np
import polars
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unweave.data.named import NamedTable
from unweave.data.recipe import prepare

NUMBERS = st.floats(-1e6, 1e6, width=32)


def table(X, **more):
    return NamedTable(X, columns=[f"c{j}" for j in range(X.shape[1])], **more)


def test_unlike_units_are_standardised_and_said(rng):
    X = rng.normal(size=(50, 3)) * [1, 50, 1000] + 3
    ready, recipe = prepare(table(X))
    np.testing.assert_allclose(ready.X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(ready.X.std(axis=0), 1)
    assert "unlike units" in recipe.notes[0]


def test_like_units_are_left_alone(rng):
    X = rng.normal(size=(50, 3)) * [1, 2, 3] + 3
    ready, recipe = prepare(table(X))
    assert ready.X is X and recipe.notes == [] and recipe.shift is None


def test_parts_are_scaled_but_not_shifted(rng):
    X = rng.random((50, 3)) * [1, 50, 1000]
    ready, recipe = prepare(table(X), centre=False)
    assert ready.X.min() >= 0 and recipe.shift is None
    np.testing.assert_allclose(ready.X.std(axis=0), 1)


@pytest.mark.parametrize("kind", ["counts", "text", "images", "pairs"])
def test_only_plain_tables_are_scaled_unasked(kind, rng):
    X = rng.random((20, 2)) * [1, 500]
    assert prepare(table(X, kind=kind))[1].scale is None
    assert prepare(table(X, kind=kind), scale="unit")[1].scale is not None


def test_new_rows_get_the_old_means_and_columns_by_name(rng):
    X = rng.normal(size=(30, 3)) * [1, 100, 1]
    _, recipe = prepare(table(X))
    new = rng.normal(size=(4, 3))
    turned = NamedTable(new[:, [2, 0, 1]], columns=["c2", "c0", "c1"])
    np.testing.assert_array_equal(recipe.apply(turned).X, recipe.apply(table(new)).X)
    np.testing.assert_allclose(recipe.restore(recipe.apply(table(new)).X), new)


def test_what_cannot_be_matched_is_named(rng):
    _, recipe = prepare(table(rng.normal(size=(9, 3))))
    with pytest.raises(ValueError, match=r"lacks columns .*'c2'"):
        recipe.apply(table(rng.normal(size=(4, 2))))
    with pytest.raises(ValueError, match=r"has 2 columns, but .* 3"):
        recipe.apply(NamedTable(rng.normal(size=(4, 2))))


def test_columns_that_say_nothing_are_left_out(rng):
    frame = polars.DataFrame({"x": rng.random(9), "town": ["Bath"] * 9, "ok": [True, False, True] * 3})
    ready, recipe = prepare(NamedTable(frame, columns=frame.columns))
    assert ready.columns == ["x", "ok"] and ready.X.dtype == np.float64 and "'town'" in recipe.notes[0]
    with pytest.raises(ValueError, match="no column that varies"):
        prepare(NamedTable(frame[["town"]], columns=["town"]))
    ids = polars.DataFrame({"key": [f"k{i}" for i in range(9)]})
    with pytest.raises(ValueError, match=r"no column of numbers, categories or dates, only 'key' \(an id\)"):
        prepare(NamedTable(ids, columns=["key"]))


def test_nothing_that_varies_is_refused():
    with pytest.raises(ValueError, match="no column that varies"):
        prepare(table(np.ones((4, 2))))
    with pytest.raises(ValueError, match="scale='log'"):
        prepare(table(np.eye(2)), scale="log")


def test_sparse_tables_stay_sparse(rng):
    X = sp.random_array((40, 6), density=0.3, rng=rng, format="csr")
    assert prepare(table(X))[0].X is X
    ready, _ = prepare(table(X), scale="unit")
    assert ready.sparse
    np.testing.assert_allclose(np.asarray(ready.X.multiply(ready.X).mean(axis=0)).ravel(), 1)
    with pytest.raises(ValueError, match="would fill a sparse table"):
        prepare(table(X), scale="standard")


def test_unstored_ratings_are_unknown_not_constant():
    X = sp.csr_array((np.array([3.0, 3.0]), (np.array([0, 1]), np.array([0, 0]))), shape=(2, 2))
    assert prepare(table(X, missing="zeros"))[0].shape == (2, 2)


@settings(max_examples=60, deadline=None)
@given(arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 5)), elements=NUMBERS | st.just(np.nan)))
def test_ready_and_back(X):
    try:
        ready, recipe = prepare(table(X, missing="nan"))
    except ValueError as error:
        assert "no column that varies" in str(error)
        return
    assert np.isfinite(ready.X[~np.isnan(ready.X)]).all()
    np.testing.assert_array_equal(np.isnan(ready.X), np.isnan(X[:, recipe.keep]))
    np.testing.assert_allclose(recipe.restore(ready.X), X[:, recipe.keep], rtol=1e-6, atol=1e-3)
