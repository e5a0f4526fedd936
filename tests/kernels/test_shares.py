"""The compiled half-step of soft clusters against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference import shares as slow
from unweave.group.soft.codes import curvature
from unweave.kernels.shares import project, shares


def problem(n: int, k: int, dtype, seed: int = 0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(k, 4)) + 3.0
    A = ((rng.normal(size=(n, 4)) + 3.0) @ Z.T).astype(dtype)
    return A, Z @ Z.T, rng.dirichlet(np.ones(k), n).astype(dtype)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("sweeps, tol", [(3, 0.0), (200, 1e-6)])
def test_the_kernel_agrees_with_its_twin(k, sweeps, tol, dtype):
    A, B, F = problem(20, k, dtype)
    new, expected = np.zeros_like(F), slow.shares(A, B, curvature(B), F, sweeps, tol)
    shares(A, B, curvature(B), F, new, sweeps, tol, 3, 20)
    assert new.dtype == dtype and not new[:3].any()
    np.testing.assert_allclose(new[3:], expected[3:], atol=2e-6 if dtype == np.float32 else 1e-9)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=8))
def test_projections_are_shares(values):
    v = np.array(values)
    project(v)
    assert (v >= 0).all() and v.sum() == pytest.approx(1)
    if max(map(abs, values)) < 1e3:
        np.testing.assert_allclose(v, slow.project(np.array(values)), atol=1e-9)


@pytest.mark.parametrize(
    "values",
    [
        [-0.6469583807489935, -0.2939167614979871, 0.0],
        [0.0, -0.39845779157098615, -0.1838178603594215, -0.011555514353537095],
    ],
)
def test_a_number_on_the_level_does_not_come_and_go_for_ever(values):
    """Rounding puts it above the level of the others, and below the level of all."""
    v = np.array(values)
    project(v)
    np.testing.assert_allclose(v, slow.project(np.array(values)), atol=1e-15)


def test_no_row_ends_worse():
    A, B, F = problem(50, 4, np.float64)
    new = np.empty_like(F)
    shares(A, B, 1e-3 * curvature(B), F, new, 5, 0.0, 0, 50)  # steps far too long
    assert all(slow.cost(B, a, f) <= slow.cost(B, a, g) + 1e-12 for a, f, g in zip(A, new, F))
