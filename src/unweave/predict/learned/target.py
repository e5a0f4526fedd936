"""Read what is to be predicted: values beside the table, or the name of one of its columns."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.choosing import names_of
from unweave.data.mixed import kind_of
from unweave.data.named import NamedTable
from unweave.data.roles import shown
from unweave.solve.progress import warn_user

_MOST_SHARE, _SOME = 0.5, 20  # share of different classes, and rows from which that is looked at


def parted(X: Any, y: Any) -> tuple[Any, Any]:
    """Return the table without its target, and the target: a name of a column is looked up."""
    if not isinstance(y, str):
        return X, y
    if isinstance(X, NamedTable):
        return _parted_table(X, y)
    kind = kind_of(X)
    if kind == "array":
        raise ValueError(f"y={y!r} names a column, and X has no names: give the values, or a data frame")
    need_column(y, [str(name) for name in X.columns], "X")
    rest = X.drop(columns=[y]) if kind == "pandas" else X.drop(y)
    return rest, X[y].to_numpy() if kind == "pandas" else np.array(X[y].to_list(), dtype=object)


def _parted_table(table: NamedTable, name: str) -> tuple[NamedTable, Any]:
    if table.rows is not None and table.named_by == name:
        return table.with_(rows=None, named_by=""), np.array(table.rows, dtype=object)
    if table.labels is not None and name in ("", table.label_name):
        return table.with_(labels=None), np.asarray(table.labels)
    names = names_of(table)
    need_column(name, names, table.source or "the table")
    j = names.index(name)
    if table.numeric:
        values = np.asarray(table.X[:, [j]].todense() if table.sparse else table.X[:, j], dtype=np.float64).ravel()
        rest = [i for i in range(len(names)) if i != j]
        X = table.X[:, rest]
        return table.with_(X=X, columns=None if table.columns is None else [names[i] for i in rest]), values
    column = table.X[name]
    values = column.to_numpy() if column.dtype.is_numeric() else np.array(column.to_list(), dtype=object)
    return table.with_(X=table.X.drop(name), columns=[one for one in names if one != name]), values


def need_column(name: str, names: list[str], where: str) -> None:
    """Raise ValueError, with names that are spelled alike, unless there is a column of that name."""
    if name in names:
        return
    lower = {one.lower(): one for one in names}
    near = [lower[one] for one in get_close_matches(name.lower(), list(lower), 3, 0.6)]
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the columns are {shown(names)}"
    raise ValueError(f"target: {where} has no column {name!r}; {hint}")


def known_rows(y: NDArray) -> NDArray:
    """Return the rows whose target is known; those without are left out, with a warning."""
    if y.dtype.kind == "f":
        unknown = np.isnan(y)
    elif y.dtype.kind == "O":
        unknown = np.array([value is None or value != value for value in y], dtype=bool)
    else:
        return np.arange(len(y))
    if unknown.all() and len(y):
        raise ValueError("y has no known value: NaN or None in every row")
    if unknown.any():
        warn_user(f"left out {int(unknown.sum()):,} of {len(y):,} rows, whose target is unknown")
    return np.flatnonzero(~unknown)


def as_classes(y: NDArray, name: str) -> tuple[NDArray, NDArray]:
    """Return the place of each row's class among the classes, and the classes; ValueError if they cannot be learned."""
    from sklearn.utils.multiclass import check_classification_targets

    if y.dtype.kind == "O":
        kinds = {type(value) for value in y}
        y = np.array(y.tolist()) if len(kinds) == 1 or kinds <= {int, float, bool} else np.array([str(v) for v in y])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of many classes: below is said what is wrong with them
        check_classification_targets(y)
    classes, places = np.unique(y, return_inverse=True)
    k, n = len(classes), len(y)
    if k < 2:
        raise ValueError(f"{name} needs at least two classes, and y has one class only: {classes.tolist()[0]!r}")
    if (k == n and n > 2) or (n >= _SOME and k > _MOST_SHARE * n):
        raise ValueError(
            f"y has {k:,} classes in {n:,} rows, so hardly any comes twice: for numbers use RepresentationRegressor, "
            "and leave out what only names rows"
        )
    return places.astype(np.int64).ravel(), classes


def as_amounts(y: NDArray, name: str) -> NDArray[np.float64]:
    """Return the target as finite numbers; ValueError if it is none."""
    try:
        values = np.asarray(y.tolist() if y.dtype.kind == "O" else y).astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} predicts numbers, and y holds words: use RepresentationClassifier") from None
    if not np.isfinite(values).all():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    if len(values) > 1 and np.ptp(values) == 0:
        raise ValueError(f"y is {values[0]:g} in every row: there is nothing to predict")
    return values
