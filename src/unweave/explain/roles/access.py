"""Read a table of who holds what: zeros and ones, and where it is not known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import number
from unweave.data.table import Table, check_table
from unweave.linalg.bits import Words, pack, sorted_csr


@dataclass(frozen=True)
class Access:
    """Holds a checked table of grants.

    Attributes
    ----------
    ones : csr_array of uint8 (n, m)
        The grants, columns ascending in each row.
    holes : csr_array of uint8 or None
        Where it is not known whether there is one.
    """

    ones: sp.csr_array
    holes: sp.csr_array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.ones.shape

    @cached_property
    def granted(self) -> Words:
        """The grants of every row as bits."""
        return pack(self.ones)

    @cached_property
    def denied(self) -> Words:
        """Where every row is known to hold nothing, as bits."""
        full = np.full(self.shape[1], 1, dtype=np.uint8)[None, :]
        bits = ~self.granted & pack(sp.csr_array(full))
        return bits if self.holes is None else bits & ~pack(self.holes)

    def take(self, rows: NDArray[np.int64]) -> Access:
        """The same of some rows."""
        return Access(self.ones[rows], None if self.holes is None else self.holes[rows])


def read_access(estimator, X, missing=None, *, reset: bool) -> Access:
    """Check X as a table of zeros and ones, or raise and name the entry that is neither.

    An estimator with `binarize` counts entries above that as ones.
    """
    if isinstance(missing, str) and missing != "nan":
        raise ValueError(f"missing={missing!r} says that no zero was seen; use None, 'nan' or a Boolean mask")
    table = check_table(estimator, X, missing, reset=reset)
    threshold = estimator.binarize
    if threshold is not None:
        limit = number(threshold, "binarize")
        ones = sorted_csr(_above(table.values, limit))
    else:
        _refuse_others(estimator, table)
        ones = sorted_csr(_above(table.values, 0.0))
    ones = sp.csr_array((np.ones(ones.nnz, np.uint8), ones.indices, ones.indptr), shape=ones.shape)
    holes = None if table.seen is None else sorted_csr((~np.asarray(table.seen)).astype(np.uint8))
    return Access(ones, holes)


def _above(values, limit: float) -> sp.csr_array:
    """Where entries lie above a limit that is not negative."""
    found = sp.csr_array(values > limit)
    found.eliminate_zeros()
    return found


def _refuse_others(estimator, table: Table) -> None:
    """Raise for the first entry that is neither zero nor one."""
    stored = sp.coo_array(table.values)
    wrong = (stored.data != 0) & (stored.data != 1)
    if not wrong.any():
        return
    i = int(np.flatnonzero(wrong)[np.lexsort((stored.col[wrong], stored.row[wrong]))[0]])
    raise ValueError(
        f"X must hold zeros and ones only: row {stored.row[i]}, column {column_name(estimator, int(stored.col[i]))} "
        f"holds {stored.data[i]:g}; pass binarize=0 to count every entry above 0 as a one"
    )


def column_name(estimator, j: int) -> str:
    """What a column is called in messages: its name in quotes where it has one, else its number."""
    names = getattr(estimator, "feature_names_in_", None)
    return str(j) if names is None else repr(str(names[j]))


def as_table(bits: NDArray, n: int, m: int):
    """Zeros and ones as an array of int32; a sparse one where that would be very large."""
    if n * m > MOST_DENSE:
        return sp.csr_array(bits).astype(np.int32)
    return np.ascontiguousarray(bits[:n, :m], dtype=np.int32)


MOST_DENSE = 1 << 27  # entries of roles_ and assignments_ that are written out (512 MB)
