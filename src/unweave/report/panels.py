"""Draw the pictures of a page: components, where rows lie, the table before and after, errors at hidden entries."""

from __future__ import annotations

from typing import Any

from unweave.report.labels import shortened
from unweave.report.markup import Markup, join, label, plain, tag
from unweave.report.numbers import percent, readable
from unweave.report.png import data_uri, quantise
from unweave.report.svg import Bar, Point, bars, key, scatter
from unweave.report.words import first_number, kind_of, noun, whole

_LABELS = 26  # names that have room below a heat map
_NAME = 18  # letters of such a name


def section(title: str, *children: Any) -> Markup:
    """Draw a headed card."""
    return tag("section", tag("h2", title), *children)


def note(text: Any) -> Markup | None:
    """Write a remark in small print; nothing if there is nothing to say."""
    return tag("p", text, class_="note") if text else None


# -- components --------------------------------------------------------------------------------------------------------


def factors(facts: dict) -> Markup | None:
    """Draw the components as pictures, topics or bars."""
    found = facts.get("factors")
    if not found:
        return None
    count, shown = int(found["count"]), len(found["parts"])
    name = noun(facts, 2)
    words = f"The first {shown} of {whole(count)} {name}; the rest are in the model." if count > shown else ""
    if found["drawn"] == "images":
        why = str(found["why"])
        words = f"{words} Drawn as pictures: {why}." if why else words
        shares = any(part.get("share") is not None for part in found["parts"])
        words += f" The percentages are shares {found['share_of']}." if shares else ""
        body = _pictures(facts, found)
    else:
        words = f"{words} {_how_to_read(facts, found)}".strip()
        cut = shortened(name for part in found["parts"] for name, _ in part["top"])
        drawn = [_card(facts, found, i, part, cut) for i, part in enumerate(found["parts"], first_number(facts))]
        body = tag("div", *drawn, class_="cards")
    title = "The centres" if facts.get("groups") else f"The {name}"
    return section(title, note(words.strip()), body)


def _how_to_read(facts: dict, found: dict) -> str:
    if found["drawn"] == "topics":
        return f"The words with the largest share of each {noun(facts)}."
    if found["against"]:
        units = any(part.get("units") for part in found["parts"])
        if units:
            return (
                f"The first number is the centre of the {noun(facts)}, in the units of the table. Bars and second "
                "number: how far that is from the mean of all rows, in standard deviations of the column."
            )
        return str(found["against"])
    signed = any(weight < 0 for part in found["parts"] for _, weight in part["top"])
    both = " Blue columns rise together, orange ones fall as they rise." if signed else ""
    return "The columns with the largest weights." + both


def _card(facts: dict, found: dict, number: int, part: dict, cut: dict[str, str]) -> Markup:
    share = part.get("share")
    caption = None if share is None else tag("small", f"{percent(share)} {found['share_of']}")
    head = tag("h3", f"{noun(facts).capitalize()} {number}", caption)
    drawn = _bars_of(found, part)
    body = bars(drawn, cut=cut) if drawn else note("No column plays a part: this one is empty.")
    return tag("div", head, body, _strongest(found, part), class_="card")


def _bars_of(found: dict, part: dict) -> list[Bar]:
    rows = [(name, float(weight)) for name, weight in part["top"]]
    if found["drawn"] == "topics":
        return [Bar(name, weight, percent(weight)) for name, weight in rows]
    units, numbers = part.get("units"), part.get("bars") or [None] * len(rows)
    if not units:
        return [Bar(name, weight, row=_row(number)) for (name, weight), number in zip(rows, numbers)]
    shares = set(found.get("shares") or [])
    written = [percent(value) if name in shares else readable(value) for (name, _), value in zip(rows, units)]
    return [Bar(name, weight, text, f"{weight:+.2f}".replace("-", "−")) for (name, weight), text in zip(rows, written)]


def _strongest(found: dict, part: dict) -> Markup | None:
    """Name the rows in which a component is strongest; documents line by line, by the words they begin with."""
    names = part.get("rows") or []
    if not names:
        return None
    numbers = part.get("numbers") or [None] * len(names)
    picked = [tag("bdi", plain(name), data_row=_row(number)) for name, number in zip(names, numbers)]
    if found["drawn"] == "topics":
        quotes = tag("ul", *(tag("li", one) for one in picked), class_="quotes")
        return tag("div", tag("p", "Most of it in", class_="seen"), quotes)
    return tag("p", "Strongest in ", join(picked, ", "), class_="seen")


def _row(number: Any) -> int | None:
    return None if number is None else int(number)


def _pictures(facts: dict, found: dict) -> Markup:
    out = []
    for number, part in enumerate(found["parts"], first_number(facts)):
        picture = part["picture"]
        coloured = len(picture["size"]) == 3
        image = tag(
            "img",
            src=data_uri(picture),
            alt=f"{noun(facts)} {number} as a picture",
            class_="photo" if coloured else "map",
        )
        share = "" if part.get("share") is None else f" · {percent(part['share'])}"
        words = [tag("b", str(number)), share]
        out.append(tag("figure", image, tag("figcaption", *words)))
    return tag("div", *out, class_="pictures")


# -- rows --------------------------------------------------------------------------------------------------------------


def places(facts: dict) -> Markup | None:
    """Draw where rows lie, and how large their groups are."""
    found, groups = facts.get("scatter"), facts.get("groups")
    if not found and not groups:
        return None
    sides = [_scatter(facts, found) if found else None, _sizes(facts, groups) if groups else _names(found)]
    words = None
    if found:
        all_rows = (
            "Every row" if found["drawn"] == found["of"] else f"{whole(found['drawn'])} of {whole(found['of'])} rows"
        )
        words = f"{all_rows}, a sign each."
        if found.get("centres"):
            words += " Numbers stand at the centres; where they would overlap, a line leads to the place."
    title = _several(facts).capitalize() if groups else f"Rows on the first two {noun(facts, 2)}"
    return section(title, note(words), tag("div", *sides, class_="pair"))


def _scatter(facts: dict, found: dict) -> Markup:
    n = len(found["x"])
    groups = found.get("group") or [0] * n
    rows = found.get("rows") or [None] * n
    names = names_of_rows(facts)
    points = [
        Point(float(x), float(y), int(group), _row(row), names.get(row, ""))
        for x, y, group, row in zip(found["x"], found["y"], groups, rows)
    ]
    centres = [[float(v) for v in centre] for centre in (found.get("centres") or [])]
    axes = [str(axis) for axis in found["axes"]]
    return tag("div", scatter(points, axes, centres, f"Scatter of rows on {axes[0]} and {axes[1]}"))


def names_of_rows(facts: dict) -> dict[int, str]:
    """Return the names of the rows that a page knows, by their numbers."""
    found = facts.get("rows") or {"number": [], "name": []}
    return {int(number): plain(name) for number, name in zip(found["number"], found["name"])}


def _sizes(facts: dict, groups: dict) -> Markup:
    sizes = [int(size) for size in groups["sizes"]]
    total = sum(sizes) or 1
    rows = [
        Bar(_signed_name(i, f"{_one(facts)} {i + 1}"), float(size), f"{whole(size)} ({percent(size / total)})")
        for i, size in enumerate(sizes[:30])
    ]
    more = note(f"and {len(sizes) - 30} more {_several(facts)}") if len(sizes) > 30 else None
    return tag("div", tag("h3", f"Rows in each {_one(facts)}"), bars(rows, wide=True), more)


def _one(facts: dict) -> str:
    """Draw a group, or what the model calls it."""
    return "state" if kind_of(facts) == "state" else "group"


def _several(facts: dict) -> str:
    return f"{_one(facts)}s"


def _names(found: dict | None) -> Markup | None:
    if not found or not found.get("names"):
        return None
    rows = [tag("li", _signed_name(i, name)) for i, name in enumerate(found["names"])]
    return tag("div", tag("h3", "Labels that came with the data"), tag("ul", *rows, class_="bars"))


def _signed_name(group: int, name: Any) -> Markup:
    return tag("span", key(group), label(name), class_="legend")


# -- the table ---------------------------------------------------------------------------------------------------------


def matrix(facts: dict) -> Markup | None:
    """Draw the table beside what the model makes of it."""
    found = facts.get("matrix")
    if not found:
        return None
    sides = []
    for side, words in (("before", "the table"), ("after", "what the model makes of it")):
        picture = found[side]
        image = tag("img", src=data_uri(picture), alt=f"{words}, as a heat map", class_="map")
        heat = tag("div", image, class_="heat", **_pointed_at(found, picture))
        caption = tag("figcaption", tag("b", side.capitalize()), f": {words}")
        sides.append(tag("figure", heat, _columns(found), caption))
    return section("The table before and after", note(found["how"]), tag("div", *sides, class_="pair"), _scale(found))


def _pointed_at(found: dict, picture: dict) -> dict[str, Any]:
    """Return what the script needs to name what a reader points at: rows, and the levels behind the colours."""
    if not found.get("rows"):
        return {}
    high, wide = (int(side) for side in picture["size"][:2])
    return {
        "data_rows": " ".join(str(int(row)) for row in found["rows"]),
        "data_size": f"{high} {wide}",
        "data_levels": picture["levels"],
        "data_range": f"{float(picture['low']):.6g} {float(picture['high']):.6g}",
        "data_unit": found.get("unit") or None,
    }


def _columns(found: dict) -> Markup | None:
    """Name the columns below a heat map: all of them, or as many as have room, evenly spread."""
    names = [plain(name) for name in found.get("columns") or []]
    if not names:
        return None
    cut, step = shortened(names, _NAME), -(-len(names) // _LABELS)
    items = [tag("li", tag("bdi", cut[name]) if j % step == 0 else None, title=name) for j, name in enumerate(names)]
    return tag("ol", *items, class_="names", style=f"--n:{len(names)}")


def _scale(found: dict) -> Markup:
    import numpy as np

    low, high = float(found["before"]["low"]), float(found["before"]["high"])
    strip = quantise(np.linspace(low, high, 120)[None], low, high)
    ends = [readable(low), tag("img", src=data_uri(strip), alt="colour scale", class_="map"), readable(high)]
    unit = f" {found['unit']}" if found.get("unit") else None
    hole = [tag("span", class_="swatch map"), "unknown"] if found.get("holes") else []
    return tag("div", *ends, unit, *hole, class_="scale")


def held_out(facts: dict) -> Markup | None:
    """Draw errors on entries that were hidden, against means."""
    found = facts.get("held_out")
    if not found or "skipped" in found:
        return None
    scores = [(name, float(error)) for name, error in found["scores"]]
    drawn = bars([Bar(name, error, readable(error), pale=i > 0) for i, (name, error) in enumerate(scores)], wide=True)
    return section("Entries the model had not seen", note(found["how"]), tag("h3", str(found["unit"])), drawn)
