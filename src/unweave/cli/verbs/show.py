"""Run ``unweave show``: show a saved model in the terminal."""

from __future__ import annotations

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.output import names_of, numbered_as, open_model
from unweave.cli.say import Speaker
from unweave.cli.work import finite

_MOST = 20


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    model, recipe, extra = open_model(settings.model)
    Z = np.asarray(model.components_, dtype=np.float64)
    names = names_of(model, Z.shape[1])
    speaker.line(f"{settings.model}: {type(model).__name__}, {len(Z)} components of {Z.shape[1]:,} columns")
    speaker.line(str(model.plan_))
    speaker.line(str(model.certificate_))
    for note in [] if recipe is None else recipe.notes:
        speaker.note(note)
    noun, first = numbered_as(model)
    rows = [[str(i), _top(z, names, settings.top)] for i, z in enumerate(Z[:_MOST], first)]
    speaker.table("Components, largest columns first", [noun, "columns and their weights"], rows)
    if len(Z) > _MOST:
        speaker.line(f"… and {len(Z) - _MOST} more")
    speaker.result({
        "verb": "show", "model": type(model).__name__, "made_by": extra.get("verb"), "components": len(Z),
        "columns": Z.shape[1], "objective": float(model.objective_), "plan": model.plan_.as_dict(),
        "certificate": {"kind": model.certificate_.kind, "gap": finite(model.certificate_.gap)},
        "largest": [[names[j] for j in _order(z)[: settings.top]] for z in Z],
    })  # fmt: skip
    return 0


def _order(z: np.ndarray) -> np.ndarray:
    return np.argsort(-np.abs(z), kind="stable")


def _top(z: np.ndarray, names: list[str], n: int) -> str:
    return ", ".join(f"{names[j]} {z[j]:.3g}" for j in _order(z)[:n])
