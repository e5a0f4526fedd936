"""Show a model in a notebook: what it found, in a few lines."""

from __future__ import annotations

import inspect
from typing import Any

from unweave.report.answer import Answer, answer
from unweave.report.facts import shown
from unweave.report.markup import Markup, plain, tag
from unweave.report.view import described

# Styles are written on the elements and lean on the notebook's own colours, so that light and dark themes both work.
_BOX = "border:1px solid rgba(128,128,128,.45);border-radius:8px;padding:10px 14px;max-width:760px;line-height:1.45"
_SOFT = "opacity:.75"
_CELL = "text-align:left;padding:1px 14px 1px 0;vertical-align:top;border:0;background:none"
_ROWS, _LINES = 8, 3


def card(model: Any) -> str:
    """Write the HTML of a model, fitted or not: what it found, and what it was asked.

    Examples
    --------
    >>> import unweave
    >>> "not fitted" in card(unweave.NMF(3))
    True
    """
    found = _found(model)
    head = tag("div", tag("b", type(model).__name__), " ", tag("span", _state(model, found), style=_SOFT))
    body = [] if found is None else [_table(found), *_sentences(found)]
    return str(tag("div", head, *body, _parameters_given(model), style=_BOX, class_="unweave-card"))


def _found(model: Any) -> Answer | None:
    if not (described(model) or hasattr(model, "vectors_")):
        return None
    try:
        return answer(model)
    except Exception:  # a cell that shows a model must not fail because something cannot be said of it
        return None


def _state(model: Any, found: Answer | None) -> str:
    if found is not None:
        return plain(found.headline, 300)
    learned = any(name.endswith("_") and not name.startswith("_") for name in vars(model))
    return "fitted" if learned else "not fitted"


def _table(found: Answer) -> Markup | None:
    """Draw the first rows of the answer, and say how many more there are."""
    if not found.rows:
        return None
    head = tag("tr", *(tag("th", plain(title, 60), style=f"{_CELL};{_SOFT};font-weight:400") for title in found.header))
    rows = [tag("tr", *(tag("td", plain(cell, 120), style=_CELL) for cell in row)) for row in found.rows[:_ROWS]]
    more = len(found.rows) - _ROWS
    rest = tag("div", f"and {more} more", style=_SOFT) if more > 0 else None
    table = tag("table", tag("tbody", head, *rows), style="border-collapse:collapse;margin:6px 0 0")
    return tag("div", table, rest)


def _sentences(found: Answer) -> list[Markup]:
    lines = [*found.lines[:_LINES], *([found.certificate] if found.certificate else [])]
    return [tag("div", plain(line, 300), style="margin-top:4px") for line in lines]


def _parameters_given(model: Any) -> Markup:
    defaults = {name: p.default for name, p in inspect.signature(type(model).__init__).parameters.items()}
    given = model.get_params(deep=False).items()
    said = [f"{name}={shown(value)}" for name, value in given if shown(value) != shown(defaults.get(name))]
    words = plain(", ".join(said), 400) or "all parameters at their defaults"
    return tag("div", tag("code", words, style="background:none"), style=f"{_SOFT};margin-top:6px")
