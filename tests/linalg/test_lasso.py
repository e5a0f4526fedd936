"""Exact lasso rows, and screened coordinate descent, against their slow twin."""

from __future__ import annotations

import numpy as np
import pytest

import unweave
from tests.reference import lasso as slow
from unweave.linalg.lasso import lasso_rows, sweep_rows
from unweave.parallel import single_blas


@pytest.fixture(autouse=True)
def blas():
    with single_blas():
        yield


def table(rng, dtype, n=16, m=20, k=35):
    D = rng.normal(size=(k, m))
    D /= np.linalg.norm(D, axis=1, keepdims=True)
    X = rng.normal(size=(n, m))
    X[3] = 0
    D, X = D.astype(dtype), X.astype(dtype)
    return X @ D.T, D @ D.T, np.square(X).sum(axis=1)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("l1", [5.0, 1.0, 0.3])
def test_rows_equal_their_twin(rng, dtype, l1, nonnegative):
    A, B, _ = table(rng, dtype)
    F = lasso_rows(A, B, np.zeros_like(A), l1, nonnegative)
    assert F.dtype == dtype
    for a, f in zip(A, F, strict=True):
        best = slow.lasso(a, B, l1, nonnegative)
        np.testing.assert_allclose(f, best, atol=2e-4 if dtype == np.float32 else 1e-8)
        assert not nonnegative or f.min() >= 0


def test_a_warm_start_changes_nothing(rng):
    A, B, _ = table(rng, np.float64)
    cold = lasso_rows(A, B, np.zeros_like(A), 0.4)
    np.testing.assert_allclose(lasso_rows(A, B, lasso_rows(A, B, np.zeros_like(A), 0.9), 0.4), cold, atol=1e-10)
    np.testing.assert_allclose(lasso_rows(A, B, -cold, 0.4), cold, atol=1e-10)


def test_a_strength_for_each_row_and_a_ridge(rng):
    A, B, _ = table(rng, np.float64)
    l1 = rng.uniform(0.2, 1.0, len(A))
    F = lasso_rows(A, B, np.zeros_like(A), l1, ridge=0.7)
    for a, own, f in zip(A, l1, F, strict=True):
        np.testing.assert_allclose(f, slow.lasso(a, B + 0.7 * np.eye(len(B)), own), atol=1e-9)


def test_equal_and_empty_atoms_end_at_a_minimum(rng, dtype):
    D = rng.normal(size=(12, 6))
    D[5], D[7], D[9] = 0, D[2], -D[3]
    X = rng.normal(size=(12, 6))
    A, B = (X @ D.T).astype(dtype), (D @ D.T).astype(dtype)
    F = lasso_rows(A, B, np.zeros_like(A), 0.05)
    assert np.isfinite(F).all() and not F[:, 5].any()
    for a, f in zip(A.astype(float), F, strict=True):
        known = slow.value(a, D @ D.T, 0.05, slow.lasso(a, D @ D.T, 0.05, steps=1000))
        assert slow.value(a, D @ D.T, 0.05, f) <= known + (1e-4 if dtype == np.float32 else 1e-9)


def test_threads_do_not_matter(rng):
    A, B, _ = table(rng, np.float64, n=3000)
    former = unweave.set_num_threads(1)
    try:
        one = lasso_rows(A, B, np.zeros_like(A), 0.3)
        unweave.set_num_threads(3)
        three = lasso_rows(A, B, np.zeros_like(A), 0.3)
    finally:
        unweave.set_num_threads(former)
    np.testing.assert_array_equal(one, three)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_screened_sweeps_equal_the_exact_rows(rng, nonnegative):
    A, B, norms = table(rng, np.float64)
    F = sweep_rows(A, B, norms, np.zeros_like(A), 0.3, nonnegative, tol=1e-14)
    np.testing.assert_allclose(F, lasso_rows(A, B, np.zeros_like(A), 0.3, nonnegative), atol=1e-5)
