"""The left half-step of k-means afresh: which centre is nearest to each row; and sums over rows that both sides use."""

from __future__ import annotations

import numpy as np

from unweave import parallel
from unweave.kernels.lloyd import nearest_low, own_squares, row_squares
from unweave.kernels.lloyd_high import decide_product

LOW_WIDTH = 32  # columns up to which a tile of rows beats a matrix product


def chunk_rows(d: int, k: int, most: int) -> int:
    """Rows of a chunk: a few milliseconds of distances, whatever the shape."""
    return int(max(64, min(most, 2**27 // max(1, k * d))))


def product_error(d: int, dtype: np.dtype) -> float:
    """Error of ``|x|^2 - 2 x.c + |c|^2`` relative to ``|x|^2 + |c|^2`` (Higham's square-root rule, with a margin)."""
    return float(np.finfo(dtype).eps) * (4.0 + np.sqrt(d))


def row_norms(X: np.ndarray) -> np.ndarray:
    """Squared norms of the rows, in float64."""
    norms = np.empty(len(X))
    parallel.run(lambda start, stop: row_squares(X, norms, start, stop), len(X), chunk_rows(X.shape[1], 1, 2**16))
    return norms


def squares_to_own(X: np.ndarray, centres: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Squared distance of each row to the centre of its label, from differences, in float64."""
    squares = np.empty(len(X))
    size = chunk_rows(X.shape[1], 1, 2**16)
    parallel.run(lambda start, stop: own_squares(X, centres, labels, squares, start, stop), len(X), size)
    return squares


def padded(centres: np.ndarray) -> np.ndarray:
    """Rows with zero columns up to a multiple of four, as kernels of tiles want them."""
    k, d = centres.shape
    wide = np.zeros((k, -(-d // 4) * 4), centres.dtype)
    wide[:, :d] = centres
    return wide


def tiled(centres: np.ndarray) -> np.ndarray:
    """Centres as :mod:`unweave.kernels.lloyd` wants them: an even number, one of them infinitely far if need be.

    >>> tiled(np.array([[1.0, 2.0]]))
    array([[ 1.,  2.,  0.,  0.],
           [inf, inf, inf, inf]])
    """
    wide = padded(centres)
    return np.vstack([wide, np.full_like(wide[:1], np.inf)]) if len(wide) % 2 else wide


def assign(X: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nearest centre of each row of X (int32) and its squared distance: the left half-step alone.

    Every row is decided by sums of squared differences wherever rounding matters, so its answer does not depend on the
    other rows. X and centres are C-contiguous and of one dtype.

    >>> labels, squares = assign(np.array([[0.0], [4.0], [9.0]]), np.array([[1.0], [8.0]]))
    >>> labels.tolist(), squares.tolist()
    ([0, 0, 1], [1.0, 9.0, 1.0])
    """
    X = np.ascontiguousarray(X)
    centres = np.ascontiguousarray(centres, dtype=X.dtype)
    (n, d), k = X.shape, len(centres)
    labels, squares = np.empty(n, np.int32), np.empty(n, X.dtype)
    if d <= LOW_WIDTH:
        wide = tiled(centres)
        parallel.run(lambda start, stop: nearest_low(X, wide, labels, squares, start, stop), n, chunk_rows(d, k, 2**14))
        return labels, squares
    norms, centre_norms = row_norms(X).astype(X.dtype), row_norms(centres).astype(X.dtype)
    error = product_error(d, X.dtype)
    members, starts = np.arange(k, dtype=np.int32), np.array([0, k], np.int32)
    path, group_path = np.zeros(k, np.float32), np.zeros(1, np.float32)

    def chunk(start: int, stop: int) -> None:
        m = stop - start
        part, upper, lower = X[start:stop], np.empty(m, np.float32), np.empty((m, 1), np.float32)
        decide_product(
            part,
            centres,
            norms[start:stop],
            centre_norms,
            part @ centres.T,
            error,
            labels[start:stop],
            upper,
            lower,
            path,
            group_path,
            starts,
            members,
            0.0,
            np.arange(m),
        )

    parallel.run(chunk, n, chunk_rows(d, k, 2048))
    return labels, squares_to_own(X, centres, labels).astype(X.dtype, copy=False)
