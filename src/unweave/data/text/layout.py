"""Rows of counts laid out as one CSR table whose columns are the words that were kept."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.text.counting import Rows
from unweave.kernels.words import kept_in_rows, sort_rows
from unweave.parallel import run

_LARGEST = 2**31 - 1


def lay_out(parts: list[Rows], width: int, dtype: str) -> sp.csr_array:
    """Documents × columns of parts whose names are columns, -1 for terms that have none. Empties `parts`.

    >>> terms, columns, ones, counts = (np.array(pair, np.int32) for pair in ([0, 1], [1, -1], [1, 1], [3, 1]))
    >>> part = Rows(terms, counts, np.array([0, 2]), columns, documents=ones, totals=counts)
    >>> lay_out([part], 2, "float64").toarray()
    array([[0., 3.]])
    """
    rows = np.cumsum([0] + [len(part.indptr) - 1 for part in parts])
    local = [part.names for part in parts]
    lengths = np.zeros(rows[-1], np.int64)

    def measure(i: int, _: int) -> None:
        kept_in_rows(parts[i].terms, parts[i].indptr, local[i], lengths[rows[i] : rows[i + 1]])

    run(measure, len(parts), 1)
    indptr = np.zeros(rows[-1] + 1, np.int64)
    np.cumsum(lengths, out=indptr[1:])
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)

    def fill(i: int, _: int) -> None:
        part, places = parts[i], indptr[rows[i] : rows[i + 1]].copy()
        order = np.argsort(local[i])[int((local[i] < 0).sum()) :]
        sort_rows(part.terms, part.counts, part.indptr, local[i], part.documents, order, places, indices, data)
        part.terms = part.counts = np.empty(0, np.int32)  # freed as the table fills

    run(fill, len(parts), 1)
    parts.clear()
    return canonical_csr(data, indices, indptr, (int(rows[-1]), width))


def canonical_csr(data: NDArray, indices: NDArray, indptr: NDArray, shape: tuple[int, int]) -> sp.csr_array:
    """Sorted and without repeats, which is said rather than checked; int32 places where they suffice."""
    if indptr.dtype != np.int32 and len(data) <= _LARGEST:
        indptr = indptr.astype(np.int32)
    X = sp.csr_array((data, indices, indptr), shape=shape)
    X.has_sorted_indices = X.has_canonical_format = True
    return X
