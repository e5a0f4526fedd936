"""The page of a topic map: a map, the words of the topic chosen on it, and a table of all topics."""

from __future__ import annotations

import json

from unweave.report.markup import Markup, join, tag
from unweave.report.page import document
from unweave.report.panels import note, section
from unweave.report.topic_map import HEIGHT, SHOWN, STEPS, WIDTH
from unweave.report.topic_map_script import SCRIPT, STYLE
from unweave.report.words import percent, whole

_START = 12  # of 20: λ = 0.6, which readers liked best (Sievert and Shirley 2014)


def render_topic_map(facts: dict) -> str:
    """One self-contained HTML page from :func:`unweave.report.topic_map.map_facts`."""
    topics = facts["topics"]
    first = max(range(len(topics)), key=lambda t: topics[t]["share"])
    title = _title(facts)
    source = f" · {facts['source']}" if facts["source"] else ""
    header = tag("header", tag("p", f"Topic map of {facts['model']}{source}", class_="kicker"), tag("h1", title))
    both = tag("div", _map(facts, first), _words(), class_="both")
    body = [
        Markup(f"<style>{STYLE}</style>"),
        header,
        section("Topics and their words", _help(), both),
        section("All topics", _table(facts)),
        _data(facts),
        Markup(f"<script>{SCRIPT}</script>"),
    ]
    return document(title, body)


def _title(facts: dict) -> str:
    k = len(facts["topics"])
    where = f"{whole(facts['documents'])} documents, " if facts["documents"] is not None else ""
    return f"{whole(k)} topic{'s' if k > 1 else ''} of {where}{whole(facts['columns'])} different words"


def _help() -> Markup:
    return tag(
        "p",
        "The area of a circle is the topic's share of all words; topics that use the same words are near each other "
        "(circles that would cover each other's numbers are moved a little). Choose a topic by click or arrow keys; "
        "point at a word to see in which topics it occurs.",
        class_="note help",
    )


def _map(facts: dict, first: int) -> Markup:
    topics = facts["topics"]
    # Large circles first, so that small ones lie on top and can be reached.
    order = sorted(range(len(topics)), key=lambda t: -topics[t]["r"])
    return tag(
        "svg",
        *(_circle(facts, t, t == first) for t in order),
        id="map",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="group",
        aria_label="Map of topics",
        class_="chart",
        data_first=first,
    )


def _circle(facts: dict, t: int, on: bool) -> Markup:
    topic = facts["topics"][t]
    words = ", ".join(facts["words"][j] for j in topic["top"][:5])
    said = f"Topic {t}, {percent(topic['share'])} of all words: {words}"
    return tag(
        "g",
        tag("circle", cx=topic["x"], cy=topic["y"], r=topic["r"]),
        tag("text", str(t), x=topic["x"], y=topic["y"] + 4.5, text_anchor="middle"),
        tag("title", said),
        class_="topic",
        role="button",
        tabindex=0,
        aria_label=said,
        aria_pressed="true" if on else "false",
        data_topic=t,
    )


def _words() -> Markup:
    """The panel beside the map; the script fills in the topic and its words."""
    slider = tag("input", id="lambda", type="range", min=0, max=STEPS, step=1, value=_START, aria_label="Relevance λ")
    slider = Markup(slider.removesuffix("</input>"))
    return tag(
        "div",
        tag("h3", tag("span", "Topic", id="which"), tag("small", "", id="share"), aria_live="polite"),
        tag(
            "div",
            tag("button", "‹ previous", id="before", type="button"),
            tag("button", "next ›", id="after", type="button"),
            tag("label", tag("span", "λ"), slider, tag("output", "", id="value", for_="lambda")),
            class_="tools",
        ),
        tag("p", tag("span", "0: in no other topic"), tag("span", "1: the most frequent"), class_="ends"),
        tag("ul", id="words", class_="bars", aria_label=f"The {SHOWN} most relevant words of the topic"),
        tag("p", tag("span", class_="sign"), "in this topic", tag("span", class_="sign pale"), "in all topics; number: "
            "share of the topic", class_="seen"),
    )  # fmt: skip


def _table(facts: dict) -> Markup:
    topics = facts["topics"]
    order = sorted(range(len(topics)), key=lambda t: (-topics[t]["share"], t))
    head = tag("tr", *(tag("th", name, scope="col") for name in ("topic", "share", "most frequent words")))
    rows = []
    for t in order:
        words = join((tag("bdi", facts["words"][j]) for j in topics[t]["top"]), ", ")
        rows.append(tag("tr", tag("td", tag("b", str(t))), tag("td", percent(topics[t]["share"])), tag("td", words),
                        data_topic=t))  # fmt: skip
    return tag(
        "div",
        note("The largest first, each with its most frequent words. A click shows the topic above."),
        tag("table", tag("tbody", head, *rows), class_="list"),
        id="table",
    )


def _data(facts: dict) -> Markup:
    """The facts for the script: JSON in which no character can end the element or begin another."""
    kept = {name: facts[name] for name in ("words", "overall", "where", "topics")} | {"shown": SHOWN}
    text = json.dumps(kept, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(f'<script type="application/json" id="data">{text}</script>')
