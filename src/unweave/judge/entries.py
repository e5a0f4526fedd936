"""Tables of ratings, however they are stored, as lists of known entries; and parts of a table, stored as it was."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable


class Entries:
    """The known entries of a table, row by row in the order in which they are stored.

    Known are the stored entries of a sparse table (a stored 0 is a rating of 0) and the numbers of a dense one that are
    not NaN. Row i owns ``columns[indptr[i]:indptr[i + 1]]`` and the `values` beside them.

    >>> import numpy as np
    >>> entries = Entries(np.array([[5.0, np.nan], [0.0, 3.0]]))
    >>> entries.rows.tolist(), entries.columns.tolist(), entries.values.tolist()
    ([0, 1, 1], [0, 0, 1], [5.0, 0.0, 3.0])
    """

    def __init__(self, table, name: str = "ratings"):
        X = table.X if isinstance(table, NamedTable) else table
        self.shape: tuple[int, int]
        if sp.issparse(X):
            X = _checked_sparse(X, name)
            self.indptr, self.columns, self.values = X.indptr, X.indices, X.data
        else:
            X = _checked_dense(X, name)
            known = _known(X, table)
            self.columns = np.nonzero(known)[1]
            self.values = X[known]
            self.indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        if not np.isfinite(self.values).all():
            raise ValueError(f"{name} holds NaN or infinity among its known entries: drop these entries")

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def counts(self) -> NDArray:
        """Number of known entries of each row."""
        return np.diff(self.indptr)

    @cached_property
    def rows(self) -> NDArray:
        """Row of each entry."""
        return np.repeat(np.arange(self.shape[0]), self.counts)

    def csr(self) -> sp.csr_array:
        """The same as a CSR array, columns ascending in each row."""
        X = sp.csr_array((self.values, self.columns, self.indptr), shape=self.shape)
        return X if X.has_sorted_indices else X.sorted_indices()


def _checked_sparse(X, name: str):
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, users and items, got {X.ndim}")
    csr = X.tocsr()
    try:
        csr.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{name} is a damaged sparse matrix ({error}); build it anew from its entries") from error
    sorted_ = csr if csr.has_sorted_indices else csr.sorted_indices()
    if csr.nnz != X.nnz or not sorted_.has_canonical_format:
        raise ValueError(
            f"{name} stores some pairs of user and item twice: merge them, for example by sum_duplicates()"
        )
    if csr.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold real numbers, got {csr.dtype}")
    return csr


def _checked_dense(X, name: str) -> NDArray:
    if not isinstance(X, np.ndarray | list | tuple):
        raise TypeError(
            f"{name} must be a sparse array, a NumPy array with NaN or a NamedTable, got {type(X).__name__}; make a "
            "frame of triples one by unweave.ratings(frame, user=..., item=..., value=...)"
        )
    try:
        X = np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must hold numbers ({error})") from error
    if X.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, users and items, got {X.ndim}")
    return X


def _known(X: NDArray, table) -> NDArray:
    known = ~np.isnan(X)
    return known & (X != 0) if getattr(table, "missing", None) == "zeros" else known


def part(table, kept: NDArray, note: str = "", times: NDArray | None = None):
    """The entries of a table where `kept` (one truth value an entry), stored and named as the table is.

    >>> import numpy as np, scipy.sparse as sp
    >>> part(sp.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), np.array([True, False, True])).toarray().tolist()
    [[1.0, 0.0], [0.0, 3.0]]
    """
    X = table.X if isinstance(table, NamedTable) else table
    X = _sparse_part(X, kept) if sp.issparse(X) else _dense_part(_checked_dense(X, "ratings"), table, kept)
    if not isinstance(table, NamedTable):
        return X
    times = table.times if times is None else times
    changes: dict[str, Any] = {"X": X, "times": None if times is None else np.asarray(times).ravel()[kept]}
    if isinstance(X, np.ndarray) and table.missing is None:
        changes["missing"] = "nan"
    return table.with_(**changes, notes=[*table.notes, *([note] if note else [])])


def _sparse_part(X, kept: NDArray):
    csr = X.tocsr()
    indptr = np.concatenate([[0], np.cumsum(kept)])[csr.indptr].astype(csr.indptr.dtype)
    kind = sp.csr_matrix if sp.isspmatrix(X) else sp.csr_array
    return kind((csr.data[kept], csr.indices[kept], indptr), shape=csr.shape)


def _dense_part(X: NDArray, table, kept: NDArray) -> NDArray:
    known = _known(X, table)
    out = np.full(X.shape, 0 if getattr(table, "missing", None) == "zeros" else np.nan, X.dtype)
    known[known] = kept
    out[known] = X[known]
    return out
