"""Bags of words: both formats come back, sizes that lie and numbers out of range are refused."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import unweave
from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import peak_of, read_bytes
from unweave.data.readers.source import Options, ReadError, Source
from unweave.data.readers.sparse.bags import looks_like, read_lda_c, read_uci

UCI = b"3\n5\n4\n1 1 2\n1 5 1\n3 2 7\n3 3 1\n"
LDA = b"2 0:1 7:3\n0\n1 4:12\n"


def uci_bytes(X) -> bytes:
    coo = sp.coo_array(X)
    lines = [f"{i + 1} {j + 1} {int(v)}\n" for i, j, v in zip(coo.row, coo.col, coo.data)]
    return f"{X.shape[0]}\n{X.shape[1]}\n{coo.nnz}\n{''.join(lines)}".encode()


def lda_bytes(X) -> bytes:
    rows = (sp.csr_array(X)[[i]] for i in range(X.shape[0]))
    lines = (" ".join([str(r.nnz), *(f"{j}:{int(v)}" for j, v in zip(r.indices, r.data))]) for r in rows)
    return ("\n".join(lines) + "\n").encode()


@pytest.mark.parametrize(("read", "write"), [(read_uci, uci_bytes), (read_lda_c, lda_bytes)])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_counts_come_back(rng, read, write, pack):
    X = rng.poisson(0.4, size=(20, 9))
    X[:, -1] = 1
    table = read_bytes(read, pack(write(X)))
    assert (table.kind, table.missing, table.X.dtype) == ("counts", None, np.float64)
    np.testing.assert_array_equal(table.X.toarray(), X)


def test_counts_of_the_same_word_are_added_up():
    table = read_bytes(read_uci, b"1\n2\n3\n1 2 4\n1 1 1\n1 2 5\n")
    np.testing.assert_array_equal(table.X.toarray(), [[1, 9]])
    assert any("added up" in note for note in table.notes)


def test_vocabulary_beside_the_file(tmp_path):
    (tmp_path / "docword.tiny.txt.gz").write_bytes(gzip.compress(UCI))
    (tmp_path / "vocab.tiny.txt").write_text("a\nb\nc\nd\ne\n")
    assert read_uci(Source(tmp_path / "docword.tiny.txt.gz"), Options()).columns == list("abcde")
    (tmp_path / "vocab.tiny.txt").write_text("a\nb\n")
    table = read_uci(Source(tmp_path / "docword.tiny.txt.gz"), Options())
    assert table.columns is None and any("left out" in note for note in table.notes)


def test_vocabulary_of_lda_c(tmp_path):
    (tmp_path / "ap.dat").write_bytes(LDA)
    (tmp_path / "vocab.txt").write_text("".join(f"w{i}\n" for i in range(10)))
    table = read_lda_c(Source(tmp_path / "ap.dat"), Options())
    assert table.shape == (3, 10) and table.columns[7] == "w7"
    (tmp_path / "vocab.txt").write_text("w0\n")
    with pytest.raises(ReadError, match="word 7 is used"):
        read_lda_c(Source(tmp_path / "ap.dat"), Options())


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"3\n5\n2\n1 1 2\n1 6 1\n", 5, "word 6 is outside 1 … 5"),
        (b"3\n5\n2\n1 1 2\n4 5 1\n", 5, "document 4 is outside 1 … 3"),
        (b"3\n5\n1\n0 1 2\n", 4, "document 0"),
        (b"3\n5\n1\n1 1 -2\n", 4, "negative"),
        (b"3\n5\n2\n1 1 2\n\n1 2\n", 6, "2 numbers where three"),
        (b"3\n5\n1\n1 1 2\n1 2 2\n", 5, "there are more"),
        (b"3 5\n1\n1 1 2\n", 1, "first three lines"),
    ],
)
def test_errors_of_uci_name_the_line(data, line, words):
    with pytest.raises(ReadError) as error:
        read_bytes(read_uci, data)
    assert error.value.line == line and words in error.value.message


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("docword.a.txt", b"3\n5\n2\n1 1 2\n1 2 -1\n", 5),
        ("docword.a.txt", b"3\n5\n2\nwhat\n1 2 1\n", 4),
        ("counts.txt", b"3\n5\n2\n1 1 -2\n1 2 1\n", 4),
    ],
)
def test_a_spoilt_bag_is_not_taken_for_prose(tmp_path, name, data, line):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ReadError, match="number") as error:
        unweave.read(tmp_path / name)
    assert error.value.line == line


def test_a_file_that_is_cut():
    with pytest.raises(ReadError, match="promises 2 entries, but there are 1"):
        read_bytes(read_uci, b"3\n5\n2\n1 1 2000\n")


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"1 0:1\n2 0:1\n", 2, "not the number of words"),
        (b"1 0:1\n1 0 1\n", 2, "M word:count"),
        (b"1 0:1\n\n1 0:1\n", 2, "empty line"),
        (b"1 0:-1\n", 1, "negative"),
        (b"1 0:1\n1 3:\n", 2, "M word:count"),
        (b"1 0:1\n1 3: 4\n", 2, "M word:count"),
        (b"1 0:1\n1 3:4 :\n", 2, "':' without a word"),
        (b"1 0:1\n1 3:4:5\n", 2, "M word:count"),
    ],
)
def test_errors_of_lda_c_name_the_line(data, line, words):
    with pytest.raises(ReadError) as error:
        read_bytes(read_lda_c, data)
    assert error.value.line == line and words in error.value.message


@pytest.mark.parametrize(
    ("read", "data", "words"),
    [
        (read_uci, b"3\n5\n900000000\n1 1 2\n", "too short"),
        (read_uci, b"2000000000\n5\n1\n1 1 2\n", "believed"),
        (read_uci, b"3\n999999999999999999\n1\n1 1 2\n", "believed"),
        (read_lda_c, b"1 2000000000:1\n", "believed"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_sizes_that_lie_are_refused_before_anything_is_allocated(read, data, words, pack):
    def refused():
        with pytest.raises(ReadError, match=words):
            read_bytes(read, pack(data))

    refused()
    assert peak_of(refused) < 4 << 20


@settings(max_examples=100)
@given(broken(UCI))
def test_damaged_uci(data):
    reads_or_refuses(data, "uci-bag")


@settings(max_examples=100)
@given(broken(LDA))
def test_damaged_lda_c(data):
    reads_or_refuses(data, "lda-c")


def test_looks_like():
    assert looks_like(UCI, "docword.tiny.txt") == "uci-bag"
    assert looks_like(LDA, "ap.dat") == "lda-c"
    assert looks_like(b"1 0:1 7:3\n-1 4:12\n", "a.svm") is None
    assert looks_like(b"1\n2\n3\n4\n", "numbers.csv") is None
