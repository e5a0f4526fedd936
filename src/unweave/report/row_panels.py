"""Draw what lets a reader find single rows, and how components go with the labels and times beside them."""

from __future__ import annotations

from typing import Any

from unweave.report.markup import Markup, plain, tag
from unweave.report.numbers import percent, readable
from unweave.report.panels import note, section
from unweave.report.words import first_number, noun, row_word, whole

_ACROSS = 12  # components side by side
_SPARK = 240, 34


def finder(facts: dict) -> Markup | None:
    """Draw the box in which a row is looked for; the script shows it, since it does nothing without."""
    found = facts.get("rows")
    if not found or not found["name"]:
        return None
    words = f"Find {row_word(facts)} by name"
    box = tag("input", type="search", placeholder=words, aria_label=words, autocomplete="off", spellcheck="false")
    return tag(
        "div",
        box,
        tag("output", class_="told", aria_live="polite"),
        tag("div", class_="hits", role="group", aria_label="Rows found"),
        tag("div", class_="chosen", role="group", aria_label="Rows that are marked"),
        class_="finder",
        hidden="",
    )


def rows(facts: dict) -> Markup | None:
    """List the rows that the page knows by name, folded."""
    found = facts.get("rows")
    if not found or not found["name"]:
        return None
    belongs, codes, first = found.get("belongs"), found.get("codes"), first_number(facts)
    heads = ["row"]
    if belongs:
        heads.append(noun(facts))
    if codes:
        heads += [f"{noun(facts)} {j + first}" for j in range(len(codes[0]))]
    lines = []
    for i, (number, name) in enumerate(zip(found["number"], found["name"])):
        cells = [readable(int(belongs[i]) + first)] if belongs else []
        cells += [readable(value) if value is not None else "" for value in codes[i]] if codes else []
        line = [tag("th", tag("bdi", plain(name)), scope="row"), *(tag("td", cell) for cell in cells)]
        lines.append(tag("tr", *line, data_row=int(number)))
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in heads)))
    n, of = len(lines), int(found["of"])
    every = f"All {whole(n)} rows" if n == of else f"{whole(n)} of {whole(of)} rows, drawn at random"
    body = tag("div", tag("table", head, tag("tbody", *lines), class_="list"), class_="scroll")
    return tag("details", tag("summary", every), body, class_="all")


def by_label(facts: dict) -> Markup | None:
    """Draw how much of each component there is in the rows of each label."""
    found = facts.get("by_label")
    if not found:
        return None
    k = min(_ACROSS, len(found["shares"][0]))
    heads = [str(found["name"]), "rows", *(_component(facts, j) for j in range(k))]
    lines = [
        tag("tr", tag("th", tag("bdi", plain(label)), scope="row"), tag("td", whole(count)), *map(_shaded, shares[:k]))
        for label, count, shares in zip(found["labels"], found["counts"], found["shares"])
    ]
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in heads)))
    words = f"Average share of each of the {noun(facts, 2)} in the rows of each {found['name']}"
    more = f"; the first {k} of {len(found['shares'][0])}" if k < len(found["shares"][0]) else ""
    table = tag("div", tag("table", head, tag("tbody", *lines), class_="cross"), class_="scroll wide")
    return section(f"{noun(facts, 2).capitalize()} by {found['name']}", note(f"{words}{more}."), table)


def _shaded(share: Any) -> Markup:
    return tag("td", percent(share), class_="share", style=f"--w:{100 * min(1.0, max(0.0, float(share))):.0f}%")


def _component(facts: dict, j: int) -> str:
    """Name a component in few words: its number, and the first words of a topic."""
    head = f"{noun(facts)} {j + first_number(facts)}"
    parts = (facts.get("factors") or {}).get("parts") or []
    if facts.get("factors", {}).get("drawn") != "topics" or j >= len(parts):
        return head
    return f"{head}: {', '.join(plain(word, 20) for word, _ in parts[j]['top'][:2])}"


def over_time(facts: dict) -> Markup | None:
    """Draw how much of each component there is in each stretch of time."""
    found = facts.get("over_time")
    if not found:
        return None
    shares = found["shares"]
    k = min(_ACROSS, max(len(row) for row in shares if row))
    lines = []
    for j in range(k):
        values = [None if row is None else float(row[j]) for row in shares]
        known = [(value, start) for value, start in zip(values, found["from"]) if value is not None]
        most, when = max(known)
        cells = [tag("td", _columns(values, f"{_component(facts, j)} over time")),
                 tag("td", f"{percent(most)} from {plain(when, 40)}")]  # fmt: skip
        lines.append(tag("tr", tag("th", _component(facts, j), scope="row"), *cells))
    heads = [noun(facts), f"{plain(found['from'][0], 40)} to {plain(found['to'], 40)}", "most"]
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in heads)))
    words = f"Average share of each of the {noun(facts, 2)} in {len(shares)} equal stretches of time ({found['name']})."
    table = tag("div", tag("table", head, tag("tbody", *lines), class_="cross"), class_="scroll wide")
    return section(f"{noun(facts, 2).capitalize()} over time", note(words), table)


def _columns(values: list[float | None], title: str) -> Markup:
    """Draw a row of small columns; a stretch without rows stays empty."""
    width, height = _SPARK
    most = max((value for value in values if value is not None), default=0.0) or 1.0
    step = width / len(values)
    drawn = []
    for i, value in enumerate(values):
        if value is not None:
            high = max(0.5, height * value / most)
            at = {"x": f"{i * step + 0.5:.1f}", "y": f"{height - high:.1f}"}
            drawn.append(tag("rect", width=f"{step - 1:.1f}", height=f"{high:.1f}", class_="column", **at))
    return tag("svg", *drawn, viewBox=f"0 0 {width} {height}", role="img", aria_label=title, class_="spark")
