"""Tables however they are stored: the few things that other rooms ask of an array or a sparse matrix alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def as_dense(X) -> NDArray:
    """X as an array; a sparse table is written out.

    >>> as_dense(sp.csr_array([[0, 1]])).tolist()
    [[0, 1]]
    """
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def stored(X) -> NDArray:
    """The entries that are written out: all of an array, the stored ones of a sparse table."""
    return X.data if sp.issparse(X) else np.asarray(X)


def need_sound(X) -> None:
    """Raise if an index of a sparse table is out of range; an array is always sound."""
    if sp.issparse(X):
        sp.csr_array(X).check_format(full_check=True)


def n_stored(X) -> int:
    """How many entries are written out."""
    return int(X.nnz) if sp.issparse(X) else int(np.size(X))


def n_numbers(X) -> int:
    """How many numbers X takes in memory; an index of a sparse table is half of one."""
    return int(np.size(X)) if not sp.issparse(X) else int(X.nnz) * 3 // 2


def sliceable(X):
    """X so that stretches of its rows can be taken without looking at the others."""
    return sp.csr_array(X) if sp.issparse(X) else np.asarray(X)


def typed(X, dtype):
    """X with numbers of this type, row after row, stored as X is; not copied where nothing has to change."""
    return sp.csr_array(X).astype(dtype, copy=False) if sp.issparse(X) else np.ascontiguousarray(X, dtype=dtype)


def is_finite(X) -> bool:
    """Whether every entry is a finite number."""
    return bool(np.isfinite(stored(X)).all())


def squared(X):
    """Every entry squared, stored as X is."""
    return X.multiply(X) if sp.issparse(X) else np.square(X)


def row_squares(X) -> NDArray[np.float64]:
    """‖x_i‖² of every row.

    >>> row_squares(sp.csr_array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [25.0, 0.0]
    """
    return np.asarray(squared(X).sum(axis=1), dtype=np.float64).ravel()


def stack_rows(parts: Sequence):
    """Tables of one width below each other; sparse tables stay sparse."""
    return sp.vstack(parts).tocsr() if sp.issparse(parts[0]) else np.concatenate([np.asarray(part) for part in parts])


def product(A, B) -> NDArray:
    """A·B as an array, either side sparse or not."""
    return as_dense(A @ B)


def scale_rows(X, factors: NDArray):
    """Every row times its own number, in float64, stored as X is."""
    factors = np.asarray(factors, dtype=np.float64)[:, None]
    return sp.csr_array(X.astype(np.float64).multiply(factors)) if sp.issparse(X) else factors * X


def is_array(X) -> bool:
    """Whether every entry is written out, so that X may be worked on in place and entry by entry."""
    return not sp.issparse(X)


def take_rows(X, rows):
    """Some rows by number, stored as X is."""
    return X.tocsr()[rows] if sp.issparse(X) else np.asarray(X)[rows]


def row_largest(X) -> NDArray[np.float64]:
    """The largest absolute entry of every row."""
    return as_dense(abs(X).max(axis=1)).astype(np.float64).ravel()


def divide_rows(X, numbers: NDArray):
    """X with every row divided by a number of its own, stored and typed as X is.

    >>> divide_rows(sp.csr_array([[0.0, 2.0], [6.0, 0.0]]), np.array([2.0, 3.0])).toarray().tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    if not sp.issparse(X):
        return np.ascontiguousarray(X / numbers.astype(X.dtype)[:, None])
    data = X.data / np.repeat(numbers, np.diff(X.indptr)).astype(X.dtype)
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def is_matrix(X) -> bool:
    """Whether X is a plain table: an array, or a sparse matrix of any kind."""
    return sp.issparse(X) or isinstance(X, np.ndarray)


def is_sparse_row(X) -> bool:
    """Whether X is one row of a sparse table, without the second dimension."""
    return sp.issparse(X) and X.ndim == 1


def nothing_observed(X) -> bool:
    """Whether a plain table holds no entry at all: nothing stored, or NaN everywhere."""
    if sp.issparse(X):
        return X.nnz == 0
    return isinstance(X, np.ndarray) and X.dtype.kind == "f" and bool(np.isnan(X).all())


def is_canonical(X, dtype) -> bool:
    """Whether X is a CSR array of this type, sorted and without repeats, as kernels take it."""
    return isinstance(X, sp.csr_array) and X.has_canonical_format and X.dtype == dtype


def observed_entries(values, seen=None) -> sp.csr_array:
    """The observed entries as CSR: the stored ones of a sparse table, those of an array where `seen` is not zero (where
    it is not given: all but NaN).

    >>> observed_entries(np.array([[np.nan, 2.0]])).data.tolist()
    [2.0]
    """
    if sp.issparse(values):
        return sp.csr_array(values)
    seen = ~np.isnan(values) if seen is None else np.broadcast_to(seen, values.shape) != 0
    indptr = np.concatenate([[0], np.cumsum(seen.sum(axis=1))])
    return sp.csr_array((values[seen], np.nonzero(seen)[1].astype(np.int32), indptr), shape=values.shape)
