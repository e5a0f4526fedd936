"""Charts as inline SVG: axes with ticks, lines, columns and dots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from unweave.report import ticks as tick
from unweave.report.markup import Markup, tag

WIDTH, HEIGHT = 440, 270
_RIGHT, _TOP, _BOTTOM = 16, 18, 48
_LETTER = 8.4  # how wide a digit may be drawn, on a narrow screen


class Frame:
    """A plotting area: ranges of data on two axes, and the elements drawn so far."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], *, log: bool = False, height: int = HEIGHT):
        self.height, self.log = height, log
        self.x_range, self.y_range = _wide(*x), _wide(*y)
        self.y_ticks, self.y_captions, self.y_power = self._steps()
        self.left = 34 + _LETTER * max((len(caption) for caption in self.y_captions), default=1)
        self.elements: list[Markup] = []

    def x(self, value: float) -> float:
        low, high = self.x_range
        return self.left + (value - low) / (high - low) * (WIDTH - self.left - _RIGHT)

    def y(self, value: float) -> float:
        low, high = self.y_range
        if self.log:
            value, low, high = math.log(max(value, low)), math.log(low), math.log(high)
        return self.height - _BOTTOM - (value - low) / (high - low) * (self.height - _TOP - _BOTTOM)

    def draw(self, name: str, **attributes: Any) -> None:
        numbers = {key: f"{v:.1f}" if isinstance(v, float) else v for key, v in attributes.items()}
        self.elements.append(tag(name, **numbers))

    def write(self, text: str, x: float, y: float, class_: str = "tick", anchor: str = "middle", **more: Any) -> None:
        at = {"x": f"{x:.1f}", "y": f"{y:.1f}"}
        self.elements.append(tag("text", text, class_=class_, text_anchor=anchor, **at, **more))

    def axes(self, x_label: str, y_label: str, x_ticks: Sequence[float]) -> None:
        """Grid lines, ticks and the two labels."""
        foot = self.height - _BOTTOM
        captions, power = tick.captions(list(x_ticks))
        for value, caption in zip(x_ticks, captions):
            self.draw("line", x1=self.x(value), x2=self.x(value), y1=float(foot), y2=foot + 5.0, class_="rule")
            self.write(caption, self.x(value), foot + 19)
        self.write(f"{x_label} {power}".strip(), (WIDTH + self.left - _RIGHT) / 2, self.height - 8, "axis")
        self._y_axis(y_label)
        self.draw("line", x1=self.left, x2=float(WIDTH - _RIGHT), y1=float(foot), y2=float(foot), class_="rule")

    def _steps(self) -> tuple[list[float], list[str], str]:
        """Ticks of the vertical axis, what stands beside them, and their power of ten."""
        if self.log:
            values = tick.powers(*self.y_range)
            return values, tick.power_captions(values), ""
        values = tick.nice(*self.y_range)
        return values, *tick.captions(values)

    def _y_axis(self, label: str) -> None:
        for value, caption in zip(self.y_ticks, self.y_captions):
            height = self.y(value)
            self.draw("line", x1=self.left, x2=float(WIDTH - _RIGHT), y1=height, y2=height, class_="grid")
            self.write(caption, self.left - 7, height + 4, anchor="end")
        middle = (self.height - _BOTTOM + _TOP) / 2
        turn = f"rotate(-90 13 {middle:.1f})"
        self.write(f"{label} {self.y_power}".strip(), 13, middle, "axis", transform=turn)

    def line(self, xs: Sequence[float], ys: Sequence[float], class_: str = "curve", dots: bool = False) -> None:
        points = [(self.x(x), self.y(y)) for x, y in zip(xs, ys)]
        self.draw("path", d="M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points), class_=class_)
        for x, y in points if dots else []:
            self.draw("circle", cx=x, cy=y, r=3, class_="dot")

    def svg(self, title: str) -> Markup:
        """The chart, named for those who cannot see it."""
        return tag(
            "svg", *self.elements, viewBox=f"0 0 {WIDTH} {self.height}", role="img", aria_label=title, class_="chart"
        )


def _wide(low: float, high: float) -> tuple[float, float]:
    """A range of some width."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"an axis cannot run from {low} to {high}")
    if high > low:
        return low, high
    return low - max(abs(low), 1.0) * 0.5, low + max(abs(low), 1.0) * 0.5


def curve(
    xs: Sequence[float],
    ys: Sequence[float],
    x_label: str,
    y_label: str,
    title: str,
    *,
    counts: bool = False,
    start: float | None = None,
) -> Markup:
    """A line chart; the vertical axis is logarithmic when the values span more than a factor of twenty.

    `counts` keeps the ticks below to whole numbers, `start` is where that axis begins.
    """
    xs, ys = [float(x) for x in xs], [float(y) for y in ys]
    log = min(ys) > 0 and max(ys) > 20 * min(ys)
    margin = 0.0 if log else 0.06 * (max(ys) - min(ys))
    y = (min(ys) / 1.1, max(ys) * 1.1) if log else (min(ys) - margin, max(ys) + margin)
    frame = Frame((min(xs) if start is None else start, max(xs)), y, log=log)
    ticks = tick.whole(*frame.x_range) if counts else tick.nice(*frame.x_range)
    frame.axes(x_label, y_label + (", log scale" if log else ""), ticks)
    frame.line(xs, ys, dots=len(xs) <= 30)
    return frame.svg(title)


def scree(shares: Sequence[float], knee: int | None, used: int | None, of: str) -> Markup:
    """Columns of falling shares, with the knee marked and the columns beyond `used` paler."""
    shares = [100 * float(share) for share in shares]
    n = len(shares)
    frame = Frame((0.4, n + 0.6), (0.0, max(shares) * 1.12 or 1.0))
    frame.axes("component", f"% {of}", [v for v in tick.whole(1, n) if v >= 1] if n > 10 else range(1, n + 1))
    base, wide = frame.y(0.0), 0.72 * (frame.x(1.0) - frame.x(0.0))
    for i, share in enumerate(shares, 1):
        top = frame.y(share)
        kind = "column" if used is None or i <= used else "column pale"
        frame.draw("rect", x=frame.x(i) - wide / 2, y=top, width=wide, height=max(0.5, base - top), class_=kind)
    if knee:
        at = frame.x(knee + 0.5)
        frame.draw("line", x1=at, x2=at, y1=float(_TOP - 4), y2=base, class_="knee")
        right = at > WIDTH * 0.7
        frame.write(f"knee after {knee}", at + (-6 if right else 6), _TOP + 6, "mark", "end" if right else "start")
    return frame.svg(f"Share {of} of each component" + (f"; the curve bends after {knee}" if knee else ""))


def running_total(shares: Sequence[float], used: int | None, of: str) -> Markup:
    """The sum of the first shares, against how many are summed."""
    shares = [100 * float(share) for share in shares]
    n = len(shares)
    frame = Frame((0.4, n + 0.6), (0.0, 104.0))
    frame.axes("components together", f"% {of}", [v for v in tick.whole(1, n) if v >= 1] if n > 10 else range(1, n + 1))
    frame.line(range(1, n + 1), shares, dots=n <= 30)
    if used is not None and 1 <= used <= n:
        frame.draw("circle", cx=frame.x(used), cy=frame.y(shares[used - 1]), r=6, class_="ring")
        anchor = "end" if used > 0.75 * n else "start"
        aside = frame.x(used) + (-4 if anchor == "end" else 4)
        frame.write(f"{used}: {shares[used - 1]:.0f} %", aside, frame.y(shares[used - 1]) + 24, "mark", anchor)
    return frame.svg(f"Share {of} that the first components reach together")
