"""Bars that are text: a name, a bar and a number in one line, readable at any width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unweave.report.markup import Markup, label, tag
from unweave.report.words import amount


def bars(
    rows: Sequence[tuple[Any, float]],
    *,
    values: Sequence[str] | None = None,
    pale: Sequence[bool] | None = None,
    wide: bool = False,
) -> Markup:
    """One bar for each (name, number); from the middle, in two colours, when numbers of both signs occur.

    `values` replaces the numbers as written, `pale` draws bars that are only there to compare with.
    """
    numbers = [float(number) for _, number in rows]
    most = max((abs(number) for number in numbers), default=0.0) or 1.0
    signed = any(number < 0 for number in numbers)
    items = []
    for i, ((name, _), number) in enumerate(zip(rows, numbers)):
        share = min(100.0, 100 * abs(number) / most) / (2 if signed else 1)
        kind = "bar" + (" below" if number < 0 else "") + (" pale" if pale is not None and pale[i] else "")
        bar = tag("span", class_=kind, style=f"--w:{share:.1f}%")
        track = tag("span", bar, class_="track signed" if signed else "track")
        written = values[i] if values is not None else amount(number)
        shown = name if isinstance(name, Markup) else label(name)
        items.append(tag("li", shown, track, tag("span", written, class_="value")))
    return tag("ul", *items, class_="bars wide" if wide else "bars")
