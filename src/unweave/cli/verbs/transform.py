"""Run ``unweave transform``: find codes, groups, fills or predictions of the rows of another file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.output import (
    codes_frame,
    filled_frame,
    groups_frame,
    names_of,
    open_model,
    predictions_frame,
    predicts,
    stretches,
    without_formulas,
    write_frames,
)
from unweave.cli.place import file_for, stem
from unweave.cli.say import Speaker
from unweave.cli.work import read_quietly, read_some, say_table
from unweave.data.named import NamedTable
from unweave.data.recipe import Recipe


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    usual = Path(f"{stem(settings.file)}-codes.csv")
    target = None if str(settings.out) == "-" else file_for(settings.out, usual, settings.force)
    model, recipe, extra = open_model(settings.model)
    told: dict[str, Any] = {"text": extra["text"]} if extra.get("text") else {}
    told |= {"colour": True} if extra.get("channels", 1) > 1 else {}
    asked = _as_fitted(settings, extra)
    at_once = bool(told) or hasattr(model, "imputations") or predicts(model)
    table = read_quietly(asked, **told) if at_once else read_some(asked)
    say_table(table, asked, speaker)
    if extra.get("verb") == "complete" and table.sparse and table.missing is None:
        table = table.with_(missing="zeros")
    if table.kind == "text":
        table = _known_words(table, names_of(model, table.shape[1]), speaker)
    if "tiles" in extra:
        from unweave.cli.compressing.pictures import tiles_of

        table = tiles_of(table, extra["tiles"], extra.get("channels", 1))
    ready = table if recipe is None else recipe.apply(table)
    frames = _frames(model, table, ready, recipe)
    with speaker.hearing():
        if target is None:
            for i, frame in enumerate(frames):
                sys.stdout.write(without_formulas(frame).write_csv(include_header=i == 0))
            return 0
        rows = write_frames(target, frames)
    speaker.line(f"{target}: {rows:,} row{'' if rows == 1 else 's'}")
    speaker.result({"verb": "transform", "model": str(settings.model), "file": str(settings.file),
                    "rows": rows, "out": str(target)})  # fmt: skip
    return 0


def _frames(model: Any, table: NamedTable, ready: NamedTable, recipe: Recipe | None) -> Iterator[Any]:
    """Yield what the model says of the rows, as frames that follow each other."""
    if hasattr(model, "imputations"):
        yield filled_frame(model, table)
        return
    if predicts(model):
        yield predictions_frame(model, table)
        return
    for X, names in stretches(ready, recipe):
        yield (
            groups_frame(model, X, names)
            if hasattr(model, "labels_")
            else codes_frame(model, model.transform(X), names)
        )


def _as_fitted(settings: Settings, extra: dict) -> Settings:
    """Tell documents apart as for the fit, and count every word: later the model's own are picked."""
    lines = extra.get("lines") if settings.lines is None else settings.lines
    return replace(settings, stop_words="none", min_documents=1, max_words=sys.maxsize, lines=lines)


def _known_words(table: NamedTable, words: list[str], speaker: Speaker) -> NamedTable:
    """Take the words of the model for columns: others are passed over, those that are not there are zero."""
    from unweave.data import text as tx

    columns = tx.columns_of(tx.numbered(words), table.columns or [])
    known = int((columns >= 0).sum())
    if not known:
        raise ValueError(
            f"{table.source} has none of the {len(words):,} words of the model; is it of the same language?"
        )
    X = tx.CountedTerms(table.X, table.columns or []).select(columns, len(words))
    speaker.note(f"the model knows {known:,} of {len(columns):,} words")
    empty = int((np.diff(X.indptr) == 0).sum())
    if empty:
        speaker.note(f"without a word that the model knows: {empty:,} of {X.shape[0]:,} documents")
    return table.with_(X=X, columns=words)
