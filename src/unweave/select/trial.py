"""Try one number of components: fit a fresh copy of an estimator, and take the labels and errors of a fitted one."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone, is_clusterer

from unweave.data.hold_out import known_block
from unweave.data.named import NamedTable
from unweave.data.table import check_table, is_blocks
from unweave.parallel import chunks

COUNTS = ("n_clusters", "n_components")


class Stopped(Exception):
    """Raised by a fit that is under way when the search is ended from outside."""


def count_name(estimator: Any) -> str:
    """Name the parameter that counts components: ``n_clusters`` or ``n_components``.

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
    """Fit copies of an estimator with `count` components, or as it is; `stop` ends the fits from another thread."""

    estimator: Any
    name: str = ""
    count: int | None = None
    stop: threading.Event = field(default_factory=threading.Event)

    def model(self, **changes: Any) -> Any:
        """Make a fresh copy, to be fitted in silence, with some parameters changed where it has them."""
        known = self.estimator.get_params(deep=False)
        changes |= {self.name: self.count, "checkpoint": None, "verbose": False, "callback": self._stopped}
        copy = clone(self.estimator)
        for key in known.keys() & changes.keys():  # set_params would ask for all names again, a hundred times a search
            setattr(copy, key, changes[key])
        return copy

    def fit(self, X, **changes: Any) -> Any:
        """Fit a copy; raise :class:`Stopped` if the search has ended meanwhile."""
        if self.stop.is_set():
            raise Stopped
        model = self.model(**changes).fit(X)
        if self.stop.is_set():
            raise Stopped
        return model

    def _stopped(self, progress) -> bool:
        """Tell a fit to end when the search has ended; a callback."""
        return self.stop.is_set()


def unnamed(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Take the numbers of a table read from a file, and tell the estimator what an unknown entry looks like there."""
    if not isinstance(X, NamedTable):
        return estimator, X
    if X.missing is not None and "missing" in (known := estimator.get_params(deep=False)) and known["missing"] is None:
        estimator = clone(estimator).set_params(missing=X.missing)
    return estimator, X.X


def searched(estimator: Any, X) -> tuple[Any, Any, str]:
    """Say what an automatic choice fits, to what, and the name of its number: a simpler model may stand in for one."""
    if hasattr(estimator, "_stand_in"):
        stand_in, name = estimator._stand_in()
        return stand_in, X, name
    return estimator, X, count_name(estimator)


def labels_of(model: Any, X) -> NDArray:
    """Take the labels that a model fitted to X gave its rows, or gives them now."""
    labels = getattr(model, "labels_", None)
    return predicted(model, X) if labels is None or np.shape(labels) != (n_rows(X),) else np.asarray(labels)


def predicted(model: Any, X) -> NDArray:
    """Ask a model for labels of the rows of X; refuse a recommender, whose `predict` gives ratings instead."""
    labels = np.asarray(model.predict(X)) if hasattr(model, "predict") else np.empty(0)
    if labels.shape != (n_rows(X),):
        raise _no_labels(model)
    return labels


def _no_labels(model: Any) -> TypeError:
    return TypeError(
        f"{type(model).__name__} gives rows no labels, so this criterion cannot judge it: choose by {suitable(model)!r}"
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


def suitable(estimator: Any, X: Any = None) -> str:
    """Name the criterion that suits an estimator, and the table X where one is given."""
    if hasattr(estimator, "bic"):
        return "bic"
    if hasattr(estimator, "perplexity"):
        return "completion"
    if is_clusterer(estimator):
        if _of_pairs(estimator):
            return "silhouette"
        return "held-out" if has_holes(estimator, X) else "groups"
    if hasattr(estimator, "_centred") and getattr(estimator, "missing", None) is None:
        return "bi-cross-validation"
    if "missing" in estimator.get_params(deep=False):
        return "held-out"
    return "cross-validation" if hasattr(estimator, "score") else "elbow"


def has_holes(estimator: Any, X: Any) -> bool:
    """Tell whether some entries of a table are missing, by what the estimator takes for missing."""
    missing = estimator.get_params(deep=False).get("missing")
    if X is None or missing is None or is_blocks(X):
        return False
    return check_table(BaseEstimator(), X, missing, reset=True).seen is not None


def within(X, labels: NDArray, missing=None, centres: NDArray | None = None) -> tuple[float, float, int]:
    """Sum squares of the observed entries about the centre of their cluster and about zero, and count the entries.

    Without `centres` they are the clusters' means of observed entries.
    """
    table = check_table(BaseEstimator(), X, missing, reset=True)
    codes = np.unique(labels, return_inverse=True)[1].reshape(-1) if centres is None else labels
    if centres is None:
        centres = _means(table, codes)
    spread, size, count = 0.0, 0.0, 0
    for start, stop in chunks(table.shape[0], max(1, (1 << 20) // table.shape[1])):
        values, seen = known_block(table, start, stop)
        spread += float(np.square(np.where(seen, values - centres[codes[start:stop]], 0)).sum())
        size += float(np.square(values).sum())
        count += int(seen.sum())
    return spread, size, count


def _means(table, codes: NDArray) -> NDArray:
    k = int(codes.max()) + 1
    sums, counts = np.zeros((k, table.shape[1])), np.zeros((k, table.shape[1]))
    for start, stop in chunks(table.shape[0], max(1, (1 << 20) // table.shape[1])):
        values, seen = known_block(table, start, stop)
        rows = np.arange(stop - start)
        own = sp.csr_array((np.ones(stop - start), (codes[start:stop], rows)), shape=(k, stop - start))
        sums += own @ values
        counts += own @ seen.astype(np.float64)
    return sums / np.maximum(counts, 1)


def n_rows(X) -> int:
    """Count the rows of an array, frame, sparse matrix or list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def evenly(n: int, most: int) -> NDArray:
    """Return at most so many of the numbers from 0 to n − 1, evenly spaced.

    >>> evenly(10, 4).tolist()
    [0, 3, 6, 9]
    """
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.int64)


def take(X, rows: NDArray):
    """Take some rows of an array, frame, sparse matrix or list."""
    from sklearn.utils import _safe_indexing

    return _safe_indexing(X, rows)
