"""A scatter of rows with groups told apart by colour, by shape and by a number that covers no other."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unweave.report import ticks as tick
from unweave.report.markup import Markup, tag
from unweave.report.svg import Frame

COLOURS = 7
_SHAPES = ("circle", "square", "triangle", "diamond", "down", "plus", "cross")
_HEIGHT = 340
_SIZE = 3.4


def look_of(group: int) -> tuple[int, str]:
    """Colour number and shape of a group; no two of the first 49 share both."""
    return group % COLOURS, _SHAPES[(group + group // COLOURS) % len(_SHAPES)]


def marker(shape: str, x: float, y: float, r: float = _SIZE) -> str:
    """A shape about (x, y), as a piece of an SVG path."""
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
    """The sign of a group, for legends."""
    colour, shape = look_of(group)
    path = tag("path", d=marker(shape, 7, 7, 4.6), class_=f"c{colour}")
    return tag("svg", path, viewBox="0 0 14 14", class_="key", aria_hidden="true")


def scatter(
    xs: Sequence[float],
    ys: Sequence[float],
    groups: Sequence[int] | None,
    axes: Sequence[str],
    centres: Sequence[Sequence[float]],
    title: str,
) -> Markup:
    """Dots, one path a group; numbers at the centres, moved apart where they would overlap."""
    all_x, all_y = [*xs, *(c[0] for c in centres)], [*ys, *(c[1] for c in centres)]
    frame = Frame(_padded(all_x), _padded(all_y), height=_HEIGHT)
    frame.axes(axes[0], axes[1], tick.nice(*frame.x_range))
    members: dict[int, list[str]] = {}
    for i, (x, y) in enumerate(zip(xs, ys)):
        group = 0 if groups is None else groups[i]
        members.setdefault(group, []).append(marker(look_of(group)[1], frame.x(x), frame.y(y)))
    for group in sorted(members):
        frame.draw("path", d="".join(members[group]), class_=f"dots c{look_of(group)[0]}")
    places = [(frame.x(x), frame.y(y)) for x, y in centres]
    for number, ((x, y), (to_x, to_y)) in enumerate(zip(places, apart(places)), 1):
        if math.hypot(to_x - x, to_y - y) > 9:
            frame.draw("line", x1=x, y1=y, x2=to_x, y2=to_y, class_="lead")
        frame.write(str(number), to_x, to_y + 4.5, "centre")
    return frame.svg(title)


def apart(places: Sequence[tuple[float, float]], wide: float = 20.0, high: float = 16.0) -> list[tuple[float, float]]:
    """Each place, or the nearest free one on a spiral about it, so that boxes of this size do not overlap.

    >>> apart([(50, 50), (51, 50)], 10, 10)[0]
    (50, 50)
    """
    taken: list[tuple[float, float]] = []
    for x, y in places:
        spot = (x, y)
        for turn in range(1200):
            angle, radius = 0.5 * turn, 0.45 * turn
            spot = (x + radius * math.cos(angle), y + 0.8 * radius * math.sin(angle))
            spot = (min(max(spot[0], 75), 415), min(max(spot[1], 30), _HEIGHT - 62)) if turn else (x, y)
            if all(abs(spot[0] - a) >= wide or abs(spot[1] - b) >= high for a, b in taken):
                break
        taken.append(spot)
    return taken


def _padded(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    margin = 0.05 * (high - low)
    return low - margin, high + margin
