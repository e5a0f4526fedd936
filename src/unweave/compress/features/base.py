"""What the selectors of columns share: scikit-learn's manners, how many to keep, and a file to be saved in."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.data.named import NamedTable
from unweave.data.table import check_table, refuse_blocks


class Selector(SelectorMixin, BaseEstimator):
    """A transformer that keeps some columns of a table as they are. A selector says in `fit` which, as ``support_``."""

    support_: NDArray[np.bool_]

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def transform(self, X):
        """The columns of X that were selected."""
        check_is_fitted(self, "support_")
        refuse_blocks(self, X, new=True)
        return super().transform(_plain(X))

    def save(self, path: str | os.PathLike) -> Path:
        """Write the fitted selector to one file; :func:`unweave.load` reads it back."""
        from unweave.persist import save

        check_is_fitted(self, "support_")
        return save(self, path)

    def _check_loaded(self, looked_at: bool) -> None:
        """Raise ValueError unless what was read from a file fits together."""
        support = self.support_
        if not isinstance(support, np.ndarray) or support.dtype.kind != "b" or support.shape != (self.n_features_in_,):
            raise ValueError("support_ does not mark columns")

    def _table(self, X, missing=None):
        """The values of a training table, an array or CSR."""
        refuse_blocks(self, X)
        return check_table(self, _plain(X), missing, reset=True)

    def _most(self, n_columns: int) -> int:
        """How many columns `n_features` allows; all if it is None or more than there are."""
        asked = self.n_features
        return n_columns if asked is None else min(whole(asked, "n_features", 1), n_columns)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class TargetSelector(Selector):
    """A selector that looks at a target: `fit` needs y."""

    def _target(self, X, y) -> tuple:
        """(values, y, whether y is classes), checked."""
        from sklearn.utils.multiclass import type_of_target
        from sklearn.utils.validation import column_or_1d

        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: fit(X, y)")
        values = self._table(X).values
        y = column_or_1d(y, warn=True)
        if len(y) != values.shape[0]:
            raise ValueError(f"y must hold one value per row: X has {values.shape[0]} rows, y has {len(y)}")
        task = self.task
        if not isinstance(task, str) or task not in ("auto", "classes", "numbers"):
            raise ValueError(f"task must be 'auto', 'classes' or 'numbers', got {task!r}")
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise ValueError("y contains NaN or infinity: leave out rows without a target")
        kind = type_of_target(y, input_name="y")
        classes = task == "classes" or (task == "auto" and kind in ("binary", "multiclass"))
        if not classes:
            try:
                y = y.astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError("y holds words: they are classes; give task='classes' or 'auto'") from None
        elif kind not in ("binary", "multiclass"):
            raise ValueError(f"Unknown label type: y holds {kind} values, which are no classes: give task='numbers'")
        return values, y, classes

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _plain(X):
    return X.X if isinstance(X, NamedTable) and X.numeric else X


def first(order: NDArray, k: int, n_columns: int) -> NDArray[np.bool_]:
    """Mark the first k columns of an order."""
    support = np.zeros(n_columns, dtype=bool)
    support[order[:k]] = True
    return support
