"""Collect what the page about a fitted predictor shows: short texts and numbers that fit into JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unweave.predict.evaluation.calibration import calibration
from unweave.predict.evaluation.confusion import confusion
from unweave.predict.evaluation.learning_curve import LearningCurve
from unweave.report.numbers import percent, readable

_CLASSES, _POINTS, _BINS = 20, 400, 10


def prediction_facts(
    model: Any, *, source: str = "", target: str = "the target", notes: Sequence[str] = (), code: str = "",
    curve: LearningCurve | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Collect the facts of one page; `curve` is drawn where one was made."""
    held = model.held_out_
    facts: dict[str, Any] = {
        "kind": "prediction", "model": type(model).__name__, "source": source, "target": target, "code": code,
        "headline": headline(model, target), "lines": sentences(model, target), "chosen": model.chosen_,
        "rows": len(held.rows), "columns": int(model.n_features_in_), "error": model.error_,
        "baseline_error": model.baseline_error_, "tried": [[title, loss] for title, loss in model.tried_.items()],
        "importance": [[name, rise] for name, rise in model.importance(12) if rise > 0],
        "notes": [*notes, *(note for note in model.notes_ if note not in notes)],
    }  # fmt: skip
    facts |= _of_classes(model) if hasattr(model, "classes_") else _of_numbers(model)
    if curve is not None:
        facts["curve"] = {name: getattr(curve, name).tolist() for name in ("sizes", "held_out", "fitted")}
        facts["curve"] |= {"what": curve.what, "advice": curve.advice}
    return facts


def headline(model: Any, target: str) -> str:
    """Say in one line how good the predictions are."""
    if hasattr(model, "classes_"):
        return (
            f"{target} is right for {percent(1 - model.error_)} of rows not seen before; "
            f"always the most frequent class: {percent(1 - model.baseline_error_)}"
        )
    share = 1 - (model.error_ / model.baseline_error_) ** 2 if model.baseline_error_ > 0 else 0.0
    if share <= 0:
        return f"{target} cannot be told from these columns better than by its mean"
    alone = readable(model.baseline_error_)
    return f"{target} is off by {readable(model.error_)} for rows not seen before; its mean alone by {alone}"


def sentences(model: Any, target: str) -> list[str]:
    """Say further how good the predictions are, and what they rely on."""
    held, lines = model.held_out_, []
    if hasattr(model, "classes_"):
        found = _confusion(model)
        low, high = found.accuracy_interval
        lines.append(f"With {percent(found.level)} confidence {percent(low)} to {percent(high)} are right.")
        worst = min(found.of, key=lambda name: (found.of[name].recall, str(name)))
        if found.of[worst].recall < 1:
            recall = percent(found.of[worst].recall)
            lines.append(f"Hardest is {worst!s}: {recall} of its {found.of[worst].support} rows are found.")
        if model.error_ >= model.baseline_error_:
            lines.append("That is no better than always the most frequent class: these columns do not tell.")
    else:
        share = 1 - (model.error_ / model.baseline_error_) ** 2 if model.baseline_error_ > 0 else 0.0
        off = np.abs(held.answers[:, 0] - held.truth)
        half, most = readable(np.median(off)), readable(np.quantile(off, 0.9))
        known = percent(max(0.0, share))
        lines.append(
            f"{known} of its variance is predicted (R²); half of the rows are off by less than {half}, nine in ten by "
            f"less than {most}."
        )
    relied = [name for name, rise in model.importance(3) if rise > 0]
    if relied:
        lines.append(f"It relies most on {', '.join(relied)}.")
    lines.append(f"Chosen of {len(model.tried_)}: {model.chosen_}.")
    return lines


def _confusion(model: Any) -> Any:
    held = model.held_out_
    said = model.classes_[held.answers.argmax(axis=1)]
    return confusion(model.classes_[held.truth], said, labels=model.classes_)


def _of_classes(model: Any) -> dict[str, Any]:
    held, found = model.held_out_, _confusion(model)
    k = len(model.classes_)
    # Of many classes those that occur most, because a table of hundreds tells nobody anything.
    shown = np.sort(np.argsort(-found.matrix.sum(axis=1), kind="stable")[:_CLASSES])
    rows = [list(found.of.values())[j] for j in shown]
    sure = held.answers.max(axis=1)
    if k == 2:
        bins = calibration(held.truth == 1, held.answers[:, 1], n_bins=_BINS)
        asked = f"share said of {model.classes_[1]!s}"
    else:
        bins = calibration(held.answers.argmax(axis=1) == held.truth, sure, n_bins=_BINS)
        asked = "share said of the class that was called"
    return {
        "task": "classes", "n_classes": k, "classes": [str(model.classes_[j]) for j in shown],
        "matrix": found.matrix[np.ix_(shown, shown)].tolist(),
        "measures": [
            {"precision": one.precision, "recall": one.recall, "f": one.f, "support": one.support,
             "precision_interval": list(one.precision_interval), "recall_interval": list(one.recall_interval),
             "f_interval": list(one.f_interval)}
            for one in rows
        ],
        "calibration": {"said": bins.said.tolist(), "came_true": bins.came_true.tolist(), "low": bins.low.tolist(),
                        "high": bins.high.tolist(), "error": bins.error, "asked": asked},
    }  # fmt: skip


def _of_numbers(model: Any) -> dict[str, Any]:
    held = model.held_out_
    few = np.linspace(0, len(held.rows) - 1, min(_POINTS, len(held.rows))).astype(int)
    said, truth = held.answers[few, 0], held.truth[few]
    return {"task": "numbers", "said": said.tolist(), "truth": truth.tolist(), "mean": float(held.baseline[0])}
