"""Ids become positions and come back as they went in."""

from __future__ import annotations

import datetime
import gc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave.complete.recommending import ids as module
from unweave.complete.recommending.ids import find, lookup, numbered, objects, refuse_unknown

HASHABLE = st.one_of(
    st.integers(-(2**70), 2**70), st.text(max_size=4), st.tuples(st.integers(0, 3), st.text(max_size=1))
)


@given(st.lists(HASHABLE, min_size=1, max_size=30))
def test_any_hashable_comes_back(column):
    ids, places = numbered(column, "user")
    assert [ids[p] for p in places] == column
    assert [type(ids[p]) for p in places] == [type(value) for value in column]
    assert len(set(ids.tolist())) == len(ids)
    assert ids.tolist() == list(dict.fromkeys(column))


@pytest.mark.parametrize("values", [[30, 7, 30, -2], ["b", "a", "b", "é"], [2**61, 5, 5, -(2**61)]])
def test_every_kind_of_column_numbers_alike(values):
    expected = list(dict.fromkeys(values))
    for column in (values, np.array(values), pd.Series(values), pl.Series(values), pd.Series(values, dtype="category")):
        ids, places = numbered(column, "user")
        assert ids.dtype == object and ids.tolist() == expected
        assert [expected[p] for p in places] == values
        assert {type(i) for i in ids} == {type(values[0])}


def test_polars_categories_and_dates_and_unsigned():
    ids, places = numbered(pl.Series(["b", "a", "b"], dtype=pl.Categorical), "user")
    assert ids.tolist() == ["b", "a"] and places.tolist() == [0, 1, 0]
    day = datetime.date(2020, 1, 2)
    assert numbered(pl.Series([day, day]), "user")[0].tolist() == [day]
    big = np.array([2**64 - 1, 0, 2**64 - 1], np.uint64)
    ids, places = numbered(big, "user")
    assert ids.tolist() == [2**64 - 1, 0] and places.tolist() == [0, 1, 0]
    assert numbered(np.array([True, False, True]), "user")[0].tolist() == [True, False]
    assert numbered(np.array([2.5, 1.0, 2.5]), "user")[0].tolist() == [2.5, 1.0]


@pytest.mark.parametrize(
    "column",
    [[1, None], [float("nan"), 1.0], np.array([1.0, np.nan]), pd.Series([1.0, None]), pd.Series(["a", None]),
     pl.Series(["a", None]), pl.Series([1, None]), pl.Series([1.0, float("nan")])],
)  # fmt: skip
def test_missing_ids_are_refused(column):
    with pytest.raises(ValueError, match="'user' has 1 missing ids"):
        numbered(column, "user")


def test_ids_that_are_not_hashable_are_refused():
    with pytest.raises(TypeError, match="not hashable"):
        numbered([[1], [2]], "user")
    with pytest.raises(TypeError, match="hashable"):
        find([[1]], objects(["a"]), 1, "user")
    with pytest.raises(ValueError, match="one dimension"):
        numbered(np.zeros((2, 2), int), "user")


def test_the_lookup_is_built_once_and_forgotten_with_the_ids():
    names = objects(["a", "b"])
    assert lookup(names) is lookup(names)
    key = id(names)
    del names
    gc.collect()
    assert key not in module._LOOKUPS


def test_positions_are_checked():
    assert find(range(2), None, 2, "item").tolist() == [0, 1]
    assert find([], None, 2, "item").tolist() == []
    for bad in (["a"], [1.5], np.array([1.0])):
        with pytest.raises(TypeError, match="positions of items must be whole numbers"):
            find(bad, None, 2, "item")
    with pytest.raises(ValueError, match="from 0, got -1"):
        find([-1], None, 2, "item")


def test_unknown_ids_are_named():
    with pytest.raises(ValueError, match=r"users 'a', 'b', 'c' and 1 more; do this"):
        refuse_unknown(list("abcd"), np.full(4, -1), "user", "do this")
    refuse_unknown(["a"], np.array([0]), "user", "")
