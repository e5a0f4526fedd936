"""Workbooks and files of statistics programs: read where their readers are installed, named where they are not."""

from __future__ import annotations

import datetime
import sys

import polars as pl
import pytest

from unweave.data.readers import ReadError, read
from unweave.data.readers.detect import detect_format
from unweave.data.readers.source import Source

FRAME = {
    "when": [datetime.date(2024, 1, day) for day in (1, 2, 2)],
    "kg": [1.5, None, 2.0],
    "sex": [1.0, 2.0, 1.0],
    "town": ["Ulm", "Bern", "Ulm"],
}
HEADS = {
    "excel": ("a.xlsx", b"PK\x03\x04" + bytes(40), "fastexcel"),
    "spss": ("a.bin", b"$FL2@(#) SPSS DATA FILE" + bytes(40), "pyreadstat"),
    "stata": ("a.bin", b"<stata_dta><header>" + bytes(40), "pyreadstat"),
}


@pytest.mark.parametrize("format", HEADS)
def test_without_its_reader_a_file_is_named_with_the_remedy(write, monkeypatch, format):
    name, head, package = HEADS[format]
    path = write(name, head)
    assert detect_format(Source(path)) == format
    monkeypatch.setitem(sys.modules, package, None)
    extra = "excel" if format == "excel" else "stats"
    with pytest.raises(ReadError, match=rf"pip install 'unweave\[{extra}\]'"):
        read(path)


def test_workbooks(tmp_path):
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    path = tmp_path / "book.xlsx"
    pl.DataFrame(FRAME).write_excel(path, worksheet="first")
    table = read(path)
    assert table.columns == list(FRAME) and table.missing == "nan" and "read the sheet 'first'" in table.notes[0]
    assert table.X["when"].to_list() == ["2024-01-01", "2024-01-02", "2024-01-02"]
    assert read(f"{path}:first").shape == (3, 4)
    with pytest.raises(ReadError, match="has no sheet 'second'; its sheets are 'first'"):
        read(f"{path}:second")
    path.write_bytes(path.read_bytes()[:300])
    with pytest.raises(ReadError, match="cannot be read as a workbook"):
        read(path)


@pytest.mark.parametrize(("suffix", "function"), [("sav", "write_sav"), ("dta", "write_dta")])
def test_files_of_statistics_programs(tmp_path, suffix, function):
    pyreadstat = pytest.importorskip("pyreadstat")
    path = tmp_path / f"a.{suffix}"
    labels = {"variable_value_labels": {"sex": {1: "male", 2: "female"}}}
    getattr(pyreadstat, function)(pl.DataFrame(FRAME), path, **labels)
    table = read(path)
    assert table.columns == list(FRAME) and table.X["sex"].to_list() == ["male", "female", "male"]
    assert table.X["kg"].to_list() == [1.5, None, 2.0]
    assert "were read as their labels" in table.notes[0]
