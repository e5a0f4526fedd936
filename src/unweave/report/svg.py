"""Draw charts as inline SVG and HTML: axes with ticks, lines, columns, bars and scatters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from unweave.report.labels import WIDEST, shortened
from unweave.report.markup import Markup, label, plain, tag
from unweave.report.numbers import readable
from unweave.report.words import superscript


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Choose round numbers from `low` to `high`, about `about` of them.

    >>> nice_ticks(0, 97)
    [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    raw = span / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999), 10 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step + 0.0 for i in range(first, min(last, first + 50) + 1)]


def whole_ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Choose round whole numbers, for iterations and counts.

    >>> whole_ticks(1, 16)
    [5.0, 10.0, 15.0]
    """
    raw = max(1.0, (high - low) / about)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)] or [low]


def power_ticks(low: float, high: float) -> list[float]:
    """Choose ticks of a logarithmic axis: powers of ten, with 2 and 5 between them when few fit."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / 6))
    steps = (1,) if last - first > 3 else (1, 2, 5)
    ticks = [m * 10.0**p for p in range(first, last + 1, every) for m in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def tick_captions(ticks: list[float]) -> tuple[list[str], str]:
    """Say what stands beside the ticks, and the power of ten that all are to be multiplied by ("" if none).

    >>> tick_captions([0.0, 1e6, 2e6])
    (['0', '1', '2'], '×10⁶')
    """
    most = max((abs(tick) for tick in ticks), default=0.0)
    power = 0
    if most and not 1e-2 <= most < 1e5:
        power = 3 * math.floor(math.log10(most) / 3)
    scaled = [tick / 10.0**power for tick in ticks]
    digits = 0
    while digits < 8 and (
        any(abs(value - round(value, digits)) > 1e-6 * max(abs(value), 1e-9) for value in scaled)
        or len({round(value, digits) for value in scaled}) < len(set(scaled))
    ):
        digits += 1
    return [f"{value:,.{digits}f}".replace("-", "−") for value in scaled], f"×10{superscript(power)}" if power else ""


def power_captions(ticks: list[float]) -> list[str]:
    """Say what stands beside the ticks of a logarithmic axis."""
    out = []
    for tick in ticks:
        power = math.floor(math.log10(tick) + 1e-9)
        lead = round(tick / 10.0**power)
        if -3 < power < 5:
            out.append(f"{tick:,.{max(0, -power)}f}")
        else:
            out.append(f"{lead if lead != 1 else ''}{'×' if lead != 1 else ''}10{superscript(power)}")
    return out


WIDTH, HEIGHT = 440, 270
_RIGHT, _TOP, _BOTTOM = 16, 18, 48
_LETTER = 8.4  # how wide a digit may be drawn, on a narrow screen


class Frame:
    """Hold a plotting area: ranges of data on two axes, and the elements drawn so far."""

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
        """Draw grid lines, ticks and the two labels."""
        foot = self.height - _BOTTOM
        captions, power = tick_captions(list(x_ticks))
        for value, caption in zip(x_ticks, captions):
            self.draw("line", x1=self.x(value), x2=self.x(value), y1=float(foot), y2=foot + 5.0, class_="rule")
            self.write(caption, self.x(value), foot + 19)
        self.write(f"{x_label} {power}".strip(), (WIDTH + self.left - _RIGHT) / 2, self.height - 8, "axis")
        self._y_axis(y_label)
        self.draw("line", x1=self.left, x2=float(WIDTH - _RIGHT), y1=float(foot), y2=float(foot), class_="rule")

    def _steps(self) -> tuple[list[float], list[str], str]:
        """Choose ticks of the vertical axis, what stands beside them, and their power of ten."""
        if self.log:
            values = power_ticks(*self.y_range)
            return values, power_captions(values), ""
        values = nice_ticks(*self.y_range)
        return values, *tick_captions(values)

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

    def ring(self, x: float, y: float, words: str, above: bool = False) -> None:
        """Ring a point of a line, with words below or above it."""
        at, height = self.x(x), self.y(y)
        self.draw("circle", cx=at, cy=height, r=6, class_="ring")
        right = at > 0.7 * WIDTH
        aside = at + (-4 if right else 4)
        self.write(words, aside, height + (-13 if above else 22), "mark", "end" if right else "start")

    def svg(self, title: str, class_: str = "chart") -> Markup:
        """Draw the chart, named for those who cannot see it."""
        box = f"0 0 {WIDTH} {self.height}"
        return tag("svg", *self.elements, viewBox=box, role="img", aria_label=title, class_=class_)


def _wide(low: float, high: float) -> tuple[float, float]:
    """Widen a range that has no width."""
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
    mark: tuple[int, str] | None = None,
) -> Markup:
    """Draw a line chart; the vertical axis is logarithmic when the values span more than a factor of twenty.

    `counts` keeps the ticks below to whole numbers, `start` is where that axis begins; `mark` rings one of the points,
    by its place, and writes a word beside it.
    """
    xs, ys = [float(x) for x in xs], [float(y) for y in ys]
    log = min(ys) > 0 and max(ys) > 20 * min(ys)
    margin = 0.0 if log else (0.06 if mark is None else 0.22) * (max(ys) - min(ys))
    y = (min(ys) / (1.1 if mark is None else 2.0), max(ys) * 1.1) if log else (min(ys) - margin, max(ys) + margin)
    frame = Frame((min(xs) if start is None else start, max(xs)), y, log=log)
    ticks = whole_ticks(*frame.x_range) if counts else nice_ticks(*frame.x_range)
    frame.axes(x_label, y_label + (", log scale" if log else ""), ticks)
    frame.line(xs, ys, dots=len(xs) <= 30)
    if mark is not None:
        peak = 2 * ys[mark[0]] > min(ys) + max(ys)
        frame.ring(xs[mark[0]], ys[mark[0]], mark[1], above=peak)
    return frame.svg(title)


def scree(shares: Sequence[float], knee: int | None, used: int | None, of: str) -> Markup:
    """Draw columns of falling shares, with the knee marked and the columns beyond `used` paler."""
    shares = [100 * float(share) for share in shares]
    n = len(shares)
    frame = Frame((0.4, n + 0.6), (0.0, max(shares) * 1.12 or 1.0))
    frame.axes("component", f"% {of}", [v for v in whole_ticks(1, n) if v >= 1] if n > 10 else range(1, n + 1))
    base, wide = frame.y(0.0), 0.72 * (frame.x(1.0) - frame.x(0.0))
    for i, share in enumerate(shares, 1):
        top = frame.y(share)
        kind = "column" if used is None or i <= used else "column pale"
        frame.draw("rect", x=frame.x(i) - wide / 2, y=top, width=wide, height=max(0.5, base - top), class_=kind)
    if knee:
        at = frame.x(knee + 0.5)
        frame.draw("line", x1=at, x2=at, y1=float(_TOP - 4), y2=base, class_="knee")
        right = at > WIDTH * 0.7
        frame.write(f"bends after {knee}", at + (-6 if right else 6), _TOP + 6, "mark", "end" if right else "start")
    return frame.svg(f"Share {of} of each component" + (f"; the curve bends after {knee}" if knee else ""))


def running_total(shares: Sequence[float], used: int | None, of: str) -> Markup:
    """Draw the sum of the first shares, against how many are summed."""
    shares = [100 * float(share) for share in shares]
    n = len(shares)
    frame = Frame((0.4, n + 0.6), (0.0, 104.0))
    frame.axes(
        "components together", f"% {of}", [v for v in whole_ticks(1, n) if v >= 1] if n > 10 else range(1, n + 1)
    )
    frame.line(range(1, n + 1), shares, dots=n <= 30)
    if used is not None and 1 <= used <= n:
        frame.ring(used, shares[used - 1], f"{used}: {shares[used - 1]:.0f} %")
    return frame.svg(f"Share {of} that the first components reach together")


COLOURS = 7
_SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "cross")
_SCATTER_HEIGHT = 340
_SIZE = 3.4


def look_of(group: int) -> tuple[int, str]:
    """Choose colour number and shape of a group; no two of the first 49 share both."""
    return group % COLOURS, _SHAPES[(group + group // COLOURS) % len(_SHAPES)]


def marker(shape: str, x: float, y: float, r: float = _SIZE) -> str:
    """Draw a shape about (x, y), as a piece of an SVG path."""
    if shape == "circle":
        return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0"
    if shape == "square":
        s = 0.9 * r
        return f"M{x - s:.1f} {y - s:.1f}h{2 * s:.1f}v{2 * s:.1f}h{-2 * s:.1f}z"
    if shape in ("triangle", "down"):
        up = -1.0 if shape == "triangle" else 1.0
        return f"M{x:.1f} {y + 1.15 * up * r:.1f}l{r:.1f} {-1.9 * up * r:.1f}h{-2 * r:.1f}z"
    if shape == "diamond":
        s = 1.25 * r
        return f"M{x:.1f} {y - s:.1f}l{s:.1f} {s:.1f}l{-s:.1f} {s:.1f}l{-s:.1f} {-s:.1f}z"
    w, s = 0.38 * r, 1.2 * r
    arms = [(-w, -s), (w, -s), (w, -w), (s, -w), (s, w), (w, w), (w, s), (-w, s), (-w, w), (-s, w), (-s, -w), (-w, -w)]
    turn = math.pi / 4 if shape == "cross" else 0.0
    cos, sin = math.cos(turn), math.sin(turn)
    at = [f"{x + a * cos - b * sin:.1f} {y + a * sin + b * cos:.1f}" for a, b in arms]
    return "M" + "L".join(at) + "z"


def key(group: int) -> Markup:
    """Draw the sign of a group, for legends."""
    colour, shape = look_of(group)
    path = tag("path", d=marker(shape, 7, 7, 4.6), class_=f"c{colour}")
    return tag("svg", path, viewBox="0 0 14 14", class_="key", aria_hidden="true")


class Point(NamedTuple):
    """Hold one row of a scatter: where it lies, its group, and, where these are known, its number and name."""

    x: float
    y: float
    group: int = 0
    row: int | None = None
    name: str = ""


def scatter(points: Sequence[Point], axes: Sequence[str], centres: Sequence[Sequence[float]], title: str) -> Markup:
    """Draw a sign for each row, which bears its name; numbers at the centres, moved apart where they would overlap."""
    frame = Frame(
        _padded([*(p.x for p in points), *(c[0] for c in centres)]),
        _padded([*(p.y for p in points), *(c[1] for c in centres)]),
        height=_SCATTER_HEIGHT,
    )
    frame.axes(axes[0], axes[1], nice_ticks(*frame.x_range))
    signs = [_sign(frame, point) for point in sorted(points, key=lambda point: point.group)]
    frame.elements.append(tag("g", *signs, class_="dots"))
    places = [(frame.x(x), frame.y(y)) for x, y in centres]
    for number, ((x, y), (to_x, to_y)) in enumerate(zip(places, apart(places)), 1):
        if math.hypot(to_x - x, to_y - y) > 9:
            frame.draw("line", x1=x, y1=y, x2=to_x, y2=to_y, class_="lead")
        frame.write(str(number), to_x, to_y + 4.5, "centre")
    frame.elements.append(tag("text", class_="flag"))  # what the script copies to name rows that are marked
    return frame.svg(title, class_="chart scatter")


def _sign(frame: Frame, point: Point) -> Markup:
    colour, shape = look_of(point.group)
    named = tag("title", point.name) if point.name else None
    d = marker(shape, frame.x(point.x), frame.y(point.y))
    return tag("path", named, d=d, class_=f"c{colour}", data_row=point.row)


def apart(places: Sequence[tuple[float, float]], wide: float = 20.0, high: float = 16.0) -> list[tuple[float, float]]:
    """Move each place to the nearest free one on a spiral about it, so that boxes of this size do not overlap.

    >>> apart([(50, 50), (51, 50)], 10, 10)[0]
    (50, 50)
    """
    taken: list[tuple[float, float]] = []
    for x, y in places:
        spot = (x, y)
        for turn in range(1200):
            angle, radius = 0.5 * turn, 0.45 * turn
            spot = (x + radius * math.cos(angle), y + 0.8 * radius * math.sin(angle))
            spot = (min(max(spot[0], 75), 415), min(max(spot[1], 30), _SCATTER_HEIGHT - 62)) if turn else (x, y)
            if all(abs(spot[0] - a) >= wide or abs(spot[1] - b) >= high for a, b in taken):
                break
        taken.append(spot)
    return taken


def _padded(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.05 * (high - low)
    return low - margin, high + margin


class Bar(NamedTuple):
    """Hold one bar: its name (or what stands there), its number, how that is written, and further words beside it."""

    name: Any
    number: float
    written: str | None = None
    aside: str | None = None
    pale: bool = False
    row: int | None = None


def bars(rows: Sequence[Bar], *, wide: bool = False, cut: dict[str, str] | None = None) -> Markup:
    """Draw bars; from the middle, in two colours, when numbers of both signs occur.

    `cut` are labels of names that are too long; by default the names are told apart from each other.
    """
    numbers = [float(row.number) for row in rows]
    most = max((abs(number) for number in numbers), default=0.0) or 1.0
    signed = any(number < 0 for number in numbers)
    digits = 2 - math.floor(math.log10(most))  # as many as the largest needs: what is far below is as good as nothing
    if cut is None:
        cut = shortened((row.name for row in rows if not isinstance(row.name, Markup)), 2 * WIDEST if wide else WIDEST)
    two = any(row.aside is not None for row in rows)
    items = []
    for row, number in zip(rows, numbers):
        share = min(100.0, 100 * abs(number) / most) / (2 if signed else 1)
        kind = "bar" + (" below" if number < 0 else "") + (" pale" if row.pale else "")
        bar = tag("span", class_=kind, style=f"--w:{share:.1f}%")
        track = tag("span", bar, class_="track signed" if signed else "track")
        written = row.written if row.written is not None else readable(round(number, digits))
        shown = row.name if isinstance(row.name, Markup) else label(row.name, cut.get(plain(row.name)))
        aside = tag("span", row.aside, class_="value") if two else None
        cells = [shown, track, tag("span", written, class_="value"), aside]
        items.append(tag("li", *cells, data_row=row.row))
    return tag("ul", *items, class_="bars" + (" wide" if wide else "") + (" two" if two else ""))
