"""The condensed table of all distances: made, and made smaller in place after joins."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.group.linkage_tiles import pack
from unweave.kernels.linkage_table import euclidean_rows, nearest_of_rows, squeeze_rows
from unweave.solve.lloyd_rows import padded

_CELLS = 1 << 17  # distances that one call of a kernel writes
_PARTS = 8  # calls that fill a block of new rows side by side


def distance_table(X: NDArray, metric: str) -> tuple[NDArray, NDArray, NDArray[np.int64]]:
    """Distances of all pairs of rows (scipy's condensed order), of each row to its nearest, and the order of the rows.

    Euclidean distances have the type of X, and rows that are neighbours stand together: their distances are then
    near each other in memory when they join. Others are float64.

    >>> table, near, order = distance_table(np.array([[0.0], [3.0], [1.0]]), "cityblock")
    >>> table.tolist(), near.tolist(), order.tolist()
    ([3.0, 1.0, 2.0], [1.0, 2.0, 1.0], [0, 1, 2])
    """
    n = len(X)
    if metric != "euclidean":
        table = _other(X, metric)
        near = _noted(lambda near, start, stop: nearest_of_rows(table, near, start, stop), n, table.dtype)
        return table, near, np.arange(n)
    rows = padded(X)
    tiles = pack(rows, np.arange(n))
    order = tiles.who.reshape(-1)[:n].copy()
    rows, table = rows[order], np.empty(n * (n - 1) // 2, X.dtype)

    def part(near: NDArray, start: int, stop: int) -> None:
        euclidean_rows(tiles.points, rows, table, near, start, stop)

    return table, _noted(part, n, X.dtype), order


def _other(X: NDArray, metric: str) -> NDArray[np.float64]:
    from scipy.spatial.distance import pdist

    distances = pdist(X.astype(np.float64), metric)
    if not np.isfinite(distances).all():
        raise ValueError(
            f"metric={metric!r} is not defined for some rows of X (constant or zero rows): drop these rows or use "
            "another metric"
        )
    return distances


def _noted(rows: Callable[[NDArray, int, int], None], n: int, dtype: np.dtype) -> NDArray:
    """Run ``rows(near, start, stop)`` over all rows of a table of n clusters: the distance of each to its nearest."""

    def part(start: int, stop: int) -> NDArray:
        near = np.full(n, np.inf, dtype)
        rows(near, start, stop)
        return near

    return np.minimum.reduce(parallel.run(part, n, max(16, _CELLS // n)))


def squeeze(table: NDArray, n: int, first: NDArray, second: NDArray, share: NDArray, rule: int) -> NDArray:
    """Write the table after joins over the front of the table of n clusters; each cluster's distance to its nearest.

    New cluster i is ``first[i] < second[i]`` joined, with `share` for the second, or ``first[i] == second[i]`` itself.
    New rows come in blocks, filled on the pool and then copied over rows that no later block reads.
    """
    m = len(first)
    share = share.astype(table.dtype)
    first, second = first.astype(np.uint32), second.astype(np.uint32)
    near = np.full((_PARTS, m), np.inf, table.dtype)
    part = max(1, min(-(-m // _PARTS), _CELLS // m))
    block = np.empty(_PARTS * part * m, table.dtype)
    for origin in range(0, m, _PARTS * part):
        stop = min(origin + _PARTS * part, m)

        def rows(begin: int, end: int, origin: int = origin) -> None:
            span = (near[begin // part], origin + begin, origin + end)
            squeeze_rows(table, n, first, second, share, rule, block, origin, *span)

        parallel.run(rows, stop - origin, part)
        begin, end = (i * (2 * m - i - 1) // 2 for i in (origin, stop))
        table[begin:end] = block[: end - begin]
    return near.min(axis=0)
