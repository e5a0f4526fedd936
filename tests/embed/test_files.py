"""Files of vectors: what was written is read, and what is damaged is refused in one sentence."""

from __future__ import annotations

import gzip
import random
import struct

import numpy as np
import pytest

from tests.data.broken_files import spoil
from unweave.data.readers import ReadError
from unweave.embed import Vectors, files
from unweave.embed.files import FORMATS

ENDINGS = {"unweave": "a.vectors", "word2vec": "a.txt", "word2vec-binary": "a.bin", "fasttext": "a.vec", "glove": "g"}


def some(n=40, width=5, dtype=np.float32):
    rng = np.random.default_rng(0)
    words = ["né", "“", '"', "'s", "日本", *(f"w{i}" for i in range(n - 5))]
    return Vectors(words, (rng.standard_normal((n, width)) * 10.0 ** rng.integers(-20, 20, (n, 1))).astype(dtype))


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("format", FORMATS)
def test_what_was_written_is_read(tmp_path, format, packed, monkeypatch):
    vectors = some()
    path = tmp_path / (ENDINGS[format] + packed)
    if format == "unweave" and packed:
        with pytest.raises(ValueError, match="not packed"):
            vectors.write(path, format)
        return
    assert vectors.write(path, format if format == "glove" or packed else "auto") == path
    for compiled in (1 << 40, 0):
        monkeypatch.setattr(files, "_COMPILED", compiled)
        monkeypatch.setattr(files, "_PIECE", 300)
        again = Vectors.read(path)
        assert again.symbols == vectors.symbols and again.array.dtype == np.float32
        np.testing.assert_array_equal(again.array, vectors.array)


def test_our_own_format_keeps_counts_symbols_and_doubles(tmp_path):
    vectors = Vectors([1, ("a", 2), "x y"], np.random.default_rng(0).random((3, 2)), np.array([3, 2, 1]))
    again = Vectors.read(vectors.write(tmp_path / "songs"))
    assert again.symbols == vectors.symbols and again.array.dtype == np.float64
    assert (again.array == vectors.array).all() and again.counts.tolist() == [3, 2, 1]
    with pytest.raises(ValueError, match="use format='unweave'"):
        vectors.write(tmp_path / "a.txt")
    with pytest.raises(ValueError, match="format='csv'"):
        vectors.write(tmp_path / "a", "csv")


def test_large_files_of_our_own_are_mapped(tmp_path):
    vectors = Vectors(range(90_000), np.ones((90_000, 50), np.float32))
    again = Vectors.read(vectors.write(tmp_path / "a"))
    assert not again.array.flags.owndata and again.symbols == vectors.symbols


@pytest.mark.parametrize("compiled", [0, 1 << 40], ids=["compiled", "by lines"])
def test_texts_of_others(tmp_path, compiled, monkeypatch):
    monkeypatch.setattr(files, "_COMPILED", compiled)
    for name, text, words, first in (
        ("windows", b"2 2\r\na 1 2\r\nb 3 4\r\n", ["a", "b"], [1, 2]),
        ("fastText ends lines with a blank", b"2 2\na 1 2 \nb 3 4 \n", ["a", "b"], [1, 2]),
        ("no line end", b"a 1 2e1\nb 3 -4", ["a", "b"], [1, 20]),
        ("words of several words", b"a 1 2\n. . 3 4\n", ["a", ". ."], [1, 2]),
        ("tabs", b"a\t1\t2\nb\t3\t4\n", ["a", "b"], [1, 2]),
        ("empty lines at the end", b"a 1 2\nb 3 4\n\n\n", ["a", "b"], [1, 2]),
        ("one number", b"3 5\n", ["3"], [5]) if False else ("one number", b"x 5\n7 6\n", ["x", "7"], [5]),
        ("numbers as words", b"2 1\n1 3\n2 4\n", ["1", "2"], [3]),
    ):
        path = tmp_path / "file"
        path.write_bytes(text)
        found = Vectors.read(path)
        assert (found.symbols, found.array[0].tolist()) == (words, first), name


def test_words_that_come_twice(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("3 1\na 1\nb 2\na 3\n")
    with pytest.warns(UserWarning, match="'a', say"):
        found = Vectors.read(path)
    assert found.symbols == ["a", "b"] and found.array.tolist() == [[1], [2]]


def test_bytes_that_are_not_utf8(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"2 1\na 1\n\xe9 2\n")
    with pytest.raises(ReadError, match=r"line 3: the word b'\\xe9' is not utf-8 text; .*latin-1"):
        Vectors.read(path)
    assert Vectors.read(path, encoding="latin-1").symbols == ["a", "é"]


def binary(count, width, records):
    return f"{count} {width}\n".encode() + b"".join(w + b" " + struct.pack(f"<{width}f", *v) for w, v in records)


BROKEN = {
    "empty": (b"", "empty"),
    "no vectors": (b"0 5\n", "no vectors"),
    "prose": (b"once upon a time\n", "no file of vectors"),
    "cut text": (b"3 2\na 1 2\nb 3 4\n", "announces 3 vectors, but it has 2"),
    "cut line": (b"2 2\na 1 2\nb 3\n", "line 3: 1 numbers where 2 are expected"),
    "too many": (b"1 2\na 1 2\nb 3 4\n", "announces 1 vectors, but it has 2"),
    "letters": (b"2 2\na 1 2\nb 3 4x\n", "line 3: '4x' is not a number"),
    "underscore": (b"a 1 2\nb 3 4_0\n", "line 2: '4_0' is not a number"),
    "nan": (b"a 1 2\nb 3 nan\n", "line 2: a number is NaN"),
    "too large": (b"a 1 2\nb 3 1e99\n", "line 2: a number is NaN, infinite or too large"),
    "blank line": (b"a 1 2\n\nb 3 4\n", "line 2: 0 numbers"),
    "forged text": (b"999999999999 300\na 1 2\n", "announces 999,999,999,999 vectors of 300"),
    "forged width": (b"1 99999999999\na 1 2\n", "announces 1 vectors of 99,999,999,999"),
    "forged binary": (binary(10**9, 3, [(b"a", (1, 2, 0.5))]), "announces 1,000,000,000 vectors"),
    "cut binary": (binary(2, 3, [(b"a", (1, 2, 3)), (b"b" * 30, (1, 2, 3))])[:-8], r"vector 2 of 2 .* \(at byte 18\)"),
    "long binary": (binary(1, 2, [(b"a", (1, 2)), (b"b", (1, 2))]), "more than the 1 vectors"),
    "infinite binary": (binary(1, 2, [(b"a", (1, np.inf))]), "vector 1 holds NaN or infinity"),
    "fastText model": (b"\xba\x16\x4f\x2f\x0c\0\0\0", "model of fastText; give the .vec"),
    "pickle": (b"\x80\x04\x95", "pickle"),
    "header of ours": ((30).to_bytes(8, "little") + b'{"__metadata__": {}}' + b" " * 10, "not a whole file"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("compiled", [0, 1 << 40], ids=["compiled", "by lines"])
def test_what_is_damaged_is_refused(tmp_path, name, compiled, monkeypatch):
    monkeypatch.setattr(files, "_COMPILED", compiled)
    data, words = BROKEN[name]
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ReadError, match=words):
        Vectors.read(path)


def test_packed_bombs_and_cut_archives(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a 1 2\n" * 1000)[:-20])
    with pytest.raises(ReadError, match="damaged or cut off"):
        Vectors.read(path)
    path.write_bytes(gzip.compress(b"a 1 2\n" * 1000))
    with pytest.raises(ReadError, match="unpacks to more than"):
        Vectors.read(path, limit=100)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_spoiled_files_are_read_or_refused(tmp_path, format):
    whole = some(12, 3).write(tmp_path / "whole", format).read_bytes()
    chance, path = random.Random(0), tmp_path / "spoiled"
    for _ in range(150):
        path.write_bytes(spoil(whole, chance))
        try:
            assert np.isfinite(Vectors.read(path).array).all()
        except ReadError as error:
            assert str(path) in str(error)
