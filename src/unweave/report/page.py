"""Make one HTML page from facts, or one page of several reports; the file needs nothing else.

What was learned comes first, then the pictures, then how it was found, folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unweave.data.atomic import replace_file
from unweave.report import number_panels, panels, row_panels, signal_panels, state_panels, tensors
from unweave.report.how import code, how
from unweave.report.markup import Markup, plain, tag
from unweave.report.numbers import percent
from unweave.report.script import SCRIPT, content_policy
from unweave.report.style import STYLE
from unweave.report.words import VERSION, against_means, kind_of, noun, summary, whole

# Which panels a model's page has, in order; what a model has no facts for is left out anyway.
_BESIDE = (row_panels.by_label, row_panels.over_time)
_FOUND = (panels.factors, *_BESIDE, panels.places, number_panels.choice, panels.held_out, panels.matrix,
          number_panels.spectrum)  # fmt: skip
_TOPICS = (panels.factors, *_BESIDE, panels.places, number_panels.choice, panels.held_out, panels.matrix)
_GROUPS = (
    state_panels.sequence,
    panels.places,
    panels.factors,
    *_BESIDE,
    number_panels.choice,
    panels.held_out,
    panels.matrix,
)
_AXES = (panels.factors, panels.places, number_panels.choice, number_panels.spectrum, panels.matrix)
_SIDES = (tensors.sides, number_panels.choice)
_COMPLETED = (panels.held_out, panels.factors, panels.matrix, number_panels.choice)
_BY_WHAT = {"group": _GROUPS, "state": _GROUPS, "axis": _AXES, "direction": _AXES, "factor": _COMPLETED}
_BY_WHAT |= {"topic": _TOPICS}


def render(facts: dict) -> str:
    """Make one self-contained HTML page from what :func:`gather` collected; no model is needed.

    Facts may come from a file that somebody else made: text is escaped, numbers are checked, and facts that do not fit
    raise ValueError.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> from unweave.report import gather, render
    >>> page = render(gather(unweave.PCA(2).fit(np.random.default_rng(0).random((20, 4)))))
    >>> page[:15], page.count("<h1"), page.count("<details")
    ('<!doctype html>', 1, 1)
    """
    if isinstance(facts, dict) and facts.get("kind") == "prediction":
        from unweave.report.prediction_page import render_prediction

        return render_prediction(facts)
    body = story(facts)
    return document(headline(facts), body, SCRIPT)


def story(facts: dict) -> list[Markup]:
    """Draw the header and the sections of one model's report; facts that do not fit raise ValueError."""
    version = facts.get("version") if isinstance(facts, dict) else None
    if version != VERSION:
        raise ValueError(
            f"these facts have version {version!r}, this library draws version {VERSION}; gather them again"
        )
    try:
        asked = _SIDES if facts.get("sides") else _BY_WHAT.get(kind_of(facts), _FOUND)
        found = [panel(facts) for panel in asked]
        heard = [signal_panels.pictures(facts), signal_panels.waves(facts)]
        drawn = [_header(facts), _answer(facts), *heard, row_panels.finder(facts), *found, row_panels.rows(facts)]
        return [part for part in (*drawn, code(facts), how(facts)) if part is not None]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"these facts are damaged ({type(error).__name__}: {error}); gather them again") from error


def write(
    model: Any, path: Any, data: Any = None, *, code: str | None = None, asked: str | None = None, recipe: Any = None
) -> Path:
    """Write the report of a fitted model to `path` and return the path; arguments as in :func:`gather`.

    The page is written beside the target and renamed, so an older report stays whole if anything fails.
    """
    from unweave.report.facts import gather

    target = Path(path)
    page = render(gather(model, data, code=code, asked=asked, recipe=recipe))
    return replace_file(target, lambda name: Path(name).write_text(page, encoding="utf-8"))


def document(title: str, body: Iterable[Markup], script: str = "", style: str = "") -> str:
    """Make a whole page around the parts of its body; nothing but the one `script` may run in it."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=content_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        Markup(f"<style>{STYLE}{style}</style>"),
    )
    main = tag("main", *body, tag("footer", "Made by unweave."))
    runs = Markup(f"<script>{script}</script>") if script else None
    return f"<!doctype html>\n{tag('html', head, tag('body', main, runs), lang='en')}\n"


def headline(facts: dict) -> str:
    """Say what was found in one sentence: the answer's own, or one made of older facts."""
    return plain((facts.get("answer") or {}).get("headline") or "", 300) or summary(facts)


def _header(facts: dict) -> Markup:
    source = f" · {facts['source']}" if facts.get("source") else ""
    figures = [(noun(facts, 2), whole(facts["components"]))] if facts.get("factors") else []
    figures.append(_size(facts))
    if facts.get("quality"):
        figures.append((f"of {facts['quality']['of']} explained", percent(facts["quality"]["share"])))
    strip = [tag("div", tag("dt", name), tag("dd", value)) for name, value in figures]
    return tag(
        "header",
        tag("p", f"Report on {facts['model']}{source}", class_="kicker"),
        tag("h1", headline(facts)),
        *(tag("p", line, class_="lede") for line in _ledes(facts)),
        tag("dl", *strip, class_="strip"),
    )


def _size(facts: dict) -> tuple[str, str]:
    """Say how large the table or the tensor is."""
    if facts.get("sides"):
        return "tensor", " × ".join(whole(side) for side in facts["shape"])
    n, m = facts["shape"]
    return "table", f"{whole(n)} × {whole(m)}" if n is not None else f"{whole(m)} columns"


def _ledes(facts: dict) -> list[str]:
    """List the sentences below the headline: those of the answer, then how far hidden entries are predicted."""
    answer = facts.get("answer") or {}
    lines = [str(line) for line in answer.get("lines") or []]
    against = "" if lines or kind_of(facts) in ("axis", "direction") else against_means(facts.get("held_out"))
    return [line for line in (*lines, against, str(answer.get("certificate") or "")) if line]


def _answer(facts: dict) -> Markup | None:
    """Draw the table of the answer."""
    answer = facts.get("answer") or {}
    if not answer.get("rows"):
        return None
    head = tag("thead", tag("tr", *(tag("th", title, scope="col") for title in answer["header"])))
    lines = [tag("tr", *(tag("td", tag("bdi", plain(cell))) for cell in row)) for row in answer["rows"]]
    table = tag("div", tag("table", head, tag("tbody", *lines), class_="answer"), class_="scroll wide")
    return panels.section("What was found", table)


def render_all(title: str, reports: Mapping[str, dict]) -> str:
    """Make one self-contained HTML page from the facts (see :func:`gather`) of several models, each under a name.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> from unweave.report import gather, render_all
    >>> facts = gather(unweave.PCA(2).fit(np.random.default_rng(0).random((20, 4))))
    >>> page = render_all("Two views", {"first": facts, "second": facts})
    >>> page.count("<article"), page.count("<!doctype")
    (2, 1)
    """
    links = [tag("li", tag("a", name, href=f"#part-{i}")) for i, name in enumerate(reports)]
    head = tag("header", tag("h1", title), tag("ul", *links))
    parts = [
        tag("article", tag("p", name, class_="name-of-part"), *story(facts), id=f"part-{i}")
        for i, (name, facts) in enumerate(reports.items())
    ]
    return document(title, [head, *parts], SCRIPT)
