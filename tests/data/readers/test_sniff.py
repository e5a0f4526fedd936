"""Formats are told by content; names only break ties."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest
from PIL import Image

from unweave.data.readers import ReadError, Source, formats, read
from unweave.data.readers.registry import _FORMATS, _MODULES, module, reader
from unweave.data.readers.sniff import sniff


def binary(save) -> bytes:
    file = io.BytesIO()
    save(file)
    return file.getvalue()


PROSE = "Bees make honey, and wax too.\nWe keep them for both.\n\nHoney is what they eat in winter.\n"
FILES = {
    "csv": b"x,y\n1,2\n3,4\n",
    "tsv": b"x\ty\n1\t2\n3\t4\n",
    "ndjson": b'{"x": 1}\n{"x": 2}\n',
    "parquet": binary(pl.DataFrame({"x": [1.0]}).write_parquet),
    "npy": binary(lambda file: np.save(file, np.eye(2))),
    "npz": binary(lambda file: np.savez(file, a=np.eye(2))),
    "images": binary(lambda file: Image.fromarray(np.eye(4, dtype=np.uint8)).save(file, "PNG")),
    "matrix-market": b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n",
    "triples": b"userId,movieId,rating,timestamp\n1,10,4.5,964982703\n2,10,3,964981247\n",
    "pairs": b"ann read\nann write\nbob read\nbob write\ncid read\n",
    "transactions": b"1 2 3\n2 5\n7\n",
    "uci-bag": b"2\n3\n2\n1 3 5\n2 1 1\n",
    "lda-c": b"2 0:1 7:3\n1 4:1\n",
    "libsvm": b"+1 1:0.5 3:2\n-1 2:1\n",
    "text": PROSE.encode(),
}


def test_every_format_has_a_reader_and_a_seed():
    assert set(formats()) == set(FILES)
    found = {name for where in _MODULES for name in module(where).FORMATS}
    assert found == set(formats())
    assert all(callable(reader(name)) for name in _FORMATS)
    with pytest.raises(ValueError, match=r"format='xls' is not known; use 'auto' or one of csv, tsv"):
        reader("xls")


@pytest.mark.parametrize("name", ["mystery", "mystery.dat", "mystery.txt"])
@pytest.mark.parametrize("format", FILES)
def test_content_decides(write, format, name):
    assert sniff(Source(write(name, FILES[format]))) == format


@pytest.mark.parametrize("format", FILES)
def test_every_seed_is_read(write, format):
    table = read(write("mystery", FILES[format]), min_documents=1)
    assert table.shape[0] > 0 and table.source


def test_names_break_ties(write):
    assert sniff(Source(write("a.csv", "1 2 3\n4 5\n"))) == "csv"
    assert sniff(Source(write("a.csv", PROSE))) == "csv"
    assert sniff(Source(write("a.dat", "x,y\n1,2\n".encode("utf-16")))) == "csv"
    assert sniff(Source(write("a.md", "x"))) == "text"


@pytest.mark.parametrize(
    "text",
    ["1\n2\n3\n", "x\n1\n2\n", "1 2\n3 4\n", "x;y\n1,5;2\n", "name,town\nann,bath\nbob,york\n", "a|b\n1|2\n"],
)
def test_tables_without_a_telling_name(write, text):
    assert sniff(Source(write("mystery", text))) == "csv"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"%PDF-1.4\n\0\0", "a PDF document"),
        (b"PK\x03\x04" + bytes(40), "zip archive or an Excel workbook"),
        (b"\x80\x04\x95" + bytes(9), "a pickle, which is never loaded"),
        (b"\x89HDF\r\n\x1a\n" + bytes(9), "HDF5"),
        (bytes(range(256)), "say format= one of csv, tsv, ndjson"),
    ],
)
def test_foreign_files_are_named(write, data, words):
    with pytest.raises(ReadError, match=words):
        sniff(Source(write("mystery", data)))


def test_folders(write, tmp_path):
    folder = write("texts/a.txt", PROSE).parent
    assert sniff(Source(folder)) == "text"
    write("texts/b.png", FILES["images"])
    with pytest.raises(ReadError, match="both images and texts"):
        sniff(Source(folder))
    assert sniff(Source(write("pictures/b.png", FILES["images"]).parent)) == "images"
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match=r"a folder without \*.txt files or images"):
        sniff(Source(tmp_path / "empty"))
