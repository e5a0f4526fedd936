"""Half-steps of implicit least squares: rows that see every column, the stored ones with more confidence.

With c_ij = 1 + alpha r_ij at the stored entries (r > 0) and 1 elsewhere, p_ij = 1 where stored and 0 elsewhere, and
the other factor H (m x k) fixed, every function deals with

    1/2 sum_j c_ij (p_ij - f_i . h_j)^2 + ridge_i/2 |f_i|^2        for the rows f_i of F (n x k).

The columns that a row does not store enter through H'H alone. With H'H = Q diag(s) Q' everything is done on H Q, where
that shared part is diagonal; F is rotated there and, unless ``back=False``, back in blocks of rows. Each function
returns the new F and the values of the rows (float64), ridge included, which add up to the objective for nothing.

Rows are independent, so any number of threads gives the same bits, provided that BLAS runs on one thread.

References: Y. Hu, Y. Koren, C. Volinsky (2008), Collaborative filtering for implicit feedback datasets. G. Takács,
I. Pilászy, D. Tikk (2011), Applications of the conjugate gradient method for implicit feedback collaborative
filtering. S. Rendle, W. Krichene, L. Zhang, Y. Koren (2021), iALS++: Speeding up matrix factorization with subspace
optimization.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels.implicit import descend_range, slope_range, solve_range, subspace_range
from unweave.linalg.observed import per_row, spread
from unweave.linalg.products import gram

_BLOCK_ROWS = 1024  # rows that are rotated together


class Rows(NamedTuple):
    """Stored entries by row: CSR in int64, int32 and the dtype of the factors, values above zero."""

    indptr: NDArray
    indices: NDArray
    data: NDArray

    @property
    def n_rows(self) -> int:
        return self.indptr.shape[0] - 1


class Basis(NamedTuple):
    """A fixed factor in the basis of its Gram's eigenvectors: ``W = H Q``, ``H'H = Q diag(spectrum) Q'``."""

    W: NDArray
    Q: NDArray
    spectrum: NDArray


def basis_of(H: NDArray, *, overwrite: bool = False) -> Basis:
    """The rotated factor, written over H if that is asked for.

    >>> import numpy as np
    >>> basis_of(np.array([[3.0, 0.0], [0.0, 1.0]])).spectrum
    array([1., 9.])
    """
    # A shift, even of nothing, makes `gram` go in small pieces: no block of H is copied to float64 as a whole.
    spectrum, Q = np.linalg.eigh(gram(H, shift=np.zeros(H.shape[1]), dtype=np.float64))
    Q = Q.astype(H.dtype)
    W = H if overwrite else np.empty_like(H)

    def rotate(start: int, stop: int) -> None:
        W[start:stop] = H[start:stop] @ Q

    parallel.run(rotate, len(H), _BLOCK_ROWS)
    return Basis(W, Q, np.maximum(spectrum, 0).astype(H.dtype))


def _ridges(ridge, rows: Rows, basis: Basis) -> NDArray:
    """One ridge a row, large enough that no direction is without curvature to the precision of the dtype."""
    dtype = basis.W.dtype
    least = max(float(basis.spectrum.max(initial=0)) * float(np.finfo(dtype).eps), float(np.finfo(dtype).tiny))
    return np.maximum(per_row(ridge, rows.n_rows, dtype), dtype.type(least))


def solve_rows(
    rows: Rows, alpha: float, H: NDArray, ridge, basis: Basis | None = None, *, back: bool = True
) -> tuple[NDArray, NDArray]:
    """Exact rows: ``f_i = (H'H + sum_j alpha r h_j h_j' + ridge_i I)^-1 sum_j c h_j`` over the stored entries.

    Rows with fewer entries than unknowns solve the smaller system of their entries instead.

    >>> import numpy as np
    >>> rows = Rows(np.array([0, 1, 1]), np.array([0], dtype=np.int32), np.array([1.0]))
    >>> F, values = solve_rows(rows, 1.0, np.array([[1.0], [1.0]]), 1.0)
    >>> F.ravel(), values
    (array([0.5, 0. ]), array([0.5, 0. ]))
    """
    basis = basis_of(H) if basis is None else basis
    k, dtype = H.shape[1], H.dtype
    ridges = _ridges(ridge, rows, basis)
    F, values = np.empty((rows.n_rows, k), dtype), np.empty(rows.n_rows)
    failed = np.zeros(rows.n_rows, dtype=np.bool_)

    def task(start: int, stop: int) -> None:
        Y = np.empty((stop - start, k), dtype)
        solve_range(*rows, dtype.type(alpha), basis.W, basis.spectrum, ridges, Y, values, failed, start, stop)
        for i in np.flatnonzero(failed[start:stop]):
            Y[i], values[start + i] = _carefully(rows, alpha, basis, float(ridges[start + i]), start + int(i))
        F[start:stop] = Y @ basis.Q.T if back else Y

    spread(task, rows.indptr, k * (k + 8), k**3 / 3 + 1000)
    return F, values


def _carefully(rows: Rows, alpha: float, basis: Basis, ridge: float, i: int) -> tuple[NDArray, float]:
    """One row in float64, where float32 was not enough."""
    span = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
    a = alpha * rows.data[span].astype(np.float64)
    w = basis.W[rows.indices[span]].astype(np.float64)
    A = np.diag(basis.spectrum.astype(np.float64) + ridge) + (w.T * a) @ w
    b = w.T @ (1 + a)
    y = np.linalg.lstsq(A, b, rcond=None)[0]
    return y, 0.5 * float((1 + a).sum() - b @ y)


def descend_rows(
    rows: Rows,
    alpha: float,
    H: NDArray,
    F: NDArray | None,
    ridge,
    steps: int,
    tol: float,
    basis: Basis | None = None,
    *,
    back: bool = True,
) -> tuple[NDArray, NDArray]:
    """At most `steps` conjugate-gradient steps from each row of `F` (None: from 0) towards :func:`solve_rows`.

    Preconditioned by the shared part, so the condition number is at most the largest confidence, whatever k is. A row
    also stops, after one step, when its value can fall by no more than `tol` times itself.

    >>> import numpy as np
    >>> rows = Rows(np.array([0, 1, 1]), np.array([0], dtype=np.int32), np.array([1.0]))
    >>> descend_rows(rows, 1.0, np.array([[1.0], [1.0]]), None, 1.0, 1, 0.0)[0].ravel()
    array([0.5, 0. ])
    """
    basis = basis_of(H) if basis is None else basis
    k, dtype = H.shape[1], H.dtype
    ridges = _ridges(ridge, rows, basis)
    new, values = np.empty((rows.n_rows, k), dtype), np.empty(rows.n_rows)

    def task(start: int, stop: int) -> None:
        Y = np.zeros((stop - start, k), dtype) if F is None else F[start:stop] @ basis.Q
        descend_range(
            *rows, dtype.type(alpha), basis.W, basis.spectrum, ridges, steps, tol, Y, values, start, stop
        )  # fmt: skip
        new[start:stop] = Y @ basis.Q.T if back else Y

    spread(task, rows.indptr, 8 * (min(steps, 8) + 1) * (k + 8), 2 * k * k + 1000)
    return new, values


def subspace_rows(
    rows: Rows,
    alpha: float,
    H: NDArray,
    F: NDArray | None,
    ridge,
    block: int,
    basis: Basis | None = None,
    *,
    back: bool = True,
) -> tuple[NDArray, NDArray]:
    """One cycle of exact solves over blocks of at most `block` columns, from each row of `F` (None: from 0).

    Costs ``block`` instead of k operations for each number of a stored vector; a block of all columns is exact.

    >>> import numpy as np
    >>> rows = Rows(np.array([0, 1, 1]), np.array([0], dtype=np.int32), np.array([1.0]))
    >>> subspace_rows(rows, 1.0, np.array([[1.0], [1.0]]), None, 1.0, 32)[0].ravel()
    array([0.5, 0. ])
    """
    basis = basis_of(H) if basis is None else basis
    k, dtype = H.shape[1], H.dtype
    block = min(block, k)
    ridges = _ridges(ridge, rows, basis)
    new, values = np.empty((rows.n_rows, k), dtype), np.empty(rows.n_rows)

    def task(start: int, stop: int) -> None:
        Y = np.zeros((stop - start, k), dtype) if F is None else F[start:stop] @ basis.Q
        subspace_range(*rows, dtype.type(alpha), basis.W, basis.spectrum, ridges, block, Y, values, start, stop)
        new[start:stop] = Y @ basis.Q.T if back else Y

    spread(task, rows.indptr, k * (block + 16), 2 * k * k + 1000)
    return new, values


def slope_rows(
    rows: Rows, alpha: float, H: NDArray, F: NDArray, ridge, basis: Basis | None = None
) -> tuple[NDArray, NDArray]:
    """The step that the shared part alone would take from each row of `F`, and the values of the rows there.

    It is at least as long as the way to the minimum in the norm of that part, and 0 at the minimum.

    >>> import numpy as np
    >>> rows = Rows(np.array([0, 1, 1]), np.array([0], dtype=np.int32), np.array([1.0]))
    >>> step, values = slope_rows(rows, 1.0, np.array([[1.0], [1.0]]), np.array([[0.5], [0.0]]), 1.0)
    >>> bool(abs(step).max() < 1e-12), values
    (True, array([0.5, 0. ]))
    """
    basis = basis_of(H) if basis is None else basis
    ridges = _ridges(ridge, rows, basis)
    out, values = np.empty_like(F), np.empty(rows.n_rows)

    def task(start: int, stop: int) -> None:
        Y = F[start:stop] @ basis.Q
        slope_range(*rows, F.dtype.type(alpha), basis.W, basis.spectrum, ridges, Y, values, start, stop)
        np.matmul(Y, basis.Q.T, out=out[start:stop])

    spread(task, rows.indptr, 8 * (F.shape[1] + 8), 2 * F.shape[1] ** 2 + 1000)
    return out, values
