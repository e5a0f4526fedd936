"""Sparse products against their slow twin and against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.reference import products as slow
from unweave.linalg.operators import DenseProduct, Flipped, Shifted, as_product, small_gram
from unweave.linalg.sparse import SparseProduct, csr_matmul, row_bounds


def skewed(rng, n, m, nnz, dtype):
    """A matrix whose rows and columns follow a power law, some of them empty, one row long."""
    rows, columns = (n * rng.random(nnz) ** 3).astype(int), (m * rng.random(nnz) ** 2).astype(int)
    values = rng.standard_normal(nnz).astype(dtype)
    return sparse.csr_array((values, (rows, columns)), shape=(n, m))


@pytest.mark.parametrize("k", [1, 2, 3, 7, 16, 33, 110, 512])
def test_kernel_equals_slow_twin(k, dtype, rng):
    X = skewed(rng, 40, 30, 300, dtype)
    X.sum_duplicates()
    B = rng.standard_normal((30, k)).astype(dtype)
    arrays = X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data
    C = csr_matmul(*arrays, B)
    assert C.dtype == dtype and C.shape == (40, k)
    np.testing.assert_allclose(C, slow.csr_matmul(*arrays, B), atol=2e-4 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("k", [1, 24])
def test_dot_and_tdot_equal_dense(kind, k, dtype, rng):
    X = kind(skewed(rng, 3000, 700, 60_000, dtype))
    product = SparseProduct(X)
    B, C = rng.standard_normal((700, k)).astype(dtype), rng.standard_normal((3000, k)).astype(dtype)
    tol = 1e-3 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(product.dot(B), X.toarray().astype(np.float64) @ B, atol=tol)
    np.testing.assert_allclose(product.tdot(C), X.toarray().astype(np.float64).T @ C, atol=tol)
    assert product.dot(B).dtype == product.tdot(C).dtype == dtype


def test_same_bits_on_one_and_two_threads(dtype, rng, two_threads):
    product = SparseProduct(skewed(rng, 20_000, 3000, 400_000, dtype))
    B, C = rng.standard_normal((3000, 40)).astype(dtype), rng.standard_normal((20_000, 40)).astype(dtype)
    for call in (lambda: product.dot(B), lambda: product.tdot(C), lambda: product.dot(B[:, :1].copy())):
        one, two = two_threads(call)
        assert np.array_equal(one, two)
    one, two = two_threads(product.squared_norm)
    assert one == two


def test_unsorted_duplicate_and_int64_indices(dtype):
    data, indices, indptr = np.array([1, 2, 4, 8], dtype=dtype), np.array([2, 0, 2, 1]), np.array([0, 3, 3, 4])
    X = sparse.csr_array((data, indices, indptr), shape=(3, 3))
    np.testing.assert_array_equal(SparseProduct(X).dot(np.eye(3, dtype=dtype)), [[2, 0, 5], [0, 0, 0], [0, 8, 0]])
    np.testing.assert_array_equal(SparseProduct(X).tdot(np.eye(3, dtype=dtype)), [[2, 0, 0], [0, 0, 8], [5, 0, 0]])


def test_empty_matrices(dtype):
    for shape in [(4, 3), (1, 1), (0, 3)]:
        product = SparseProduct(sparse.csr_array(shape, dtype=dtype))
        assert np.array_equal(product.dot(np.ones((shape[1], 2), dtype)), np.zeros((shape[0], 2)))
        assert np.array_equal(product.tdot(np.ones((shape[0], 2), dtype)), np.zeros((shape[1], 2)))
        assert product.squared_norm() == 0.0


def test_bounds_cover_all_rows_and_balance_entries(rng):
    lengths = np.zeros(10_000, dtype=np.int64)
    lengths[:100] = 50_000
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    bounds = row_bounds(indptr, 64)
    assert bounds[0] == 0 and bounds[-1] == 10_000 and np.all(np.diff(bounds) > 0)
    assert np.diff(indptr[bounds]).max() <= 2 * 50_000 + indptr[-1] // (len(bounds) - 1)


def test_refuses_what_it_cannot_multiply(rng):
    with pytest.raises(TypeError, match="CSR"):
        SparseProduct(sparse.csc_array(np.eye(2)))
    with pytest.raises(ValueError, match="3 rows"):
        SparseProduct(sparse.csr_array(np.eye(3))).dot(np.ones((2, 1)))


def test_summaries(dtype, rng):
    X = skewed(rng, 50, 20, 200, dtype)
    dense = X.toarray().astype(np.float64)
    X.sum_duplicates()
    product = SparseProduct(X)
    np.testing.assert_allclose(product.column_means(), dense.mean(axis=0), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(product.squared_norm(), (dense**2).sum(), rtol=1e-5)


def test_transposed_copy_is_made_once(rng):
    product = SparseProduct(skewed(rng, 50, 20, 200, np.float64))
    assert product.columns is product.columns


@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
@pytest.mark.parametrize("kind", ["dense", "sparse", "filled"])
def test_shifted_flipped_and_small_gram(shape, kind, dtype, rng):
    dense = rng.standard_normal(shape) * (rng.random(shape) < (0.05 if kind == "sparse" else 0.6))
    dense = dense.astype(dtype)
    product = DenseProduct(dense) if kind == "dense" else as_product(sparse.csr_array(dense))
    shift = rng.standard_normal(shape[1])
    A = dense - shift
    operator = Shifted(product, shift)
    tol = 1e-3 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(operator.dot(np.eye(shape[1], dtype=dtype)), A, atol=tol)
    np.testing.assert_allclose(operator.tdot(np.eye(shape[0], dtype=dtype)), A.T, atol=tol)
    np.testing.assert_allclose(Flipped(operator).dot(np.eye(shape[0], dtype=dtype)), A.T, atol=tol)
    np.testing.assert_allclose(operator.squared_norm(), (A**2).sum(), rtol=tol)
    exact = A.T @ A if shape[0] >= shape[1] else A @ A.T
    np.testing.assert_allclose(small_gram(product, shift)[0], exact, atol=tol * 10)
    G, mean = small_gram(product, "mean")
    centred = dense - dense.mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(mean, dense.mean(axis=0), atol=tol)
    exact = centred.T @ centred if shape[0] >= shape[1] else centred @ centred.T
    np.testing.assert_allclose(G, exact, atol=tol * 10)
