"""Triples become a table that remembers its ids."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from unweave.complete.ratings import Ratings, ratings
from unweave.data.named import NamedTable

TRIPLES = {
    "who": ["ann", "bob", "ann", "cy", "ann"],
    "what": [7, 7, 3, 9, 7],
    "stars": [5.0, 3.0, 0.0, 2.0, 1.0],
    "when": [30, 10, 20, 40, 5],
}


def of(frame=TRIPLES, **changes):
    return ratings(frame, **{"user": "who", "item": "what", "value": "stars", **changes})


@pytest.mark.parametrize("frame", [TRIPLES, pd.DataFrame(TRIPLES), pl.DataFrame(TRIPLES), pl.DataFrame(TRIPLES).lazy()])
def test_every_frame_gives_the_same_table(frame):
    table = of(frame, time="when")
    assert isinstance(table, Ratings) and isinstance(table, NamedTable)
    assert table.kind == "ratings" and table.missing == "zeros"
    assert table.user_ids.tolist() == ["ann", "bob", "cy"] and table.item_ids.tolist() == [7, 3, 9]
    assert table.rows == ["ann", "bob", "cy"] and table.columns == ["7", "3", "9"]
    assert isinstance(table.X, sp.csr_array) and table.X.has_canonical_format
    assert table.X.nnz == 4, "a rating of zero is stored"
    assert table.X.toarray().tolist() == [[3, 0, 0], [3, 0, 0], [0, 0, 2]]
    assert table.times.tolist() == [30, 20, 10, 40], "in the order of the entries, the latest of a pair"
    assert repr(table) == "Ratings(3 users × 3 items, 4 ratings)"
    assert "1 ratings" in table.notes[0]


@pytest.mark.parametrize(
    ("how", "time", "expected"),
    [("mean", None, 3.0), ("sum", None, 6.0), ("last", None, 1.0), ("last", "when", 5.0), ("mean", "when", 3.0)],
)
def test_duplicates(how, time, expected):
    assert of(duplicates=how, time=time).X[0, 0] == expected


def test_duplicates_can_be_an_error():
    with pytest.raises(ValueError, match="1 ratings repeat a pair"):
        of(duplicates="error")
    assert of({name: column[:4] for name, column in TRIPLES.items()}, duplicates="error").X.nnz == 4


def test_last_of_equal_times_is_the_lowest_row():
    frame = {"u": [1, 1, 1], "i": [1, 1, 1], "v": [1.0, 2.0, 3.0], "t": [5, 5, 1]}
    assert ratings(frame, user="u", item="i", value="v", time="t", duplicates="last").X[0, 0] == 2


def test_without_value_every_pair_counts_one():
    table = ratings(TRIPLES, user="who", item="what")
    assert table.X.data.tolist() == [1, 1, 1, 1]
    assert ratings(TRIPLES, user="who", item="what", duplicates="sum").X[0, 0] == 2


def test_types_of_values():
    frame = {"u": [1, 2], "i": [1, 2]}
    assert ratings({**frame, "v": np.array([1, 2], np.float32)}, user="u", item="i", value="v").X.dtype == np.float32
    assert ratings({**frame, "v": [1, 2]}, user="u", item="i", value="v").X.dtype == np.float64
    days = [datetime.date(2020, 1, 2), datetime.date(2019, 1, 2)]
    for times in (days, pd.Series(pd.to_datetime(days)), pl.Series(days), np.array(days, "datetime64[D]")):
        table = ratings({**frame, "t": times}, user="u", item="i", time="t")
        assert table.times.dtype.kind == "M" and table.times[0] > table.times[1]


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"frame": {"who": [], "what": [], "stars": []}}, ValueError, "empty"),
        ({"frame": pd.DataFrame(TRIPLES).iloc[:0]}, ValueError, "empty"),
        ({"frame": [1, 2]}, TypeError, "data frame or a dict"),
        ({"user": "nobody"}, ValueError, "user='nobody' is not a column.*'who', 'what'"),
        ({"value": "nothing"}, ValueError, "value='nothing'"),
        ({"duplicates": "first"}, ValueError, "duplicates='first'"),
        ({"value": "who"}, ValueError, "must be a column of numbers"),
        ({"time": "who"}, ValueError, "numbers or dates"),
        ({"frame": {**TRIPLES, "stars": [1, 2, np.nan, 4, 5]}}, ValueError, "1 ratings that are NaN.*row 2"),
        ({"frame": {**TRIPLES, "stars": [1, 2, np.inf, 4, 5]}}, ValueError, "NaN or infinite"),
        ({"frame": pd.DataFrame({**TRIPLES, "stars": [1, 2, None, 4, 5]})}, ValueError, "NaN or infinite"),
        ({"frame": pl.DataFrame({**TRIPLES, "stars": [1, 2, None, 4, 5]})}, ValueError, "NaN or infinite"),
        ({"frame": {**TRIPLES, "when": [1, 2, np.nan, 4, 5]}, "time": "when"}, ValueError, "times that are missing"),
        ({"frame": {**TRIPLES, "stars": [1.0]}}, ValueError, "different lengths"),
        ({"frame": {**TRIPLES, "who": ["a", None, "b", "c", "d"]}}, ValueError, "missing ids"),
    ],
)
def test_bad_input(changes, error, words):
    with pytest.raises(error, match=words):
        of(**changes)


def test_ids_must_fit_the_table():
    with pytest.raises(ValueError, match="user_ids has 1 ids"):
        Ratings(np.eye(2), user_ids=np.array(["a"], object))


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.floats(-5, 5)), min_size=1, max_size=40))
def test_the_table_is_the_mean_of_each_pair(triples):
    users, items, values = (list(column) for column in zip(*triples, strict=True))
    table = ratings({"u": users, "i": items, "v": values}, user="u", item="i", value="v")
    pairs: dict = {}
    for u, i, v in triples:
        pairs.setdefault((u, i), []).append(v)
    coo = table.X.tocoo()
    found = {(table.user_ids[r], table.item_ids[c]): v for r, c, v in zip(*coo.coords, coo.data, strict=True)}
    assert found.keys() == pairs.keys()
    assert all(np.isclose(found[pair], np.mean(values)) for pair, values in pairs.items())
