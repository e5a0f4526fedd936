"""Passes over weighted pairs, against dense tables."""

import numpy as np
import scipy.sparse as sp

from tests.reference import pairs as slow
from unweave.embed.pairs import Pairs
from unweave.kernels.pairs import adapt_block


def table(rng, n=40, m=30):
    N = sp.random_array((n, m), density=0.3, rng=rng, format="csr")
    N.data = rng.random(N.nnz) + 0.1
    weights = rng.random(N.nnz) + 0.1
    return N, weights, sp.csr_array((weights, N.indices, N.indptr), shape=N.shape).toarray()


def test_gradients_and_products_with_hessians_of_both_sides(rng):
    N, weights, W = table(rng)
    pairs = Pairs(N, N.data, weights, 0.0, symmetric=False)
    X, Y = (rng.normal(size=(n, 9)).astype(np.float32) for n in N.shape)
    for aim in (0.0, 1.0):
        for side, P, Q, T, V in ((pairs.left, X, Y, N.toarray(), W), (pairs.right, Y, X, N.toarray().T, W.T)):
            out, values = side.along(P, Q, aim)
            wanted, sums = slow.weighted_rows(T, V, aim, P.astype(float), Q.astype(float))
            np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-4)  # sums of some ten numbers of size one
            np.testing.assert_allclose(values, sums, rtol=1e-5)


def test_steps_of_adagrad_one_pair_after_the_other(rng):
    N, weights, _ = table(rng, 12, 10)
    rows = np.repeat(np.arange(12, dtype=np.int32), np.diff(N.indptr))
    order = rng.permutation(N.nnz)
    X, Y = (rng.normal(size=(n, 6)).astype(np.float32) for n in N.shape)
    X[:, 0] = Y[:, -1] = 1
    fast = [X.copy(), Y.copy(), np.ones_like(X), np.ones_like(Y)]
    same = [a.astype(float) for a in fast]
    targets, w = N.data.astype(np.float32), weights.astype(np.float32)
    adapt_block(rows, N.indices, targets, w, order, *fast, np.float32(0.05))
    slow.adapt_block([(rows[e], N.indices[e], targets[e], w[e]) for e in order], *same, 0.05)
    for a, b in zip(fast, same):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
    assert (fast[0][:, 0] == 1).all() and (fast[1][:, -1] == 1).all()
