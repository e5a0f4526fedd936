"""npy and npz files: never a pickle, never an allocation that the file does not back."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import saved
from unweave.data.readers import ReadError, read

nan = np.nan


def npy(array, **options) -> bytes:
    return saved(np.save, array, **options)


def npz(save=np.savez, **arrays_) -> bytes:
    return saved(save, **arrays_)


def sparse(matrix) -> bytes:
    return saved(sp.save_npz, matrix)


def huge(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


@pytest.mark.parametrize("kind", ["f8", "f4", ">f8", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numbers_of_any_kind(write, kind, order):
    X = np.asarray([[0, 1, 1], [1, 0, 1]], dtype=kind, order=order)
    for data in (npy(X), gzip.compress(npy(X))):
        table = read(write("a", data))
        assert table.X.dtype == np.float64 and table.X.flags.c_contiguous and table.missing is None
        np.testing.assert_array_equal(table.X, X)


@settings(max_examples=40)
@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.floats(allow_infinity=False)))
def test_round_trip(X):
    for data in (npy(X), npz(a=X), npz(np.savez_compressed, a=X)):
        table = reads_or_refuses(data, "auto")
        np.testing.assert_array_equal(table.X, X)
        assert table.missing == ("nan" if np.isnan(X).any() else None)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.zeros(3), "1 dimensions, not two"),
        (np.zeros((2, 0, 2)), "side of length 0"),
        (np.zeros((2, 2), complex), "complex numbers"),
        (np.array([["a"]]), "words"),
        (np.zeros((2, 2), "M8[s]"), "dates"),
        (np.zeros((1, 1), [("a", "f8")]), "records"),
        (np.zeros((0, 3)), "0 rows"),
        (np.array([[1.0, np.inf]]), "row 1, column 2 is infinite"),
    ],
)
def test_what_is_no_matrix_of_numbers(write, array, words):
    with pytest.raises(ReadError, match=words):
        read(write("a.npy", npy(array)))


def test_pickles_are_never_loaded(write, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    trap = np.array([[Trap()]], dtype=object)
    for data in (npy(trap, allow_pickle=True), npz(a=trap)):
        with pytest.raises(ReadError, match="never unpickled"):
            read(write("a.bin", data))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("shape", [(10**9, 10**3), (2**62, 4), (-1, 4), (10**30, 2)])
def test_sizes_that_lie_allocate_nothing(write, shape):
    for data in (huge(shape), gzip.compress(huge(shape)), _zipped(huge(shape))):
        path = write("a.bin", data)
        tracemalloc.start()
        with pytest.raises(ReadError, match=r"announces|not valid"):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 20e6
        tracemalloc.stop()


def _zipped(data: bytes, name: str = "a.npy") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


def test_several_arrays_ask_for_a_name(write):
    path = write("a.npz", npz(first=np.eye(2), second=np.ones((1, 2))))
    with pytest.raises(ReadError, match=r"holds 2 arrays \('first', 'second'\).*a.npz:first"):
        read(path)
    assert read(f"{path}:second").X.tolist() == [[1, 1]]
    with pytest.raises(ReadError, match="has no array 'third'"):
        read(f"{path}:third")


def test_a_member_that_unpacks_too_far(write):
    data = _zipped(npy(np.zeros((1000, 1000))))
    assert read(write("a.npz", data)).shape == (1000, 1000)
    with pytest.raises(ReadError, match=r"unpacks to 8,000,128 bytes.*limit="):
        read(write("a.npz", data), limit=10**6)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
def test_sparse_matrices(write, rng, layout):
    X = sp.coo_array(np.where(rng.random((20, 30)) < 0.1, rng.normal(size=(20, 30)), 0)).asformat(layout)
    table = read(write("a.npz", sparse(X)))
    assert table.sparse and table.X.format == "csr" and table.missing is None
    table.X.check_format(full_check=True)
    np.testing.assert_array_equal(table.X.toarray(), X.toarray())
    assert read(write("a.npz", sparse(X)), missing="zeros").missing == "zeros"


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 99, 1])},
        {"indices": np.array([0, -1, 1])},
        {"indptr": np.array([0, 5, 3])},
        {"indptr": np.array([0, 1])},
        {"shape": np.array([2**40, 3])},
        {"shape": np.array([2, 2**40])},
        {"shape": np.array([2])},
        {"indices": np.array([0.5, 1.5, 1.0])},
        {"data": np.array([1.0, np.inf, 2.0])},
        {"data": np.array([1j, 2, 3])},
        {"format": np.array(b"bsr")},
        {"format": np.array(b"xyz")},
    ],
)
def test_broken_sparse_matrices_are_refused(write, change):
    parts = {
        "data": np.ones(3),
        "indices": np.array([0, 2, 1]),
        "indptr": np.array([0, 2, 3]),
        "shape": np.array([2, 3]),
        "format": np.array(b"csr"),
    }
    assert read(write("a.npz", npz(**parts))).X.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
    with pytest.raises(ReadError):
        read(write("a.npz", npz(**{**parts, **change})))


def test_cut_off_files(write):
    for data in (npy(np.eye(9)), npz(a=np.eye(9))):
        for keep in (7, 40, len(data) - 8):
            with pytest.raises(ReadError):
                read(write("a.npz", data[:keep]), format="npy" if data[:1] == b"\x93" else "npz")


SEEDS = [npy(np.eye(3)), npy(np.eye(3, dtype="i4")), huge((2, 4))]
ZIPPED = [npz(a=np.eye(3)), npz(np.savez_compressed, a=np.eye(9), b=np.eye(2)), sparse(sp.eye_array(5).tocsr())]


@settings(max_examples=80)
@given(broken(*SEEDS))
def test_spoiled_npy(data):
    reads_or_refuses(data, "npy")


@settings(max_examples=80)
@given(broken(*ZIPPED))
def test_spoiled_npz(data):
    reads_or_refuses(data, "npz")
