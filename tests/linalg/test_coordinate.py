from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from tests.reference.coordinate import coordinate_rows as twin
from tests.reference.coordinate import row_objective
from unweave import parallel
from unweave.linalg.coordinate import coordinate_rows

DTYPES = [np.float32, np.float64]


def problem(n=70, k=11, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((3 * k, k))
    A = rng.standard_normal((n, 3 * k)) @ G
    return A.astype(dtype), (G.T @ G).astype(dtype), np.abs(rng.standard_normal((n, k))).astype(dtype)


def close(new, old, dtype):
    np.testing.assert_allclose(new, old, rtol=0, atol=(3e-5 if dtype == np.float32 else 1e-11) * np.abs(old).max())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("l1, ridge", [(0.0, 0.0), (1.5, 0.0), (0.0, 2.0), (1.5, 2.0)])
@pytest.mark.parametrize("k", [1, 7, 8, 19])
def test_kernel_is_its_twin(dtype, nonnegative, l1, ridge, k):
    A, B, F = problem(k=k, dtype=dtype)
    new, done = coordinate_rows(A, B, F, l1, ridge, nonnegative, sweeps=3)
    expected, _ = twin(A, B, F, l1, ridge, nonnegative, sweeps=3)
    assert new.dtype == dtype and done == 3
    close(new, expected, dtype)


@pytest.mark.parametrize("stop", [{"tol": 1e-3}, {"drop": 0.1}])
def test_stops_row_by_row_like_its_twin(stop):
    A, B, F = problem()
    new, done = coordinate_rows(A, B, F, sweeps=200, **stop)
    expected, most = twin(A, B, F, sweeps=200, **stop)
    assert done == most < 200
    close(new, expected, np.float64)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_does_not_depend_on_its_neighbours(dtype):
    A, B, F = problem(n=101, dtype=dtype)
    whole, _ = coordinate_rows(A, B, F, l1=0.3, sweeps=50, tol=1e-3)
    for rows in (slice(0, 1), slice(5, 6), slice(30, 77), slice(100, 101)):
        part, _ = coordinate_rows(A[rows], B, F[rows], l1=0.3, sweeps=50, tol=1e-3)
        assert np.array_equal(part, whole[rows])


@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_agree_to_the_bit(dtype):
    A, B, F = problem(n=20_000, k=16, dtype=dtype)
    answers = []
    former = parallel.get_num_threads()
    try:
        for threads in (1, 2):
            parallel.set_num_threads(threads)
            answers.append(coordinate_rows(A, B, F, l1=0.1, sweeps=10, tol=1e-2)[0])
    finally:
        parallel.set_num_threads(former)
    assert np.array_equal(*answers)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("nonnegative", [True, False])
def test_no_sweep_raises_the_value_and_input_is_untouched(dtype, nonnegative):
    A, B, F = problem(dtype=dtype)
    copies = A.copy(), B.copy(), F.copy()
    G = F
    for _ in range(5):
        new, _ = coordinate_rows(A, B, G, 0.7, 0.2, nonnegative)
        for a, f, g in zip(A, new, G):
            before = row_objective(g, a, B, 0.7, 0.2)
            assert row_objective(f, a, B, 0.7, 0.2) <= before + 1e-5 * abs(before)
        G = new
    assert all(np.array_equal(x, y) for x, y in zip((A, B, F), copies))


def test_converges_to_nnls():
    rng = np.random.default_rng(3)
    G, X = rng.standard_normal((30, 6)), rng.standard_normal((9, 30))
    new, _ = coordinate_rows(X @ G, G.T @ G, np.zeros((9, 6)), sweeps=2000, tol=1e-14)
    np.testing.assert_allclose(new, [nnls(G, x)[0] for x in X], atol=1e-9)
    again, done = coordinate_rows(X @ G, G.T @ G, new, sweeps=5, tol=1e-10)
    assert done == 1
    np.testing.assert_allclose(again, new, atol=1e-10)


@pytest.mark.parametrize("nonnegative", [True, False])
def test_coordinates_without_curvature(nonnegative):
    B = np.diag([2.0, 0.0, 0.0])
    A = np.array([[4.0, 0.5, 3.0]])
    new, _ = coordinate_rows(A, B, np.full((1, 3), 7.0), l1=1.0, nonnegative=nonnegative, sweeps=2)
    np.testing.assert_array_equal(new, [[1.5, 0.0, 7.0]])


def test_empty_and_wrong_shapes():
    assert coordinate_rows(np.zeros((0, 3)), np.eye(3), np.zeros((0, 3)))[0].shape == (0, 3)
    with pytest.raises(ValueError, match="A must be"):
        coordinate_rows(np.zeros((2, 3)), np.eye(2), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="at least 0"):
        coordinate_rows(np.zeros((2, 2)), np.eye(2), np.zeros((2, 2)), l1=-1)
