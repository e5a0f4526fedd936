"""One number of components, tried: a fresh copy of an estimator, and the labels and errors of a fitted one."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_clusterer

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
        for key in known.keys() & changes.keys():  # set_params would ask for all names again, a hundred times a search
            setattr(copy, key, changes[key])
        return copy

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


def searched(estimator: Any, X) -> tuple[Any, Any, str]:
    """What an automatic choice fits, to what, and the name of its number: a simpler model may stand in for one."""
    if hasattr(estimator, "_stand_in"):
        stand_in, name = estimator._stand_in()
        return stand_in, X, name
    return estimator, X, count_name(estimator)


def labels_of(model: Any, X) -> NDArray:
    """Labels that a model fitted to X gave its rows, or gives them now."""
    labels = getattr(model, "labels_", None)
    return predicted(model, X) if labels is None or np.shape(labels) != (n_rows(X),) else np.asarray(labels)


def predicted(model: Any, X) -> NDArray:
    """Labels that a model gives the rows of X; a recommender's `predict` gives ratings instead."""
    labels = np.asarray(model.predict(X)) if hasattr(model, "predict") else np.empty(0)
    if labels.shape != (n_rows(X),):
        raise _no_labels(model)
    return labels


def _no_labels(model: Any) -> TypeError:
    return TypeError(
        f"{type(model).__name__} gives rows no labels, so this criterion cannot judge it: choose by {fitting(model)!r}"
    )


def _of_pairs(estimator: Any) -> bool:
    from sklearn.utils import get_tags

    return bool(get_tags(estimator).input_tags.pairwise)


def refuse_pairs(estimator: Any) -> None:
    """Raise for a model of similarities: without some rows these are no square table any more."""
    if _of_pairs(estimator):
        raise TypeError(
            f"{type(estimator).__name__} takes a square table of pairs, of which no rows can be left out: choose by "
            "'silhouette' or 'elbow'"
        )


def fitting(estimator: Any) -> str:
    """The name of the criterion that suits an estimator."""
    if hasattr(estimator, "bic"):
        return "bic"
    if hasattr(estimator, "perplexity"):
        return "completion"
    if is_clusterer(estimator):
        return "silhouette" if _of_pairs(estimator) else "groups"
    if hasattr(estimator, "_centred") and getattr(estimator, "missing", None) is None:
        return "bi-cross-validation"
    if "missing" in estimator.get_params(deep=False):
        return "held-out"
    return "cross-validation" if hasattr(estimator, "score") else "elbow"


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
