"""Make one HTML page from facts, or one page of several reports; the file needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unweave.data.atomic import replace_file
from unweave.report import panels
from unweave.report.facts import VERSION, gather
from unweave.report.markup import STYLE, Markup, join, lines, tag
from unweave.report.words import against_means, amount, kind_of, noun, percent, seconds, summary, whole

# Which panels a model's page has, in order; what a model has no facts for is left out anyway.
_FOUND = (panels.factors, panels.places, panels.held_out, panels.matrix, panels.spectrum, panels.ridge)
_GROUPS = (panels.places, panels.factors, panels.held_out, panels.matrix, panels.spectrum)
_AXES = (panels.spectrum, panels.factors, panels.places, panels.matrix, panels.held_out)
_COMPLETED = (panels.held_out, panels.factors, panels.matrix, panels.ridge)
_BY_WHAT = {"group": _GROUPS, "state": _GROUPS, "axis": _AXES, "direction": _AXES, "factor": _COMPLETED}


def render(facts: dict) -> str:
    """Make one self-contained HTML page from what :func:`gather` collected; no model is needed.

    Facts may come from a file that somebody else made: text is escaped, numbers are checked, and facts that do not fit
    raise ValueError.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> from unweave.report import gather, render
    >>> page = render(gather(unweave.PCA(2).fit(np.random.default_rng(0).random((20, 4)))))
    >>> page[:15], page.count("<section")
    ('<!doctype html>', 7)
    """
    body = story(facts)
    return document(summary(facts), body)


def story(facts: dict) -> list[Markup]:
    """Draw the header and the sections of one model's report; facts that do not fit raise ValueError."""
    version = facts.get("version") if isinstance(facts, dict) else None
    if version != VERSION:
        raise ValueError(
            f"these facts have version {version!r}, this library draws version {VERSION}; gather them again"
        )
    try:
        found = [panel(facts) for panel in _BY_WHAT.get(kind_of(facts), _FOUND)]
        rest = [panels.convergence(facts), _plan(facts), _asked(facts), _code(facts)]
        return [part for part in (_header(facts, summary(facts)), *found, *rest) if part is not None]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, ZeroDivisionError) as error:
        raise ValueError(f"these facts are damaged ({type(error).__name__}: {error}); gather them again") from error


def write(model: Any, path: Any, data: Any = None, *, code: str | None = None, asked: str | None = None) -> Path:
    """Write the report of a fitted model to `path` and return the path; arguments as in :func:`gather`.

    The page is written beside the target and renamed, so an older report stays whole if anything fails.
    """
    target = Path(path)
    page = render(gather(model, data, code=code, asked=asked))
    return replace_file(target, lambda name: Path(name).write_text(page, encoding="utf-8"))


def document(title: str, body: Iterable[Markup]) -> str:
    """Make a whole page around the parts of its body."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        Markup(f"<style>{STYLE}</style>"),
    )
    main = tag("main", *body, tag("footer", "Made by unweave."))
    return f"<!doctype html>\n{tag('html', head, tag('body', main), lang='en')}\n"


def _header(facts: dict, sentence: str) -> Markup:
    source = f" · {facts['source']}" if facts.get("source") else ""
    figures = [(noun(facts, 2), whole(facts["components"]))]
    n, m = facts["shape"]
    figures.append(("table", f"{whole(n)} × {whole(m)}" if n is not None else f"{whole(m)} columns"))
    if facts.get("quality"):
        figures.append((f"of {facts['quality']['of']} explained", percent(facts["quality"]["share"])))
    if facts.get("objective") is not None:
        figures.append(("objective", amount(facts["objective"])))
    if facts.get("iterations") is not None:
        figures.append(("iterations", whole(facts["iterations"])))
    if facts.get("history"):
        figures.append(("time", seconds(facts["history"]["seconds"][-1])))
    against = against_means(facts.get("held_out"))
    strip = [tag("div", tag("dt", name), tag("dd", value)) for name, value in figures]
    return tag(
        "header",
        tag("p", f"Report on {facts['model']}{source}", class_="kicker"),
        tag("h1", sentence),
        tag("p", against, class_="lede") if against else None,
        tag("dl", *strip, class_="strip"),
    )


def _plan(facts: dict) -> Markup | None:
    plan, certificate = facts.get("plan") or {}, facts.get("certificate") or {}
    if not plan and not certificate:
        return None
    names = (("problem", "problem"), ("solver", "method"), ("codes", "codes"), ("components", "components"))
    rows = [(title, plan.get(name)) for name, title in (*names, ("start", "start"))]
    rows += [("because", reason) for reason in plan.get("reasons") or []]
    rows += [("how good", certificate.get("words")), ("fine print", _bound(certificate))]
    return panels.section("Plan and certificate", _table([(title, value) for title, value in rows if value]))


def _bound(certificate: dict) -> str | None:
    if certificate.get("kind") not in ("eckart-young", "duality") or certificate.get("lower_bound") is None:
        return None
    exact = "" if certificate.get("exact") else ", by estimate"
    reached, bound = amount(certificate["objective"]), amount(certificate["lower_bound"])
    return f"The objective is {reached}; none can be below {bound}{exact}."


def _asked(facts: dict) -> Markup:
    rows: list[tuple[Any, Any]] = [("in words", facts["asked"])] if facts.get("asked") else []
    rows += [(tag("code", name), tag("b", value)) for name, value, changed in facts["parameters"] if changed]
    rest = [f"{name}={value}" for name, value, changed in facts["parameters"] if not changed]
    if rest:
        rows.append(("left as they are", tag("code", ", ".join(rest))))
    names = facts.get("columns") or []
    if names:
        more = int(facts["shape"][1]) - 12
        shown = join((tag("bdi", str(name)[:60]) for name in names[:12]), ", ")
        rows.append(("columns", tag("span", shown, f", … and {whole(more)} more" if more > 0 else "")))
    rows += [("when read", decision) for decision in facts.get("reading") or []]
    remarks = [panels.note(remark) for remark in facts.get("notes") or []]
    return panels.section("What was asked", _table(rows), *remarks)


def _table(rows: list[tuple[Any, Any]]) -> Markup:
    return tag(
        "table", tag("tbody", *(tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows))
    )


def _code(facts: dict) -> Markup | None:
    if not facts.get("code"):
        return None
    return panels.section("The same again in Python", tag("pre", lines(facts["code"])))


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
        tag("article", tag("p", name, class_="part"), *story(facts), id=f"part-{i}")
        for i, (name, facts) in enumerate(reports.items())
    ]
    return document(title, [head, *parts])
