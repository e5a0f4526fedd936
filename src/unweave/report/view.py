"""The table a model was fitted on, as a report sees it: rows by number, unknown entries as NaN, names if any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.table import is_blocks


@dataclass(frozen=True)
class View:
    """A table to look at. `X` is None when some columns are not numbers.

    `unstored` says that what a sparse table does not store is unknown; `part` that these are only the first rows of
    more; `mask` is True where entries are unknown beyond the NaN in X.
    """

    X: Any
    n_rows: int
    n_columns: int
    rows: list[str] | None = None
    columns: list[str] | None = None
    kind: str = "table"
    image: tuple[int, ...] | None = None
    labels: NDArray | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    unstored: bool = False
    part: bool = False
    mask: NDArray | None = None

    @property
    def sparse(self) -> bool:
        return sp.issparse(self.X)

    @property
    def complete(self) -> bool:
        """Whether every entry is known."""
        if self.X is None or self.unstored or self.mask is not None:
            return False
        return self.sparse or not bool(np.isnan(self.X).any())

    def sample(self, most: int, seed: int = 0) -> NDArray[np.intp]:
        """Numbers of at most `most` rows, drawn at random and in order; always the same ones."""
        if most >= self.n_rows:
            return np.arange(self.n_rows)
        return np.sort(np.random.default_rng(seed).choice(self.n_rows, most, replace=False))

    def take(self, rows: NDArray) -> Any:
        """Some rows as they are stored, to hand to a model."""
        return self.X[rows]

    def dense(self, rows: NDArray, columns: NDArray | None = None) -> NDArray[np.float64]:
        """Some rows as an array, NaN where unknown."""
        part = self.X[rows] if columns is None else self.X[rows][:, columns]
        if self.mask is not None:
            hole = self.mask[rows] if columns is None else self.mask[rows][:, columns]
            return np.where(hole, np.nan, part).astype(np.float64)
        if not self.sparse:
            return np.asarray(part, dtype=np.float64)
        if not self.unstored:
            return part.toarray().astype(np.float64)
        out = np.full(part.shape, np.nan)
        coo = part.tocoo()
        out[coo.row, coo.col] = coo.data
        return out


def look(model: Any, data: Any) -> View | None:
    """`data` (an array, sparse matrix, data frame, NamedTable or row blocks) as `model` understands it."""
    if data is None:
        return None
    named: dict[str, Any] = {}
    missing = getattr(model, "missing", None)
    if isinstance(data, NamedTable):
        named = {"rows": data.rows, "kind": data.kind, "image": data.image, "source": data.source}
        named |= {"columns": data.columns, "labels": data.labels, "notes": tuple(data.notes)}
        missing = data.missing if missing is None else missing
        data = data.X
    elif is_blocks(data):
        named, data = {"part": len(data) > 1}, data[0]
    if hasattr(data, "columns"):
        named.setdefault("columns", None)
        named["columns"] = named["columns"] or [str(name) for name in data.columns]
    return _with_holes(_numbers(data), np.shape(data), missing, named)


def _numbers(data: Any) -> Any:
    """Numbers as a float array or CSR table; None when there are other things in it."""
    if sp.issparse(data):
        return sp.csr_array(data)
    try:
        values = np.asarray(data)
        return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    except (TypeError, ValueError):
        return None


def _with_holes(X: Any, shape: tuple[int, ...], missing: Any, named: dict) -> View:
    n, m = shape
    if X is None:
        return View(None, n, m, **named)
    mask = None
    if isinstance(missing, str):
        if missing == "zeros" and not sp.issparse(X):
            X = sp.csr_array(np.where(np.isnan(X), 0, X))
        unstored = sp.issparse(X) and missing in ("zeros", "auto")
    else:
        unstored = False
        if missing is not None and np.shape(missing) == (n, m):
            mask = np.asarray(missing, dtype=bool)
    return View(X, n, m, unstored=unstored, mask=mask, **named)


def moments(values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Mean and standard deviation of the known entries of each column, and how many there are; 0 where none is."""
    seen = ~np.isnan(values)
    counts = np.maximum(seen.sum(axis=0), 1)
    mean = np.where(seen, values, 0).sum(axis=0) / counts
    spread = np.sqrt((np.where(seen, values - mean, 0) ** 2).sum(axis=0) / counts)
    return mean, spread, seen.sum(axis=0)
