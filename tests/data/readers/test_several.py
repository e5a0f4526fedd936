"""Several files at once: the same columns one below the other."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.data.readers import ReadError, read


def test_lists_and_patterns_are_stacked_and_said(write):
    a, b = write("s-1.csv", "x,y\n1,2\n3,4\n"), write("s-2.csv", "y,x\n6,5\n")
    for path in ([a, b], a.parent / "s-*.csv", str(a.parent / "s-[12].csv")):
        table = read(path)
        np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 6]])
        assert "2 files of the same columns became one table of 3 rows: s-1.csv, s-2.csv" in table.notes[0]


def test_words_names_and_holes_are_stacked(write):
    a = write("a.csv", "name,x,town\nann,1,Ulm\nbob,,Ulm\n")
    b = write("b.csv", "name,x,town\ncid,3,\ndan,4,\n")
    table = read([a, b])
    assert table.rows == ["ann", "bob", "cid", "dan"] and table.missing == "nan"
    assert table.X["town"].to_list() == ["Ulm", "Ulm", None, None] and table.X["x"].to_list() == [1, None, 3, 4]


def test_unlike_columns_are_named(write):
    a, b = write("a.csv", "x,y\n1,2\n"), write("b.csv", "x,z\n1,2\n")
    with pytest.raises(ReadError, match=r"b\.csv: lacks 'y' and has 'z' besides, unlike .*a\.csv"):
        read([a, b])
    words = write("w.csv", "x,y\n1,red\n2,red\n")
    with pytest.raises(ReadError, match=r"w\.csv: 'y' holds words, but numbers in an earlier file"):
        read([a, words])
    with pytest.raises(ReadError, match="of the kind 'text'"):
        read([write("a.txt", "Bees make honey.\n\nHoney is what bees make.\n"), a])
    with pytest.raises(ReadError, match="no file has such a name"):
        read(a.parent / "none-*.csv")
    with pytest.raises(ValueError, match="list of files is empty"):
        read([])
