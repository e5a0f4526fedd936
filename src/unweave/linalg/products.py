"""Dense products on the pool: blocks of rows side by side, one single-threaded BLAS call each.

Blocks are fixed by the shape of the data and partial sums are added in their order in float64, so the answer does not
depend on the number of threads. Arrays may be memory-mapped: they are read a block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from unweave import parallel

_SMALL = 4_000_000  # multiply-adds below which starting threads costs more than it saves
_PIECE = 100_000_000  # multiply-adds in one BLAS call: one to five milliseconds
_GRAM_PIECE = 4_000_000_000  # a partial Gram must be added up afterwards, so its blocks are longer
# Entries of a piece of a block that is shifted, then multiplied. Long pieces: a product of depth 334 runs at half the
# speed of one of depth 4096 on a processor without AVX-512 (Zen), where the product itself is what takes the time.
_SHIFTED = 1 << 22
_SUMMED = 512  # rows added up in float32 before float64 takes over
_READ = 1 << 18  # entries in one block of a pass that only reads
_PARTIAL_BYTES = 1 << 27  # memory for partial Grams waiting to be added


def floating(dtype) -> np.dtype:
    """The dtype that products of such data have: float32 stays float32, everything else is float64."""
    return np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)


def matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``A @ B`` with the longer axis of the result split over the pool.

    Any memory order and transposed views are passed to BLAS as they are.

    Examples
    --------
    >>> import numpy as np
    >>> matmul(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    rows, columns = A.shape[0], B.shape[1]
    work = rows * columns * A.shape[1]
    if work < _SMALL:
        return np.asarray(A @ B)
    out = np.empty((rows, columns), dtype=np.result_type(A, B))
    longer = max(rows, columns)
    size = -(-longer // int(min(max(4, work // _PIECE), max(1, longer // 16))))
    if rows >= columns:
        parallel.run(lambda a, b: np.matmul(A[a:b], B, out=out[a:b]), rows, size)
    else:
        parallel.run(lambda a, b: np.matmul(A, B[:, a:b], out=out[:, a:b]), columns, size)
    return out


def _add_up(task: Callable[[int, int], np.ndarray], n: int, size: int, shape: tuple[int, int]) -> np.ndarray:
    """Sum of ``task(start, stop)`` over the chunks, in their order, in float64; a bounded number at a time."""
    total = np.zeros(shape)
    # How many wait to be added changes the memory in use, never the order of the sum.
    waiting = max(2 * parallel.get_num_threads(), _PARTIAL_BYTES // max(1, total.nbytes))
    for first, last in parallel.chunks(n, size * waiting):
        parts = parallel.run(partial(_offset, task, first), last - first, size)
        parallel.run(partial(_add_rows, total, parts), shape[0], max(16, _READ // max(1, shape[1])))
    return total


def _offset(task: Callable[[int, int], np.ndarray], first: int, start: int, stop: int) -> np.ndarray:
    return task(first + start, first + stop)


def _add_rows(total: np.ndarray, parts: list[np.ndarray], start: int, stop: int) -> None:
    for part in parts:
        total[start:stop] += part[start:stop]


def _gram_rows(n: int, width: int) -> int:
    """Rows of a block of a sum of outer products of `width` numbers each; blocks come in eights, to end together."""
    longest = min(max(_GRAM_PIECE // max(1, width), 256), max(n // 4, 256))
    blocks = -(-n // longest)
    return int(-(-n // (8 * -(-blocks // 8)))) if blocks > 2 else int(longest)


def gram(
    A: np.ndarray,
    *,
    shift: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    dtype: type | np.dtype | None = None,
) -> np.ndarray:
    """``G = sum_i w_i (a_i - shift)(a_i - shift)^T`` over the rows a_i of A, in float64 (columns by columns).

    `shift` is a row (the mean, say) or a column of one number for each row of A. It is subtracted block by block before
    multiplying, so large means do not cancel as they do in ``A^T A - n mean mean^T``. Each block is multiplied in
    `dtype` (A's own unless given; float64 halves the speed for float32 data and makes small eigenvalues of G right).

    Examples
    --------
    >>> import numpy as np
    >>> gram(np.array([[1.0, 2.0], [3.0, 2.0]]), shift=np.array([2.0, 2.0]))
    array([[2., 0.],
           [0., 0.]])
    """
    n, columns = A.shape
    dtype = floating(A.dtype if dtype is None else dtype)
    shift = None if shift is None else np.asarray(shift).astype(dtype, copy=False)
    roots = None if weights is None else np.sqrt(weights).astype(dtype, copy=False)

    def block(start: int, stop: int) -> np.ndarray:
        if shift is None and roots is None:
            return _square(np.asarray(A[start:stop]).astype(dtype, copy=False))
        part = np.zeros((columns, columns), dtype)
        for first, last, W in _pieces(A, start, stop, dtype):
            np.copyto(W, A[first:last], casting="unsafe")
            if shift is not None:
                W -= shift if shift.ndim == 1 else shift[first:last]
            if roots is not None:
                W *= roots[first:last, None]
            part += _square(W)
        return part

    return _add_up(block, n, _gram_rows(n, columns * columns // 2), (columns, columns))


def _square(W: np.ndarray) -> np.ndarray:
    """W^T W; numpy sees that both are one array and computes one triangle."""
    return W.T @ W


def _pieces(A: np.ndarray, start: int, stop: int, dtype: np.dtype) -> Iterator[tuple[int, int, np.ndarray]]:
    """Ranges of rows, each with the same scratch: fresh pages cost more than sums."""
    rows = max(16, _SHIFTED // max(1, A.shape[1]))
    scratch = np.empty((min(rows, stop - start), A.shape[1]), dtype)
    for first, last in parallel.chunks(stop - start, rows):
        yield start + first, start + last, scratch[: last - first]


def centred_gram(A: np.ndarray, *, dtype: type | np.dtype | None = None) -> tuple[np.ndarray, np.ndarray]:
    """``(mean, sum_i (a_i - mean)(a_i - mean)^T)`` over the rows of A in one pass, both float64.

    A rough mean c from a few rows is subtracted block by block; with d the mean of a_i - c, the mean is c + d and the
    Gram loses n d d^T, which is small because c is close. So one pass is as safe as two. Where the means are not large
    against the spread, c is zero and the rows are multiplied where they lie.

    Reference: Chan, Golub, LeVeque, "Algorithms for computing the sample variance" (1983).

    Examples
    --------
    >>> import numpy as np
    >>> mean, G = centred_gram(np.array([[1.0, 2.0], [3.0, 2.0]]))
    >>> mean, G
    (array([2., 2.]), array([[2., 0.],
           [0., 0.]]))
    """
    n, columns = A.shape
    dtype = floating(A.dtype if dtype is None else dtype)
    rough = _rough_mean(A)
    shift = rough.astype(dtype) if rough.any() or A.dtype != dtype else None

    def block(start: int, stop: int) -> np.ndarray:
        part = np.empty((columns + 1, columns), dtype)
        if shift is None:
            np.matmul(A[start:stop].T, A[start:stop], out=part[:-1])
            part[-1] = _column_sums(A[start:stop])
            return part
        part[:] = 0
        for first, last, W in _pieces(A, start, stop, dtype):
            np.subtract(A[first:last], shift, out=W, casting="unsafe")
            part[:-1] += _square(W)
            part[-1] += _column_sums(W)
        return part

    total = _add_up(block, n, _gram_rows(n, columns * columns // 2), (columns + 1, columns))
    offset = total[-1] / n
    G = total[:-1]
    G -= np.outer(n * offset, offset)
    return (0.0 if shift is None else shift) + offset, G


def _rough_mean(A: np.ndarray) -> np.ndarray:
    """A row near the mean, or zeros where the means are small: sums of squares about zero then lose but a few bits.

    A product rounds in proportion to the squares that it adds. About zero instead of the mean these are 1 + mean^2 /
    variance times as large: zero will do up to 4 for all columns together (two bits) and 16 for any of them (four).
    """
    sample = np.asarray(A[:: max(1, len(A) // 256)]).astype(np.float64)
    mean = sample.mean(axis=0)
    squares, spread = mean**2, sample.var(axis=0)
    near = squares.sum() <= 3 * spread.sum() and bool(np.all(squares <= 15 * spread))
    return np.zeros_like(mean) if near else mean


def _column_sums(W: np.ndarray) -> np.ndarray:
    """Sums of the columns in float64; short stretches of rows in W's own type, at the speed of memory."""
    total = np.zeros(W.shape[1])
    for first, last in parallel.chunks(len(W), _SUMMED):
        total += np.add.reduce(W[first:last], axis=0)
    return total


def cross(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """``A^T B`` for tall A and B (same rows) in float64, summed over blocks of rows.

    Examples
    --------
    >>> import numpy as np
    >>> cross(np.ones((3, 1)), np.arange(6.0).reshape(3, 2))
    array([[6., 9.]])
    """
    shape = (A.shape[1], B.shape[1])
    size = min(_gram_rows(len(A), shape[0] * shape[1]), 8192)
    return _add_up(lambda a, b: A[a:b].T @ B[a:b], len(A), size, shape)


def take_rank_one(A: np.ndarray, column: np.ndarray, row: np.ndarray) -> None:
    """``A -= column · rowᵀ`` in place, a stretch of rows at a time that stays in the cache."""
    left, right = column.astype(A.dtype)[:, None], row.astype(A.dtype)

    def take(start: int, stop: int) -> None:
        A[start:stop] -= left[start:stop] * right

    parallel.run(take, len(A), max(64, _READ // max(1, A.shape[1])))


def column_lengths(A: np.ndarray) -> np.ndarray:
    """Length of every column of a tall array, in float64."""
    size = max(64, (_READ >> 2) // max(1, A.shape[1]))
    squares = parallel.run(lambda a, b: np.square(A[a:b], dtype=np.float64).sum(axis=0), len(A), size)
    return np.sqrt(np.sum(squares, axis=0)) if squares else np.zeros(A.shape[1])


def _read_rows(A: np.ndarray) -> int:
    return max(1, _READ // max(1, A.shape[1]))


def column_means(A: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Mean of every column, float64 (float32 data too: 60,000 added in float32 would lose half of the digits).

    With `weights` row i counts ``weights[i]`` times.

    Examples
    --------
    >>> import numpy as np
    >>> column_means(np.array([[1.0, 5.0], [3.0, 7.0]]))
    array([2., 6.])
    """

    def sums(start: int, stop: int) -> np.ndarray:
        block = np.asarray(A[start:stop]).astype(np.float64, copy=False)
        return (np.ones(stop - start) if weights is None else weights[start:stop]) @ block

    total = len(A) if weights is None else float(weights.sum())
    return sum(parallel.run(sums, len(A), _read_rows(A)), start=np.zeros(A.shape[1])) / total


def row_squared_norms(A: np.ndarray, *, shift: np.ndarray | None = None) -> np.ndarray:
    """``||a_i - shift||^2`` of every row, float64.

    Examples
    --------
    >>> import numpy as np
    >>> row_squared_norms(np.array([[3.0, 4.0], [1.0, 0.0]]))
    array([25.,  1.])
    """

    def norms(start: int, stop: int) -> np.ndarray:
        block = np.asarray(A[start:stop]).astype(np.float64, copy=False)
        block = block if shift is None else block - shift
        return np.einsum("ij,ij->i", block, block)

    parts = parallel.run(norms, len(A), _read_rows(A))
    return np.concatenate(parts) if parts else np.zeros(0)


def squared_norm(A: np.ndarray, *, shift: np.ndarray | None = None) -> float:
    """``||A - shift||^2`` (Frobenius), summed in float64.

    Examples
    --------
    >>> import numpy as np
    >>> squared_norm(np.array([[3.0, 4.0]]))
    25.0
    """

    def square(start: int, stop: int) -> float:
        block = np.asarray(A[start:stop]).astype(np.float64, copy=False)
        flat = (block if shift is None else block - shift).ravel(order="K")
        return float(flat @ flat)

    return float(sum(parallel.run(square, len(A), _read_rows(A))))
