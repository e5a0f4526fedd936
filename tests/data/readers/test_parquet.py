"""Parquet files."""

from __future__ import annotations

import datetime
import gzip
import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from tests.data.readers.spoil import reads_or_refuses, spoiled
from unweave.data.readers import ReadError, frames, read

nan = np.nan


def parquet(columns: dict) -> bytes:
    file = io.BytesIO()
    pl.DataFrame(columns).write_parquet(file)
    return file.getvalue()


def test_numbers_names_and_holes(write):
    table = read(write("a.bin", parquet({"name": ["a", "b"], "x": [1, None], "y": [True, False], "z": [nan, 2.5]})))
    assert table.rows == ["a", "b"] and table.columns == ["x", "y", "z"] and table.missing == "nan"
    np.testing.assert_array_equal(table.X, [[1, 1, nan], [nan, 0, 2.5]])
    assert table.X.flags.c_contiguous


def test_packed_and_strange_names_of_files(write):
    data = parquet({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    assert read(write("a[1]*.parquet", data)).X.tolist() == [[1, 3], [2, 4]]
    assert read(write("a.parquet.gz", gzip.compress(data))).X.tolist() == [[1, 3], [2, 4]]


def test_columns_are_filled_in_groups(write, rng, monkeypatch):
    X = rng.normal(size=(1000, 23))
    path = write("a.parquet", parquet({f"x{j}": X[:, j] for j in range(23)}))
    monkeypatch.setattr(frames, "_LEAST_BYTES", 1000 * 8 * 5)
    np.testing.assert_array_equal(read(path).X, X)
    np.testing.assert_array_equal(read(path, dtype="float32").X, X.astype(np.float32))


def test_words_and_dates_leave_a_frame(write):
    table = read(write("a.parquet", parquet({"x": [1, 2], "day": [datetime.date(2020, 1, 2)] * 2, "kind": ["a", "a"]})))
    assert not table.numeric and table.X["day"].to_list() == ["2020-01-02"] * 2
    assert table.X["x"].dtype == pl.Float64
    asked = read(write("a.parquet", parquet({"x": [1, 2], "id": [7, 8]})), names="id")
    assert asked.rows == ["7", "8"] and asked.columns == ["x"]
    for names in ("nobody", 5):
        with pytest.raises(ReadError, match="there is no column"):
            read(write("a.parquet", parquet({"x": [1, 2]})), names=names)


def test_infinite_lists_and_limits(write):
    with pytest.raises(ReadError, match="row 2 of the column 'x' is infinite"):
        read(write("a.parquet", parquet({"x": [1.0, np.inf]})))
    with pytest.raises(ReadError, match=r"the column 'x' holds List.*flatten"):
        read(write("a.parquet", parquet({"x": [[1, 2]]})))
    with pytest.raises(ReadError, match=r"need 1,600,000 bytes.*limit="):
        read(write("a.parquet", parquet({"x": [0] * 100_000, "y": [0] * 100_000})), limit=1_000_000)


def test_cut_off_files(write):
    data = parquet({"x": list(range(100))})
    for keep in (4, 12, len(data) // 2, len(data) - 1):
        with pytest.raises(ReadError, match="Parquet file is"):
            read(write("a.parquet", data[:keep]))


SEEDS = [parquet({"name": ["a", "b", "c"], "x": [1.0, 2.0, None], "y": [1, 2, 3]}), parquet({"x": list(range(500))})]


@settings(max_examples=60)
@given(spoiled(SEEDS))
def test_spoiled_files_are_read_or_refused(data):
    if data:
        reads_or_refuses(data, "parquet")
