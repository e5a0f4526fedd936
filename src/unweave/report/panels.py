"""Draw the sections of a page that show what was found."""

from __future__ import annotations

import math
from typing import Any

from unweave.report.markup import Markup, label, plain, tag
from unweave.report.png import data_uri, quantise
from unweave.report.svg import bars, curve, key, running_total, scatter, scree
from unweave.report.words import amount, first_number, kind_of, noun, percent, whole


def section(title: str, *children: Any) -> Markup:
    """Draw a headed card."""
    return tag("section", tag("h2", title), *children)


def note(text: Any) -> Markup | None:
    return tag("p", text, class_="note") if text else None


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
        words = f"{words} {found['against']}".strip() or _how_to_read(facts, found)
        drawn = [_card(facts, found, i, part) for i, part in enumerate(found["parts"], first_number(facts))]
        body = tag("div", *drawn, class_="cards")
    title = "The centres" if facts.get("groups") else f"The {name}"
    return section(title, note(words.strip()), body)


def _how_to_read(facts: dict, found: dict) -> str:
    if found["drawn"] == "topics":
        return f"The words with the largest share of each {noun(facts)}."
    signed = any(weight < 0 for part in found["parts"] for _, weight in part["top"])
    both = " Blue columns rise together, orange ones fall as they rise." if signed else ""
    return "The columns with the largest weights." + both


def _caption(facts: dict, found: dict, part: dict) -> str | None:
    return None if part.get("share") is None else f"{percent(part['share'])} {found['share_of']}"


def _card(facts: dict, found: dict, number: int, part: dict) -> Markup:
    caption = _caption(facts, found, part)
    head = tag("h3", f"{noun(facts).capitalize()} {number}", None if caption is None else tag("small", caption))
    rows = [(name, float(weight)) for name, weight in part["top"]]
    values = [percent(weight) for _, weight in rows] if found["drawn"] == "topics" else None
    body = bars(rows, values=values) if rows else note("No column plays a part: this one is empty.")
    strongest = part.get("rows") or []
    joined = [tag("bdi", plain(name)) if not i else [", ", tag("bdi", plain(name))] for i, name in enumerate(strongest)]
    flat = [piece for one in joined for piece in (one if isinstance(one, list) else [one])]
    return tag("div", head, body, tag("p", "Strongest in ", *flat, class_="seen") if flat else None, class_="card")


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


def places(facts: dict) -> Markup | None:
    """Draw where rows lie, and how large their groups are."""
    found, groups = facts.get("scatter"), facts.get("groups")
    if not found and not groups:
        return None
    sides = [_scatter(found) if found else None, _sizes(facts, groups) if groups else _names(found)]
    words = None
    if found:
        all_rows = (
            "Every row" if found["drawn"] == found["of"] else f"{whole(found['drawn'])} of {whole(found['of'])} rows"
        )
        words = f"{all_rows}, a sign each."
        if found.get("centres"):
            words += " Numbers stand at the centres; where they would overlap, a line leads to the place."
    title = _several(facts).capitalize() if groups else "Rows on the first two components"
    return section(title, note(words), tag("div", *sides, class_="pair"))


def _scatter(found: dict) -> Markup:
    numbers = [[float(v) for v in found[axis]] for axis in ("x", "y")]
    group = None if found.get("group") is None else [int(g) for g in found["group"]]
    centres = [[float(v) for v in centre] for centre in (found.get("centres") or [])]
    axes = [str(axis) for axis in found["axes"]]
    return tag(
        "div", scatter(numbers[0], numbers[1], group, axes, centres, f"Scatter of rows on {axes[0]} and {axes[1]}")
    )


def _sizes(facts: dict, groups: dict) -> Markup:
    sizes = [int(size) for size in groups["sizes"]]
    total = sum(sizes) or 1
    rows = [(_signed_name(i, f"{_one(facts)} {i + 1}"), float(size)) for i, size in enumerate(sizes[:30])]
    values = [f"{whole(size)} ({percent(size / total)})" for size in sizes[:30]]
    more = note(f"and {len(sizes) - 30} more {_several(facts)}") if len(sizes) > 30 else None
    return tag("div", tag("h3", f"Rows in each {_one(facts)}"), bars(rows, values=values, wide=True), more)


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


def matrix(facts: dict) -> Markup | None:
    """Draw the table beside what the model makes of it."""
    found = facts.get("matrix")
    if not found:
        return None
    sides = []
    for side, words in (("before", "the table"), ("after", "what the model makes of it")):
        image = tag("img", src=data_uri(found[side]), alt=f"{words}, as a heat map", class_="map")
        sides.append(tag("figure", image, tag("figcaption", tag("b", side.capitalize()), f": {words}")))
    return section("The table before and after", note(found["how"]), tag("div", *sides, class_="pair"), _scale(found))


def _scale(found: dict) -> Markup:
    import numpy as np

    low, high = float(found["before"]["low"]), float(found["before"]["high"])
    strip = quantise(np.linspace(low, high, 120)[None], low, high)
    ends = [amount(low), tag("img", src=data_uri(strip), alt="colour scale", class_="map"), amount(high)]
    hole = [tag("span", class_="swatch map"), "unknown"] if found.get("holes") else []
    return tag("div", *ends, *hole, class_="scale")


def held_out(facts: dict) -> Markup | None:
    """Draw errors on entries that were hidden, against means."""
    found = facts.get("held_out")
    if not found:
        return None
    title = "Entries the model had not seen"
    if "skipped" in found:
        return section(title, note(f"Not measured. {found['skipped']}"))
    scores = [(name, float(error)) for name, error in found["scores"]]
    drawn = bars(scores, pale=[i > 0 for i in range(len(scores))], wide=True)
    return section(title, note(found["how"]), tag("h3", str(found["unit"])), drawn)


def spectrum(facts: dict) -> Markup | None:
    """Draw how much each further component adds."""
    found = facts.get("spectrum")
    if not found or not found["shares"]:
        return None
    knee = None if found["knee"] is None else int(found["knee"])
    used, of = int(facts["components"]), str(found["of"])
    words = f"Singular values of the table, squared, as shares {of}; from {found['seen']}."
    if knee:
        mean = "" if found.get("centred", True) else " (the first, which is mostly the mean of the rows, left aside)"
        words += f" The curve bends after {knee}{mean}."
    charts = [scree(found["shares"], knee, used, of), running_total(found["cumulative"], used, of)]
    return section("How many components?", note(words), tag("div", *charts, class_="pair"))


def convergence(facts: dict) -> Markup | None:
    """Draw the objective by iteration and by time."""
    found = facts.get("history")
    if not found:
        return None
    done = [
        (i, float(y), float(s))
        for i, y, s in zip(found["iteration"], found["objective"], found["seconds"])
        if y is not None and math.isfinite(y)
    ]
    title = "Convergence"
    if len(done) < 2:
        return section(title, note(f"One step was enough; it ended because: {found['stopped'] or 'done'}."))
    steps, values, times = zip(*done)
    words = f"{whole(steps[-1])} iterations in {amount(times[-1])} s; it ended because: {found['stopped'] or 'done'}."
    charts = [
        curve(steps, values, "iteration", "objective", "Objective after each iteration", counts=True),
        curve(times, values, "seconds", "objective", "Objective against time", start=0.0),
    ]
    return section(title, note(words), tag("div", *charts, class_="pair"))


def ridge(facts: dict) -> Markup | None:
    """Draw the error on held-out entries for every strength tried."""
    path = facts.get("ridge_path")
    if not path or len(path) < 2:
        return None
    best = min(path, key=lambda pair: pair[1])
    words = "Strengths that were tried while fitting, on a tenth of the entries that was held out; "
    words += f"{amount(best[0])} had the least error and was used for all."
    chart = curve(
        [math.log10(float(strength)) for strength, _ in path],
        [float(error) for _, error in path],
        "log₁₀ of the ridge strength",
        "held-out error",
        "Held-out error by ridge strength",
    )
    return section("Strength of the ridge", note(words), tag("div", chart, class_="pair"))
