"""Write the numbers and sentences of a report."""

from __future__ import annotations

import math
from typing import Any

from unweave.report.numbers import percent

VERSION = 1  # of facts: what is gathered and what is drawn must agree on it
# What one component is called: singular and plural.
_NOUNS = {
    noun: (noun, f"{noun}s")
    for noun in ("axis", "direction", "part", "topic", "role", "group", "state", "factor", "component")
}
_NOUNS["axis"] = ("axis", "axes")
# By what a model has, the most telling first, because a model of tomorrow has it too.
_BY_ATTRIBUTE = {
    "topics_": "topic",
    "roles_": "role",
    "transition_matrix_": "state",
    "labels_": "group",
    "user_ids_": "factor",
}
_BY_ATTRIBUTE |= {"singular_values_": "direction"}
_BY_MODEL = {"PCA": "axis", "NMF": "part"}


def called(model: Any) -> str:
    """Say what one component of a model is.

    >>> from types import SimpleNamespace
    >>> called(SimpleNamespace(labels_=[0, 1])), called(SimpleNamespace())
    ('group', 'component')
    """
    named = _BY_MODEL.get(type(model).__name__)
    found = (noun for attribute, noun in _BY_ATTRIBUTE.items() if hasattr(model, attribute))
    return named or next(found, "component")


# Why a number is taken that has not the very best score.
_INSTEAD = {
    "groups": "its groups are set farther apart for their size, or keep together what hangs together",
    "bi-cross-validation": "it is the smallest number that comes within a hundredth of the best",
    "completion": "it is the smallest number that comes within 5 % of the best",
}


def taken_instead(by: str) -> str:
    """Say why a criterion takes a number that does not score best."""
    return _INSTEAD.get(by, "the rule weighs more than this score alone")


def kind_of(facts: dict) -> str:
    """Say what one component is called; facts of an older version tell by whether there are groups."""
    return str(facts.get("called") or ("group" if facts.get("groups") else "component"))


def noun(facts: dict, count: int = 1) -> str:
    """Say what components are called: topics where parts of counts are drawn as such, else as their model says."""
    what = kind_of(facts)
    if facts.get("factors", {}).get("drawn") == "topics" and what in ("part", "component"):
        what = "topic"
    one, many = _NOUNS.get(what, _NOUNS["component"])
    return one if count == 1 else many


def first_number(facts: dict) -> int:
    """Number the first component: topics from 0, as ``describe()`` and the map do, all else from 1."""
    return 0 if kind_of(facts) == "topic" else 1


def whole(value: Any) -> str:
    """Write a whole number with its thousands apart.

    >>> whole(20000)
    '20,000'
    """
    return f"{int(value):,}"


def superscript(power: int) -> str:
    return str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def seconds(value: Any) -> str:
    """Write a duration in words."""
    value = float(value)
    return f"{value:.2g} s" if value < 10 else f"{value:.0f} s" if value < 120 else f"{value / 60:.1f} min"


def row_word(facts: dict) -> str:
    """Say what one row of the table is, with its article."""
    kinds = {"text": "a document", "counts": "a document", "ratings": "a user", "images": "an image"}
    return kinds.get(str(facts.get("kind")), "a row")


def table_words(facts: dict) -> str:
    """Describe the table that was fitted, in a phrase."""
    shape, kind = facts.get("shape"), str(facts.get("kind") or "table")
    things = {
        "text": ("documents", "words"),
        "counts": ("documents", "words"),
        "ratings": ("users", "items"),
        "images": ("images", "pixels"),
    }.get(kind, ("rows", "columns"))
    if not shape or shape[0] is None:
        return f"a table of {whole(shape[1])} {things[1]}" if shape else "a table"
    return f"{whole(shape[0])} {things[0]} × {whole(shape[1])} {things[1]}"


def summary(facts: dict) -> str:
    """Sum the page up in one sentence."""
    k = int(facts["components"])
    parts = f"{whole(k)} {noun(facts, k)}"
    quality = facts.get("quality")
    if quality:
        verb = "explains" if k == 1 else "explain"
        start = f"{parts} {verb} {percent(quality['share'])} of {quality['of']} in {table_words(facts)}"
    else:
        start = f"{parts} for {table_words(facts)}"
    return start + "."


def against_means(held_out: dict | None) -> str:
    """Tell how far the model beats means on entries it had not seen, as a sentence; empty when it was not measured."""
    scores = (held_out or {}).get("scores")
    if not scores:
        return ""
    mine, simple = float(scores[0][1]), min(float(error) for _, error in scores[1:])
    if not (simple > 0 and math.isfinite(mine)):
        return ""
    fall = 1 - mine / simple
    if fall < 0.005:
        return "Entries it had not seen are predicted no better than by means."
    return f"Entries it had not seen are predicted with {percent(fall)} less error than by means."
