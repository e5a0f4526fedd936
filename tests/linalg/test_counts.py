from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.reference import counts as twin
from unweave import parallel
from unweave.linalg.counts import kl_row_values, kl_rows, multiply_rows

DTYPES = [np.float32, np.float64]
PENALTIES = [(0.0, 0.0), (0.7, 0.0), (0.0, 0.3), (0.7, 0.3)]
UPDATES = [multiply_rows, kl_rows]


def problem(n=40, m=30, k=7, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    H, F = rng.gamma(0.4, size=(m, k)) + 1e-3, rng.gamma(0.4, size=(n, k)) + 1e-3
    X = sparse.csr_array(rng.poisson(0.5 * F @ H.T).astype(dtype))
    return X, H.astype(dtype), rng.random((n, k)).astype(dtype) + dtype(0.1)


def parts(X, H, F):
    return X.indptr, X.indices, X.data, H, F, H.sum(axis=0)


def rtol(dtype):
    return 2e-4 if dtype == np.float32 else 1e-9


@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype):
    X, H, F = problem(dtype=dtype)
    values = kl_row_values(*parts(X, H, F))
    assert values.dtype == np.float64
    np.testing.assert_allclose(values, twin.values(X.toarray(), H, F), rtol=rtol(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("l1, ridge", PENALTIES)
@pytest.mark.parametrize("repeats", [1, 3])
def test_multiply_is_its_twin(dtype, l1, ridge, repeats):
    X, H, F = problem(dtype=dtype)
    new = multiply_rows(*parts(X, H, F), l1, ridge, repeats)
    assert new.dtype == dtype
    np.testing.assert_allclose(new, twin.multiply_rows(X.toarray(), H, F, l1, ridge, repeats), rtol=rtol(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("l1, ridge", PENALTIES)
@pytest.mark.parametrize("sweeps", [1, 2])
def test_coordinate_is_its_twin(dtype, l1, ridge, sweeps):
    X, H, F = problem(dtype=dtype)
    F[:, 2] = 0
    new = kl_rows(*parts(X, H, F), l1, ridge, sweeps)
    assert new.dtype == dtype and new.min() >= 0
    expected = twin.kl_rows(X.toarray(), H, F, l1, ridge, sweeps)
    assert expected[:, 2].max() > 0
    np.testing.assert_allclose(new, expected, atol=10 * rtol(dtype) * expected.max(), rtol=0)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("l1, ridge", [*PENALTIES, (0.0, 1e4)])
def test_never_raises_the_objective_of_any_row(update, dtype, l1, ridge):
    X, H, F = problem(n=200, dtype=dtype, seed=1)
    before = twin.values(X.toarray(), H, F, l1, ridge)
    copies = F.copy(), H.copy()
    for _ in range(30):
        G = update(*parts(X, H, F), l1, ridge)
        after = twin.values(X.toarray(), H, G, l1, ridge)
        assert np.all(after <= before + (1e-5 if dtype == np.float32 else 1e-11) * (1 + before))
        before, F = after, G
    assert np.array_equal(H, copies[1])


def test_input_is_untouched_and_values_are_those_before():
    X, H, F = problem()
    copy, values = F.copy(), np.empty(len(F))
    for update in UPDATES:
        values[:] = -1
        new = update(*parts(X, H, F), values=values)
        assert np.array_equal(F, copy) and not np.shares_memory(new, F)
        np.testing.assert_allclose(values, kl_row_values(*parts(X, H, F)), rtol=1e-13)


@pytest.mark.parametrize("l1, ridge", PENALTIES)
def test_coordinate_reaches_the_minimum(l1, ridge):
    X, H, F = problem()
    new = kl_rows(*parts(X, H, F), l1, ridge, sweeps=300)
    slope = H.sum(axis=0) + l1 + ridge * new - (X.toarray() / np.maximum(new @ H.T, 1e-300)) @ H
    filled = X.toarray().sum(axis=1) > 0
    assert slope[filled].min() > -1e-6
    assert np.abs(np.minimum(slope, new))[filled].max() < 1e-6
    assert (new == 0).any() and np.all(new[~filled] == 0)
    plain = multiply_rows(*parts(X, H, F), l1, ridge, repeats=300)
    objective = [twin.values(X.toarray(), H, G, l1, ridge).sum() for G in (new, plain)]
    assert objective[0] <= objective[1] + 1e-9


def test_coordinate_converges_much_faster_than_multiplying():
    X, H, F = problem(n=100, m=80, k=12)
    best = twin.values(X.toarray(), H, kl_rows(*parts(X, H, F), sweeps=500)).sum()
    left = [twin.values(X.toarray(), H, u(*parts(X, H, F), 0.0, 0.0, 8)).sum() - best for u in UPDATES]
    assert 0 <= left[1] < 0.2 * left[0]


def test_zeros_stay_when_multiplied_and_return_when_swept():
    X, H, F = problem()
    F[:] = 0
    assert np.array_equal(multiply_rows(*parts(X, H, F), repeats=3), F)
    swept = kl_rows(*parts(X, H, F), sweeps=300)
    expected = kl_rows(*parts(X, H, np.ones_like(F)), sweeps=300)
    np.testing.assert_allclose(
        twin.values(X.toarray(), H, swept), twin.values(X.toarray(), H, expected), rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_never_nan(update, dtype):
    X, H, F = problem(dtype=dtype)
    H[:, 1] = 0  # a dead component
    H[3] = 0  # counts that nothing can predict
    F[0] = 0
    X = sparse.csr_array(X * sparse.csr_array(np.linspace(0, 1, X.shape[0], dtype=dtype)[:, None]))
    X.data[:3] = 0  # explicit zeros
    values = np.empty(len(F))
    for scale in (1e-8, 1.0, 1e8):
        new = update(X.indptr, X.indices, X.data * dtype(scale), H, F, H.sum(axis=0), values=values)
        assert np.isfinite(new).all() and np.isfinite(values).all() and new.min() >= 0


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_threads_and_neighbours_change_no_bit(update, dtype):
    X, H, F = problem(n=3000, m=200, k=24, dtype=dtype)
    answers, values = [], np.empty((2, len(F)))
    former = parallel.get_num_threads()
    try:
        for threads in (1, 2):
            parallel.set_num_threads(threads)
            answers.append(update(*parts(X, H, F), 0.1, 0.0, 3, 1e-3, values=values[threads - 1]))
    finally:
        parallel.set_num_threads(former)
    assert np.array_equal(*answers) and np.array_equal(*values)
    some = np.array([5, 17, 2999])
    assert np.array_equal(update(*parts(X[some], H, F[some]), 0.1, 0.0, 3, 1e-3), answers[0][some])


def test_rows_stop_early():
    X, H, F = problem()
    long = kl_rows(*parts(X, H, F), sweeps=400)
    short = kl_rows(*parts(X, H, F), sweeps=400, tol=1e-2)
    assert not np.array_equal(long, short)
    np.testing.assert_allclose(short.sum(axis=1), long.sum(axis=1), rtol=0.05, atol=0.05)


def test_wrong_arguments():
    X, H, F = problem()
    with pytest.raises(TypeError, match="float32 or float64"):
        kl_rows(*parts(X, H, F.astype(int)))
    with pytest.raises(ValueError, match="rows"):
        kl_rows(*parts(X, H, F[1:]))
    with pytest.raises(ValueError, match="columns"):
        kl_rows(X.indptr, X.indices, X.data, H[:, 1:], F, H.sum(axis=0))
    with pytest.raises(ValueError, match="values must be"):
        kl_rows(*parts(X, H, F), values=np.empty(3))
