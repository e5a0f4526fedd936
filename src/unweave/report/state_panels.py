"""Draw states in the order of the rows: when each of them held, and what comes after it."""

from __future__ import annotations

from unweave.report.markup import Markup, plain, tag
from unweave.report.numbers import percent, readable
from unweave.report.panels import note, section
from unweave.report.svg import look_of
from unweave.report.words import noun, whole

_WIDE, _LANE, _LEFT, _FOOT = 1000, 26, 74, 24


def sequence(facts: dict) -> Markup | None:
    """Draw one lane for each state, filled while it holds, and a table of what follows what."""
    found = facts.get("sequence")
    if not found or not found["runs"]:
        return None
    last = int(found["runs"][-1][1])
    part = "" if last == int(found["of"]) else f" The first {whole(last)} of {whole(found['of'])} rows are drawn."
    words = f"From the first row at the left to the last at the right; a lane is filled while its {noun(facts)} holds."
    title = f"{noun(facts, 2).capitalize()} in the order of the rows"
    return section(title, note(words + part), _lanes(facts, found, last), _moves(facts, found))


def _lanes(facts: dict, found: dict, last: int) -> Markup:
    k = len(found["moves"])
    names = found.get("names") or []
    step = (_WIDE - _LEFT) / max(1, last)
    drawn = [tag("text", f"{noun(facts)} {s + 1}", x=0, y=_LANE * s + 17) for s in range(k)] + [
        tag("line", x1=_LEFT, x2=_WIDE, y1=_LANE * (s + 1), y2=_LANE * (s + 1), class_="grid") for s in range(k)
    ]
    for i, (begin, end, state) in enumerate(found["runs"]):
        at = f"rows {whole(int(begin) + 1)} to {whole(end)}" + (
            f", from {plain(names[i], 60)}" if i < len(names) else ""
        )
        drawn.append(
            tag(
                "rect",
                tag("title", f"{noun(facts)} {int(state) + 1}: {at}"),
                x=f"{_LEFT + step * int(begin):.1f}",
                y=_LANE * int(state) + 4,
                width=f"{max(1.0, step * (int(end) - int(begin))):.1f}",
                height=_LANE - 7,
                class_=f"c{look_of(int(state))[0]}",
            )
        )
    foot = _LANE * k + 17
    drawn.append(tag("text", "row 1", x=_LEFT, y=foot))
    drawn.append(tag("text", f"row {whole(last)}", x=_WIDE, y=foot, text_anchor="end"))
    drawn.append(tag("line", y1=0, y2=_LANE * k, class_="cursor"))  # what the script copies to where marked rows are
    label = f"{noun(facts, 2).capitalize()} in the order of the rows"
    box = f"0 0 {_WIDE} {_LANE * k + _FOOT}"
    place = {"data_first": _LEFT, "data_step": f"{step:.6g}", "data_rows": last}
    return tag("svg", *drawn, viewBox=box, role="img", aria_label=label, class_="lanes", **place)


def _moves(facts: dict, found: dict) -> Markup:
    k = len(found["moves"])
    heads = ["after", *(f"{noun(facts)} {s + 1}" for s in range(k)), "holds on average"]
    lines = []
    for s, row in enumerate(found["moves"]):
        cells = [
            tag("td", percent(share), class_="share", style=f"--w:{100 * min(1.0, max(0.0, float(share))):.0f}%")
            for share in row
        ]
        stays = found["stays"][s]
        held = "" if stays is None else f"{readable(stays)} rows"
        lines.append(tag("tr", tag("th", f"{noun(facts)} {s + 1}", scope="row"), *cells, tag("td", held)))
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in heads)))
    return tag("div", tag("table", head, tag("tbody", *lines), class_="cross"), class_="scroll wide")
