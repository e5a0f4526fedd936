"""Facts about how much of the table the model explains."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.report.parts import codes_of, predicted
from unweave.report.view import View, moments

_ENTRIES = 4_000_000
_IN_DATA_UNITS = ("squared", "huber", "absolute", "kl")


def quality_facts(model: Any, view: View | None) -> dict | None:
    """The share of the sum of squares, or of the variance for models that know means; None when nothing tells it."""
    ratio = getattr(model, "explained_variance_ratio_", None)
    if ratio is not None and hasattr(model, "noise_variance_"):
        return {"share": float(np.sum(ratio)), "of": "the variance", "seen": "every row"}
    loss = getattr(getattr(getattr(model, "_learned", None), "loss", None), "name", "squared")
    if view is None or view.X is None or loss not in _IN_DATA_UNITS or view.n_columns > _ENTRIES:
        return None
    rows = view.sample(max(1, min(view.n_rows, _ENTRIES // view.n_columns)))
    table = view.dense(rows)
    guess = predicted(model, codes_of(model, view, rows))
    if guess.shape != table.shape:
        return None
    return _explained(model, table, guess, len(rows) == view.n_rows)


def _explained(model: Any, table: np.ndarray, guess: np.ndarray, every: bool) -> dict | None:
    knows_means = hasattr(model, "mean_") or hasattr(model, "offset_") or hasattr(model, "cluster_centers_")
    known = ~np.isnan(table)
    middle = moments(table)[0] if knows_means else 0.0
    if hasattr(model, "item_bias_"):
        middle = table[known].mean()
    total = float(np.square(np.where(known, table - middle, 0)).sum())
    left = float(np.square(np.where(known, table - guess, 0)).sum())
    if not total > 0:
        return None
    return {
        "share": max(0.0, 1 - left / total),
        "of": "the variance" if knows_means else "the sum of squares",
        "seen": "every row" if every else f"{len(table):,} rows drawn at random",
    }
