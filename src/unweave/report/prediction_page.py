"""Draw the page of a predictor: how good it is, what it mistakes, whether it is sure rightly, what it relies on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unweave.report.markup import Markup, join, label, tag
from unweave.report.markup import lines as lines_of
from unweave.report.numbers import percent, readable
from unweave.report.page import document
from unweave.report.panels import note, section
from unweave.report.svg import Bar, Frame, Point, bars, scatter, whole_ticks
from unweave.report.words import whole

_APART = 20.0  # pixels between two curves from which a name fits between them


def render_prediction(facts: Mapping[str, Any]) -> str:
    """Draw one self-contained HTML page from what was collected; facts that do not fit raise ValueError."""
    try:
        panels = (_against, _classes, _matrix, _calibration, _scatter, _relied, _curve, _tried, _notes, _code)
        body = [_header(facts), *(panel(facts) for panel in panels)]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"these facts are damaged ({type(error).__name__}: {error}); gather them again") from error
    return document(facts["headline"], [part for part in body if part is not None], "", _STYLE)


def _header(facts: Mapping[str, Any]) -> Markup:
    source = f" · {facts['source']}" if facts["source"] else ""
    strip = [("rows judged", whole(facts["rows"])), ("columns", whole(facts["columns"]))]
    strip += [("classes", whole(facts["n_classes"]))] if "n_classes" in facts else []
    strip += [("error", _error(facts, facts["error"])), ("without columns", _error(facts, facts["baseline_error"]))]
    return tag(
        "header",
        tag("p", f"Prediction of {facts['target']}{source}", class_="kicker"),
        tag("h1", facts["headline"]),
        *(tag("p", line, class_="lede") for line in facts["lines"]),
        tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in strip), class_="strip"),
    )


def _error(facts: Mapping[str, Any], error: float) -> str:
    return percent(error) if facts["task"] == "classes" else readable(error)


def _against(facts: Mapping[str, Any]) -> Markup:
    usual = "always the most frequent class" if facts["task"] == "classes" else "always the mean"
    what = "Share of rows that are wrong" if facts["task"] == "classes" else "Root of the mean squared error"
    drawn = bars([
        Bar("this model", facts["error"], _error(facts, facts["error"])),
        Bar(usual, facts["baseline_error"], _error(facts, facts["baseline_error"]), pale=True),
    ], wide=True)  # fmt: skip
    words = f"{what}, on rows that were in no fit and had no say in the choice. Shorter is better."
    return section("How far off", note(words), drawn)


def _classes(facts: Mapping[str, Any]) -> Markup | None:
    if "measures" not in facts:
        return None
    head = ("class", "rows", "precision", "recall", "F")
    lines = []
    for name, one in zip(facts["classes"], facts["measures"], strict=True):
        cells = [tag("td", label(name)), tag("td", whole(one["support"]))]
        cells += [_share(one[key], one[f"{key}_interval"]) for key in ("precision", "recall", "f")]
        lines.append(tag("tr", *cells))
    words = (
        "Precision: how many of those called so are so. Recall: how many of those that are so are found. F: one number "
        "for both. In brackets 95 % intervals."
    )
    return section("Class by class", note(words), _table(head, lines))


def _share(value: float, interval: list[float]) -> Markup:
    low, high = (round(100 * float(end)) for end in interval)
    return tag("td", join([percent(value), tag("span", f" ({low} to {high})", class_="range")]))


def _table(head: tuple[str, ...], lines: list[Markup], class_: str = "list") -> Markup:
    first = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head)))
    return tag("div", tag("table", first, tag("tbody", *lines), class_=class_), class_="scroll wide")


def _matrix(facts: Mapping[str, Any]) -> Markup | None:
    if "matrix" not in facts:
        return None
    lines: list[Markup] = []
    for name, row in zip(facts["classes"], facts["matrix"], strict=True):
        total = max(1, sum(row))
        cells = [_cell(n, total, j == len(lines)) for j, n in enumerate(row)]
        lines.append(tag("tr", tag("th", label(name), scope="row"), *cells))
    more = facts["n_classes"] - len(facts["classes"])
    words = "A row is what it is, a column what it was called; right ones lie from the top left to the bottom right."
    words += f" The {len(facts['classes'])} most frequent classes; there are {more} more." if more else ""
    head = ("is ↓ called →", *facts["classes"])
    return section("What is taken for what", note(words), _table(head, lines, "list matrix-of"))


def _cell(n: int, total: int, right: bool) -> Markup:
    shade = f"background:color-mix(in srgb,var(--{'one' if right else 'two'}) {60 * n / total:.0f}%,transparent)"
    return tag("td", whole(n) if n else "·", class_="cell", style=shade)


def _calibration(facts: Mapping[str, Any]) -> Markup | None:
    if "calibration" not in facts:
        return None
    found = facts["calibration"]
    frame = Frame((0.0, 1.0), (0.0, 1.0))
    frame.axes(found["asked"], "share that came true", [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    frame.draw("line", x1=frame.x(0), y1=frame.y(0), x2=frame.x(1), y2=frame.y(1), class_="lead")
    for said, low, high in zip(found["said"], found["low"], found["high"], strict=True):
        frame.draw("line", x1=frame.x(said), x2=frame.x(said), y1=frame.y(low), y2=frame.y(high), class_="rule")
    frame.line(found["said"], found["came_true"], dots=True)
    words = (
        f"Of rows that were called likely to 80 %, are 80 % so? Off by {percent(found['error'])} on average. Upright "
        "lines are 95 % intervals; on the slanted line shares come true."
    )
    return section("Is it sure rightly", note(words), frame.svg("What came true against what was said"))


def _scatter(facts: Mapping[str, Any]) -> Markup | None:
    if "said" not in facts:
        return None
    said, truth = [float(v) for v in facts["said"]], [float(v) for v in facts["truth"]]
    points = [Point(x, y) for x, y in zip(said, truth, strict=True)]
    rest = [Point(x, y - x) for x, y in zip(said, truth, strict=True)]
    target = facts["target"]
    both = tag(
        "div",
        tag("figure", scatter(points, ("predicted", f"true {target}"), [], "True against predicted values"),
            tag("figcaption", "Each dot is a row: the nearer to the rising diagonal, the better.")),
        tag("figure", scatter(rest, ("predicted", "true − predicted"), [], "What is left over"),
            tag("figcaption", "What is left over; a bend or a funnel says that something was missed.")),
        class_="pair",
    )  # fmt: skip
    return section("Predicted and true", both)


def _relied(facts: Mapping[str, Any]) -> Markup | None:
    if not facts["importance"]:
        return None
    plus = "percentage points" if facts["task"] == "classes" else "in units of the target"
    scale = 100 if facts["task"] == "classes" else 1
    drawn = bars([Bar(name, scale * float(rise)) for name, rise in facts["importance"]], wide=True)
    words = f"How much the error on rows not seen rises when a column is shuffled ({plus}); columns that say the same "
    words += "share it."
    return section("What it relies on", note(words), drawn)


def _curve(facts: Mapping[str, Any]) -> Markup | None:
    if "curve" not in facts or len(facts["curve"]["sizes"]) < 2:
        return None
    found = facts["curve"]
    most = max([*found["held_out"], *found["fitted"]]) or 1.0
    frame = Frame((0.0, float(max(found["sizes"]))), (0.0, 1.08 * most))
    frame.axes("rows in the fit", found["what"], whole_ticks(0, max(found["sizes"])))
    frame.line(found["sizes"], found["held_out"], dots=True)
    frame.line(found["sizes"], found["fitted"], "curve second", dots=False)
    ends = [("rows held out", found["held_out"][-1]), ("rows of the fit", found["fitted"][-1])]
    (upper, high), (lower, low) = sorted(ends, key=lambda one: -float(one[1]))
    end = frame.x(found["sizes"][-1])
    for words, y in zip((upper, lower), name_places(frame.y(high), frame.y(low), frame.y(0.0)), strict=True):
        frame.write(words, end, y, "mark", "end")
    advice = found["advice"]
    words = f"{advice[0].upper()}{advice[1:]}."
    return section("Would more rows help", note(words), frame.svg("Error against the number of rows"))


def name_places(upper: float, lower: float, foot: float) -> tuple[float, float]:
    """Where the names of two curves stand that end at these heights (which grow downwards), above their foot.

    Each stands over its curve; where these come together the lower one's stands under it, or else both over them.
    """
    if lower - upper > _APART:
        return upper - 9, lower - 9
    return (upper - 9, lower + 18) if lower + 18 < foot else (upper - 25, upper - 9)


def _tried(facts: Mapping[str, Any]) -> Markup:
    what = "share wrong + Brier score" if facts["task"] == "classes" else "mean squared error"
    order = sorted(facts["tried"], key=lambda one: float(one[1]))
    lines = [
        tag("tr", tag("td", tag("b", title) if title == facts["chosen"] else title), tag("td", readable(loss)))
        for title, loss in order
    ]
    words = "In brackets is how strongly a model follows the rows."
    table = _table(("model", f"held-out loss ({what})"), lines)
    return tag("details", tag("summary", f"What was tried ({len(order)})"), note(words), table)


def _notes(facts: Mapping[str, Any]) -> Markup | None:
    if not facts["notes"]:
        return None
    listed = tag("ul", *(tag("li", text) for text in facts["notes"]))
    return section("What was done with the columns", listed)


def _code(facts: Mapping[str, Any]) -> Markup | None:
    return section("The same in Python", tag("pre", tag("code", lines_of(facts["code"])))) if facts["code"] else None


_STYLE = Markup(
    """
.range{color:var(--soft);font-size:.88em;white-space:nowrap}
.list th,.list td{overflow-wrap:normal;word-break:normal}.list thead th{width:auto;white-space:nowrap}
.matrix-of .cell{text-align:right;min-width:3.2em}.matrix-of thead th{text-align:right}
.matrix-of thead th:first-child{text-align:left}
.curve.second{stroke:var(--two);stroke-dasharray:5 4}
"""
)
