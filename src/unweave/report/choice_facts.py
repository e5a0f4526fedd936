"""Collect how the number of components was chosen, and how components go with labels and times beside the table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.labels import told_apart
from unweave.report.markup import plain
from unweave.report.view import View, codes_of, components_of

_TRIED = 200
_LABELS = 20
_STRETCHES = 24
_ROWS = 20_000
_RUNS = 400


def choice_facts(model: Any) -> dict | None:
    """Tell which numbers of components were tried, how each scored, and which was taken."""
    choice = getattr(model, "choice_", None)
    if choice is None or len(choice.scores) < 2:
        return None
    tried = sorted(choice.scores)[:_TRIED]
    return {
        "best": int(choice.best),
        "tried": [int(k) for k in tried],
        "scores": [float(choice.scores[k]) for k in tried],
        "by": plain(choice.by, 60),
        "title": plain(choice.title.split(" (")[0], 100),
        "larger": bool(choice.larger_is_better),
        "note": plain(choice.note, 500),
    }


def label_facts(model: Any, view: View | None) -> dict | None:
    """Average how much of each component there is in the rows of each label that came with the data."""
    if view is None or view.labels is None or len(view.labels) != view.n_rows:
        return None
    rows, mixtures = _mixtures(model, view)
    values, group = np.unique(np.asarray(view.labels)[rows].astype(str), return_inverse=True)
    if mixtures is None or not 2 <= len(values) <= _LABELS:
        return None
    counts = np.bincount(group, minlength=len(values))
    return {
        "name": plain(view.label_name, 60),
        "labels": told_apart(values),
        "counts": counts.tolist(),
        "shares": [_short(mixtures[group == g].mean(axis=0)) for g in range(len(values))],
    }


def time_facts(model: Any, view: View | None) -> dict | None:
    """Average how much of each component there is in the rows of each stretch of time."""
    if view is None or view.times is None or len(view.times) != view.n_rows:
        return None
    rows, mixtures = _mixtures(model, view)
    times, words = _as_numbers(np.asarray(view.times)[rows])
    known = np.isfinite(times)
    if mixtures is None or known.sum() < 10 or np.ptp(times[known]) == 0:
        return None
    times, mixtures = times[known], mixtures[known]
    edges = np.linspace(times.min(), times.max(), min(_STRETCHES, max(2, len(times) // 5)) + 1)
    stretch = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(stretch, minlength=len(edges) - 1)
    shares = [_short(mixtures[stretch == s].mean(axis=0)) if counts[s] else None for s in range(len(counts))]
    return {
        "name": plain(view.time_name, 60),
        "from": [words(edge) for edge in edges[:-1]],
        "to": words(edges[-1]),
        "counts": counts.tolist(),
        "shares": shares,
    }


def sequence_facts(model: Any, view: View | None) -> dict | None:
    """List the stretches of rows that follow each other in one state, and how often one state follows another."""
    moves, labels = getattr(model, "transition_matrix_", None), getattr(model, "labels_", None)
    if moves is None or labels is None or len(labels) < 2 or len(moves) > _LABELS:
        return None
    labels = np.asarray(labels)
    begins = np.flatnonzero(np.concatenate([[True], labels[1:] != labels[:-1]]))
    ends = np.append(begins[1:], len(labels))
    runs = [[int(a), int(b), int(labels[a])] for a, b in zip(begins[:_RUNS], ends[:_RUNS])]
    lengths = [(ends - begins)[labels[begins] == state] for state in range(len(moves))]
    return {
        "runs": runs,
        "of": len(labels),
        "names": [] if view is None or view.rows is None else [plain(view.rows[a], 60) for a, _, _ in runs],
        "moves": [_short(row) for row in np.asarray(moves, dtype=np.float64)],
        "stays": [round(float(found.mean()), 2) if len(found) else None for found in lengths],
    }


def _mixtures(model: Any, view: View) -> tuple[NDArray, NDArray | None]:
    """Return rows of the table and what share of each component they hold; None where codes are no amounts."""
    rows = view.sample(_ROWS)
    codes = codes_of(model, view, rows)[:, : len(components_of(model))]
    total = codes.sum(axis=1, keepdims=True)
    if not codes.size or codes.min() < 0 or not (total > 0).any():
        return rows, None
    return rows, codes / np.where(total > 0, total, 1)


def _as_numbers(times: NDArray) -> tuple[NDArray, Any]:
    """Return times as numbers, and how such a number is written: a day, or the number itself."""
    if times.dtype.kind == "M":
        days = times.astype("datetime64[s]").astype(np.float64)
        return np.where(np.isnat(times), np.nan, days), _day
    numbers = times.astype(np.float64)
    return numbers, _day if np.nanmin(numbers, initial=np.inf) > 1e8 else lambda value: f"{value:.6g}"


def _day(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))


def _short(shares: NDArray) -> list[float]:
    return [round(float(share), 4) for share in shares]
