"""Draw how the answer was found, for those who ask: parameters, plan, convergence, certificate; folded away."""

from __future__ import annotations

import math
from typing import Any

from unweave.report.markup import Markup, join, lines, tag
from unweave.report.numbers import readable
from unweave.report.panels import note
from unweave.report.svg import curve
from unweave.report.words import kind_of, seconds, whole


def how(facts: dict) -> Markup:
    """Draw the folded part: what was asked, what was decided, how the fit went and how good it provably is."""
    parts = [_asked(facts), _plan(facts), _convergence(facts), _ridge(facts)]
    if kind_of(facts) in ("axis", "direction"):
        parts.append(_hidden(facts))
    return tag("details", tag("summary", "How this was found"), *parts, class_="how")


def _part(title: str, *children: Any) -> Markup:
    return tag("div", tag("h3", title), *children, class_="part")


def _asked(facts: dict) -> Markup:
    rows: list[tuple[Any, Any]] = [("in words", facts["asked"])] if facts.get("asked") else []
    rows.append(("model", tag("code", facts["model"])))
    rows += [(tag("code", name), tag("b", value)) for name, value, changed in facts["parameters"] if changed]
    rest = [f"{name}={value}" for name, value, changed in facts["parameters"] if not changed]
    if rest:
        rows.append(("left as they are", tag("code", ", ".join(rest))))
    names = facts.get("columns") or []
    if names:
        more = int(facts["shape"][1]) - 12
        shown = join((tag("bdi", str(name)[:60]) for name in names[:12]), ", ")
        rows.append(("columns", tag("span", shown, f", … and {whole(more)} more" if more > 0 else "")))
    remarks = [note(remark) for remark in facts.get("notes") or []]
    return _part("What was asked", _table(rows), *remarks)


def _plan(facts: dict) -> Markup | None:
    plan, certificate = facts.get("plan") or {}, facts.get("certificate") or {}
    rows: list[tuple[Any, Any]] = [("decided", decision) for decision in facts.get("reading") or []]
    names = (("problem", "problem"), ("solver", "method"), ("codes", "codes"), ("components", "components"))
    rows += [(title, plan.get(name)) for name, title in (*names, ("start", "start"))]
    rows += [("because", reason) for reason in plan.get("reasons") or []]
    rows += [("how good", certificate.get("words")), ("fine print", _bound(certificate))]
    skipped = (facts.get("held_out") or {}).get("skipped")
    rows.append(("hidden entries", f"Not measured. {skipped}" if skipped else None))
    kept = [(title, value) for title, value in rows if value]
    return _part("Plan and certificate", _table(kept)) if kept else None


def _bound(certificate: dict) -> str | None:
    if certificate.get("kind") not in ("eckart-young", "duality") or certificate.get("lower_bound") is None:
        return None
    exact = "" if certificate.get("exact") else ", by estimate"
    reached, bound = readable(certificate["objective"]), readable(certificate["lower_bound"])
    return f"The objective is {reached}; none can be below {bound}{exact}."


def _convergence(facts: dict) -> Markup | None:
    """Draw the objective by iteration and by time."""
    found = facts.get("history")
    if not found:
        return None
    done = [
        (i, float(y), float(s))
        for i, y, s in zip(found["iteration"], found["objective"], found["seconds"])
        if y is not None and math.isfinite(y)
    ]
    reason = found["stopped"] or "done"
    if len(done) < 2:
        return _part("Convergence", note(f"One step was enough; it ended because: {reason}."))
    steps, values, times = zip(*done)
    words = f"{whole(steps[-1])} iterations in {seconds(times[-1])} to an objective of {readable(values[-1])}; "
    charts = [
        curve(steps, values, "iteration", "objective", "Objective after each iteration", counts=True),
        curve(times, values, "seconds", "objective", "Objective against time", start=0.0),
    ]
    return _part("Convergence", note(f"{words}it ended because: {reason}."), tag("div", *charts, class_="pair"))


def _ridge(facts: dict) -> Markup | None:
    """Draw the error on held-out entries for every strength tried."""
    path = facts.get("ridge_path")
    if not path or len(path) < 2:
        return None
    best = min(range(len(path)), key=lambda i: path[i][1])
    words = "Strengths that were tried while fitting, on a tenth of the entries that was held out; "
    words += f"{readable(path[best][0])} had the least error and was used for all."
    chart = curve(
        [math.log10(float(strength)) for strength, _ in path],
        [float(error) for _, error in path],
        "log₁₀ of the ridge strength",
        "held-out error",
        "Held-out error by ridge strength",
        mark=(best, readable(path[best][0])),
    )
    return _part("Strength of the ridge", note(words), tag("div", chart, class_="pair"))


def _hidden(facts: dict) -> Markup | None:
    """Compare errors at hidden entries, for axes, which are there to keep what is seen and not to guess."""
    found = facts.get("held_out") or {}
    scores = [(str(name), readable(error)) for name, error in found.get("scores") or []]
    return _part("Entries the model had not seen", note(found["how"]), _table(scores)) if scores else None


def _table(rows: list[tuple[Any, Any]]) -> Markup:
    return tag(
        "table", tag("tbody", *(tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows))
    )


def code(facts: dict) -> Markup | None:
    """Write the Python that does the same again, with a button that copies it."""
    if not facts.get("code"):
        return None
    copy = tag("button", "Copy", type="button", class_="copy", hidden="")
    head = tag("h2", "The same again in Python", copy)
    return tag("section", head, tag("pre", lines(facts["code"])), class_="again")
