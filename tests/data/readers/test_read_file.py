"""Reading a path: local files, options, and packed files of every format."""

from __future__ import annotations

import gzip
import lzma
import subprocess
import sys

import numpy as np
import pytest
import zstandard

from tests.data.broken_files import valid_files
from unweave.data.readers import Options, ReadError, read

FILES = {format: files[0] for format, files in valid_files().items()}


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.compress], ids=["gz", "xz", "zst"])
@pytest.mark.parametrize("format", FILES)
def test_packed_files_of_every_format(write, format, pack):
    plain = read(write("a", FILES[format]), min_documents=1)
    packed = read(write("a.packed", pack(FILES[format])), min_documents=1)
    left, right = (table.X.toarray() if table.sparse else table.X for table in (plain, packed))
    np.testing.assert_array_equal(left, right)
    assert (plain.rows, plain.columns, plain.missing, plain.kind) == (
        packed.rows,
        packed.columns,
        packed.missing,
        packed.kind,
    )


@pytest.mark.parametrize("url", ["http://example.org/a.csv", "https://a/b", "s3://bucket/a.csv", "file:///etc/passwd"])
def test_only_local_files(url):
    with pytest.raises(ReadError, match="only local files are read; download it first"):
        read(url)


def test_paths_of_all_kinds(write, tmp_path, monkeypatch):
    path = write("a.csv", "1,2\n")
    assert read(str(path)).X.tolist() == read(path).X.tolist() == [[1, 2]]
    monkeypatch.chdir(tmp_path)
    assert read("a.csv").source == "a.csv"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read("~/a.csv").X.tolist() == [[1, 2]]
    for wrong, error, words in [
        ("", ReadError, "the path is empty"),
        ("b.csv", ReadError, "no such file"),
        (tmp_path, ReadError, "name one file in it"),
        (b"a.csv", TypeError, "path must be the path of a local file"),
        (3, TypeError, "path must be the path of a local file"),
    ]:
        with pytest.raises(error, match=words):
            read(wrong)
    (tmp_path / "texts").mkdir()
    with pytest.raises(ReadError, match="a folder where a file is expected"):
        read(tmp_path / "texts", format="csv")


def test_format_overrides_content(write):
    assert read(write("a", "1 2 3\n4 5 6\n"), format="transactions").kind == "pairs"
    with pytest.raises(ValueError, match="format='word' is not known"):
        read(write("a", "1,2\n"), format="word")
    with pytest.raises(ReadError):
        read(write("a", "1,2\n"), format="npy")


@pytest.mark.parametrize(
    "options",
    [
        {"missing": "none"},
        {"dtype": "int"},
        {"header": "yes"},
        {"delimiter": ""},
        {"delimiter": '"'},
        {"delimiter": "a"},
        {"encoding": "klingon"},
        {"encoding": "base64"},
        {"duplicates": "first"},
        {"limit": 0},
        {"min_documents": 0},
        {"lines": "many"},
    ],
)
def test_wrong_options_are_named(write, options):
    (name,) = options
    with pytest.raises(ValueError, match=name):
        read(write("a.csv", "1,2\n"), **options)


def test_options_do_not_change():
    with pytest.raises(AttributeError):
        Options().missing = "nan"  # type: ignore[misc]


def test_listing_formats_loads_nothing_heavy():
    code = (
        "import sys; from unweave.data.readers import formats; formats(); "
        "print(sorted({'polars', 'PIL', 'zstandard', 'numpy', 'scipy', 'sklearn'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
