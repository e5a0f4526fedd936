"""The Cholesky factor inside the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.kernels.cholesky import factor, scratch_size, solve_factored


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 16, 50, 64, 127, 128, 129, 192, 300, 512])
def test_equals_lapack(rng, dtype, n):
    S = rng.normal(size=(2 * n, n))
    B = (S.T @ S + np.eye(n)).astype(dtype)
    R, x = np.triu(B), rng.normal(size=n).astype(dtype)
    y = x.copy()
    eps = np.finfo(dtype).eps
    assert factor(R, np.empty(scratch_size(n), dtype), dtype(n * eps))
    solve_factored(R, y)
    known = np.linalg.cholesky(B.astype(np.float64)).T
    np.testing.assert_allclose(np.triu(R), known, atol=50 * eps * np.abs(known).max())
    residual = B.astype(np.float64) @ y - x
    # backward stable: small against |B| |y|, whatever the condition
    assert np.abs(residual).max() <= 20 * n * eps * np.abs(B).max() * np.abs(y).max()


@pytest.mark.parametrize("n", [3, 64, 200])
def test_reports_dependent_columns_and_nan(rng, dtype, n):
    S = rng.normal(size=(2 * n, n))
    S[:, n - 1] = S[:, 0]
    B = (S.T @ S).astype(dtype)
    scratch, tolerance = np.empty(scratch_size(n), dtype), dtype(n * np.finfo(dtype).eps)
    assert not factor(B.copy(), scratch, tolerance)
    assert not factor(np.zeros((n, n), dtype), scratch, tolerance)
    assert not factor(np.full((n, n), np.nan, dtype), scratch, tolerance)
