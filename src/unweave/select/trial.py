"""One number of components, tried: a fresh copy of an estimator, and the labels and errors of a fitted one."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from unweave.data.named import NamedTable
from unweave.data.table import check_table
from unweave.parallel import chunks

COUNTS = ("n_clusters", "n_components")


class Stopped(Exception):
    """The search was ended from outside while a fit was under way."""


def count_name(estimator: Any) -> str:
    """What the number of components is called: ``n_clusters`` or ``n_components``.

    >>> from unweave import NMF, KMeans
    >>> count_name(KMeans()), count_name(NMF())
    ('n_clusters', 'n_components')
    """
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise TypeError(f"estimator must be an estimator such as KMeans(), got {estimator!r}")
    known = estimator.get_params(deep=False)
    for name in COUNTS:
        if name in known:
            return name
    raise TypeError(
        f"{type(estimator).__name__} has neither n_clusters nor n_components, so there is nothing to choose"
    )


@dataclass(frozen=True)
class Trial:
    """An estimator with `count` components, or as it is; `stop` ends its fits from another thread."""

    estimator: Any
    name: str = ""
    count: int | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def model(self, **changes: Any) -> Any:
        """A fresh copy, to be fitted in silence, with some parameters changed where it has them."""
        known = self.estimator.get_params(deep=False)
        changes |= {self.name: self.count, "checkpoint": None, "verbose": False, "callback": self._heed}
        copy = clone(self.estimator)
        return copy.set_params(**{key: value for key, value in changes.items() if key in known})

    def fit(self, X, **changes: Any) -> Any:
        """A fitted copy; :class:`Stopped` if the search has ended meanwhile."""
        if self.stop.is_set():
            raise Stopped
        model = self.model(**changes).fit(X)
        if self.stop.is_set():
            raise Stopped
        return model

    def _heed(self, progress) -> bool:
        return self.stop.is_set()


def unnamed(estimator: Any, X: Any) -> tuple[Any, Any]:
    """A table read from a file as plain numbers, and the estimator told what an unknown entry looks like there."""
    if not isinstance(X, NamedTable):
        return estimator, X
    if X.missing is not None and "missing" in (known := estimator.get_params(deep=False)) and known["missing"] is None:
        estimator = clone(estimator).set_params(missing=X.missing)
    return estimator, X.X


def labels_of(model: Any, X) -> NDArray:
    """Labels that a model fitted to X gave its rows, or gives them now."""
    labels = getattr(model, "labels_", None)
    if labels is None or len(labels) != n_rows(X):
        if not hasattr(model, "predict"):
            raise TypeError(f"{type(model).__name__} gives no labels, so this criterion cannot judge it")
        labels = model.predict(X)
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise TypeError(f"{type(model).__name__} gives no labels, so this criterion cannot judge it")
    return labels


def within(X, labels: NDArray, missing=None, centres: NDArray | None = None) -> tuple[float, float, int]:
    """Squares of the observed entries about the centre of their cluster, about zero, and how many entries there are.

    Without `centres` they are the clusters' means of observed entries.
    """
    table = check_table(BaseEstimator(), X, missing, reset=True)
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1) if centres is None else labels
    if centres is None:
        centres = _means(table, codes)
    spread, size, count = 0.0, 0.0, 0
    for start, stop in chunks(table.shape[0], max(1, (1 << 20) // table.shape[1])):
        values, seen = _block(table, start, stop)
        spread += float(np.square(np.where(seen, values - centres[codes[start:stop]], 0)).sum())
        size += float(np.square(values).sum())
        count += int(seen.sum())
    return spread, size, count


def _means(table, codes: NDArray) -> NDArray:
    k = int(codes.max()) + 1
    sums, counts = np.zeros((k, table.shape[1])), np.zeros((k, table.shape[1]))
    for start, stop in chunks(table.shape[0], max(1, (1 << 20) // table.shape[1])):
        values, seen = _block(table, start, stop)
        rows = np.arange(stop - start)
        own = sp.csr_array((np.ones(stop - start), (codes[start:stop], rows)), shape=(k, stop - start))
        sums += own @ values
        counts += own @ seen.astype(np.float64)
    return sums / np.maximum(counts, 1)


def _block(table, start: int, stop: int) -> tuple[NDArray, NDArray]:
    """Rows of a checked table in float64 (unobserved entries zero), and which entries were observed."""
    part = table.values[start:stop]
    if not sp.issparse(part):
        seen = np.ones(part.shape, bool) if table.seen is None else table.seen[start:stop]
        return part.astype(np.float64), seen
    dense = part.toarray().astype(np.float64)
    if table.seen is None:
        return dense, np.ones(dense.shape, bool)
    seen = sp.csr_array((np.ones(part.nnz, bool), part.indices, part.indptr), shape=part.shape).toarray()
    return dense, seen


def n_rows(X) -> int:
    """Rows of an array, frame, sparse matrix or list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def take(X, rows: NDArray):
    """Some rows of an array, frame, sparse matrix or list."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)
