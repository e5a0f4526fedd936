"""Collect what a report says about components: pictures, topics, or bars of their strongest columns."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.answers import in_file_units
from unweave.report.answers.groups import tidy_shares, zero_one_columns
from unweave.report.labels import told_apart
from unweave.report.png import quantise
from unweave.report.row_facts import row_names
from unweave.report.view import (
    View,
    are_labels,
    column_names,
    components_of,
    has_names,
    in_columns,
    moments,
    strength_words,
    strengths,
)

SHOWN = 20
_TOP = 8
_TOP_WORDS = 12
_TOP_ROWS = 3
_PICTURE_BYTES = 400_000
_PIXEL = re.compile(r"(pixel|pix|px|p)?[ _.\-]?\d+([ _.,x\-]\d+)?", re.IGNORECASE)


def factor_facts(model: Any, view: View | None, recipe: Any = None) -> dict:
    """Describe the first components, with all that is needed to draw them.

    `recipe` (see :func:`unweave.prepare`) brings the centres of groups back to the units of the file.
    """
    Z = components_of(model)
    shares, names = strengths(model), told_apart(column_names(model, view))
    shape, why = picture_shape(model, view)
    shown = min(SHOWN, len(Z))
    facts: dict[str, Any] = {"count": len(Z), "shown": shown, "share_of": strength_words(model), "why": why}
    if shape is not None:
        facts["drawn"] = "images"
        parts = _pictures(Z[:shown], shape)
    elif view is not None and view.kind in ("text", "counts") and in_columns(model) and (Z >= 0).all():
        facts["drawn"] = "topics"
        parts = [{"top": _words(row / max(float(row.sum()), 1e-300), names)} for row in Z[:shown]]
    else:
        facts["drawn"] = "bars"
        shown_weights = _standing_out(model, Z, view)[:shown]
        parts = [{"top": _top(row, names, _TOP)} for row in shown_weights]
        if not in_columns(model) and view is not None and view.n_rows == len(names):  # bars are rows, by name
            place = {name: i for i, name in enumerate(names)}
            for part in parts:
                part["bars"] = [place[name] for name, _ in part["top"]]
        if _is_grouping(model) and in_columns(model):
            facts["shares"] = _add_units(parts, names, Z, view, recipe)
    for i, (part, leading) in enumerate(zip(parts, _leading_rows(model, view, shown))):
        part["share"] = None if shares is None else float(shares[i])
        part["rows"], part["numbers"] = [name for _, name in leading], [number for number, _ in leading]
    return {**facts, "parts": parts, "against": _against(model) if facts["drawn"] == "bars" else ""}


def _is_grouping(model: Any) -> bool:
    return hasattr(model, "cluster_centers_") or hasattr(model, "labels_")


def _add_units(parts: list[dict], names: list[str], Z: NDArray, view: View | None, recipe: Any) -> list[str]:
    """Add the centres of groups in the units of the file, and return the columns whose means are shares of the rows."""
    flags = zero_one_columns(view, recipe, Z.shape[1])
    units = tidy_shares(in_file_units(Z, recipe), flags)
    place = {name: j for j, name in enumerate(names)}
    for part, centre in zip(parts, units):
        part["units"] = [float(centre[place[name]]) for name, _ in part["top"]]
    return [names[j] for j in np.flatnonzero(flags)]


def _against(model: Any) -> str:
    if _is_grouping(model):
        return "How far the centre lies from the mean of all rows, in standard deviations of the column."
    return "" if in_columns(model) else "Weights of the rows that make it up, in the feature space of the kernel."


def _standing_out(model: Any, Z: NDArray, view: View | None) -> NDArray:
    """Compute what bars show: weights; for centres of groups their distance from the mean, in standard deviations."""
    if not _is_grouping(model):
        return Z
    sizes = strengths(model)
    mean = np.average(Z, axis=0, weights=sizes) if sizes is not None else Z.mean(axis=0)
    spread = Z.std(axis=0)
    if view is not None and view.X is not None:
        seen = view.dense(view.sample(max(10, min(5000, 4_000_000 // view.n_columns))))
        spread = moments(seen)[1]
    return (Z - mean) / np.where(spread > 0, spread, np.inf)


def _top(weights: NDArray, names: list[str], most: int) -> list[list]:
    """Find the strongest columns and their weights, strongest first; columns that play no part are left out."""
    order = np.argsort(-np.abs(weights), kind="stable")[:most]
    return [[names[j], float(weights[j])] for j in order if weights[j] != 0]


def _words(shares: NDArray, names: list[str]) -> list[list]:
    """Find the likeliest words; those a hundred times rarer than the first are what a prior leaves everywhere."""
    found = _top(shares, names, _TOP_WORDS)
    return [pair for pair in found if pair[1] > 0.01 * found[0][1]]


def _leading_rows(model: Any, view: View | None, shown: int) -> list[list[tuple[int, str]]]:
    """List for each component the rows in which it is strongest, by number and name."""
    codes = getattr(model, "codes_", None)
    if view is None or view.rows is None or codes is None or are_labels(codes) or codes.shape[0] != view.n_rows:
        return [[] for _ in range(shown)]
    leading = []
    for i in range(shown):
        column = np.asarray(codes[:, i])
        leading.append([int(r) for r in np.argsort(-column, kind="stable")[:_TOP_ROWS] if column[r] > 0])
    every = np.array(sorted({r for rows in leading for r in rows}), dtype=np.intp)
    names = dict(zip(every.tolist(), row_names(view, every)))
    return [[(r, names[r]) for r in rows] for rows in leading]


def picture_shape(model: Any, view: View | None) -> tuple[tuple[int, ...] | None, str]:
    """Find the shape of the picture that a row is, and why it is taken for one; None when it is not."""
    if not in_columns(model):
        return None, ""
    m = int(np.shape(model.components_)[1])
    if view is not None and view.image is not None and int(np.prod(view.image)) == m:
        return tuple(int(side) for side in view.image), "each row is a picture"
    side = math.isqrt(m)
    if side * side != m or side < 4:
        return None, ""
    if has_names(model, view):
        if all(_PIXEL.fullmatch(name) for name in column_names(model, view)):
            return (side, side), f"the columns are named like the pixels of a picture of {side}×{side}"
        return None, ""
    rows = _examples(model, view) if side >= 6 else np.zeros((0, m))
    if len(rows) >= 4 and _looks_flat(rows, side):
        return (side, side), f"the columns go together like the pixels of a picture of {side}×{side}"
    return None, ""


def _looks_flat(rows: NDArray, side: int) -> bool:
    """Tell whether columns one picture line apart go together, and more so than those half a line apart.

    Pixels do; the points of a curve do not, since there likeness only falls with distance.
    """
    middle, spread, _ = moments(rows)
    varies = spread > 0
    scaled = np.where(np.isnan(rows), 0, rows - middle) / np.where(varies, spread, 1)

    def likeness(lag: int) -> float:
        both = varies[lag:] & varies[:-lag]
        return float((scaled[:, lag:] * scaled[:, :-lag]).mean(axis=0)[both].mean()) if both.any() else 0.0

    return likeness(1) > 0.15 and likeness(side) > max(0.2, likeness(side // 2) + 0.15)


def _examples(model: Any, view: View | None) -> NDArray:
    """Take rows to judge likeness of columns by: of the table if at hand, else the components."""
    if view is None or view.X is None or view.n_rows < 10:
        return np.asarray(components_of(model), dtype=np.float64)
    return view.dense(view.sample(max(4, min(500, 2_000_000 // view.n_columns))))


def _pictures(Z: NDArray, shape: tuple[int, ...]) -> list[dict]:
    signed = bool((Z < 0).any())
    step = max(1, math.ceil(math.sqrt(Z.size / _PICTURE_BYTES)))
    coloured = len(shape) == 3 and shape[2] == 3  # signed ones about a middle grey
    out = []
    for row in Z:
        picture = row.reshape(shape)[::step, ::step]
        if picture.ndim == 3 and not coloured:
            picture = picture.mean(axis=2)
        most = float(np.abs(picture).max()) or 1.0
        out.append({"picture": quantise(picture, -most if signed else 0.0, most)})
    return out
