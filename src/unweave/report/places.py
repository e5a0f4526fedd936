"""Facts about where rows lie: on two principal axes, in their groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.report.markup import plain
from unweave.report.parts import codes_of, components_of
from unweave.report.view import View, moments

_POINTS = 1500
_ENTRIES = 6_000_000
_GROUPS = 20


def group_facts(model: Any, view: View | None) -> dict | None:
    """Sizes of groups, for models whose rows belong to one component each."""
    codes, labels = getattr(model, "codes_", None), getattr(model, "labels_", None)
    k = len(components_of(model))
    if labels is not None:
        sizes = np.bincount(np.asarray(labels), minlength=k)
    elif codes is not None and sp.issparse(codes):
        sizes = np.asarray(codes.sum(axis=0)).ravel()
    else:
        return None
    return {"sizes": [int(size) for size in sizes[:1000]]}


def scatter_facts(model: Any, view: View | None) -> dict | None:
    """Rows on two principal axes of the table, or on the first two components where these are such axes."""
    if view is None or view.X is None or min(view.n_rows, view.n_columns) < 2:
        return None
    rows = view.sample(max(2, min(_POINTS, _ENTRIES // view.n_columns)))
    grouped = hasattr(model, "labels_") or sp.issparse(getattr(model, "codes_", None))
    if not grouped:
        return _on_components(model, view, rows)
    group = codes_of(model, view, rows).argmax(axis=1)
    points, centres, shares = _project(view, rows, components_of(model))
    facts = _points(points, group, len(rows), view.n_rows)
    facts["axes"] = [f"principal axis {i + 1} ({100 * share:.0f} % of the variance)" for i, share in enumerate(shares)]
    facts["centres"] = [[_short(x), _short(y)] for x, y in centres[:100]]
    return facts


def _on_components(model: Any, view: View, rows: NDArray) -> dict | None:
    codes = codes_of(model, view, rows)
    if codes.shape[1] < 2 or not hasattr(model, "singular_values_"):
        return None
    group, names = _labelled(view, rows)
    facts = _points(np.asarray(codes[:, :2], dtype=np.float64), group, len(rows), view.n_rows)
    facts["axes"] = ["component 1", "component 2"]
    return {**facts, "names": names}


def _labelled(view: View, rows: NDArray) -> tuple[NDArray | None, list[str]]:
    """Groups by the labels that came with the data, when there are few of them."""
    if view.labels is None:
        return None, []
    values, group = np.unique(np.asarray(view.labels)[rows].astype(str), return_inverse=True)
    return (group, [plain(value, 60) for value in values]) if 2 <= len(values) <= _GROUPS else (None, [])


def _project(view: View, rows: NDArray, centres: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Rows and centres on the two leading axes of the rows; a hole counts as the mean of its column."""
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


def _points(points: NDArray, group: NDArray | None, drawn: int, of: int) -> dict:
    return {
        "x": [_short(x) for x in points[:, 0]],
        "y": [_short(y) for y in points[:, 1]],
        "group": None if group is None else [int(g) for g in group],
        "drawn": drawn,
        "of": of,
    }


def _short(value: float) -> float:
    """Four digits: enough for a dot."""
    return float(f"{float(value):.4g}")
