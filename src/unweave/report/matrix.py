"""Facts about the table before and after: a sample of it beside what the model makes of the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.parts import codes_of, components_of, predicted
from unweave.report.png import quantise
from unweave.report.view import View, moments

_ROWS = 140
_COLUMNS = 160
_ENTRIES = 6_000_000
_UNLIKE = 10.0  # columns whose spreads differ by more than this are standardised


def matrix_facts(model: Any, view: View | None, ordered_columns: bool) -> dict | None:
    """Both pictures, rows ordered by their dominant component, and columns too if `ordered_columns`."""
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
    before = view.dense(rows, columns)
    after = predicted(model, codes)[:, columns]
    how = [f"{len(rows):,} of {view.n_rows:,} rows and {len(columns):,} of {view.n_columns:,} columns"]
    if ordered_columns and view.kind == "table" and not view.sparse and _unlike(before):
        middle, spread, _ = moments(before)
        before, after = (before - middle) / spread, (after - middle) / spread
        how.append("each column less its mean, in standard deviations, because their units differ")
    low, high = _range(before)
    how.append("rows in the order of their dominant component" + (", columns too" if ordered_columns else ""))
    holes = bool(np.isnan(before).any())
    return {
        "before": quantise(before, low, high),
        "after": quantise(after, low, high),
        "how": "; ".join(how) + ("; grey is unknown." if holes else "."),
        "holes": holes,
    }


def _chosen_columns(view: View, Z: NDArray, ordered: bool) -> NDArray:
    """At most 160 columns: the fullest of a sparse table, else evenly spaced; by dominant component if `ordered`."""
    m = view.n_columns
    if m <= _COLUMNS:
        columns = np.arange(m)
    elif view.sparse:
        counts = np.bincount(view.X.indices, minlength=m)
        columns = np.sort(np.argsort(-counts, kind="stable")[:_COLUMNS])
    else:
        columns = np.unique(np.linspace(0, m - 1, _COLUMNS).round().astype(np.intp))
    return columns[_by_component(Z[:, columns].T)] if ordered else columns


def _by_component(F: NDArray) -> NDArray:
    """Rows of F by their largest entry: first those where it is in the first column, strongest first."""
    size = np.abs(F)
    return np.lexsort((-size.max(axis=1), size.argmax(axis=1)))


def _unlike(values: NDArray) -> bool:
    """Whether every column varies, but some far more than others, or about values far apart."""
    middle, spread, _ = moments(values)
    if not spread.min() > 0:
        return False
    return bool(spread.max() > _UNLIKE * spread.min() or np.ptp(middle) > _UNLIKE / 2 * np.median(spread))


def _range(values: NDArray) -> tuple[float, float]:
    """The colours' ends: 0 or the least up to the 99th percentile; about zero when signs differ."""
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
