"""A table answers alike however it is stored: as an array, sparse, by its entries, or in blocks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from tests.tables import stored as pattern
from unweave.losses import Squared
from unweave.objectives import Blocks, Dense, Observed, Sparse
from unweave.scale.visits import Here, Loader

LOSS = Squared()


def values(seed: int = 0, dtype=np.float64) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (rng.integers(0, 3, (11, 5)) * rng.normal(size=(11, 5))).astype(dtype)


def in_blocks(make, X) -> Blocks:
    cuts = [slice(0, 4), slice(4, 5), slice(5, 11)]
    load = Loader([X[cut] for cut in cuts], lambda block, i: make(block))
    return Blocks(load, [4, 1, 6], make(X[cuts[0]]), True, Here())


COMPLETE = {
    "array": lambda X: Dense(X, LOSS),
    "sparse": lambda X: Sparse(sp.csr_array(X), LOSS),
    "blocks": lambda X: in_blocks(lambda part: Dense(part, LOSS), X),
    "sparse blocks": lambda X: in_blocks(lambda part: Sparse(sp.csr_array(part), LOSS), X),
}


def with_holes() -> tuple[np.ndarray, np.ndarray]:
    X, seen = values(1), np.random.default_rng(2).random((11, 5)) < 0.6
    seen[0] = False  # a row of which nothing was seen
    return X * seen, seen


PARTLY = {
    "array": lambda X, seen: Dense(X, LOSS, seen.astype(X.dtype)),
    "entries": lambda X, seen: Observed(pattern(X, seen), LOSS),
}


@pytest.mark.parametrize("stored", COMPLETE)
def test_sums_and_grams_of_a_complete_table(stored, dtype):
    X = values(dtype=dtype)
    objective, tolerance = COMPLETE[stored](X), 1e-12 if dtype == np.float64 else 1e-5
    sums, counts = objective.column_sums()
    np.testing.assert_allclose(sums, X.sum(axis=0), rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(counts, 11)
    np.testing.assert_allclose(objective.column_means(), X.mean(axis=0, dtype=np.float64), atol=tolerance)
    np.testing.assert_allclose(objective.squares(), np.square(X, dtype=np.float64).sum(), rtol=tolerance)
    shift = np.arange(5.0)
    away = X.astype(np.float64) - shift
    np.testing.assert_allclose(objective.column_gram(shift), away.T @ away, rtol=10 * tolerance, atol=10 * tolerance)
    np.testing.assert_allclose(objective.column_gram(None), X.T.astype(np.float64) @ X, rtol=1e-4, atol=10 * tolerance)


@pytest.mark.parametrize("stored", COMPLETE)
def test_a_shifted_table_is_the_table_less_a_row(stored):
    X, row = values(), np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    moved = COMPLETE[stored](X).shifted(row)
    found = np.concatenate([block.dense_rows(0, block.shape[0])[0] for _, _, block in moved.blocks()])
    np.testing.assert_allclose(found, X - row)
    assert COMPLETE[stored](X).shifted(np.zeros(5)).is_sparse == COMPLETE[stored](X).is_sparse


@pytest.mark.parametrize("stored", COMPLETE)
def test_blocks_cover_the_rows_in_order(stored):
    objective = COMPLETE[stored](values())
    bounds = [(start, stop) for start, stop, _ in objective.blocks()]
    assert bounds[0][0] == 0 and bounds[-1][1] == 11
    assert all(a[1] == b[0] for a, b in itertools.pairwise(bounds))
    doubled = objective.each_block(lambda part: Dense(2 * part.dense_rows(0, part.shape[0])[0], LOSS))
    assert doubled.squares() == pytest.approx(4 * objective.squares())


@pytest.mark.parametrize("stored", PARTLY)
def test_what_was_not_seen_counts_nowhere(stored):
    X, seen = with_holes()
    objective = PARTLY[stored](X, seen)
    sums, counts = objective.column_sums()
    np.testing.assert_allclose(sums, np.where(seen, X, 0).sum(axis=0))
    np.testing.assert_array_equal(counts, seen.sum(axis=0))
    entries = objective.entries()
    assert entries.nnz == seen.sum()
    np.testing.assert_allclose(entries.toarray(), X)
    moved = objective.shifted(np.ones(5)).entries()
    np.testing.assert_allclose(moved.data, entries.data - 1)


@pytest.mark.parametrize("stored", [*COMPLETE, *PARTLY])
def test_the_weighted_residual_is_that_of_the_entries(stored):
    rng = np.random.default_rng(3)
    U, Z = rng.normal(size=(11, 2)), rng.normal(size=(2, 5))
    X, seen = with_holes() if stored in PARTLY else (values(), np.ones((11, 5), bool))
    objective = (PARTLY[stored] if stored in PARTLY else lambda X, _: COMPLETE[stored](X))(X, seen)
    if objective.in_blocks:
        with pytest.raises(NotImplementedError, match="memory"):
            objective.weighted_residual(U, Z)
        return
    slope, inner, square, scale = objective.weighted_residual(U, Z)
    wanted = np.where(seen, X - U @ Z, 0)
    np.testing.assert_allclose(slope if isinstance(slope, np.ndarray) else slope.dot(np.eye(5)), wanted, atol=1e-12)
    assert inner == pytest.approx((wanted * X).sum())
    assert square == pytest.approx(np.square(wanted).sum())
    assert scale == pytest.approx(0.5 * np.square(np.where(seen, X, 0)).sum())


@pytest.mark.parametrize("stored", [*COMPLETE, *PARTLY])
def test_values_and_what_was_seen(stored):
    X, seen = with_holes() if stored in PARTLY else (values(), np.ones((11, 5), bool))
    objective = (PARTLY[stored] if stored in PARTLY else lambda X, _: COMPLETE[stored](X))(X, seen)
    if objective.in_blocks:
        return
    table, shown = objective.values_and_seen()
    np.testing.assert_allclose(table.toarray() if objective.is_sparse else table, X)
    if shown is None:
        assert objective.complete
    else:
        np.testing.assert_array_equal(shown.toarray() if objective.is_sparse else shown, seen)
