"""Orthogonal matching pursuit against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import pursuit as slow
from unweave.linalg.pursuit import greedy_rows, pursuit_gram
from unweave.parallel import single_blas


@pytest.fixture(autouse=True)
def blas():
    with single_blas():
        yield


def close(dtype):
    return {"rtol": 1e-2, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-7, "atol": 1e-9}


@pytest.mark.parametrize("s", [0, 1, 3, 8])
def test_shared_gram_equals_twin(rng, dtype, s):
    H = (rng.normal(size=(30, 20)) * rng.uniform(0.5, 2, size=20)).astype(dtype)
    X = rng.normal(size=(50, 30)).astype(dtype)
    codes = pursuit_gram(X @ H, H.T @ H, (X**2).sum(axis=1), s)
    assert codes.dtype == dtype
    assert (np.count_nonzero(codes, axis=1) <= s).all()
    np.testing.assert_allclose(codes, [slow.pursue(x, H, s) for x in X], **close(dtype))


def test_equals_scikit_learn_on_atoms_of_unit_length(rng):
    from sklearn.linear_model import orthogonal_mp_gram

    H = rng.normal(size=(40, 25))
    H /= np.sqrt((H**2).sum(axis=0))
    X = rng.normal(size=(30, 40))
    known = orthogonal_mp_gram(H.T @ H, (X @ H).T, n_nonzero_coefs=6).T
    np.testing.assert_allclose(pursuit_gram(X @ H, H.T @ H, (X**2).sum(axis=1), 6), known, rtol=1e-8, atol=1e-10)


def test_stops_when_nothing_is_left(rng, dtype):
    H = rng.normal(size=(40, 15))
    H[:, 14] = 0
    H[:, 13] = H[:, 2]
    truth = np.zeros((20, 15))
    for f in truth:
        f[rng.permutation(13)[:2]] = rng.choice([-2, 2], size=2)
    H = H.astype(dtype)
    X = (truth @ H.T.astype(np.float64)).astype(dtype)
    X[0] = 0
    truth[0] = 0
    codes = pursuit_gram(X @ H, H.T @ H, (X.astype(np.float64) ** 2).sum(axis=1), 15)
    codes[:, 2] += codes[:, 13]  # two equal atoms: either is right
    codes[:, 13] = 0
    np.testing.assert_allclose(codes, truth, atol=2e-2 if dtype == np.float32 else 1e-9)
    if dtype == np.float64:
        np.testing.assert_array_equal(np.count_nonzero(codes, axis=1), np.count_nonzero(truth, axis=1))


@pytest.mark.parametrize("weighted", [False, True])
def test_own_gram_equals_twin(rng, dtype, weighted):
    lengths = [0, 1, 2, 10, 50, 50, 30]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.concatenate([rng.permutation(50)[:n] for n in lengths]).astype(np.int32)
    data = rng.normal(size=len(indices)).astype(dtype)
    weights = rng.uniform(0.5, 2, size=len(indices)).astype(dtype) if weighted else np.empty(0, dtype)
    H = rng.normal(size=(50, 34)).astype(dtype)
    codes = greedy_rows(indptr, indices, data, weights, H, 4)
    root = np.sqrt(weights) if weighted else np.ones(len(indices))
    for i, code in enumerate(codes):
        span = slice(indptr[i], indptr[i + 1])
        if lengths[i] == 1:
            # every atom fits one number exactly, so which is taken is a matter of rounding
            np.testing.assert_allclose(H[indices[span]] @ code, data[span], rtol=1e-5)
            assert np.count_nonzero(code) == 1
            continue
        known = slow.pursue(root[span] * data[span], root[span, None] * H[indices[span]], 4)
        np.testing.assert_allclose(code, known, **close(dtype))


def test_same_bits_on_one_and_two_threads(rng, dtype, two_threads):
    H = rng.normal(size=(60, 40)).astype(dtype)
    X = rng.normal(size=(3000, 60)).astype(dtype)
    one, two = two_threads(lambda: pursuit_gram(X @ H, H.T @ H, (X**2).sum(axis=1), 10))
    np.testing.assert_array_equal(one, two)
    indptr = np.arange(0, 3000 * 30 + 1, 30)
    indices = rng.integers(0, 60, size=3000 * 30).astype(np.int32)
    data = rng.normal(size=3000 * 30).astype(dtype)
    one, two = two_threads(lambda: greedy_rows(indptr, indices, data, None, H, 5))
    np.testing.assert_array_equal(one, two)
