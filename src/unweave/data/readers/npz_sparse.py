"""Sparse matrices as SciPy's save_npz writes them, checked before a kernel sees them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source

SPARSE_KEYS = {"data", "format", "shape"}
_PARTS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


def sparse_table(source: Source, options: Options, parts: dict[str, NDArray]) -> NamedTable:
    """A CSR table from the arrays of the archive."""
    layout = _word(parts["format"])
    if layout not in _PARTS:
        raise ReadError(source.name, f"is a sparse matrix in the format {layout!r}; save it with .tocsr() first")
    try:
        X = _build(source, layout, parts, options.dtype)
    except ReadError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        words = f"the sparse matrix is not valid ({str(error)[:120] or type(error).__name__}); save it again with scipy"
        raise ReadError(source.name, words) from None
    missing = "zeros" if options.missing == "zeros" else None
    if not np.isfinite(X.data).all():
        if np.isinf(X.data).any() or options.missing != "zeros":
            raise ReadError(source.name, "a stored entry is NaN or infinite; leave entries out if they are missing")
        X.data[np.isnan(X.data)] = 0
        X.eliminate_zeros()
    what = "unknown (missing='zeros')" if missing else "zeros"
    notes = [f"sparse: {X.nnz:,} stored entries; those not stored are {what}"]
    return NamedTable(X, missing=missing, notes=notes, source=source.name)


def _word(value: NDArray) -> str:
    item: Any = value.item() if value.ndim == 0 else ""
    return item.decode("ascii", "replace") if isinstance(item, bytes) else str(item)


def _build(source: Source, layout: str, parts: dict[str, NDArray], dtype: str) -> sp.csr_array:
    data, indices = parts["data"], [parts[name] for name in _PARTS[layout]]
    if data.dtype.kind not in "buif" or data.ndim != 1:
        raise ReadError(source.name, f"the entries are {data.dtype}, not a list of real numbers; save real numbers")
    if any(index.dtype.kind not in "iu" for index in indices):
        raise ValueError("indices are not whole numbers")
    n, m = (int(side) for side in parts["shape"])
    # A wide promise with few entries would make CSR allocate a pointer for each row.
    if min(n, m) < 1 or max(n, m) > min(2**31 - 1, 10_000_000 + 1000 * data.size):
        raise ReadError(source.name, f"announces a shape of {n}×{m} for {data.size} entries; check the file")
    with np.errstate(over="ignore"):
        values = data.astype(dtype)
    if layout == "coo":
        found = sp.coo_array((values, tuple(indices)), shape=(n, m))
    else:
        kind = sp.csr_array if layout == "csr" else sp.csc_array
        found = kind((values, *indices), shape=(n, m))
        found.check_format(full_check=True)
    X = sp.csr_array(found)
    X.sum_duplicates()
    X.check_format(full_check=True)
    return X
