"""How much a column tells of the classes in each open node: information gain, for all nodes of a level at once.

The gain of a split is H(y) − Σ_b (n_b/n) H(y | branch b), in bits. Counted over a node of n rows it is
(Σ_b Σ_c n_bc log n_bc − Σ_b n_b log n_b + n log n − Σ_c n_c log n_c) / n, so sums of n·log n are all that is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_EACH = 4  # cells (node, level) for each row from which only those that occur are counted


class Splits(NamedTuple):
    """For each open node: the gain in bits, the entropy of the branches, and where amounts are cut (NaN for kinds).

    A node that cannot be split by the column has the gain −inf.
    """

    gain: NDArray[np.float64]
    spread: NDArray[np.float64]
    threshold: NDArray[np.float64]


def n_log_n(n: NDArray) -> NDArray[np.float64]:
    """n·log₂ n, zero at zero."""
    n = np.asarray(n, dtype=np.float64)
    return n * np.log2(np.where(n > 0, n, 1.0))


def entropy(counts: NDArray) -> NDArray[np.float64]:
    """Entropy in bits of each row of counts.

    >>> entropy(np.array([[4, 4], [8, 0]])).tolist()
    [1.0, 0.0]
    """
    total = counts.sum(axis=1)
    return np.maximum((n_log_n(total) - n_log_n(counts).sum(axis=1)) / np.maximum(total, 1), 0.0)


def split_kinds(code: NDArray, n_levels: int, node: NDArray, y: NDArray, counts: NDArray, least: int) -> Splits:
    """Split every node by the levels of a column of kinds.

    Parameters
    ----------
    code, node, y : arrays of int (n,)
        Level, open node and class of each row.
    n_levels : int
        Levels, the hole included.
    counts : array (L, C)
        Classes in each node.
    least : int
        Rows that at least two branches must have.
    """
    L, C = counts.shape
    cell, cells = node * n_levels + code, L * n_levels
    of_cell: NDArray = np.arange(cells) // n_levels
    if cells * C > _EACH * len(node) * C:  # levels that are nearly as many as rows
        present, cell = np.unique(cell, return_inverse=True)
        of_cell, cells = present // n_levels, len(present)
    pairs, together = np.unique(cell * C + y, return_counts=True)
    size = np.bincount(cell, minlength=cells)
    inside = np.bincount(of_cell[pairs // C], n_log_n(together), L)
    between = np.bincount(of_cell, n_log_n(size), L)
    total = counts.sum(axis=1)
    spread = (n_log_n(total) - between) / total
    gain = entropy(counts) - (between - inside) / total
    wide = np.bincount(of_cell, size >= least, L) >= 2
    return Splits(np.where(wide, gain, -np.inf), spread, np.full(L, np.nan))


def split_amounts(value: NDArray, node: NDArray, y: NDArray, counts: NDArray, least: int) -> Splits:
    """Cut a column of amounts at the best threshold of every node; rows with a hole are a branch of their own.

    The arguments are those of :func:`split_kinds`, `value` in place of the codes, sorted by (node, value), holes last.
    """
    L, C = counts.shape
    known = ~np.isnan(value)
    value, seen = value[known], node[known]
    holes = np.bincount(node[~known] * C + y[~known], minlength=L * C).reshape(L, C)
    y = y[known]
    size = np.bincount(seen, minlength=L)
    first = np.concatenate([[0], np.cumsum(size)])[:-1]
    rows = np.arange(len(value))
    left = rows - first[seen] + 1
    right = size[seen] - left
    inside = np.zeros(len(value))
    for c in range(C):  # class by class, so that the memory does not grow with the number of classes
        running = np.cumsum(y == c)
        before = np.concatenate([[0], running])[first]
        of_left = running - before[seen]
        inside += n_log_n(of_left) + n_log_n((counts[:, c] - holes[:, c])[seen] - of_left)
    total = counts.sum(axis=1)
    lost, gone = n_log_n(holes).sum(axis=1), n_log_n(holes.sum(axis=1))
    between = n_log_n(left) + n_log_n(right) + gone[seen]
    gain = entropy(counts)[seen] - (between - inside - lost[seen]) / total[seen]
    higher = np.concatenate([value[1:], [np.inf]])
    allowed = (right > 0) & (value < higher) & (left >= least) & (right >= least)
    gain = np.where(allowed, gain, -np.inf)
    best, at = np.full(L, -np.inf), np.zeros(L, dtype=np.int64)
    if len(value):
        filled = np.flatnonzero(size)
        best[filled] = np.maximum.reduceat(gain, first[filled])
        hits = np.flatnonzero((gain == best[seen]) & np.isfinite(gain))
        which, where = np.unique(seen[hits], return_index=True)
        at[which] = hits[where]
        middle = value + 0.5 * (higher - value)  # of a cut at row `at`; the sum of two large numbers might overflow
        middle = np.where(middle < higher, middle, value)
    found = np.isfinite(best)
    threshold, spread = np.full(L, np.nan), np.ones(L)
    threshold[found] = middle[at[found]] if found.any() else threshold[found]
    spread[found] = ((n_log_n(total) - between[at])[found] / total[found]) if found.any() else spread[found]
    return Splits(best, spread, threshold)
