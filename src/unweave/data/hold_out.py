"""Hold entries of a table out of a fit: which entries are known, which of them are drawn, and the table without them.

Every part of the library that hides entries comes here: criteria (:mod:`unweave.select`), splits of ratings
(:mod:`unweave.judge`), the score of a report, and models that choose ridges and ranks. :func:`hold_out` is for entries
as CSR arrays, :func:`hide` for a table that an estimator has checked, :class:`KnownEntries` and :func:`part` for
ratings as users hand them over.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.storage import as_dense
from unweave.data.table import Table

LEAST = 20  # entries below which none can be spared
_MOST = 50_000_000  # entries of a sparse table whose zeros are data and must be written out to be hidden


def draw_out(n_entries: int, rng: np.random.Generator, share: float, least: int = LEAST) -> NDArray | None:
    """Draw which entries are held out, as a mask; None when there are too few to spare any.

    >>> import numpy as np
    >>> draw_out(100, np.random.default_rng(0), 0.1).sum() < 20, draw_out(5, np.random.default_rng(0), 0.1)
    (np.True_, None)
    """
    if n_entries < least:
        return None
    out = rng.random(n_entries) < share
    return out if out.any() and not out.all() else None


def spare_last(out: NDArray, rows: NDArray, columns: NDArray, shape: tuple[int, int]) -> NDArray:
    """Take back what would empty a row or a column: the mask of entries held out, where each keeps some.

    >>> import numpy as np
    >>> spare_last(np.array([True, True, False]), np.array([0, 1, 1]), np.array([0, 0, 0]), (2, 1)).tolist()
    [False, True, False]
    """
    left_rows = np.bincount(rows[~out], minlength=shape[0])
    out = out & (left_rows[rows] > 0)
    left_columns = np.bincount(columns[~out], minlength=shape[1])
    return out & (left_columns[columns] > 0)


def hold_out(X: sp.csr_array, rng: np.random.Generator, share: float) -> tuple[sp.csr_array, sp.csr_array] | None:
    """Split entries at random into those to learn from and those held out; None when there are too few."""
    out = draw_out(X.nnz, rng, share)
    return None if out is None else (part(X, ~out), part(X, out))


def exact_share(n: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Truth values of which exactly the share `share` is true, at random; at least one of each.

    >>> int(exact_share(10, 0.2, np.random.default_rng(0)).sum())
    2
    """
    held = np.zeros(n, bool)
    held[rng.permutation(n)[: min(max(round(share * n), 1), n - 1)]] = True
    return held


def draw_entries(
    rows: NDArray, columns: NDArray, shape: tuple[int, int], share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Which of the entries at (rows, columns) to hide: each by the chance `share`, but never all of a row or column.

    A row or column that would lose all of its entries keeps them.

    >>> draw_entries(np.array([0, 1]), np.array([0, 1]), (2, 2), 0.9, np.random.default_rng(0)).tolist()
    [False, False]
    """
    return spare_last(rng.random(len(rows)) < share, rows, columns, shape)


@dataclass(frozen=True)
class Hidden:
    """A table without some of its entries, and these entries.

    `seen` is the table to fit, `missing` what an unknown entry looks like there ("nan" or "zeros"); `truth` are the
    values at (`rows`, `columns`).
    """

    seen: Any
    missing: str
    rows: NDArray
    columns: NDArray
    truth: NDArray[np.float64]


def hide(table: Table, share: float, rng: np.random.Generator) -> Hidden:
    """Hide a share of the observed entries of a checked table, drawn by :func:`draw_entries`.

    A sparse table whose stored entries alone are observed stays sparse. Any other comes back as an array with NaN where
    an entry was missing or is hidden now.
    """
    X = table.values
    stored = table.seen is not None and sp.issparse(X)
    rows, columns = _stored_places(X) if stored else _dense_places(table)
    hidden = draw_entries(rows, columns, table.shape, share, rng)
    if not hidden.any():
        raise ValueError(f"X has too few observed entries ({len(rows)}) to hide some of them; raise share")
    if stored:
        coo = X.tocoo()  # type: ignore[union-attr]
        kept = ~hidden
        seen = sp.csr_array((coo.data[kept], (rows[kept], columns[kept])), shape=table.shape)
        return Hidden(seen, "zeros", rows[hidden], columns[hidden], coo.data[hidden].astype(np.float64))
    values = as_dense(X)
    at = (rows[hidden], columns[hidden])
    seen = values.copy() if table.seen is None else np.where(table.seen, values, np.nan).astype(values.dtype)
    seen[at] = np.nan
    return Hidden(seen, "nan", *at, values[at].astype(np.float64))


def _stored_places(X) -> tuple[NDArray, NDArray]:
    coo = X.tocoo()
    return coo.row, coo.col


def _dense_places(table: Table) -> tuple[NDArray, NDArray]:
    n, m = table.shape
    if sp.issparse(table.values) and n * m > _MOST:
        raise ValueError(
            f"X is sparse, its zeros are data and it has {n}×{m} entries, too many to hide some of: take a part of its "
            "rows, or say missing='zeros' if what is not stored is unknown"
        )
    known = np.ones((n, m), bool) if table.seen is None else np.asarray(table.seen)
    rows, columns = np.nonzero(known)
    return rows, columns


def known_block(table: Table, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Rows of a checked table as an array in float64 (unobserved entries zero), and which entries were observed."""
    part: Any = table.values[start:stop]
    values = as_dense(part).astype(np.float64)
    if isinstance(table.seen, np.ndarray):
        return values, table.seen[start:stop]
    if table.seen is None:
        return values, np.ones(values.shape, bool)
    once = np.ones(part.nnz, dtype=np.bool_)
    return values, sp.csr_array((once, part.indices, part.indptr), shape=part.shape).toarray()


def known_csr(table: Table) -> sp.csr_array:
    """The observed entries of a checked table as a CSR array.

    >>> known_csr(Table(np.array([[0.0, 2.0]]), None)).nnz
    2
    """
    values, seen = table.values, table.seen
    if sp.issparse(values):
        return sp.csr_array(values)
    known = seen if isinstance(seen, np.ndarray) else np.ones(values.shape, bool)
    rows, columns = np.nonzero(known)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(values)))])
    return sp.csr_array((values[rows, columns], columns, indptr), shape=values.shape)


class KnownEntries:
    """The known entries of a table, row by row in the order in which they are stored.

    Known are the stored entries of a sparse table (a stored 0 is a rating of 0) and the numbers of a dense one that are
    not NaN. Row i owns ``columns[indptr[i]:indptr[i + 1]]`` and the `values` beside them.

    >>> import numpy as np
    >>> entries = KnownEntries(np.array([[5.0, np.nan], [0.0, 3.0]]))
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
    """The entries of a table where `kept` (one truth value per entry), stored and named as the table is.

    >>> import numpy as np, scipy.sparse as sp
    >>> part(sp.csr_matrix([[1.0, 2.0], [0.0, 3.0]]), np.array([True, False, True])).toarray().tolist()
    [[1.0, 0.0], [0.0, 3.0]]
    """
    X = table.X if isinstance(table, NamedTable) else table
    X = _sparse_part(X, kept) if sp.issparse(X) else _dense_part(_checked_dense(X, "ratings"), table, kept)
    if not isinstance(table, NamedTable):
        return X
    times = table.times if times is None else times
    of_entries = times is not None and np.size(times) == len(kept)  # those of texts belong to rows, which all stay
    changes: dict[str, Any] = {"X": X, "times": np.asarray(times).ravel()[kept] if of_entries else times}
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
