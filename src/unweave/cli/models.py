"""Saved models as the command line sees them: the model, its recipe, and the facts of its report."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from unweave.data.recipe import Recipe


def open_model(path: Path) -> tuple[Any, Recipe | None, dict]:
    """(model, recipe, extra) of a file that a job or ``model.save`` has written."""
    from unweave import persist

    model, extra = persist.load(path), persist.read_extra(path)
    return model, recipe_of(extra.get("recipe")), extra


def recipe_of(saved: dict | None) -> Recipe | None:
    """A recipe from what was saved of it."""
    if saved is None:
        return None
    values: dict[str, Any] = {f.name: saved.get(f.name) for f in fields(Recipe)}
    for name in ("shift", "scale"):
        values[name] = None if values[name] is None else np.asarray(values[name], dtype=np.float64)
    return Recipe(**values)


def names_of(model, n: int) -> list[str]:
    """Names of the columns that a model was fitted to."""
    known = getattr(model, "feature_names_in_", None)
    return [str(name) for name in known] if known is not None else [f"column {j + 1}" for j in range(n)]
