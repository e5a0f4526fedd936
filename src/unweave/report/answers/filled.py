"""Answer what was filled into the holes of a table, and how sure the fills are."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.report.answers import MOST, Found, in_file_units, left_out
from unweave.report.answers.errors import error_words, held_out_errors
from unweave.report.numbers import counted, percent, readable
from unweave.report.view import View, column_names, predicted

_EXAMPLES = 3


def completed_answer(model: Any, view: View | None, recipe: Any) -> Found:
    """Tell what a completion of a table of numbers put into its holes, and how far off it would be."""
    errors = held_out_errors(model, view)
    scaled = recipe is not None and recipe.scale is not None
    lines = error_words(errors, " standard deviations" if scaled else "")
    if view is None or view.X is None or view.sparse:
        return Found("The holes of a table, filled", lines=lines, data={"errors": errors})
    X = np.asarray(view.X, dtype=np.float64)
    holes = np.isnan(X) if view.mask is None else np.isnan(X) | view.mask
    guess = predicted(model, model.codes_ if model.codes_ is not None else model.transform(view.X))
    known, fills = in_file_units(np.where(holes, np.nan, X), recipe), in_file_units(guess, recipe)
    names = view.columns if view.columns is not None else column_names(model, view)
    columns: list[dict[str, Any]] = []
    for j in np.flatnonzero(holes.any(axis=0)):
        filled, seen = fills[holes[:, j], j], known[~holes[:, j], j]
        columns.append(
            {
                "column": str(names[j]), "holes": int(holes[:, j].sum()), "mean_filled": float(filled.mean()),
                "least": float(filled.min()), "most": float(filled.max()),
                "mean_known": float(seen.mean()) if seen.size else None,
            }
        )  # fmt: skip
    rows = [
        [
            one["column"], readable(one["holes"]), _span(one["least"], one["most"]), readable(one["mean_filled"]),
            "" if one["mean_known"] is None else readable(one["mean_known"]),
        ]
        for one in columns[:MOST]
    ]  # fmt: skip
    places = np.argwhere(holes)
    examples = [
        {"row": _row(view, i), "column": str(names[j]), "filled": float(fills[i, j])} for i, j in _apart(places)
    ]
    told = [f"{one['row']}, {one['column']}: {readable(one['filled'])}" for one in examples]
    lines += [f"For example {'; '.join(told)}."] if told else []
    headline = f"{counted(len(places), 'hole')} filled in {counted(len(columns), 'column')} of {counted(len(X), 'row')}"
    data = {"holes": len(places), "columns": columns, "examples": examples, "errors": errors}
    header = ["column", "holes", "filled with", "mean of the fills", "mean of the known"]
    return Found(headline, header, rows, [*left_out(len(columns), "columns"), *lines], data)


def _span(low: float, high: float) -> str:
    low_text, high_text = readable(low), readable(high)
    return low_text if low_text == high_text else f"{low_text} to {high_text}"


def _row(view: View, i: int) -> str:
    return f"row {i + 1:,}" if view.rows is None else str(view.rows[i])


def _apart(places: np.ndarray) -> np.ndarray:
    """Choose a few places spread over the table."""
    return places[np.unique(np.linspace(0, len(places) - 1, _EXAMPLES).astype(np.int64))] if len(places) else places


def imputed_answer(model: Any) -> Found:
    """Tell which columns of a table of any kind were filled, and how sure the fills are."""
    unsure = np.asarray(model.uncertainty_, dtype=np.float64)
    names = getattr(model, "feature_names_in_", [f"column {j + 1}" for j in range(unsure.shape[1])])
    layout = model._fitted.layout.columns
    columns: list[dict[str, Any]] = []
    for j in np.flatnonzero((~np.isnan(unsure)).any(axis=0)):
        cells = unsure[~np.isnan(unsure[:, j]), j]
        what = "error" if layout[j].numeric else "chance"
        columns.append({"column": str(names[j]), "holes": len(cells), what: float(np.median(cells))})
    rows = [[one["column"], readable(one["holes"]), _sure(one)] for one in columns[:MOST]]
    total = sum(one["holes"] for one in columns)
    headline = f"{counted(total, 'hole')} filled in {counted(len(columns), 'column')} of {counted(len(unsure), 'row')}"
    error = min(model.held_out_.values(), default=None) if model.held_out_ else None
    lines = left_out(len(columns), "columns")
    if error is not None and error < 0.995:
        lines.append(
            f"Hidden cells are filled with {percent(1 - error)} less error than by means and most frequent values."
        )
    elif error is not None:
        lines.append("Hidden cells are filled no better than by means and most frequent values.")
    data = {"holes": total, "columns": columns, "error_of_means": error}
    return Found(headline, ["column", "holes", "how sure"], rows, lines, data)


def _sure(one: dict[str, Any]) -> str:
    if "error" in one:
        return f"± {readable(one['error'])} (typical error)"
    return f"{percent(one['chance'])} (chance that the value is right)"
