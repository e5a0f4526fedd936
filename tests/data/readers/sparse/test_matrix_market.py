"""MatrixMarket: what scipy writes is read back, and headers that lie are refused before anything is allocated."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given, settings

import unweave
from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import peak_of, read_bytes, saved
from unweave.data.readers.source import ReadError
from unweave.data.readers.sparse.matrix_market import looks_like, read_matrix_market

REAL = b"%%MatrixMarket matrix coordinate real general\n"
SEEDS = (
    REAL + b"% a comment\n3 4 3\n1 1 0.5\n3 4 -2e1\n2 2 7\n",
    b"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n1 1\n3 1\n",
    b"%%MatrixMarket matrix array integer general\n2 3\n1\n2\n3\n4\n5\n6\n",
)


def read(data: bytes, **options):
    return read_bytes(read_matrix_market, data, **options)


@pytest.mark.parametrize("beside", ["bbc.vocab", "bbc.vocab.txt", "bbc.terms", "vocab.bbc.txt", "vocab.txt"])
def test_a_vocabulary_beside_the_file_names_the_words(tmp_path, beside):
    (tmp_path / "bbc.mtx").write_bytes(REAL + b"2 3 2\n1 1 4\n2 3 1\n")
    (tmp_path / beside).write_text("ape\nbee\ncat\n")
    table = unweave.read(tmp_path / "bbc.mtx")
    assert (table.columns, table.rows, table.kind) == (["ape", "bee", "cat"], None, "counts")


def test_a_vocabulary_of_the_rows_or_of_nothing(tmp_path):
    (tmp_path / "m.mtx").write_bytes(REAL + b"2 3 2\n1 1 4.5\n2 3 1\n")
    (tmp_path / "vocab.txt").write_text("ape\nbee\n")
    table = unweave.read(tmp_path / "m.mtx")
    assert (table.rows, table.columns, table.kind) == (["ape", "bee"], None, "table")
    assert any("transpose" in note for note in table.notes)
    (tmp_path / "vocab.txt").write_text("ape\n")
    table = unweave.read(tmp_path / "m.mtx")
    assert table.rows is None and table.columns is None and any("left out" in note for note in table.notes)


def test_coordinate_files_come_back(rng):
    X = sp.csr_array(np.where(rng.random((30, 20)) < 0.2, rng.normal(size=(30, 20)), 0))
    table = read(saved(scipy.io.mmwrite, X, precision=17))
    assert (table.kind, table.missing) == ("table", None)
    assert table.sparse and table.X.has_canonical_format and table.X.dtype == np.float64
    np.testing.assert_allclose(table.X.toarray(), X.toarray(), rtol=1e-14)


def test_dense_files_come_back(rng):
    X = rng.normal(size=(7, 5))
    table = read(saved(scipy.io.mmwrite, X, precision=17))
    assert isinstance(table.X, np.ndarray) and table.X.flags.c_contiguous
    np.testing.assert_allclose(table.X, X, rtol=1e-14)


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric"])
@pytest.mark.parametrize("dense", [True, False])
def test_triangles_are_mirrored(rng, symmetry, dense):
    A = np.round(rng.normal(size=(5, 5)) * 10)
    A = A + A.T if symmetry == "symmetric" else A - A.T
    X = read(saved(scipy.io.mmwrite, A if dense else sp.csr_array(A), symmetry=symmetry)).X
    np.testing.assert_array_equal(X if dense else X.toarray(), A)


def test_pattern_is_a_relation_and_missing_can_be_said():
    pattern = read(SEEDS[1])
    assert pattern.kind == "pairs"
    np.testing.assert_array_equal(pattern.X.toarray(), [[1, 0, 1], [0, 0, 0], [1, 0, 0]])
    ratings = read(SEEDS[0], missing="zeros")
    assert (ratings.kind, ratings.missing) == ("ratings", "zeros")


def test_explicit_zeros_stay_and_duplicates_are_added_up():
    table = read(REAL + b"2 2 3\n1 1 0\n2 2 1.5\n2 2 2\n")
    assert table.X.nnz == 2 and table.X[1, 1] == 3.5
    assert any("added" in note for note in table.notes)


def test_packed_files_and_types(dtype):
    table = read(gzip.compress(SEEDS[0]), dtype=np.dtype(dtype).name)
    assert table.X.dtype == dtype and table.X.nnz == 3


def test_nan_of_a_dense_file_is_missing():
    table = read(b"%%MatrixMarket matrix array real general\n2 1\nnan\n2\n")
    assert table.missing == "nan" and np.isnan(table.X[0, 0])


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        (b"2 2 2\n1 1 1\n3 1 1\n", 4, "out of bounds"),
        (b"2 2 2\n1 1 1\n0 1 1\n", 4, "out of bounds"),
        (b"2 2 1\n1 1 x\n", 3, "invalid"),
        (b"2 2 2\n1 1 1\n1 2 nan\n", 4, "not finite"),
        (b"2 2 2\n1 1 1\n1 2 inf\n", 4, "not finite"),
        (b"2 2 1\n1 1 1\n1 2 3\n", 4, "too many lines"),
        (b"2 x 1\n1 1 1\n", 2, "sizes"),
        (b"2 -2 1\n1 1 1\n", 2, "sizes"),
        (b"0 0 0\n", 2, "no rows"),
        (b"%only comments\n", 3, "cut"),
    ],
)
def test_errors_name_the_line(body, line, words):
    with pytest.raises(ReadError) as error:
        read(REAL + body)
    assert error.value.line == line and words in error.value.message


@pytest.mark.parametrize("banner", ["coordinate complex general", "array complex hermitian"])
def test_complex_is_refused_in_words(banner):
    with pytest.raises(ReadError, match="complex numbers are not supported"):
        read(f"%%MatrixMarket matrix {banner}\n1 1 1\n1 1 1 1\n".encode())


def test_a_symmetric_matrix_is_square():
    with pytest.raises(ReadError, match="square"):
        read(b"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 3 1\n")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (REAL + b"3 3 900000000\n1 1 1\n", "too short"),
        (REAL + b"2000000000 3 1\n1 1 1\n", "believed"),
        (REAL + b"3 2000000000 1\n1 1 1\n", "believed"),
        (REAL + b"999999999999999999 3 1\n1 1 1\n", "believed"),
        (b"%%MatrixMarket matrix array real general\n50000 50000\n1\n", "too short"),
        (b"%%MatrixMarket matrix array real symmetric\n900000000 900000000\n1\n", "too short"),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_sizes_that_lie_are_refused_before_anything_is_allocated(data, words, pack):
    def refused():
        with pytest.raises(ReadError, match=words):
            read(pack(data))

    refused()
    assert peak_of(refused) < 4 << 20


@pytest.mark.parametrize("end", [b"", b" ", b"::", b" 7", b"\0", b"\0\n", b" \0 7\n"])
@pytest.mark.parametrize("seed", SEEDS)
def test_last_lines_that_would_crash_the_parser(seed, end):
    reads_or_refuses(seed.removesuffix(b"\n") + end, "matrix-market")


@settings(max_examples=100)
@given(broken(*SEEDS))
def test_damaged_files(data):
    reads_or_refuses(data, "matrix-market")


def test_looks_like():
    assert looks_like(SEEDS[0], "a.txt") == "matrix-market"
    assert looks_like(b"1,2\n", "a.mtx") is None
