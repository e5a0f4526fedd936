"""The plain functions, against slow ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave.penalties as pen
from tests.reference import penalties as slow

PAIRS = {
    "simplex": (pen.project_simplex, slow.simplex),
    "simplex of 3": (lambda F: pen.project_simplex(F, 3.0), lambda row: slow.simplex(row, 3.0)),
    "l1 ball": (pen.project_l1_ball, slow.l1_ball),
    "l1 ball of 2": (lambda F: pen.project_l1_ball(F, 2.0), lambda row: slow.l1_ball(row, 2.0)),
    "l2 ball": (pen.project_l2_ball, slow.l2_ball),
    "sparse": (lambda F: pen.project_sparse(F, 2), lambda row: slow.sparse(row, 2)),
    "one-hot": (pen.project_onehot, slow.onehot),
    "soft": (lambda F: pen.soft_threshold(F, 0.7), lambda row: slow.soft(row, 0.7)),
}
FUNCTIONS = [
    pen.project_simplex, pen.project_l1_ball, pen.project_l2_ball, pen.project_sphere, pen.project_nonnegative,
    pen.project_orthonormal, pen.project_sparse, pen.project_boolean, pen.project_onehot,
    lambda F: pen.soft_threshold(F, 0.5), lambda F: pen.shrink_singular_values(F, 0.5),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("key", PAIRS)
@settings(deadline=None, max_examples=30, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 7), size=st.sampled_from([0.01, 1.0, 100.0]))
def test_against_the_slow_one(key, dtype, seed, k, size):
    fast, reference = PAIRS[key]
    F = (size * np.random.default_rng(seed).standard_normal((5, k))).astype(dtype)
    expected = [reference([float(v) for v in row]) for row in F]
    near = 50 * np.finfo(dtype).eps * max(1.0, size)
    np.testing.assert_allclose(fast(F), expected, rtol=1e-5 if dtype == np.float32 else 1e-9, atol=near)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_vectors_lists_and_dtypes(function):
    v = np.array([0.3, -2.0, 1.5])
    assert function(v).shape == (3,)
    assert np.array_equal(function(v.tolist()), function(v))
    assert np.array_equal(function(v[None])[0], function(v))
    assert function(v.astype(np.float32)).dtype == np.float32
    assert function([1, 0, 2]).dtype == np.float64
    assert v.tolist() == [0.3, -2.0, 1.5]
    assert not np.shares_memory(function(v), v)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("bad", [[1.0, np.nan], [np.inf, 0.0], [], np.zeros((2, 0)), np.zeros((1, 1, 1)), 3.0, ["a"],
                                 [[1.0], [1.0, 2.0]]])  # fmt: skip
def test_bad_input_is_named(function, bad):
    with pytest.raises(ValueError, match=r"^F must"):
        function(bad)


@pytest.mark.parametrize("call, argument", [
    (lambda: pen.project_simplex([1.0], total=0.0), "total"),
    (lambda: pen.project_l1_ball([1.0], radius=-1.0), "radius"),
    (lambda: pen.project_l1_ball([1.0], radius="1"), "radius"),
    (lambda: pen.project_l2_ball([1.0], radius=np.nan), "radius"),
    (lambda: pen.project_sparse([1.0], nonzeros=0), "nonzeros"),
    (lambda: pen.project_sparse([1.0], nonzeros=1.5), "nonzeros"),
    (lambda: pen.soft_threshold([1.0], -1.0), "threshold"),
    (lambda: pen.soft_threshold([1.0], [1.0, 2.0]), "threshold"),
    (lambda: pen.soft_threshold([1.0], "a"), "threshold"),
    (lambda: pen.shrink_singular_values([1.0], -1.0), "threshold"),
])  # fmt: skip
def test_bad_arguments_are_named(call, argument):
    with pytest.raises(ValueError, match=f"^{argument} must"):
        call()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_simplex_rows_sum_to_one(dtype):
    F = np.random.default_rng(0).standard_normal((3, 20_000)).astype(dtype) * dtype(1e-4)
    Y = pen.project_simplex(F)
    np.testing.assert_allclose(Y.sum(axis=1, dtype=np.float64), 1.0, atol=20 * np.finfo(dtype).eps)


def test_simplex_of_huge_and_far_apart_entries():
    big = np.finfo(np.float64).max
    assert pen.project_simplex([big, -big, 0.0]).tolist() == [1.0, 0.0, 0.0]
    assert pen.project_simplex([-1e300, -1e300]).tolist() == [0.5, 0.5]
    assert pen.project_simplex([1e9, 1e9 + 0.5]) == pytest.approx([0.25, 0.75])


def test_tie_rules():
    assert pen.project_onehot([1.0, 1.0]).tolist() == [1.0, 0.0]
    assert pen.project_sparse([1.0, -1.0, 1.0], 2).tolist() == [1.0, -1.0, 0.0]
    assert pen.project_boolean([0.5, 0.5001]).tolist() == [0.0, 1.0]
    assert pen.project_sphere([0.0, 0.0]).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4)])
def test_orthonormal_and_singular_values(shape):
    F = np.random.default_rng(1).standard_normal(shape)
    Q = pen.project_orthonormal(F)
    gram = Q.T @ Q if shape[0] >= shape[1] else Q @ Q.T
    np.testing.assert_allclose(gram, np.eye(min(shape)), atol=1e-13)
    before, after = (
        np.linalg.svd(F, compute_uv=False),
        np.linalg.svd(pen.shrink_singular_values(F, 1.0), compute_uv=False),
    )
    np.testing.assert_allclose(after, np.maximum(before - 1.0, 0), atol=1e-13)
    np.testing.assert_allclose(pen.shrink_singular_values(F, 0.0), F, atol=1e-13)


def test_orthonormal_of_a_matrix_without_full_rank():
    Q = pen.project_orthonormal(np.ones((5, 2)))
    np.testing.assert_allclose(Q.T @ Q, np.eye(2), atol=1e-13)
    np.testing.assert_allclose(pen.project_orthonormal(np.zeros((3, 2))).T @ np.ones(3), np.ones(2))
