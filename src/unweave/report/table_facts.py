"""Collect what a report says about the table: its spectrum, where its rows lie, and how it looks before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.labels import told_apart
from unweave.report.markup import plain
from unweave.report.png import quantise
from unweave.report.row_facts import drawn_rows
from unweave.report.view import (
    View,
    are_labels,
    codes_of,
    column_names,
    components_of,
    in_columns,
    moments,
    predicted,
    strength_words,
    strengths,
)
from unweave.report.words import called
from unweave.select.curves import clear_knee

_MOST_SHARES = 50
_SPECTRUM_ROWS = 2000
_SPECTRUM_ENTRIES = 4_000_000


def spectrum_facts(model: Any, view: View | None) -> dict | None:
    """Compute shares in falling order and where they bend: of a sample of the table, else as the model has them."""
    if not in_columns(model):
        return None
    centred = any(hasattr(model, name) for name in ("cluster_centers_", "labels_", "noise_variance_"))
    if view is not None and view.X is not None and view.complete and min(view.n_rows, view.n_columns) >= 3:
        return _of_table(view, centred)
    ratio = getattr(model, "explained_variance_ratio_", None)
    if ratio is not None and len(ratio) > 1 and hasattr(model, "noise_variance_"):
        return _described(np.asarray(ratio, dtype=np.float64), "the model", centred=True)
    return None


def _of_table(view: View, centred: bool) -> dict | None:
    from unweave.solve.svd import truncated_svd

    rows = view.sample(max(3, min(_SPECTRUM_ROWS, _SPECTRUM_ENTRIES // view.n_columns)))
    part = view.take(rows)
    k = min(_MOST_SHARES if not view.sparse else 20, *part.shape)
    svd = truncated_svd(part, k, shift="mean" if centred else None, codes=False)
    total = float(svd.total)
    if not total > 0:
        return None
    seen = "every row" if len(rows) == view.n_rows else f"{len(rows):,} rows drawn at random"
    return _described(np.square(svd.s.astype(np.float64)) / total, seen, centred)


def _described(shares: NDArray, seen: str, centred: bool) -> dict:
    shares = np.maximum(shares, 0)
    # Without centring the first direction is mostly the mean of the rows, and would hide any other bend.
    lead = 0 if centred else 1
    bend = clear_knee(shares[lead:])
    bend = None if bend is None else bend + lead
    return {
        "shares": [float(share) for share in shares[:_MOST_SHARES]],
        "cumulative": [float(share) for share in np.minimum(np.cumsum(shares), 1)[:_MOST_SHARES]],
        "knee": bend,
        "of": "of the variance" if centred else "of the sum of squares",
        "centred": centred,
        "seen": seen,
    }


_GROUPS = 20


def group_facts(model: Any, view: View | None) -> dict | None:
    """Count the rows of groups, for models whose rows belong to one component each."""
    codes, labels = getattr(model, "codes_", None), getattr(model, "labels_", None)
    k = len(components_of(model))
    if labels is not None:
        sizes = np.bincount(np.asarray(labels), minlength=k)
    elif codes is not None and are_labels(codes):
        sizes = np.asarray(codes.sum(axis=0)).ravel()
    else:
        return None
    return {"sizes": [int(size) for size in sizes[:1000]]}


def scatter_facts(model: Any, view: View | None) -> dict | None:
    """Place rows on two principal axes of the table, or on the first two components where these are such axes."""
    if view is None or view.X is None or min(view.n_rows, view.n_columns) < 2:
        return None
    rows = drawn_rows(view)
    grouped = hasattr(model, "labels_") or are_labels(getattr(model, "codes_", None))
    if not grouped:
        return _on_components(model, view, rows)
    group = codes_of(model, view, rows).argmax(axis=1)
    points, centres, shares = _project(view, rows, components_of(model))
    facts = _points(points, group, rows, view.n_rows)
    facts["axes"] = [f"principal axis {i + 1} ({100 * share:.0f} % of the variance)" for i, share in enumerate(shares)]
    facts["centres"] = [[_short(x), _short(y)] for x, y in centres[:100]]
    return facts


def _on_components(model: Any, view: View, rows: NDArray) -> dict | None:
    codes = codes_of(model, view, rows)
    if codes.shape[1] < 2 or not hasattr(model, "singular_values_"):
        return None
    group, names = _labelled(view, rows)
    facts = _points(np.asarray(codes[:, :2], dtype=np.float64), group, rows, view.n_rows)
    shares = strengths(model)
    ends = ["", ""] if shares is None else [f" ({100 * share:.0f} % {strength_words(model)})" for share in shares[:2]]
    facts["axes"] = [f"{called(model)} {i + 1}{end}" for i, end in enumerate(ends)]
    return {**facts, "names": names}


def _labelled(view: View, rows: NDArray) -> tuple[NDArray | None, list[str]]:
    """Group rows by the labels that came with the data, when there are few of them."""
    if view.labels is None:
        return None, []
    values, group = np.unique(np.asarray(view.labels)[rows].astype(str), return_inverse=True)
    return (group, [plain(value, 60) for value in values]) if 2 <= len(values) <= _GROUPS else (None, [])


def _project(view: View, rows: NDArray, centres: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Place rows and centres on the two leading axes of the rows; a hole counts as the mean of its column."""
    from unweave.solve.svd import truncated_svd

    if view.sparse and not view.unstored:
        part, mean = view.take(rows), np.asarray(view.take(rows).mean(axis=0)).ravel()
    else:
        part = view.dense(rows)
        mean = moments(part)[0]
        part = np.where(np.isnan(part), mean, part)
    svd = truncated_svd(part, 2, shift="mean", codes=False)
    axes = np.asarray(svd.Vt, dtype=np.float64).T
    total = float(svd.total)
    shares = np.square(svd.s.astype(np.float64)) / total if total > 0 else np.zeros(2)
    return np.asarray(part @ axes) - mean @ axes, centres @ axes - mean @ axes, shares


def _points(points: NDArray, group: NDArray | None, rows: NDArray, of: int) -> dict:
    return {
        "rows": rows.tolist(),
        "x": [_short(x) for x in points[:, 0]],
        "y": [_short(y) for y in points[:, 1]],
        "group": None if group is None else [int(g) for g in group],
        "drawn": len(rows),
        "of": of,
    }


def _short(value: float) -> float:
    """Round to four digits: enough for a dot."""
    return float(f"{float(value):.4g}")


_ROWS = 140
_COLUMNS = 160
_ENTRIES = 6_000_000
_DEVIATIONS = "standard deviations from the mean"
_UNLIKE = 10.0  # columns whose spreads differ by more than this are standardised


def matrix_facts(model: Any, view: View | None, ordered_columns: bool, recipe: Any = None) -> dict | None:
    """Draw the table before and after, in the order of dominant components; columns too if `ordered_columns`.

    `recipe` says whether the numbers of the table are standard deviations already.
    """
    if view is None or view.X is None or view.n_columns > _ENTRIES // 8:
        return None
    rows = view.sample(min(_ROWS, _ENTRIES // view.n_columns))
    codes = codes_of(model, view, rows)
    Z = components_of(model)
    if Z.shape[1] != view.n_columns:
        return None
    order = _by_component(codes[:, : len(Z)] * np.linalg.norm(Z, axis=1))
    rows, codes = rows[order], codes[order]
    columns = _chosen_columns(view, Z, ordered_columns)
    names = told_apart(column_names(model, view))
    before = view.dense(rows, columns)
    after = predicted(model, codes)[:, columns]
    how = [f"{len(rows):,} of {view.n_rows:,} rows and {len(columns):,} of {view.n_columns:,} columns"]
    standardised = recipe is not None and recipe.shift is not None and recipe.scale is not None
    unit = _DEVIATIONS if standardised else ""
    if ordered_columns and view.kind == "table" and not view.sparse and _unlike(before):
        middle, spread, _ = moments(before)
        before, after = (before - middle) / spread, (after - middle) / spread
        unit = _DEVIATIONS
        how.append("each column less its mean, in standard deviations, because their units differ")
    low, high = _range(before)
    how.append("rows in the order of their dominant component" + (", columns too" if ordered_columns else ""))
    holes = bool(np.isnan(before).any())
    return {
        "before": quantise(before, low, high),
        "after": quantise(after, low, high),
        "how": "; ".join(how) + ("; grey is unknown." if holes else "."),
        "holes": holes,
        "rows": rows.tolist(),
        "columns": [names[j] for j in columns] if ordered_columns else [],
        "unit": unit,
    }


def _chosen_columns(view: View, Z: NDArray, ordered: bool) -> NDArray:
    """Choose at most 160 columns: the fullest of a sparse table, else evenly spaced.

    By dominant component if `ordered`.
    """
    m = view.n_columns
    if m <= _COLUMNS:
        columns = np.arange(m)
    elif view.sparse:
        columns = view.fullest_columns(_COLUMNS)
    else:
        columns = np.unique(np.linspace(0, m - 1, _COLUMNS).round().astype(np.intp))
    return columns[_by_component(Z[:, columns].T)] if ordered else columns


def _by_component(F: NDArray) -> NDArray:
    """Order rows of F by their largest entry: first those where it is in the first column, strongest first."""
    size = np.abs(F)
    return np.lexsort((-size.max(axis=1), size.argmax(axis=1)))


def _unlike(values: NDArray) -> bool:
    """Tell whether every column varies, but some far more than others, or about values far apart."""
    middle, spread, _ = moments(values)
    if not spread.min() > 0:
        return False
    return bool(spread.max() > _UNLIKE * spread.min() or np.ptp(middle) > _UNLIKE / 2 * np.median(spread))


def _range(values: NDArray) -> tuple[float, float]:
    """Choose the ends of the colours: 0 or the least up to the 99th percentile; about zero when signs differ."""
    seen = values[~np.isnan(values)]
    if not seen.size:
        return 0.0, 1.0
    low, high = (float(v) for v in np.percentile(seen, [1, 99]))
    if float(seen.min()) < 0 < high:
        most = max(-low, high) or 1.0
        return -most, most
    high = high if high > low else float(seen.max())
    from_zero = low >= 0 and low < 0.5 * high and seen.size == values.size
    return (0.0 if from_zero else low), (high if high > low else low + 1.0)
