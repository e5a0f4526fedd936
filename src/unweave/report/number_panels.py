"""Draw why there are so many components: the numbers that were tried, and the spectrum."""

from __future__ import annotations

import math

from unweave.report.markup import Markup, tag
from unweave.report.numbers import readable
from unweave.report.panels import note, section
from unweave.report.svg import curve, running_total, scree
from unweave.report.words import kind_of, noun, taken_instead, whole

# What a score means to somebody who has never heard of it.
_MEANING = {
    "groups": "The higher, the nearer rows lie to their own group and the farther from the next.",
    "silhouette": "The higher, the nearer rows lie to their own group and the farther from the next.",
    "held-out": "Some known entries were hidden: the lower, the better they were predicted.",
    "bi-cross-validation": "Blocks of the table were hidden: the lower, the better they were predicted.",
    "completion": "Half the words of some documents were hidden: the lower, the better they were foreseen.",
    "bic": "The lower, the better the model describes the table for the number of things it has to learn.",
    "core consistency": "100 where no two components describe the same thing, zero and below where they do.",
}
# Below, a score says no more than that, and would hide all others if it were drawn where it is.
_FLOORS = {"core consistency": 0.0}


def choice(facts: dict) -> Markup | None:
    """Draw the curve by which the number of components was chosen."""
    found = facts.get("choice")
    if not found:
        return None
    tried, best = [int(k) for k in found["tried"]], int(found["best"])
    known = [(k, float(score)) for k, score in zip(tried, found["scores"]) if score is not None]
    if len(known) < 2 or best not in dict(known):
        return None
    words = _choice_words(facts, found, dict(known), best)
    at = [k for k, _ in known].index(best)
    floor = _FLOORS.get(str(found["by"]), -math.inf)
    chart = curve(
        [k for k, _ in known],
        [max(score, floor) for _, score in known],
        f"number of {noun(facts, 2)}",
        str(found["title"]),
        f"{found['title']} by number of {noun(facts, 2)}; {best} was taken",
        counts=True,
        mark=(at, f"{best} taken"),
    )
    drawn = tag("div", chart, class_="pair")
    if any(score < floor for _, score in known):
        words += f" Below {floor:g} it is drawn at {floor:g}."
    return section(f"Why {best} {noun(facts, best)}?", note(words), drawn, note(found["note"]))


def _choice_words(facts: dict, found: dict, scores: dict[int, float], best: int) -> str:
    """Say which number was taken and why, in words that agree with the curve."""
    top = (max if found["larger"] else min)(scores, key=lambda k: scores[k])
    span = f"Numbers from {whole(min(scores))} to {whole(max(scores))} were tried, judged by the {found['title']}."
    means = _MEANING.get(str(found["by"]), "More is better." if found["larger"] else "Less is better.")
    if scores[top] == scores[best]:
        taken = f"{best} {'is' if best != 1 else 'alone is'} best ({readable(scores[best])})."
    else:
        why = taken_instead(str(found["by"]))
        taken = f"{best} was taken ({readable(scores[best])}) though {top} scores {readable(scores[top])}: {why}."
    return f"{span} {means} {taken}"


def spectrum(facts: dict) -> Markup | None:
    """Draw how much each further component adds.

    Where the curve bends is only said when nothing else decided on the number: one page gives one answer.
    """
    found = facts.get("spectrum")
    if not found or not found["shares"]:
        return None
    knee = None if found["knee"] is None or facts.get("choice") else int(found["knee"])
    used, of = int(facts["components"]), str(found["of"])
    words = f"Singular values of the table, squared, as shares {of}; from {found['seen']}."
    ours = kind_of(facts) in ("axis", "direction")
    dark = (
        f"Dark columns are the {noun(facts, 2)}" if ours else f"{used} are dark, as many as there are {noun(facts, 2)}"
    )
    words += f" {dark} of the model."
    if knee:
        mean = "" if found.get("centred", True) else " (the first, which is mostly the mean of the rows, left aside)"
        words += f" The curve bends after {knee}{mean}, which is a hint and no rule."
    charts = [scree(found["shares"], knee, used, of), running_total(found["cumulative"], used, of)]
    title = f"What each of the {noun(facts, 2)} adds" if ours else "How much there is to find"
    return section(title, note(words), tag("div", *charts, class_="pair"))
