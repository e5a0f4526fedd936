"""Collect what a report says about single rows: their names, the words they begin with, and where each belongs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.readers.source import Source
from unweave.report.labels import told_apart
from unweave.report.markup import plain
from unweave.report.view import POOL, View, are_labels, codes_of, components_of
from unweave.report.words import called

_CODES = 4  # columns of numbers beside the name of a row
_QUOTED = 70  # letters of a document
_ENTRIES = 6_000_000
_LINE = re.compile(r"line (\d{1,12})")


def drawn_rows(view: View) -> NDArray[np.intp]:
    """Choose the rows that a page knows by name: all of them, or the same 1500 in every picture."""
    return view.sample(max(2, min(POOL, _ENTRIES // view.n_columns)))


def row_facts(model: Any, view: View | None) -> dict | None:
    """List the rows that can be found on the page: name, group or strongest component, and a few numbers of each."""
    if view is None or view.n_columns > _ENTRIES or view.n_rows < 2:
        return None
    rows = drawn_rows(view)
    facts: dict[str, Any] = {"number": rows.tolist(), "name": row_names(view, rows), "of": view.n_rows}
    k = len(components_of(model))
    codes = _codes(model, view, rows)
    if codes is None or codes.shape[1] < k:
        return {**facts, "belongs": None, "codes": None}
    codes = codes[:, :k]
    if called(model) in ("group", "state") or are_labels(getattr(model, "codes_", None)):
        return {**facts, "belongs": codes.argmax(axis=1).tolist(), "codes": None}
    shown = codes[:, :_CODES]
    return {**facts, "belongs": None, "codes": [[_short(value) for value in row] for row in shown]}


def _codes(model: Any, view: View, rows: NDArray) -> NDArray | None:
    try:
        return codes_of(model, view, rows)
    except Exception:  # a model that keeps no codes and cannot find any: the names are still worth having
        return None


def _short(value: float) -> float:
    return float(f"{float(value):.3g}")


def row_names(view: View, rows: NDArray) -> list[str]:
    """Name some rows: as the table does, by the words that a document begins with, or by number.

    A name that several rows bear is followed by the number of the row.
    """
    if view.rows is None:
        names = {int(i): f"row {i + 1:,}" for i in rows}
    else:
        times = Counter(view.rows)
        short = {int(i): plain(view.rows[i], 80) for i in rows}
        names = {i: name if times[view.rows[i]] == 1 else f"{name} (row {i + 1:,})" for i, name in short.items()}
    first = first_words(view, rows)
    return told_apart(f"{name}: “{first[i]}”" if first.get(i) else name for i, name in names.items())


def first_words(view: View, rows: NDArray) -> dict[int, str]:
    """Quote the beginning of documents, by row; rows of which the text is not at hand are left out.

    Counts of words do not keep the texts: these are looked up in the file, or the folder, that the table came from.
    """
    if view.excerpts is not None:
        return {int(i): plain(view.excerpts[i], _QUOTED) for i in rows}
    if view.kind != "text" or view.rows is None or not view.source:
        return {}
    try:
        place = Path(view.source)
        if place.is_dir():
            return {int(i): _opening(place / view.rows[i]) for i in rows}
        return _lines_of(place, view.rows, rows) if place.is_file() else {}
    except (OSError, ValueError):
        return {}


def _opening(path: Path) -> str:
    with path.open(encoding="utf-8", errors="replace") as file:
        return plain(" ".join(file.read(4 * _QUOTED).split()), _QUOTED)


def _lines_of(path: Path, names: list[str], rows: NDArray) -> dict[int, str]:
    """Read the lines that rows are named by ("line 12")."""
    found = {int(i): _LINE.fullmatch(str(names[i])) for i in rows}
    wanted = {int(match[1]): i for i, match in found.items() if match is not None}
    out: dict[int, str] = {}
    if not wanted:
        return out
    last = max(wanted)
    for number, line in Source(path).lines():
        if number in wanted:
            out[wanted[number]] = plain(" ".join(line[: 8 * _QUOTED].split()), _QUOTED)
        if number >= last:
            break
    return out
