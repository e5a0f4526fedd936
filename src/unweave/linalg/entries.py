"""Least squares for rows that see only some entries, or weigh them: each row has a Gram matrix of its own.

The observed entries are CSR: row i owns ``indices[indptr[i]:indptr[i + 1]]`` and the ``data`` and ``weights`` beside
them (`weights` empty or None: all ones; indices in any order). `H` (m x k) holds the vector of column j in row j. With
O_i the columns that row i observes, every function below deals with

    1/2 sum_{j in O_i} w_ij (x_ij - f_i . h_j)^2 + ridge_i/2 |f_i|^2        for the rows f_i of F (n x k).

Rows are independent, so any number of threads gives the same bits, provided that BLAS runs on one thread
(:func:`unweave.parallel.single_blas`, which every fit holds). Entries are taken on trust here: an index out of range is
not caught.

Reference: Y. Zhou, D. Wilkinson, R. Schreiber, R. Pan (2008), Large-scale parallel collaborative filtering for the
Netflix prize.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from unweave import parallel
from unweave.kernels.entries import gradient_range, nearest_range, predict_range, solve_range, values_range
from unweave.kernels.entry_steps import coordinate_range, descend_range
from unweave.linalg.least_norm import least_norm
from unweave.linalg.observed import Observed, in_double, normalise, per_row, spread

# Pivots of a Gram below this share of their diagonal have lost too many of its digits: of the seven of float32 (then
# float64 goes on), and of the sixteen of float64 (then the entries themselves are decomposed, not their Gram).
_ALIKE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-10}


def _without_held(entries: Observed, F: np.ndarray, held: Sequence[int]) -> tuple[Observed, np.ndarray]:
    """The problem in the columns that are free: the part of the held ones is taken off the data."""
    columns = np.asarray(held, dtype=np.intp)
    free = np.setdiff1d(np.arange(entries.H.shape[1]), columns)
    known = predict_entries(entries.indptr, entries.indices, entries.H[:, columns], F[:, columns])
    H = np.ascontiguousarray(entries.H[:, free])
    return entries._replace(data=entries.data - known, H=H), free


def _update(entries: Observed, F: np.ndarray, held: Sequence[int], half_step: Callable) -> np.ndarray:
    """``half_step(entries, rows)`` on a copy of F, or on its free columns alone."""
    dtype = entries.H.dtype
    if len(held) == 0:
        return half_step(entries, np.array(F, dtype=dtype, order="C"))
    out = np.array(F, dtype=dtype, order="C")
    smaller, free = _without_held(entries, out, held)
    out[:, free] = half_step(smaller, np.ascontiguousarray(out[:, free]))
    return out


def _factor_and_solve(entries: Observed, ridges: np.ndarray, out: np.ndarray, failed: np.ndarray) -> None:
    """Rows from the Cholesky factors of their Grams, but those marked in `failed`."""
    k = out.shape[1]
    tolerance = max(_ALIKE[out.dtype], k * float(np.finfo(out.dtype).eps))
    spread(
        lambda start, stop: solve_range(*entries, ridges, out.dtype.type(tolerance), out, failed, start, stop),
        entries.indptr,
        k * (k + 8),
        k**3 / 3 + 1000,
    )


def solve_rows(indptr, indices, data, weights, H, F, ridge, *, held: Sequence[int] = ()) -> np.ndarray:
    """Exact least-squares rows: ``f_i = (sum_j w h_j h_j' + ridge_i I)^-1 sum_j w x h_j`` over the entries of row i.

    Where the minimum is not unique (no ridge, and too few or dependent entries) the solution of least norm; rows
    without entries are 0. `ridge` is one number, or one per row (a ridge times the number of entries, say). The columns
    `held` of `F` stay as they are: biases that ride along as extra columns, for example. `F` is only read for them.

    A row in float32 whose Gram has lost the digits that tell its unknowns apart is solved in float64.
    Rows with fewer entries than unknowns solve the smaller system ``f = S'(S S' + ridge I)^-1 s`` instead.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> indptr, indices, data = np.array([0, 3, 4]), np.array([0, 1, 2, 2]), np.array([1.0, 2.0, 3.0, 4.0])
    >>> solve_rows(indptr, indices, data, None, H, np.zeros((2, 2)), 0.0)
    array([[1., 2.],
           [2., 2.]])
    """

    def half_step(entries: Observed, out: np.ndarray) -> np.ndarray:
        n, k = out.shape
        ridges = per_row(ridge, n, out.dtype)
        failed = np.zeros(n, dtype=np.bool_)
        _factor_and_solve(entries, ridges, out, failed)
        rows = np.flatnonzero(failed)
        if out.dtype == np.float32 and rows.size:
            wide, failed = np.zeros((rows.size, k)), np.zeros(rows.size, dtype=np.bool_)
            _factor_and_solve(in_double(entries, rows), ridges[rows].astype(np.float64), wide, failed)
            out[rows] = wide
            rows = rows[failed]

        def again(start: int, stop: int) -> None:
            for i in rows[start:stop]:
                out[i] = least_norm(entries, i, float(ridges[i]))

        parallel.run(again, rows.shape[0], 16)
        return out

    return _update(normalise(indptr, indices, data, weights, H), F, held, half_step)


def descend_rows(
    indptr, indices, data, weights, H, F, ridge, steps: int = 3, *, held: Sequence[int] = ()
) -> np.ndarray:
    """At most `steps` conjugate-gradient steps from each row of `F` towards the solution of :func:`solve_rows`.

    Cheaper than the exact solve when k is large (``steps * k`` against ``k^2`` an entry), and no row's objective ever
    rises. Reference: G. Takács, I. Pilászy, D. Tikk (2011), Applications of the conjugate gradient method for implicit
    feedback collaborative filtering.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> indptr, indices, data = np.array([0, 3]), np.array([0, 1, 2]), np.array([1.0, 2.0, 3.0])
    >>> descend_rows(indptr, indices, data, None, H, np.zeros((1, 2)), 0.0, steps=2).round(6)
    array([[1., 2.]])
    """

    def half_step(entries: Observed, out: np.ndarray) -> np.ndarray:
        n, k = out.shape
        ridges = per_row(ridge, n, out.dtype)
        spread(
            lambda start, stop: descend_range(*entries, ridges, steps, out, start, stop),
            entries.indptr,
            8 * (steps + 1) * (k + 8),
            1000,
        )
        return out

    return _update(normalise(indptr, indices, data, weights, H), F, held, half_step)


def coordinate_rows(
    indptr,
    indices,
    data,
    weights,
    H,
    F,
    l1,
    ridge,
    nonnegative: bool,
    sweeps: int,
    tol: float,
    *,
    held: Sequence[int] = (),
) -> np.ndarray:
    """Coordinate descent from each row of `F`, with ``+ l1 |f|_1`` and, if asked, ``f >= 0``.

    Each sweep minimises exactly over one entry after the other, so no row's objective rises. A row stops when its
    largest change is at most `tol` times its largest entry. `l1` and `ridge` are numbers, or one per row. Columns in
    `held` are neither changed nor constrained. Reference: C.-J. Hsieh, I. Dhillon (2011), Fast coordinate descent
    methods with variable selection for non-negative matrix factorization.

    >>> import numpy as np
    >>> H = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> indptr, indices, data = np.array([0, 2]), np.array([0, 1]), np.array([2.0, -1.0])
    >>> coordinate_rows(indptr, indices, data, None, H, np.ones((1, 2)), 0.5, 0.0, True, 10, 0.0)
    array([[1.5, 0. ]])
    """

    def half_step(entries: Observed, out: np.ndarray) -> np.ndarray:
        n, k = out.shape
        l1s, ridges = per_row(l1, n, out.dtype), per_row(ridge, n, out.dtype)
        limit = out.dtype.type(tol)
        spread(
            lambda start, stop: coordinate_range(
                *entries, l1s, ridges, bool(nonnegative), int(sweeps), limit, out, start, stop
            ),
            entries.indptr,
            k * (k + 8),
            (1 + sweeps) * k * k + 1000,
        )
        return out

    return _update(normalise(indptr, indices, data, weights, H), F, held, half_step)


def predict_entries(indptr, indices, H, F) -> np.ndarray:
    """``f_i . h_j`` at the observed entries, in their order: (nnz,) in the dtype of `H`.

    >>> import numpy as np
    >>> predict_entries(np.array([0, 2]), np.array([1, 0]), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0]]))
    array([7., 3.])
    """
    entries = normalise(indptr, indices, (), None, H)
    F = np.ascontiguousarray(F, dtype=entries.H.dtype)
    out = np.empty(entries.indices.shape[0], entries.H.dtype)
    spread(
        lambda start, stop: predict_range(entries.indptr, entries.indices, entries.H, F, out, start, stop),
        entries.indptr,
        4 * (entries.H.shape[1] + 8),
        100,
    )
    return out


def row_values(indptr, indices, data, weights, H, F) -> np.ndarray:
    """``1/2 sum_j w_ij (x_ij - f_i . h_j)^2`` for each row, in float64.

    >>> import numpy as np
    >>> row_values(np.array([0, 2]), np.array([1, 0]), np.array([7.0, 5.0]), None,
    ...            np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0]]))
    array([2.])
    """
    entries = normalise(indptr, indices, data, weights, H)
    F = np.ascontiguousarray(F, dtype=entries.H.dtype)
    out = np.empty(entries.n_rows, np.float64)
    spread(
        lambda start, stop: values_range(*entries, F, out, start, stop),
        entries.indptr,
        4 * (entries.H.shape[1] + 8),
        100,
    )
    return out


def gradient_rows(indptr, indices, residual_gradient, H) -> np.ndarray:
    """``sum_j g_ij h_j`` for each row, with the numbers g given at the entries: (n x k) in the dtype of `H`.

    >>> import numpy as np
    >>> gradient_rows(np.array([0, 2]), np.array([1, 0]), np.array([1.0, -1.0]), np.array([[1.0, 2.0], [3.0, 5.0]]))
    array([[2., 3.]])
    """
    entries = normalise(indptr, indices, residual_gradient, None, H)
    out = np.empty((entries.n_rows, entries.H.shape[1]), entries.H.dtype)
    spread(
        lambda start, stop: gradient_range(entries.indptr, entries.indices, entries.data, entries.H, out, start, stop),
        entries.indptr,
        4 * (entries.H.shape[1] + 8),
        100,
    )
    return out


def nearest_rows(indptr, indices, data, weights, H) -> tuple[np.ndarray, np.ndarray]:
    """``argmin_t sum_j w_ij (x_ij - H[j, t])^2`` over the observed entries (k-means with missing entries).

    The columns of `H` are the centres. Returns the labels (int32, the first on ties) and those sums (float64); a row
    without entries gets label 0 and value 0.

    >>> import numpy as np
    >>> centres = np.array([[0.0, 5.0], [0.0, 5.0]])
    >>> nearest_rows(np.array([0, 1, 3]), np.array([1, 0, 1]), np.array([4.0, 1.0, 0.0]), None, centres)
    (array([1, 0], dtype=int32), array([1., 1.]))
    """
    entries = normalise(indptr, indices, data, weights, H)
    labels, values = np.empty(entries.n_rows, np.int32), np.empty(entries.n_rows, np.float64)
    spread(
        lambda start, stop: nearest_range(*entries, labels, values, start, stop),
        entries.indptr,
        4 * (entries.H.shape[1] + 8),
        100,
    )
    return labels, values
