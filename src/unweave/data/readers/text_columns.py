"""Makes texts out of one column of a table: counts of words, with the labels and dates that stand beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.dates import days_of, find_layout, layout_of_numbers
from unweave.data.named import NamedTable
from unweave.data.readers.source import Options
from unweave.data.readers.text import count_words
from unweave.data.roles import ColumnRole, column_of, column_roles, prose_note, shown

_MOST_LABELS = 50  # more levels than that are no labels that a page could show
_EXCERPT = 200  # letters


def count_column(table: NamedTable, column: str | None, options: dict[str, Any]) -> NamedTable:
    """Count the words of a column; ValueError says which columns there are if it is not one of words."""
    name = table.prose if column is None else column
    source = table.source or "the table"
    names = table.columns or []
    if name is None:
        raise ValueError(f"{source} has no column of free text; name one of {shown(names)}")
    if table.numeric or name not in names or isinstance(column_of(table, names.index(name)), np.ndarray):
        known = [] if table.numeric else [c for c in names if not table.X.schema[c].is_numeric()]
        raise ValueError(f"{source} has no column of words {name!r}; columns of words are: {shown(known) or 'none'}")
    texts = column_of(table, names.index(name)).fill_null("").to_list()
    roles = [role for role in column_roles(table) if role.name != name]
    rows, by = _document_names(table, roles)
    counted = count_words(texts, rows, Options(**options))
    labels, label_name = _labels(table, roles)
    times, time_name = _times(table, roles)
    read = [note for note in table.notes if note != prose_note(name)]
    notes = [*read, f"the texts are those of the column {name!r}", *counted.notes]
    if label_name:
        notes.append(f"{label_name!r} is kept beside the texts as their label")
    if time_name:
        notes.append(f"{time_name!r} is kept beside the texts as their date")
    others = [role.name for role in roles if role.name not in (label_name, time_name, by)]
    if others:
        notes.append(f"not used for texts: {shown(others, 5)}")
    return counted.with_(
        notes=notes, source=table.source, named_by=by, labels=labels, label_name=label_name, times=times,
        time_name=time_name, excerpts=[_excerpt(text) for text in texts],
    )  # fmt: skip


def _excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 2 * _EXCERPT].split())
    return line if len(line) <= _EXCERPT else line[: _EXCERPT - 1] + "…"


def _document_names(table: NamedTable, roles: list[ColumnRole]) -> tuple[list[str], str]:
    """Name documents by the rows, or by an id that is different in every row, or by their numbers."""
    n = table.shape[0]
    if table.rows is not None:
        return table.rows, table.named_by
    for role in roles:
        if role.kind in ("id", "order"):
            ids = _as_texts(_column(table, role.name))
            if len(set(ids)) == n and "" not in ids:
                return ids, role.name
    return [str(i + 1) for i in range(n)], ""


def _labels(table: NamedTable, roles: list[ColumnRole]) -> tuple[NDArray | None, str]:
    """Return the first category or flag of few levels, "" where it is not known."""
    for wanted in ("category", "flag"):
        for role in (role for role in roles if role.kind == wanted):
            values = np.array(_as_texts(_column(table, role.name)), dtype=str)
            if len(np.unique(values)) <= _MOST_LABELS:
                return values, role.name
    return None, ""


def _times(table: NamedTable, roles: list[ColumnRole]) -> tuple[NDArray | None, str]:
    """Return the first dates, else years, as datetime64 with NaT where they are not known."""
    for role in (role for role in roles if role.kind == "date"):
        column = _column(table, role.name)
        is_number = isinstance(column, np.ndarray)
        layout = layout_of_numbers(column, named_as_time=True) if is_number else find_layout(column)
        if layout is None or layout == "time of day":
            continue
        days = days_of(column, layout)
        seconds = np.round(np.where(np.isnan(days), 0, days) * 86400).astype("datetime64[s]")
        return np.where(np.isnan(days), np.datetime64("NaT"), seconds), role.name
    for role in (role for role in roles if role.kind == "year"):
        years = _column(table, role.name)
        known = np.where(np.isnan(years), 1970, years).astype(np.int64)
        known = np.where(known < 100, known + 1900, known)
        dates = (known - 1970).astype("datetime64[Y]").astype("datetime64[s]")
        return np.where(np.isnan(years), np.datetime64("NaT"), dates), role.name
    return None, ""


def _column(table: NamedTable, name: str) -> Any:
    return column_of(table, (table.columns or []).index(name))


def _as_texts(column: Any) -> list[str]:
    if isinstance(column, np.ndarray):
        return ["" if np.isnan(x) else f"{x:.15g}" for x in column]
    return column.fill_null("").to_list()
