"""Dense products: equal to the obvious ones, same bits on any number of threads, float32 kept."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.reference import products as slow
from unweave.linalg import products
from unweave.parallel import single_blas


@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 7, 1), (3000, 40, 60), (60, 40, 3000), (500, 700, 300), (0, 3, 2)])
@pytest.mark.parametrize("order", ["CC", "FC", "CF", "FF"])
def test_matmul(shape, order, dtype, rng):
    n, inner, m = shape
    A = np.asarray(rng.standard_normal((n, inner)), dtype=dtype, order=order[0])
    B = np.asarray(rng.standard_normal((inner, m)), dtype=dtype, order=order[1])
    C = products.matmul(A, B)
    assert C.dtype == dtype
    tol = 1e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(C, A.astype(np.float64) @ B, atol=tol, rtol=tol)


def test_matmul_takes_transposed_strided_and_read_only_views(dtype, rng):
    A = rng.standard_normal((600, 901)).astype(dtype)
    B = rng.standard_normal((300, 1202)).astype(dtype)[:, ::2]
    A.flags.writeable = False
    np.testing.assert_allclose(products.matmul(B.T, A[::2]), B.T @ A[::2], rtol=1e-3, atol=1e-3)


def test_same_bits_on_one_and_two_threads(dtype, rng, two_threads):
    A = rng.standard_normal((5003, 131)).astype(dtype)
    B = rng.standard_normal((131, 77)).astype(dtype)
    w = rng.random(len(A))

    def answers():
        return (
            products.matmul(A, B),
            products.matmul(A.T, A[:, :50]),
            products.gram(A),
            products.gram(A, shift=A.mean(axis=0), weights=w),
            *products.centred_gram(A),
            products.cross(A, A[:, :9]),
            products.column_means(A),
            products.row_squared_norms(A),
            products.squared_norm(A),
        )

    with single_blas():
        one, two = two_threads(answers)
    for a, b in zip(one, two):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("n", [1, 5, 255, 256, 257, 4001])
@pytest.mark.parametrize("order", ["C", "F"])
def test_gram(n, order, dtype, rng):
    A = np.asarray(rng.standard_normal((n, 9)) + 3, dtype=dtype, order=order)
    shift, weights = A.mean(axis=0), rng.random(n)
    tol = dict(rtol=2e-5, atol=2e-4) if dtype == np.float32 else dict(rtol=1e-11, atol=1e-10)
    for given in ({}, {"shift": shift}, {"weights": weights}, {"shift": shift, "weights": weights}):
        G = products.gram(A, **given)
        assert G.dtype == np.float64
        np.testing.assert_allclose(G, slow.gram(A, **given), **tol)
        assert np.array_equal(G, G.T)


def test_gram_of_the_transpose_takes_a_column_of_shifts(rng):
    X = rng.standard_normal((20, 3000))
    mean = X.mean(axis=0)
    G = products.gram(X.T, shift=mean[:, None])
    np.testing.assert_allclose(G, (X - mean) @ (X - mean).T, rtol=1e-10, atol=1e-9)


def test_float64_gram_of_float32_data(rng):
    A = rng.standard_normal((3000, 6)).astype(np.float32)
    np.testing.assert_allclose(products.gram(A, dtype=np.float64), slow.gram(A), rtol=1e-12, atol=1e-10)


def test_gram_leaves_its_input_alone(rng):
    A = rng.standard_normal((50, 4))
    before = A.copy()
    products.gram(A, shift=A.mean(axis=0), weights=np.full(50, 2.0))
    products.centred_gram(A)
    assert np.array_equal(A, before)


def test_large_means_do_not_cancel(dtype, rng):
    spread = rng.standard_normal((2000, 5))
    A = (1e4 + spread).astype(dtype)
    exact = A.astype(np.float64) - A.astype(np.float64).mean(axis=0)
    mean, G = products.centred_gram(A)
    tol = 2e-3 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(G, exact.T @ exact, rtol=tol, atol=tol * 2000)
    np.testing.assert_allclose(mean, A.astype(np.float64).mean(axis=0), rtol=1e-8 if dtype == np.float32 else 1e-14)
    np.testing.assert_allclose(products.gram(A, shift=mean), exact.T @ exact, rtol=tol, atol=tol * 2000)


@pytest.mark.parametrize("ratio", [0.0, 1.0, 1.7, 1.8, 3.8, 4.0, 30.0, 1000.0])
@pytest.mark.parametrize("columns", ["all", "one"])
def test_centred_gram_keeps_its_digits_wherever_the_mean_is(ratio, columns, dtype, rng):
    """Small means stay in, large ones are taken out first; on both sides of that border the digits are there."""
    scales = np.logspace(0, -2, 20)
    A = rng.standard_normal((20_000, 20)) * scales
    A[:, slice(None) if columns == "all" else 7] += (ratio * scales)[slice(None) if columns == "all" else 7]
    A = A.astype(dtype)
    exact = A.astype(np.float64) - A.astype(np.float64).mean(axis=0)
    lengths = np.sqrt((exact**2).sum(axis=0))
    mean, G = products.centred_gram(A)
    wrong = np.abs(G - exact.T @ exact) / np.outer(lengths, lengths)
    assert wrong.max() <= 20 * np.finfo(dtype).eps * max(1.0, 0.05 * ratio)
    np.testing.assert_allclose(mean, A.astype(np.float64).mean(axis=0), atol=2e-7 * scales.max() * max(1.0, ratio))


@pytest.mark.parametrize("n", [1, 2, 300, 5000])
def test_centred_gram_is_gram_of_the_centred(n, dtype, rng):
    A = (rng.random((n, 7)) * 5).astype(dtype)
    mean, G = products.centred_gram(A)
    centred = A.astype(np.float64) - A.astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(mean, A.astype(np.float64).mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(G, centred.T @ centred, rtol=2e-5, atol=1e-3 if dtype == np.float32 else 1e-9)


def test_cross(dtype, rng):
    A, B = rng.standard_normal((9000, 6)).astype(dtype), rng.standard_normal((9000, 3)).astype(dtype)
    C = products.cross(A, B)
    assert C.dtype == np.float64
    np.testing.assert_allclose(C, A.T.astype(np.float64) @ B, atol=1e-2 if dtype == np.float32 else 1e-10)


def test_norms_and_means(dtype, rng):
    A = rng.standard_normal((70_001, 5)).astype(dtype)
    exact = A.astype(np.float64)
    np.testing.assert_allclose(products.column_means(A), exact.mean(axis=0), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(products.row_squared_norms(A), (exact**2).sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(products.squared_norm(A), (exact**2).sum(), rtol=1e-12)
    np.testing.assert_allclose(products.squared_norm(A, shift=np.ones(5)), ((exact - 1) ** 2).sum(), rtol=1e-12)
    np.testing.assert_allclose(products.squared_norm(np.asfortranarray(A)), (exact**2).sum(), rtol=1e-12)


def test_whole_numbers_become_float64():
    A = np.array([[1, 2], [3, 4]])
    assert products.gram(A).dtype == np.float64
    assert products.column_means(A).tolist() == [2.0, 3.0]
    assert products.squared_norm(A) == 30.0


def test_memory_mapped_arrays(tmp_path, dtype, rng):
    values = rng.standard_normal((4000, 20)).astype(dtype)
    values.tofile(tmp_path / "rows")
    A = np.memmap(tmp_path / "rows", dtype=dtype, mode="r", shape=values.shape)
    for call in (products.gram, products.column_means, products.row_squared_norms, products.squared_norm):
        assert np.array_equal(call(A), call(values))
    assert np.array_equal(products.centred_gram(A)[1], products.centred_gram(values)[1])
    product = products.matmul(A, values.T[:, :300])
    assert type(product) is np.ndarray
    assert np.array_equal(product, products.matmul(values, values.T[:, :300]))


def test_blas_is_on_one_thread_inside_and_as_before_after_the_last_has_left():
    """Whichever Python thread enters first or leaves last; run where BLAS has threads to lose."""
    script = """
        import threading, numpy, scipy.linalg
        from threadpoolctl import ThreadpoolController
        from unweave.parallel import single_blas
        blas = ThreadpoolController().select(user_api="blas")
        count = lambda: [library.num_threads for library in blas.lib_controllers]
        before, inside, entered, left = count(), [], threading.Event(), threading.Event()
        with single_blas():
            inside += count()
        def other():
            with single_blas():
                inside.extend(count())
                entered.set()
                left.wait()
                inside.extend(count())
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait()
        with single_blas():
            inside += count()
        inside += count()
        left.set()
        thread.join()
        assert set(inside) <= {1}, inside
        assert count() == before, (count(), before)
        with single_blas():
            left.clear()
            entered.clear()
            thread = threading.Thread(target=other)
            thread.start()
            entered.wait()
        left.set()
        thread.join()
        assert set(inside) <= {1} and count() == before, (inside, count(), before)
    """
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, env=clean, timeout=120)


@pytest.mark.parametrize("shape", [(20_000, 30), (7, 3), (0, 4)])
def test_a_product_of_two_vectors_is_taken_off_in_place(shape, dtype, rng):
    A, column, row = (
        rng.standard_normal(shape).astype(dtype),
        rng.standard_normal(shape[0]),
        rng.standard_normal(shape[1]),
    )
    wanted = A.astype(np.float64) - np.outer(column, row)
    products.take_rank_one(A, column, row)
    assert A.dtype == dtype
    np.testing.assert_allclose(A, wanted, atol=1e-5 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("shape", [(20_000, 30), (7, 3), (0, 4)])
def test_lengths_of_columns_are_added_up_in_double(shape, dtype, rng):
    A = rng.standard_normal(shape).astype(dtype)
    found = products.column_lengths(A)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.linalg.norm(A.astype(np.float64), axis=0), rtol=1e-12)
