"""Typed columns: Parquet files, and NDJSON with one object per line."""

from __future__ import annotations

import datetime
import gzip

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings

from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import saved
from unweave.data.readers import ReadError, frames, read

nan = np.nan


def parquet(columns: dict) -> bytes:
    return saved(pl.DataFrame(columns).write_parquet)


def test_parquet_numbers_names_and_holes(write):
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


PARQUET = [parquet({"name": ["a", "b", "c"], "x": [1.0, 2.0, None], "y": [1, 2, 3]}), parquet({"x": list(range(500))})]


@settings(max_examples=60)
@given(broken(*PARQUET))
def test_spoiled_parquet_is_read_or_refused(data):
    reads_or_refuses(data, "parquet")


# -- NDJSON ----------------------------------------------------------------------------------------------------------


def test_ndjson_numbers_names_and_holes(write):
    table = read(write("a.jsonl", '{"name": "ann", "x": 1, "y": true}\n\n{"name": "bob", "x": null}\r\n'))
    assert table.rows == ["ann", "bob"] and table.columns == ["x", "y"] and table.missing == "nan"
    np.testing.assert_array_equal(table.X, [[1, 1], [nan, nan]])
    assert read(write("a.txt", '{"x": 1, "y": 2.5}\n')).X.tolist() == [[1, 2.5]]


def test_nan_as_python_writes_it(write):
    table = read(write("a.jsonl", '{"x": NaN, "y": 2}\n{"x": 1, "y": false}\n'))
    np.testing.assert_array_equal(table.X, [[nan, 2], [1, 0]])


def test_words_leave_a_frame(write):
    table = read(write("a.jsonl", '{"x": 1, "town": "Bath"}\n{"x": 2, "town": null}\n'))
    assert not table.numeric and table.X["town"].to_list() == ["Bath", None]
    assert read(write("a.jsonl", '{"x": 1, "town": "Bath"}\n'), names="town").rows == ["Bath"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"x": 1}\n{"x": \n', 2, "is not a JSON object"),
        ('{"x": 1}\n[2]\n', 2, "is not a JSON object such as"),
        ('{"x": 1}\n{"x": Infinity}\n', 2, "infinite or too large"),
        ('{"x": true}\n{"x": 1}\n{"x": [NaN]}\n', 3, "a list or an object"),
        ('{"x": NaN}\n{"x": 1}\n{"x": "two"}\n', 3, "a number on some lines and words on others"),
        ("{}\n", 1, "holds no keys"),
    ],
)
def test_errors_name_the_line(write, text, line, words):
    path = write("bad.jsonl", text)
    with pytest.raises(ReadError) as caught:
        read(path, format="ndjson")
    assert str(caught.value).startswith(f"{path}, line {line}: ") and words in str(caught.value)


def test_lists_are_refused(write):
    with pytest.raises(ReadError, match="'x' holds lists or objects; flatten it"):
        read(write("a.jsonl", '{"x": [1, 2]}\n'))


def test_bytes_that_are_not_utf8(write):
    with pytest.raises(ReadError, match=r"line 2: is not UTF-8 text.*encoding='latin-1'"):
        read(write("a.jsonl", b'{"n": "a", "x": 1}\n{"n": "\xe9", "x": 1}\n'))


NDJSON = [
    b'{"name": "a", "x": 1, "y": true}\n{"name": "b", "x": 2.5, "y": null}\n',
    b'{"x": 1e3}\n{"x": NaN}\n{"y": [1]}\n',
]


@settings(max_examples=80)
@given(broken(*NDJSON))
@example(b"{")
@example(b'{"a":' * 3000)
def test_spoiled_ndjson_is_read_or_refused(data):
    reads_or_refuses(data, "ndjson")


def test_an_array_of_records(write):
    records = '[{"name": "a", "x": 1, "y": null},\n {"name": "b", "x": 2.5, "y": true},\n {"name": "c"}]'
    for name in ("a.json", "a.jsonl", "a"):
        table = read(write(name, records))
        assert table.rows == ["a", "b", "c"] and table.columns == ["x", "y"]
        np.testing.assert_array_equal(table.X, [[1, nan], [2.5, 1], [nan, nan]])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"x": 1}, {"x": 2}', "line 1: is not JSON"),
        ('[{"x": 1}, 2]', "not an array of JSON objects"),
        ('[{"x": [1]}]', "'x' holds a list or an object"),
        ('[{"x": 1}, {"x": "two"}]', "words on others"),
    ],
)
def test_arrays_that_are_wrong_are_said(write, text, words):
    with pytest.raises(ReadError, match=words):
        read(write("bad.json", text))
