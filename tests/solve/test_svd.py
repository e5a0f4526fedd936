"""Truncated SVD: worked numbers, every method against the obvious one, awkward shapes, same bits on any threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.reference import svd as slow
from unweave.linalg.sparse import SparseProduct
from unweave.parallel import single_blas
from unweave.solve.iterate import Loop, iterate
from unweave.solve.krylov import BlockKrylov, Normal, orthonormalise
from unweave.solve.search import power_method
from unweave.solve.spectrum import low_rank, null_space, range_space, rank, spectrum_tail, squared_spectrum, tail_flops
from unweave.solve.svd import choose_method, top_eigen, truncated_svd

METHODS = ["gram", "full", "krylov", "power"]
WORKED = np.array([[3.0, 2.0, 2.0], [2.0, 3.0, -2.0]])


@pytest.fixture(autouse=True)
def _one_blas_thread():
    """As inside a fit; and the twin's LAPACK calls then do not fight over the cores."""
    with single_blas():
        yield


def decaying(rng, n, m, *, rate=0.6, dtype=np.float64):
    """A dense matrix whose singular values fall by `rate` each."""
    short = min(n, m)
    U, V = np.linalg.qr(rng.standard_normal((n, short)))[0], np.linalg.qr(rng.standard_normal((m, short)))[0]
    return ((U * (10 * rate ** np.arange(short))) @ V.T).astype(dtype)


def tolerance(dtype):
    return 3e-4 if dtype == np.float32 else 1e-7


def check(result, X, k, shift=None):
    U, s, Vt, tail = slow.truncated_svd(X, k, shift)
    tol = tolerance(X.dtype)
    assert result.s.dtype == result.U.dtype == result.Vt.dtype == X.dtype
    np.testing.assert_allclose(result.s, s, rtol=tol, atol=tol * s[0])
    np.testing.assert_allclose(np.abs(np.sum(result.Vt * Vt, axis=1)), 1, atol=20 * tol)
    np.testing.assert_allclose(result.U.T @ result.U, np.eye(k), atol=10 * tol)
    np.testing.assert_allclose(result.Vt @ result.Vt.T, np.eye(k), atol=10 * tol)
    np.testing.assert_allclose((result.U * result.s) @ result.Vt, (U * s) @ Vt, atol=20 * tol * s[0])
    np.testing.assert_allclose(result.tail, tail, rtol=1e-3, atol=10 * tol * s[0] ** 2)
    assert np.all(result.Vt[np.arange(k), np.abs(result.Vt).argmax(axis=1)] > 0)


@pytest.mark.parametrize("method", METHODS)
def test_worked_numbers(method, dtype):
    result = truncated_svd(WORKED.astype(dtype), 2, method=method)
    np.testing.assert_allclose(result.s, [5, 3], rtol=1e-5)
    assert result.method == method and result.exact == (method in ("gram", "full"))
    np.testing.assert_allclose(truncated_svd(WORKED.astype(dtype), 1, method=method).tail, 9, rtol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(80, 30), (30, 80)])
@pytest.mark.parametrize("storage", ["dense", "fortran", "sparse"])
@pytest.mark.parametrize("centred", [False, True])
def test_every_method_agrees_with_the_slow_twin(method, shape, storage, centred, dtype, rng):
    X = decaying(rng, *shape, dtype=dtype) + (1 if centred else 0)
    X = X.astype(dtype)
    shift = X.mean(axis=0, dtype=np.float64) if centred else None
    given = {"dense": X, "fortran": np.asfortranarray(X), "sparse": SparseProduct(sparse.csr_array(X))}[storage]
    result = truncated_svd(given, 4, shift=shift, method=method, tol=1e-9)
    check(result, X, 4, shift)


@pytest.mark.parametrize("shape", [(1500, 300), (300, 1500)])
def test_auto_on_a_larger_matrix(shape, dtype, rng):
    X = (decaying(rng, *shape, rate=0.9) + 5).astype(dtype)
    result = truncated_svd(X, 10, shift="mean")
    assert result.method == "gram"
    np.testing.assert_allclose(result.shift, X.mean(axis=0, dtype=np.float64), rtol=1e-5)
    check(result, X, 10, X.mean(axis=0, dtype=np.float64))


def test_without_codes_the_rest_is_the_same(dtype, rng):
    X = decaying(rng, 1500, 300, rate=0.9, dtype=dtype)
    for method in METHODS[:3]:
        full, bare = (truncated_svd(X, 5, method=method, codes=codes) for codes in (True, False))
        assert bare.U is None
        np.testing.assert_allclose(bare.s, full.s, rtol=1e-5)
        np.testing.assert_allclose(bare.Vt, full.Vt, atol=1e-4)


def test_sparse_krylov_finds_what_lapack_finds(dtype, rng):
    X = sparse.random_array((3000, 1200), density=0.01, rng=rng, dtype=np.float64).tocsr().astype(dtype)
    X = sparse.csr_array(X + sparse.csr_array(np.outer(rng.random(3000) < 0.05, rng.random(1200) < 0.1).astype(dtype)))
    assert choose_method(SparseProduct(X), 6) == "krylov"
    for shift in (None, "mean"):
        mean = None if shift is None else X.toarray().mean(axis=0, dtype=np.float64)
        s = slow.truncated_svd(X.toarray(), 6, mean)[1]
        result = truncated_svd(X, 6, shift=shift, tol=1e-6)
        np.testing.assert_allclose(result.s, s, rtol=1e-4)
        assert result.converged and np.all(result.s.astype(np.float64) <= s * (1 + 1e-5))
        default = truncated_svd(X, 6, shift=shift)
        np.testing.assert_allclose(default.s, s, rtol=1e-2)  # no gap after the sixth: a step gains little


def test_krylov_restarts_and_reports_true_residuals(rng):
    X = decaying(rng, 900, 700, rate=0.98)
    product = SparseProduct(sparse.csr_array(X))
    total = float((X**2).sum())
    scheme = BlockKrylov(Normal(product), 10, total=total, tol=1e-9, block=4, basis=24)
    state, _ = iterate(scheme, scheme.begin(), scheme.adapt(Loop()))
    found = scheme.ritz(state)
    V, s = found.V, np.sqrt(found.values)
    assert found.steps * 4 > 24
    residuals = np.linalg.norm(X.T @ (X @ V / s) - V * s, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, atol=1e-8)
    np.testing.assert_allclose(s, slow.truncated_svd(X, 10)[1], rtol=1e-5)


def test_krylov_says_when_it_ran_out_of_steps(rng):
    X = sparse.random_array((2000, 1500), density=0.01, rng=rng).tocsr()
    assert not truncated_svd(X, 5, method="krylov", tol=1e-12, max_iter=2).converged


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(6, 6), (7, 4), (4, 7), (1, 5), (5, 1), (1, 1)])
def test_k_equal_to_the_shorter_side(method, shape, dtype, rng):
    X = decaying(rng, *shape, dtype=dtype)
    check(truncated_svd(X, min(shape), method=method, tol=1e-12), X, min(shape))


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_zero_matrix(method, storage, dtype):
    result = truncated_svd(storage(np.zeros((9, 5), dtype)), 3, method=method)
    assert np.all(result.s == 0) and result.tail == 0
    np.testing.assert_allclose(result.U.T @ result.U, np.eye(3), atol=1e-5)
    np.testing.assert_allclose(result.Vt @ result.Vt.T, np.eye(3), atol=1e-5)


@pytest.mark.parametrize("method", ["auto", *METHODS])
@pytest.mark.parametrize("shape", [(60, 40), (40, 60), (900, 400)])
def test_rank_deficient(method, shape, dtype, rng):
    X = (rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))).astype(dtype)
    if method == "power" and shape[0] == 900:
        pytest.skip("the power method has nothing to gain from size")
    result = truncated_svd(X, 5, method=method)
    s = slow.truncated_svd(X, 5)[1]
    np.testing.assert_allclose(result.s[:2], s[:2], rtol=1e-4)
    assert np.all(result.s[2:] <= 3e-3 * s[0])
    np.testing.assert_allclose(result.U.T @ result.U, np.eye(5), atol=1e-3)
    np.testing.assert_allclose(result.Vt @ result.Vt.T, np.eye(5), atol=1e-3)
    np.testing.assert_allclose((result.U * result.s) @ result.Vt, X, atol=3e-3 * s[0])


def test_small_singular_values_survive(rng):
    X = decaying(rng, 700, 500, rate=1.0)
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    s = np.geomspace(1, 1e-9, 500)
    result = truncated_svd((U * s) @ Vt, 400)
    assert result.method == "full"
    np.testing.assert_allclose(result.s, s[:400], rtol=1e-5)


def test_float32_data_with_a_wide_spectrum(rng):
    X = decaying(rng, 1500, 400, rate=0.5, dtype=np.float32)
    result = truncated_svd(X, 15, method="gram")
    np.testing.assert_allclose(result.s, slow.truncated_svd(X, 15)[1], rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_same_bits_on_one_and_two_threads(method, dtype, rng, two_threads):
    X = decaying(rng, 3000, 90, rate=0.7, dtype=dtype)
    for data in (X, sparse.csr_array(X * (np.abs(X) > np.quantile(np.abs(X), 0.7)))):
        one, two = two_threads(lambda data=data: truncated_svd(data, 3, shift="mean", method=method))
        for a, b in zip(one[:4], two[:4]):
            assert np.array_equal(a, b)


def test_same_seed_same_answer_and_repeated_values(rng):
    X = sparse.block_diag([sparse.eye_array(40) * 3, sparse.eye_array(2000)], format="csr")
    first, second = (truncated_svd(X, 30, method="krylov", tol=1e-8, rng=5) for _ in range(2))
    assert np.array_equal(first.Vt, second.Vt)
    np.testing.assert_allclose(first.s, 3, rtol=1e-8)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"min\(X.shape\) = 2, got 3"):
        truncated_svd(WORKED, 3)
    with pytest.raises(ValueError, match="method"):
        truncated_svd(WORKED, 1, method="lanczos")
    with pytest.raises(ValueError, match="shift"):
        truncated_svd(WORKED, 1, shift="median")


def test_orthonormalise_keeps_the_span_and_drops_what_depends(dtype, rng):
    S = rng.standard_normal((500, 6)).astype(dtype)
    Q, R = orthonormalise(S)
    np.testing.assert_allclose(Q @ R, S, atol=1e-4)
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-5)
    S[:, 5] = S[:, 0] - S[:, 1]
    Q, R = orthonormalise(S)
    assert Q.shape[1] == 5
    np.testing.assert_allclose(Q @ R, S, atol=1e-3)
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-5)
    assert orthonormalise(np.zeros((10, 2), dtype))[0].shape == (10, 0)


def test_rough_eigenvectors_are_refined(rng):
    A = rng.standard_normal((2000, 300)) * 0.97 ** np.arange(300)
    G = A.T @ A
    values, vectors = top_eigen(G, 20, rough=True)
    exact = np.linalg.eigvalsh(G)[::-1][:20]
    np.testing.assert_allclose(values, exact, rtol=1e-9)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-12)


def test_eckart_young(rng):
    X = rng.standard_normal((20, 12))
    for k in range(13):
        best = low_rank(X, k)
        error = X - best.approximation
        np.testing.assert_allclose(np.linalg.norm(error), best.frobenius, atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(error, 2), best.spectral, atol=1e-12)
        np.testing.assert_allclose(best.frobenius**2, spectrum_tail(X, k)[0], atol=1e-10)
        rival = rng.standard_normal((20, k)) @ rng.standard_normal((k, 12))
        assert np.linalg.norm(X - rival) >= best.frobenius - 1e-12
    assert low_rank(X.astype(np.float32), 3).approximation.dtype == np.float32


def test_tail_from_the_eigenvalues(dtype, rng):
    X = decaying(rng, 1000, 400, rate=0.97, dtype=dtype) + dtype(2)
    exact = np.linalg.svd(X.astype(np.float64) - X.mean(axis=0, dtype=np.float64), compute_uv=False) ** 2
    for data in (X, X.T, sparse.csr_array(X)):
        shift = "mean" if data is not X.T and data.shape[0] == 1000 else None
        want = exact if shift else np.linalg.svd(X.astype(np.float64), compute_uv=False) ** 2
        tails = spectrum_tail(data, [0, 1, 50, 200, 399, 400], shift=shift)
        np.testing.assert_allclose(tails[:4], [want[k:].sum() for k in (0, 1, 50, 200)], rtol=1e-6)
        assert tails[-1] == 0
    assert tail_flops(1000, 400) == tail_flops(400, 1000) > 1.6e8


def test_sparse_spectrum(rng):
    X = sparse.random_array((2000, 300), density=0.01, rng=rng).tocsr()
    np.testing.assert_allclose(squared_spectrum(X), np.linalg.svd(X.toarray(), compute_uv=False) ** 2, atol=1e-9)


def test_rank_range_and_null_space(rng):
    points = np.outer(np.arange(1, 7), [1.0, 2.0, 3.0])
    assert rank(points) == 1 and rank(np.zeros((3, 2))) == 0 and rank(np.eye(4)) == 4
    assert rank(points.astype(np.float32) * np.float32(0.1)) == 1
    N, R = null_space(points), range_space(points)
    assert N.shape == (3, 2) and R.shape == (6, 1)
    np.testing.assert_allclose(points @ N, 0, atol=1e-12)
    np.testing.assert_allclose(N.T @ N, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(R @ (R.T @ points), points, atol=1e-12)


def test_power_method():
    result = power_method(np.array([[1.0, 2.0], [2.0, 4.0]]), 2)
    np.testing.assert_allclose(result.values, [5, 0], atol=1e-9)
    assert result.converged
    np.testing.assert_allclose(np.abs(result.vectors[:, 0]), np.array([1, 2]) / np.sqrt(5), atol=1e-8)


def test_power_method_keeps_the_sign(rng):
    Q = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    values = np.array([-9.0, 7, -5, 3, 2, -1, 0.5, 0])
    A = (Q * values) @ Q.T
    result = power_method(A, 5)
    np.testing.assert_allclose(result.values, values[:5], atol=1e-8)
    np.testing.assert_allclose(A @ result.vectors, result.vectors * result.values, atol=1e-7)


def test_power_method_separates_plus_from_minus():
    result = power_method(np.array([[0.0, 1.0], [1.0, 0.0]]), 2)
    np.testing.assert_allclose(sorted(result.values), [-1, 1], atol=1e-8)
    assert result.converged


def test_power_method_says_when_it_ran_out_of_steps():
    assert not power_method(np.diag([1.0, 0.9999]), 1, max_iter=3).converged
    with pytest.raises(ValueError, match="between 1 and 2"):
        power_method(np.eye(2), 3)
