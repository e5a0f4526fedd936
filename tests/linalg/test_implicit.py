"""The half-steps of implicit least squares against slow twins."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference import implicit as slow
from unweave.linalg import implicit as fast
from unweave.linalg.implicit import Rows


def counts(rng, n=40, m=60, share=0.2):
    """Counts with empty, short and full rows."""
    X = np.where(rng.random((n, m)) < share, rng.integers(1, 6, (n, m)), 0)
    X[0] = 0
    X[1], X[1, 3] = 0, 2
    X[2] = 1
    return X


def rows_of(X, dtype) -> Rows:
    table = sp.csr_array(X.astype(dtype))
    return Rows(table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data)


def close(dtype):
    return {"rtol": 1e-3, "atol": 2e-4} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-10}


@pytest.mark.parametrize("k", [1, 7, 33, 70, 140])
def test_exact_rows_and_values_are_those_of_the_slow_twin(rng, dtype, k):
    X, H = counts(rng), (0.3 * rng.standard_normal((60, k))).astype(dtype)
    ridge = rng.uniform(0.5, 2, len(X))
    expected, values = slow.solve_rows(X, 0.7, H, ridge)
    found, found_values = fast.solve_rows(rows_of(X, dtype), 0.7, H, ridge)
    assert found.dtype == dtype and found_values.dtype == np.float64
    np.testing.assert_allclose(found, expected, **close(dtype))
    np.testing.assert_allclose(found_values, values, rtol=1e-5 if dtype == np.float32 else 1e-11, atol=1e-5)
    assert not found[0].any() and found_values[0] == 0


@pytest.mark.parametrize("k", [1, 7, 70])
def test_many_steps_and_many_cycles_end_at_the_exact_rows(rng, dtype, k):
    X, H = counts(rng), (0.3 * rng.standard_normal((60, k))).astype(dtype)
    expected, _ = slow.solve_rows(X, 0.7, H, 0.5)
    start = rng.standard_normal((len(X), k)).astype(dtype)
    steps, _ = fast.descend_rows(rows_of(X, dtype), 0.7, H, start, 0.5, 300, 0.0)
    np.testing.assert_allclose(steps, expected, **close(dtype))
    cycles = start
    for _ in range(60):
        cycles, _ = fast.subspace_rows(rows_of(X, dtype), 0.7, H, cycles, 0.5, 32)
    np.testing.assert_allclose(cycles, expected, **close(dtype))


@pytest.mark.parametrize("half_step", ["descend", "subspace"])
def test_a_half_step_never_raises_a_row_and_reports_its_value(rng, dtype, half_step):
    X, H = counts(rng), (0.3 * rng.standard_normal((60, 50))).astype(dtype)
    F = rng.standard_normal((len(X), 50)).astype(dtype)
    F[0] = 0  # a row without entries ends at 0, which is its minimum
    rows = rows_of(X, dtype)
    before = slow.row_values(X, 0.7, H, F, 0.5)
    for _ in range(4):
        if half_step == "descend":
            F, values = fast.descend_rows(rows, 0.7, H, F, 0.5, 1, 0.0)
        else:
            F, values = fast.subspace_rows(rows, 0.7, H, F, 0.5, 16)
        after = slow.row_values(X, 0.7, H, F, 0.5)
        np.testing.assert_allclose(values, after, rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-3)
        assert (after <= before * (1 + 1e-5) + 1e-9).all()
        before = after


def test_rows_longer_than_the_kept_tile_are_solved_too(rng):
    k = 500  # a tile of 2^18 numbers keeps 524 entries of this width
    X = (rng.random((3, 900)) < 0.9).astype(np.float64)
    H = 0.05 * rng.standard_normal((900, k))
    expected, values = slow.solve_rows(X, 1.0, H, 1.0)
    found, found_values = fast.descend_rows(rows_of(X, np.float64), 1.0, H, None, 1.0, 200, 1e-24)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found_values, values, rtol=1e-10)


def test_the_slope_vanishes_at_the_minimum_only(rng):
    X, H = counts(rng), 0.3 * rng.standard_normal((60, 5))
    F, values = fast.solve_rows(rows_of(X, np.float64), 0.7, H, 0.5)
    step, there = fast.slope_rows(rows_of(X, np.float64), 0.7, H, F, 0.5)
    assert np.abs(step).max() < 1e-12
    np.testing.assert_allclose(there, values, atol=1e-10)
    assert np.abs(fast.slope_rows(rows_of(X, np.float64), 0.7, H, F + 1, 0.5)[0]).min() > 1e-3


def test_extreme_confidences_in_float32_stay_finite(rng):
    X = np.where(rng.random((20, 30)) < 0.5, 10.0 ** rng.integers(0, 11, (20, 30)), 0)
    H = rng.standard_normal((30, 8)).astype(np.float32)
    F, values = fast.solve_rows(rows_of(X, np.float32), 1.0, H, 1e-6)
    assert np.isfinite(F).all() and np.isfinite(values).all()
