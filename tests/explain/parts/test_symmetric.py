"""Symmetric NMF: kernels against their twins, descent, graphs, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import nonneg as slow
from unweave.explain.parts.symmetric import SymmetricNMF
from unweave.kernels.nonneg import quartic, symmetric_dense_range, symmetric_sparse_range

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
numbers = st.floats(-100, 100, allow_nan=False)


@given(a=numbers, c=numbers)
def test_the_quartic_is_solved(a, c):
    def cost(u):
        return u**4 / 4 + a * u * u / 2 - c * u

    best = slow.quartic(a, c)
    assert quartic(a, c) >= 0
    assert cost(quartic(a, c)) <= cost(best) + 1e-8 * (1 + abs(cost(best)))


@given(seed=st.integers(0, 2**31), n=st.integers(1, 9), k=st.integers(1, 3))
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sweeps_agree_with_their_twin(kind, seed, n, k):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.7)
    A = (A + A.T).astype(kind)
    U = rng.random((n, k)).astype(kind)
    want = slow.symmetric_sweep(A.astype(np.float64), U)
    before = 0.5 * np.square(A - U @ U.T).sum()
    for sparse in (False, True):
        new = U.copy()
        G = new.T.astype(np.float64) @ new
        for start in range(0, n, 4):
            stop = min(n, start + 4)
            if sparse:
                S = sp.csr_array(A)
                symmetric_sparse_range(
                    S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data, new, G, start, stop
                )
            else:
                symmetric_dense_range(A, new, G, start, stop)
        np.testing.assert_allclose(G, new.T.astype(np.float64) @ new, rtol=1e-4, atol=1e-4)
        after, best = (0.5 * np.square(A - V @ V.T).sum() for V in (new.astype(np.float64), want))
        assert after <= before * (1 + 1e-5) + 1e-5
        # Two minima of one quartic may tie, so the costs are compared and not the factors.
        assert kind is np.float32 or after == pytest.approx(best, rel=1e-6, abs=1e-9)


def graph(n=60, k=3, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.gamma(1, size=(n, k)) * np.repeat(np.eye(k), n // k, axis=0)
    return P @ P.T + 0.01 * np.eye(n)


@pytest.mark.parametrize("init", ["auto", "random"])
@pytest.mark.parametrize("as_table", [np.asarray, sp.csr_array])
def test_blocks_of_a_graph_are_found(init, as_table, dtype):
    A = graph().astype(dtype)
    model = SymmetricNMF(3, init=init).fit(as_table(A))
    U = model.codes_
    assert U.min() >= 0 and U.dtype == dtype
    np.testing.assert_array_equal(model.components_, U.T)
    assert all(len(set(model.labels_[i : i + 20])) == 1 for i in (0, 20, 40)) and len(set(model.labels_)) == 3
    assert model.objective_ == pytest.approx(0.5 * np.square(A - U @ U.T).sum(), rel=1e-3, abs=1e-5)
    np.testing.assert_array_equal(model.predict(as_table(A[:5])), model.labels_[:5])


@given(seed=st.integers(0, 2**31), k=st.integers(1, 4))
def test_the_objective_never_rises(seed, k):
    A = np.random.default_rng(seed).normal(size=(14, 14))
    model = SymmetricNMF(k, max_iter=15).fit(A + A.T)
    values = np.asarray(model.history_.objective)
    assert (np.diff(values) <= 1e-10 * values[0]).all() and np.isfinite(model.codes_).all()


def test_an_exact_factor_given_as_a_start_stays():
    P = np.random.default_rng(0).random((20, 2))
    model = SymmetricNMF(2, init=P).fit(P @ P.T)
    assert model.objective_ < 1e-18
    np.testing.assert_allclose(model.codes_, P, atol=1e-9)


def test_threads_do_not_matter(two_threads):
    A = graph(300)
    one, two = two_threads(lambda: SymmetricNMF(3, max_iter=5).fit(A))
    assert np.array_equal(one.codes_, two.codes_) and one.objective_ == two.objective_


@pytest.mark.parametrize("A, arguments, words", [
    (np.ones((3, 4)), {}, "square"),
    (np.triu(np.ones((4, 4))), {}, "symmetric"),
    (np.eye(4), {"init": "magic"}, "init='magic'"),
    (np.eye(4), {"init": -np.ones((4, 2))}, "negative"),
    (np.eye(4), {"init": np.ones((3, 2))}, "init"),
    (np.eye(4), {"n_components": 5}, "n_components=5"),
    (np.full((2, 2), np.nan), {}, "NaN"),
])  # fmt: skip
def test_bad_input_is_named(A, arguments, words):
    with pytest.raises(ValueError, match=words):
        SymmetricNMF(**{"n_components": 2} | arguments).fit(A)


def test_zeros_and_auto():
    assert SymmetricNMF(2).fit(np.zeros((5, 5))).objective_ == 0
    assert SymmetricNMF("auto").fit(np.kron(np.eye(4), np.ones((12, 12)))).n_components_ == 4
    assert not hasattr(SymmetricNMF(), "partial_fit")
