"""Draw lightweight coresets: a few weighted rows that stand for all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave import parallel
from unweave.data.arguments import finite_weights, generator, whole
from unweave.group.large.blocks import OpenedRows, RowBlocks, open_rows
from unweave.kernels.large import chances, weighted_sums

_CHUNK = 1 << 14  # rows of one kernel call


@dataclass(frozen=True)
class Coreset:
    """Hold weighted points that stand for a table; ``points, weights = coreset(X, m)`` takes it apart.

    Attributes
    ----------
    points : array (at most m, columns)
        Rows of X, each once.
    weights : array
        How many rows of X each stands for; they add up to about the number of rows (or the sum of their weights).
    rows : array of int
        Which rows they are, increasing.
    """

    points: NDArray
    weights: NDArray
    rows: NDArray

    def __iter__(self) -> Iterator[NDArray]:
        return iter((self.points, self.weights))

    def __len__(self) -> int:
        return len(self.weights)


def coreset(X, m, *, sample_weight=None, random_state=None) -> Coreset:
    """Draw a lightweight coreset: m weighted rows on which any k centres cost about what they cost on all of X.

    A row is drawn with probability q(x) = ½ w/Σw + ½ w·d(x, mean)²/Σ w·d², m times with replacement, and weighs
    w/(m·q(x)). For m of order (d·k·log k + log 1/δ)/ε² the cost of *every* set C of k centres is kept, with probability
    1 − δ, up to an error that is multiplicative plus additive:
    |cost_coreset(C) − cost_X(C)| ≤ ½ε·cost_X(C) + ½ε·cost_X({mean}). The additive part means that a solution whose cost
    is far below the total variance of X (many tight clusters) needs a larger m than the multiplicative part suggests.

    Use it to fit k-means (``KMeans(k).fit(points, sample_weight=weights)``, or ``KMeans(k, coreset=m)``) or a mixture
    to a table that is too long to iterate over. Two passes over the rows, in blocks: memory for m rows and one block.

    Parameters
    ----------
    X : array, sparse matrix, data frame, memory-mapped array or sequence of row blocks
        A sparse table is made dense a block at a time.
    m : int
        Number of draws. If X has no more rows than this, the coreset is X itself.
    sample_weight : array (n,), optional
        Weights of the rows; rows of weight zero are never drawn.
    random_state : None, int or generator

    Returns
    -------
    Coreset

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import coreset
    >>> X = np.random.default_rng(0).normal(size=(100_000, 2))
    >>> points, weights = coreset(X, 2000)
    >>> bool(abs(weights.sum() / len(X) - 1) < 0.05)
    True

    References
    ----------
    Bachem, Lucic and Krause (2018), Scalable k-means clustering via lightweight coresets, KDD.
    """
    m = whole(m, "m", 1)
    rows = open_rows(_named("coreset"), X, reset=True)
    weights = None if sample_weight is None else finite_weights(sample_weight)
    return draw_coreset(rows, m, weights, generator(random_state))


def draw_coreset(rows: RowBlocks | OpenedRows, m: int, weights: NDArray | None, rng: np.random.Generator) -> Coreset:
    """Draw a coreset of rows that were opened already; see :func:`coreset`."""
    n, total, mean, spread = _moments(rows, weights)
    if not n:
        raise ValueError("X has no rows: 0 samples; give at least one")
    if weights is not None and len(weights) != n:
        raise ValueError(f"sample_weight must hold one number per row: X has {n} rows, it has {len(weights)}")
    if n <= m:
        return _everything(rows, weights, n)
    # The chances add up to one up to rounding only: no draw may fall behind the last row.
    where = np.sort(rng.random(m)) * (1.0 - 1e-9)
    return _drawn(rows, weights, total, mean, spread, where)


def _named(name: str) -> BaseEstimator:
    """Make an estimator for the checks of the data to talk to; their errors carry its name."""
    return type(name, (BaseEstimator,), {})()


def _with_weights(rows: RowBlocks | OpenedRows, weights: NDArray | None) -> Iterator[tuple[int, NDArray, NDArray, int]]:
    """Yield (first row, block, weights, stride) of every block that has rows."""
    first = 0
    for block in rows:
        part = np.ones(1) if weights is None else weights[first : first + len(block)]
        if weights is not None and len(part) < len(block):
            raise ValueError(f"sample_weight must hold one number per row: X has more rows than {len(weights)}")
        if len(block):
            yield first, block, part, int(weights is not None)
        first += len(block)


def _moments(rows: RowBlocks | OpenedRows, weights: NDArray | None) -> tuple[int, float, NDArray, float]:
    """Add up rows, weights, the weighted mean and Σ w·d(x, mean)², all in one pass (Chan's rule)."""
    n, total, spread, mean = 0, 0.0, 0.0, np.zeros(rows.n_columns)
    for first, block, part, stride in _with_weights(rows, weights):
        n = first + len(block)
        mass, middle, around = block_moments(block, part, stride)
        if not mass:
            continue
        apart = middle - mean
        spread += around + float(apart @ apart) * mass * total / (total + mass)
        total += mass
        mean = mean + apart * (mass / total)
    return n, total, mean, spread


def block_moments(block: NDArray, weights: NDArray, stride: int) -> tuple[float, NDArray, float]:
    """Add up the weight of the rows of a block, their mean and Σ w·d(x, mean)²."""
    origin = block[0].astype(np.float64)
    mass = float(weights.sum()) if stride else float(len(block))
    if not mass:
        return 0.0, origin, 0.0
    sums, squares = _block_sums(block, origin, weights, stride)
    shift = sums / mass
    return mass, origin + shift, max(0.0, squares - mass * float(shift @ shift))


def _block_sums(block: NDArray, origin: NDArray, weights: NDArray, stride: int) -> tuple[NDArray, float]:
    def part(start: int, stop: int) -> tuple[NDArray, float]:
        sums = np.zeros(block.shape[1])
        return sums, weighted_sums(block, origin, weights, stride, sums, start, stop)

    parts = parallel.run(part, len(block), _CHUNK)
    return np.sum([sums for sums, _ in parts], axis=0), float(sum(squares for _, squares in parts))


def _everything(rows: RowBlocks | OpenedRows, weights: NDArray | None, n: int) -> Coreset:
    keep = np.arange(n) if weights is None else np.flatnonzero(weights)
    points = np.concatenate(list(rows))[keep]
    return Coreset(points, np.ones(n) if weights is None else weights[keep], keep)


def _drawn(
    rows: RowBlocks | OpenedRows, weights, total: float, mean: NDArray, spread: float, where: NDArray
) -> Coreset:
    """Take the rows into whose share of [0, 1) the sorted numbers `where` fall; the share of a row is its chance q."""
    even, steep = (0.5 / total, 0.5 / spread) if spread > 0 else (1.0 / total, 0.0)
    found, done = [], 0.0
    for first, block, part, stride in _with_weights(rows, weights):
        q = row_chances(block, mean, part, stride, even, steep)
        ends = done + np.cumsum(q)
        mine = where[slice(*np.searchsorted(where, [done, ends[-1]]))]
        inside, times = np.unique(np.searchsorted(ends, mine, side="right"), return_counts=True)
        found.append((block[inside], times * part[inside * stride] / (len(where) * q[inside]), first + inside))
        done = float(ends[-1])
    points, drawn, which = zip(*found)
    return Coreset(np.concatenate(points), np.concatenate(drawn), np.concatenate(which))


def row_chances(block: NDArray, mean: NDArray, weights: NDArray, stride: int, even: float, steep: float) -> NDArray:
    """Compute the chance w·(even + steep·d(x, mean)²) of every row."""
    q = np.empty(len(block))
    parallel.run(
        lambda start, stop: chances(block, mean, weights, stride, even, steep, q, start, stop), len(block), _CHUNK
    )
    return q
