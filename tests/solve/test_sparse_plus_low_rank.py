"""Sparse plus low rank: the parts from which completed tables are made."""

from __future__ import annotations

import numpy as np

from tests.complete.nuclear.tables import planted, stored
from tests.reference import nuclear as reference
from unweave.objectives.sparse import entry_table
from unweave.solve.sparse_plus_low_rank import LowRankMatrix, ObservedEntries, shrink


def test_shrink_within_a_span_minimises(rng):
    A, Q = rng.standard_normal((12, 9)), np.linalg.qr(rng.standard_normal((9, 9)))[0]
    M = shrink(A @ Q, Q, 1.5, 9)
    np.testing.assert_allclose((M.U * M.s) @ M.V.T, reference.shrink(A, 1.5), atol=1e-12)


def test_pattern_multiplies_like_a_matrix(rng):
    X = planted(noise=0.1)[1]
    entries = ObservedEntries(entry_table(stored(X)))
    R, B, C = np.nan_to_num(X), rng.standard_normal((45, 3)), rng.standard_normal((60, 2))
    np.testing.assert_allclose(entries.dot(entries.values, B), R @ B)
    np.testing.assert_allclose(entries.tdot(entries.values, C), R.T @ C)


def test_factors_become_singular_vectors(rng):
    F, H = rng.standard_normal((8, 3)), rng.standard_normal((6, 3))
    M = LowRankMatrix.of_factors(F, H)
    np.testing.assert_allclose((M.U * M.s) @ M.V.T, F @ H.T)
    codes, components = M.halves()
    np.testing.assert_allclose(codes @ components, F @ H.T)


def test_padding_changes_nothing(rng):
    M = LowRankMatrix.of_factors(rng.standard_normal((8, 2)), rng.standard_normal((6, 2)))
    codes, components = M.padded(4).halves(2.0)
    assert codes.shape == (8, 4) and components.shape == (4, 6)
    np.testing.assert_allclose(codes @ components, (M.U * M.s) @ M.V.T)
