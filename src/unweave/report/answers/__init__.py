"""Answers: what a fitted model has found, in a headline, a small table and a few sentences.

:func:`unweave.report.answer.answer` asks one of these files: ``groups`` (sizes and what sets each apart),
``components`` (axes, parts and topics and what they are made of), ``filled`` (holes and how sure their fills are),
``recommended`` (a few users and what suits them) or ``vectors`` (words and those near them). Each returns
:class:`Found`; the certificate and how the number was chosen are added for all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST = 20  # lines of a table that are shown; `data` has all


@dataclass(frozen=True)
class Found:
    """Hold what one kind of model has found, before anything is added to it."""

    headline: str
    header: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    data: dict[str, Any] = field(default_factory=dict)


def in_file_units(values: NDArray, recipe: Any) -> NDArray[np.float64]:
    """Bring rows of the prepared table back to the units of the file; without a recipe they are in them already.

    What is left of a zero after scaling there and back is a zero.
    """
    values = np.asarray(values, dtype=np.float64)
    if recipe is None or not values.size:
        return values
    restored = np.asarray(recipe.restore(values))
    shift = 0.0 if recipe.shift is None else np.abs(recipe.shift)
    return np.where(np.abs(restored) < 1e-12 * shift, 0.0, restored)


def left_out(total: int, noun: str) -> list[str]:
    """Say how many lines a table does not show, if any."""
    return [f"… and {total - MOST:,} more {noun}"] if total > MOST else []
