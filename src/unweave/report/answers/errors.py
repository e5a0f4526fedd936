"""Answer how far predictions of hidden entries are off, beside what simple means would give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.numbers import percent, readable
from unweave.report.view import View

_MODEL, _BIASES, _COLUMNS = "this model", "row and column effects alone", "the mean of the column"


def held_out_errors(model: Any, view: View | None) -> dict[str, float]:
    """Collect root mean square errors at entries the model had not seen; empty where the fit held nothing out.

    The model's own and that of biases are those by which it chose its ridge (`rank_path_`, and `bins_path_` where times
    were given). Column means leave out the very entry that they predict, which needs no second fit.
    """
    path = getattr(model, "rank_path_", None)
    if not path:
        return {}
    mine = path.get(int(model.n_components_), min(path.values()))
    bins = getattr(model, "bins_path_", None)
    errors = {_MODEL: float(min(bins.values()) if bins else mine)}
    if int(model.n_components_) > 0 and 0 in path:
        errors[_BIASES] = float(path[0])
    means = None if view is None else _column_means(view)
    if means is not None:
        errors[_COLUMNS] = means
    return errors


def error_words(errors: dict[str, float], unit: str, *, column: str = "column", row: str = "row") -> list[str]:
    """Say the errors in a sentence or two."""
    if not errors:
        return []
    names = {_BIASES: f"effects of {row}s and {column}s alone", _COLUMNS: f"the mean of each {column}"}
    beside = [f"{readable(error)} by {names[name]}" for name, error in errors.items() if name != _MODEL]
    mine = errors[_MODEL]
    said = f"Hidden entries are predicted with a typical error of {readable(mine)}{unit}"
    lines = [said + (f", against {' and '.join(beside)}." if beside else ".")]
    simple = min((error for name, error in errors.items() if name != _MODEL), default=0.0)
    if simple > 0 and mine > 0.995 * simple:
        lines.append("That is no better than simple means: there is little in this table to predict from.")
    elif simple > 0:
        lines[0] = lines[0][:-1] + f": {percent(1 - mine / simple)} less than the better of them."
        if len(beside) == 1:
            lines[0] = lines[0].replace("less than the better of them", "less")
    return lines


def _column_means(view: View) -> float | None:
    """Compute the error of the mean of each column at every known entry, that entry left out of the mean."""
    if view.X is None or view.n_columns == 0:
        return None
    if view.sparse:
        values, columns = np.asarray(view.X.data, dtype=np.float64), view.X.indices
        if not view.unstored:
            return None
    else:
        X = np.asarray(view.X, dtype=np.float64)
        rows, columns = np.nonzero(~np.isnan(X) if view.mask is None else ~(np.isnan(X) | view.mask))
        values = X[rows, columns]
    return _left_out(values, columns, view.n_columns)


def _left_out(values: NDArray, columns: NDArray, m: int) -> float | None:
    counts = np.bincount(columns, minlength=m)
    means = np.bincount(columns, values, m) / np.maximum(counts, 1)
    several = counts[columns] > 1
    if not several.any():
        return None
    n = counts[columns[several]]
    return float(np.sqrt(np.mean(((values[several] - means[columns[several]]) * n / (n - 1)) ** 2)))
