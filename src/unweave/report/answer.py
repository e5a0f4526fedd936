"""Say what a model found, for terminal, page and card alike (a stub until the part "terminal" is merged)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from unweave.report.view import components_of
from unweave.report.words import called


@dataclass(frozen=True)
class Answer:
    """Hold an answer: a headline, a small table, further sentences, and the same as plain numbers."""

    headline: str
    header: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    certificate: str = ""
    data: dict = field(default_factory=dict)


def answer(model: Any, table: Any = None, recipe: Any = None) -> Answer:
    """Say what a model found."""
    k = len(components_of(model))
    return Answer(f"{k} {called(model)}s" if k != 1 else f"1 {called(model)}")
