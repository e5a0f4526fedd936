"""The door of tensors: what is a tensor, and what is said of everything else before a kernel sees it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave import CP, SparseTensor
from unweave.data.readers import ReadError
from unweave.data.tensor import check_tensor

COORDS, VALUES = np.array([[0, 0, 0], [1, 2, 3], [1, 0, 2]]), np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("coords", "values", "shape", "said"),
    [
        ([[0, 0, 0], [0, 0, 0]], [1.0, 2.0], (1, 1, 1), "SparseTensor.summed"),
        ([[0, 0, 5]], [1.0], (1, 1, 5), "outside of the shape 1×1×5"),
        ([[0, -1, 0]], [1.0], (1, 1, 5), "outside of the shape"),
        ([[0, 0, 0]], [1.0, 2.0], (1, 1, 1), "one number for each of the 1 coordinates"),
        ([[0, 0, 0]], [np.nan], (1, 1, 1), "leave out the entries that are missing"),
        ([[0, 0, 0]], [1.0], (2**40, 1, 1), "far longer"),
        ([[0, 0, 0]], [1.0], (0, 1, 1), "length 0"),
        ([[0, 0, 0]], [1.0], (1, 1), "2 sides, but coords have 3 columns"),
        ([[0.0, 0.5, 0]], [1.0], (1, 1, 1), "whole numbers"),
        ([[0, 0, 0]], [1j], (1, 1, 1), "omplex"),
        (np.zeros((0, 3), int), [], (), "shape must be given"),
    ],
)
def test_damaged_lists_of_coordinates_are_refused(coords, values, shape, said):
    with pytest.raises(ValueError, match=said):
        SparseTensor(coords, values, shape)


def test_a_list_of_coordinates_as_an_array_turned_and_summed():
    X = SparseTensor(COORDS, VALUES)
    assert X.shape == (2, 3, 4) and len(X) == 2 and X.nnz == 3
    assert X.toarray()[1, 2, 3] == 2 and X.toarray().sum() == 6
    np.testing.assert_array_equal(X.transposed((2, 0, 1)).toarray(), X.toarray().transpose(2, 0, 1))
    twice = SparseTensor.summed(np.vstack([COORDS, COORDS]), np.append(VALUES, VALUES), (2, 3, 4))
    np.testing.assert_array_equal(twice.toarray(), 2 * X.toarray())
    assert SparseTensor(COORDS, VALUES.astype(np.float32)).dtype == np.float32
    wide = SparseTensor([[0] * 12, [9] * 12], [1.0, 2.0], (10_000,) * 12)  # more places than 64 bits can number
    assert wide.nnz == 2


def test_lists_of_other_libraries_are_taken():
    ours = SparseTensor(COORDS, VALUES)
    coo = SimpleNamespace(coords=COORDS.T, data=VALUES, shape=(2, 3, 4), fill_value=0)
    subs = SimpleNamespace(subs=COORDS, vals=VALUES[:, None], shape=(2, 3, 4))
    for other in (coo, subs):
        np.testing.assert_array_equal(check_tensor(CP(), other, None).values.toarray(), ours.toarray())
    coo.fill_value = 1.0
    with pytest.raises(ValueError, match="fill value"):
        check_tensor(CP(), coo, None)


@pytest.mark.parametrize(
    ("X", "missing", "said"),
    [
        (np.zeros((3, 4)), None, "three sides.*PCA, NMF and Factorization"),
        (sp.csr_array(np.eye(3)), None, "three sides.*PCA"),
        (np.zeros((3, 0, 4)), None, "length 0"),
        (np.full((2, 2, 2), np.nan), "nan", "no entry of X is observed"),
        (np.full((2, 2, 2), np.nan), None, "missing='nan'"),
        (np.full((2, 2, 2), np.inf), "nan", "infinity"),
        (np.full((2, 2, 2), 1e200), None, "too large for float64.*rescale X"),
        (np.full((2, 2, 2), 1e-20, np.float32), None, "too small for float32.*pass it as float64"),
        (np.zeros((2, 2, 2), complex), None, "Complex"),
        (np.full((2, 2, 2), "a"), None, "numbers"),
        ([[[1, 2], [3]], [[1, 2], [3, 4]]], None, "equal lengths"),
        (np.zeros((2, 2, 2)), "unstored", "use None, 'nan', 'zeros'"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2), bool), "of the shape of X"),
        ([np.zeros((2, 2, 2)), np.zeros((3, 2, 2))], None, "not as a sequence of blocks"),
        (SparseTensor(COORDS, VALUES), "often", "'zeros' as not observed"),
        (SparseTensor(np.zeros((0, 3), int), [], (2, 2, 2)), "zeros", "no entry"),
    ],
)
def test_what_is_no_tensor_is_refused_with_the_remedy(X, missing, said):
    with pytest.raises(ValueError, match=said):
        CP(1, missing=missing).fit(X)


def test_tensors_are_read_from_files(tmp_path):
    X = np.arange(24.0).reshape(2, 3, 4)
    np.save(tmp_path / "one.npy", X)
    np.savez(tmp_path / "two.npz", X=X, Y=np.zeros((2, 3)))
    holes = np.where(X == 5, np.nan, X)
    np.savez(tmp_path / "holes.npz", holes)
    for name, missing in (("one.npy", None), ("two.npz", None), ("holes.npz", "nan")):
        found = unweave.read(tmp_path / name)
        assert found.kind == "tensor" and found.shape == (2, 3, 4) and found.missing == missing
        assert "2×3×4" in repr(found) and "2×3×4" in found.notes[0]
    assert CP(1).fit(unweave.read(tmp_path / "holes.npz")).shape_ == (2, 3, 4)
    np.savez(tmp_path / "several.npz", X=X, Z=X)
    with pytest.raises(ReadError, match="name one of them"):
        unweave.read(tmp_path / "several.npz")
    assert unweave.read(f"{tmp_path}/several.npz:Z").shape == (2, 3, 4)


@pytest.mark.parametrize("names", [("coords", "values"), ("coords", "data"), ("subs", "vals")])
def test_lists_of_coordinates_are_read_and_checked(tmp_path, names):
    coords = COORDS.T if names[1] == "data" else COORDS
    np.savez(tmp_path / "a.npz", **{names[0]: coords, names[1]: VALUES, "shape": np.array([2, 3, 4])})
    found = unweave.read(tmp_path / "a.npz", missing="zeros")
    assert found.kind == "tensor" and found.missing == "zeros" and isinstance(found.X, SparseTensor)
    np.testing.assert_array_equal(found.X.toarray(), SparseTensor(COORDS, VALUES).toarray())
    np.savez(tmp_path / "b.npz", **{names[0]: coords + 9, names[1]: VALUES, "shape": np.array([2, 3, 4])})
    with pytest.raises(ReadError, match="outside of the shape"):
        unweave.read(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", **{names[0]: coords, names[1]: VALUES, "shape": np.array([2**50, 3, 4])})
    with pytest.raises(ReadError, match="far longer"):
        unweave.read(tmp_path / "c.npz")


def test_what_needs_a_table_says_so(tmp_path):
    np.save(tmp_path / "one.npy", np.ones((3, 3, 3)))
    table = unweave.read(tmp_path / "one.npy")
    for ask in (unweave.PCA(1).fit, unweave.KMeans(2).fit, unweave.prepare, lambda table: table.frame()):
        with pytest.raises(ValueError, match=r"tensor of 3×3×3, not a table.*unweave compress"):
            ask(table)
