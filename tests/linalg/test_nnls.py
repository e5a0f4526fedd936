"""Exact rows against the twin that tries every support, SciPy's NNLS, and what coordinate descent leaves undone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from tests.reference import nnls as slow
from tests.reference.coordinate import row_objective
from unweave.linalg.coordinate import coordinate_rows
from unweave.linalg.nnls import exact_entries, exact_rows

TERMS = [(0.0, 0.0), (1.5, 0.0), (0.0, 2.0), (1.5, 2.0)]


def problem(n=25, k=4, condition=1.0, seed=0):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((3 * k, k))
    if condition > 1:
        left, _, right = np.linalg.svd(G, full_matrices=False)
        G = left * np.geomspace(1, 1 / condition, k) @ right
    X = rng.standard_normal((n, 3 * k))
    return X, G, X @ G, G.T @ G


def test_kernel_is_its_twin(dtype):
    _, _, A, B = problem()
    A, B = A.astype(dtype), B.astype(dtype)
    for nonnegative in (True, False):
        for l1, ridge in TERMS:
            got = exact_rows(A, B, np.zeros_like(A), l1, ridge, nonnegative)
            assert got.dtype == dtype
            want = slow.exact_rows(A, B, l1, ridge, nonnegative)
            np.testing.assert_allclose(got, want, atol=1e-5 if dtype == np.float32 else 1e-10)


def test_rows_with_entries_of_their_own_are_their_twin(dtype):
    rng = np.random.default_rng(1)
    H = rng.standard_normal((12, 3)).astype(dtype)
    seen = rng.random((15, 12)) < 0.6
    seen[3] = False
    indptr, indices = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]), np.nonzero(seen)[1]
    data, weights = rng.standard_normal(len(indices)).astype(dtype), rng.random(len(indices)).astype(dtype) + 0.5
    for given in (None, weights):
        for nonnegative in (True, False):
            terms = 0.3, 0.2, nonnegative
            got = exact_entries(indptr, indices, data, given, H, np.zeros((15, 3), dtype), *terms)
            want = slow.exact_entries(indptr, indices, data, given, H, *terms)
            np.testing.assert_allclose(got, want, atol=2e-5 if dtype == np.float32 else 1e-10)
            assert got.dtype == dtype and not got[3].any()


@pytest.mark.parametrize("k, condition", [(1, 1), (5, 1), (17, 1e2), (8, 1e5), (30, 1e4)])
def test_it_is_scipys_nnls_from_any_start(k, condition):
    X, G, A, B = problem(40, k, condition)
    want = np.array([nnls(G, x)[0] for x in X])
    least = np.square(X - want @ G.T).sum()
    rough = coordinate_rows(A, B, np.zeros_like(A), sweeps=5)[0]
    for F in (np.zeros_like(A), np.ones_like(A), rough):
        got = exact_rows(A, B, F)
        assert got.min() >= 0
        assert np.square(X - got @ G.T).sum() <= least * (1 + 1e-9)


def test_it_ends_what_two_thousand_sweeps_do_not():
    rng, place = np.random.default_rng(0), np.linspace(0, 1, 60)[:, None]
    G = np.exp(-0.5 * np.square((place - np.linspace(0.3, 0.7, 6)) / 0.2))  # peaks that overlap
    X = rng.gamma(1, size=(30, 6)) @ G.T + 1e-3 * rng.standard_normal((30, 60))
    A, B = X @ G, G.T @ G
    swept = coordinate_rows(A, B, np.zeros_like(A), sweeps=2000, tol=1e-9)[0]
    loss = [np.square(X - F @ G.T).sum() for F in (swept, exact_rows(A, B, swept))]
    assert loss[1] < 0.99 * loss[0]
    assert loss[1] == pytest.approx(sum(nnls(G, x)[1] ** 2 for x in X), rel=1e-9)


def test_dependent_components_keep_a_start_that_is_as_good_and_mend_one_that_is_not():
    G = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    A, B = np.array([[4.0, 4.0, -1.0]]), G.T @ G
    np.testing.assert_array_equal(exact_rows(A, B, np.array([[1.0, 3.0, 0.0]])), [[1.0, 3.0, 0.0]])
    got = exact_rows(A, B, np.array([[1.0, 1.0, 5.0]]))
    assert got[0, :2].sum() == pytest.approx(4) and got[0, 2] == 0
    assert not exact_rows(np.array([[0.0, 1.0]]), np.zeros((2, 2)), np.zeros((1, 2))).any()


def test_a_row_depends_on_no_other_and_the_start_is_untouched(dtype, two_threads):
    _, _, A, B = problem(3000, 9, 1e3)
    A, F = A.astype(dtype), np.abs(A).astype(dtype)
    kept = F.copy()
    one, two = two_threads(lambda: exact_rows(A, B, F, 0.01))
    assert np.array_equal(one, two) and np.array_equal(F, kept)
    assert np.array_equal(exact_rows(A[7:8], B, F[7:8], 0.01), one[7:8])
    for a, f, was in zip(A[:50], one[:50].astype(float), F[:50]):
        now, before = row_objective(f, a, B, 0.01), row_objective(was, a, B, 0.01)
        assert now <= before + 1e-5 * abs(before)


def test_empty_and_wrong_shapes():
    assert exact_rows(np.zeros((0, 3)), np.eye(3), np.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match="A must be"):
        exact_rows(np.zeros((2, 3)), np.eye(2), np.zeros((2, 2)))


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize("k, m", [(7, 6), (12, 5), (20, 3)])
def test_lasso_of_more_unknowns_than_equations_is_optimal(k, m, nonnegative):
    """Unknowns that depend on the support still have to come in where they lower the ℓ1 norm."""
    rng = np.random.default_rng([k, m])
    H, X = rng.normal(size=(k, m)), rng.normal(size=(50, m))
    l1, A, B = 0.1, X @ H.T, H @ H.T
    for F in (np.zeros((50, k)), coordinate_rows(A, B, np.zeros((50, k)), l1, 0.0, nonnegative, sweeps=3)[0]):
        got = exact_rows(A, B, F, l1, 0.0, nonnegative)
        slope = A - got @ B  # at the best rows: l1 times the sign where there is one, and no more elsewhere
        assert (slope if nonnegative else np.abs(slope)).max() <= l1 * (1 + 1e-9)
        np.testing.assert_allclose((got * slope).sum(axis=1), l1 * np.abs(got).sum(axis=1), atol=1e-10)
