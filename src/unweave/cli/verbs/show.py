"""Run ``unweave show``: show the answer of a saved model in the terminal, by what was saved beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unweave.cli.options import Settings
from unweave.cli.say import Speaker

_MOST, _TOP = 20, 8


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    top = settings.top or _TOP
    found, facts, extra = saved(settings.model, top)
    largest = [one[:top] for one in facts["largest"]]
    made_of = f"{facts['model']}, {facts['components']:,} components of {facts['columns']:,} columns"
    speaker.line(f"{settings.model}: {facts.get('title', made_of)}")
    speaker.answer(found)
    rows = (
        []
        if settings.top is None
        else [
            [str(i), ", ".join(f"{name} {weight}" for name, weight in one)]
            for i, one in enumerate(largest[:_MOST], facts["first"])
        ]
    )
    speaker.table("Components, largest columns first", [facts["noun"], "columns and their weights"], rows)
    if len(rows) < len(largest) and rows:
        speaker.line(f"… and {len(largest) - _MOST:,} more")
    for note in (extra.get("recipe") or {}).get("notes", []):
        speaker.note(note)
    speaker.line(facts["plan_words"])
    speaker.result({
        "verb": "show", "made_by": extra.get("verb"),
        **{name: facts[name] for name in ("model", "components", "columns", "objective", "plan", "certificate")},
        "largest": [[name for name, _ in one] for one in largest], "headline": found["headline"],
        "answer": found["data"],
    })  # fmt: skip
    return 0


def saved(path: Path, top: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Read the answer of a model, what it is made of, and all that was saved beside it.

    A file written by ``model.save``, or by earlier code, has no answer in it: then the model itself is asked.
    """
    from unweave.cli.output import is_vectors
    from unweave.persist import read_extra

    if is_vectors(path):
        told, about = _of_vectors(path)
        return told, about, {"verb": "embed"}
    extra = read_extra(path)
    facts = extra.get("shown")
    if facts is None or "answer" not in extra:
        return *_asked(path, top), extra
    if "title" in facts or top <= max(map(len, facts["largest"]), default=top):
        return extra["answer"], facts, extra
    return *_asked(path, top), extra


def _asked(path: Path, top: int) -> tuple[dict[str, Any], dict[str, Any]]:
    from dataclasses import asdict

    from unweave.cli.output import open_model, shown
    from unweave.report.answer import answer

    model, recipe, _ = open_model(path)
    return asdict(answer(model, None, recipe)), shown(model, top)


def _of_vectors(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    from dataclasses import asdict

    from unweave.cli.output import shown_vectors
    from unweave.embed.vectors import Vectors
    from unweave.report.answer import answer

    vectors = Vectors.read(path)
    return asdict(answer(vectors)), shown_vectors(vectors)
