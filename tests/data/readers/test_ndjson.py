"""One JSON object a line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings

from tests.data.readers.spoil import reads_or_refuses, spoiled
from unweave.data.readers import ReadError, read

nan = np.nan


def test_numbers_names_and_holes(write):
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
        ('[{"x": 1}]\n', 1, "one JSON array"),
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


SEEDS = [
    b'{"name": "a", "x": 1, "y": true}\n{"name": "b", "x": 2.5, "y": null}\n',
    b'{"x": 1e3}\n{"x": NaN}\n{"y": [1]}\n',
]


@settings(max_examples=80)
@given(spoiled(SEEDS))
@example(b"{")
@example(b'{"a":' * 3000)
def test_spoiled_files_are_read_or_refused(data):
    if data:
        reads_or_refuses(data, "ndjson")
