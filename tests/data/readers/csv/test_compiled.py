"""The quick way for large files gives what the other way gives: numbers to the bit, names, notes and errors."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

import unweave.kernels  # noqa: F401  (loaded, so that files need not be so large)
from tests.data.broken_files import broken
from unweave.data.readers import ReadError, read
from unweave.data.readers.csv import compiled
from unweave.data.readers.csv.parse import parse


def outcome(path, **options):
    """All that a caller sees of a table, or of the error."""
    try:
        table = read(path, **options)
    except ReadError as error:
        return str(error)
    X = table.X
    bits = X.view(f"u{X.itemsize}").tolist() if isinstance(X, np.ndarray) else X.to_dict(as_series=False)
    return str(getattr(X, "dtype", "")), bits, table.rows, table.columns, table.missing, table.notes


def both(monkeypatch, path, chunk=1 << 20, **options):
    """What comes out the quick way, the other way, and how many chunks each way of the first had."""
    taken = []
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "LARGE", 0)
        patch.setattr(compiled, "_CHUNK", chunk)
        original = compiled.parse_numbers

        def watched(*arguments):
            parsed = original(*arguments)
            taken.append(parsed is not None)
            return parsed

        patch.setattr(compiled, "parse_numbers", watched)
        quick = outcome(path, **options)
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "LARGE", sys.maxsize)
        return quick, outcome(path, **options), taken


PLAIN = [
    "a,b\n1,2\n3.25,-4e-3\n",
    "a,b\r\n1,2\r\n,4\r\n",
    "1\t2\n3\t\n5\t6",
    "x\n1\n\n3\n",
    "x\n1.5",
    "a;b\n1,5;2\n3;,5\n",
    "a|b\n-0|+1.\n.5|1E5\n",
    "name,x,y\nann,1,2\nbob,,4\n",
    "name\tx\nNA\t1\nné\t2\n",
    "id,x\nr1,1\n,2\nr3,3\n",
    "a,b\n1," + "9" * 30 + "\n1e-320,0." + "1" * 60 + "\n",
    "a,b\n1,2\n\n\n",
    ",".join(f"c{j}" for j in range(3000)) + "\n" + (",".join(["1.5"] * 3000) + "\n") * 3,
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("text", PLAIN)
def test_plain_numbers_are_read_quickly_and_alike(write, monkeypatch, text, dtype):
    quick, other, taken = both(monkeypatch, write("a.csv", text), dtype=dtype)
    assert taken == [True]
    assert quick == other


def test_numbers_too_large_for_single_precision_are_refused(write, monkeypatch):
    quick, other, _ = both(monkeypatch, write("a.csv", "a,b\n1,2\n3,1e39\n"), dtype="float32")
    assert quick == other
    assert "line 3: a number in the column 'b' is infinite or too large" in quick


ODD = [
    "a,b\n1,NA\n3,4\n",
    'a,b\n1,"2"\n3,4\n',
    "a,b\n1,2\n\n3,4\n",
    "a,b\n1,2\n3, 4\n",
    "a,b\n1,2\n3\n",
    "a,b\n1,2\n3,4,5\n",
    "a,b\n1,2\n3,1e999\n",
    "a,b\n1,2\n3,inf\n",
    "a,b\n1,2\n3,0x1F\n",
    "a,b\n1,2\n3,1_000\n",
    'name,x\n"a,b",1\nc,2\n',
    b"name,x\na\xff,1\nc,2\n",
]


@pytest.mark.parametrize("content", ODD)
def test_anything_else_is_left_to_the_other_way(write, monkeypatch, content):
    quick, other, taken = both(monkeypatch, write("a.csv", content))
    assert True not in taken
    assert quick == other


@pytest.mark.parametrize("content", ["a,b\ntrue,1\nfalse,2\n", "1  2\n3  4\n", "a,b,c\n1,x,2\n2,x,3\n"])
def test_other_columns_and_aligned_ones_are_not_tried(write, monkeypatch, content):
    quick, other, taken = both(monkeypatch, write("a.csv", content))
    assert taken == []
    assert quick == other


@pytest.mark.parametrize("chunk", [1, 50, 333])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_only_the_chunk_with_something_odd_goes_the_other_way(write, monkeypatch, rng, chunk, end):
    X = rng.standard_normal((200, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    lines = [",".join("" if np.isnan(v) else repr(float(v)) for v in row) for row in X]
    lines[150] = "NA,2,3"
    quick, other, taken = both(monkeypatch, write("a.csv", end.join(["a,b,c", *lines]) + end), chunk=chunk)
    assert taken.count(False) == 1 and taken.count(True) > 3
    assert quick == other


@pytest.mark.parametrize(("spoil", "words"), [("1,2", "2 cells"), ("1,2,3,4", "4 cells"), ("1,x,3", "'x'")])
def test_errors_name_the_line_in_later_chunks(write, monkeypatch, spoil, words):
    lines = ["a,b,c", *["1.5,2.5,3.5"] * 3000]
    lines[2211] = spoil
    quick, other, taken = both(monkeypatch, write("a.csv", "\n".join(lines)), chunk=1000)
    assert quick == other
    assert "line 2212: " + words in quick
    assert taken.count(True) > 10


def test_a_column_that_is_empty_for_long_may_hold_words(write, monkeypatch):
    path = write("a.csv", "x,y\n" + "1,\n" * 3000 + "2,red\n")
    quick, other, taken = both(monkeypatch, path, chunk=1000)
    assert quick == other
    assert taken.count(False) == 1


def test_refusals_in_a_row_end_the_attempts(write, monkeypatch):
    path = write("a.csv", "x,y\n" + "1,NA\n" * 1000)
    with monkeypatch.context() as patch:
        patch.setattr(compiled, "threads", lambda: 1)
        quick, other, taken = both(monkeypatch, path, chunk=100)
    assert quick == other
    assert taken == [False] * 3


LOADS = """
import sys
from unweave.data.readers import read
from unweave.data.readers.csv import compiled
compiled.LARGE = {large}
read({path!r})
print("numba" in sys.modules)
"""


@pytest.mark.parametrize(("large", "loaded"), [(8 << 20, False), (1000, False), (100, True)])
def test_the_compiler_is_loaded_for_large_files_alone(write, large, loaded):
    path = write("a.csv", "a,b\n" + "1,2\n" * 1000)
    code = LOADS.format(large=large, path=str(path))
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == str(loaded)


def test_a_large_file_goes_the_quick_way(write, monkeypatch):
    path = write("a.csv", "a,b\n" + "1.25,2.5\n" * (compiled.LARGE // 9 + 1))
    used = []

    class Watched(compiled.CompiledParser):
        def __init__(self, general):
            assert general is parse
            used.append(self)
            super().__init__(general)

    monkeypatch.setattr(compiled, "CompiledParser", Watched)
    table = read(path)
    assert len(used) == 1
    assert table.shape == (compiled.LARGE // 9 + 1, 2)
    np.testing.assert_array_equal(table.X, np.broadcast_to([1.25, 2.5], table.shape))


SEEDS = [
    b"a,b\n1,2.5\n-3e2,\n4,5\n",
    b"name\tx\r\nann\t1\r\nbob\t2\r\n",
    b"1\n2\n\n3.5\n",
    b"a;b\n1,5;2\n3;4,25\n",
]


@settings(max_examples=100, deadline=None)
@given(broken(*SEEDS))
def test_spoiled_files_fare_alike(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("spoiled") / "a.csv"
    path.write_bytes(data or b"1")
    with pytest.MonkeyPatch.context() as patch:
        quick, other, _ = both(patch, path)
    assert quick == other
