"""Formats are told by content; names only break ties."""

from __future__ import annotations

import pytest

from tests.data.broken_files import PROSE, valid_files
from unweave.data.readers import ReadError, Source, formats, read
from unweave.data.readers.detect import _FORMATS, _MODULES, detect_format, module, reader

FILES = {format: files[0] for format, files in valid_files().items()}


BY_EXTRAS = {"excel", "spss", "stata"}  # tests/data/readers/test_extras.py


def test_every_format_has_a_reader_and_a_seed():
    assert set(formats()) == set(FILES) | BY_EXTRAS
    found = {name for where in _MODULES for name in module(where).FORMATS}
    assert found == set(formats())
    assert all(callable(reader(name)) for name in _FORMATS)
    with pytest.raises(ValueError, match=r"format='xls' is not known; use 'auto' or one of csv, tsv"):
        reader("xls")


@pytest.mark.parametrize("name", ["mystery", "mystery.dat", "mystery.txt"])
@pytest.mark.parametrize("format", FILES)
def test_content_decides(write, format, name):
    assert detect_format(Source(write(name, FILES[format]))) == format


@pytest.mark.parametrize("format", FILES)
def test_every_seed_is_read(write, format):
    table = read(write("mystery", FILES[format]), min_documents=1)
    assert table.shape[0] > 0 and table.source


def test_names_break_ties(write):
    assert detect_format(Source(write("a.csv", "1 2 3\n4 5\n"))) == "csv"
    assert detect_format(Source(write("a.csv", PROSE))) == "csv"
    assert detect_format(Source(write("a.dat", "x,y\n1,2\n".encode("utf-16")))) == "csv"
    assert detect_format(Source(write("a.md", "x"))) == "text"


@pytest.mark.parametrize(
    "text",
    ["1\n2\n3\n", "x\n1\n2\n", "1 2\n3 4\n", "x;y\n1,5;2\n", "name,town\nann,bath\nbob,york\n", "a|b\n1|2\n"],
)
def test_tables_without_a_telling_name(write, text):
    assert detect_format(Source(write("mystery", text))) == "csv"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"%PDF-1.4\n\0\0", "a PDF document"),
        (b"PK\x03\x04" + bytes(40), "a zip archive; unpack it"),
        (b"\x80\x04\x95" + bytes(9), "a pickle, which is never loaded"),
        (b"\x89HDF\r\n\x1a\n" + bytes(9), "HDF5"),
        (bytes(range(256)), "say format= one of csv, tsv, ndjson"),
    ],
)
def test_foreign_files_are_named(write, data, words):
    with pytest.raises(ReadError, match=words):
        detect_format(Source(write("mystery", data)))


def test_folders(write, tmp_path):
    folder = write("texts/a.txt", PROSE).parent
    assert detect_format(Source(folder)) == "text"
    write("texts/b.png", FILES["images"])
    with pytest.raises(ReadError, match="both images and texts"):
        detect_format(Source(folder))
    assert detect_format(Source(write("pictures/b.png", FILES["images"]).parent)) == "images"
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match=r"a folder without \*.txt files or images"):
        detect_format(Source(tmp_path / "empty"))
