"""Run ``unweave describe``: say what is in a file, what each column is for, and which job it suggests."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import n_rows, read_some, say_table
from unweave.data.dates import days_of, find_layout, layout_of_numbers, written
from unweave.data.named import NamedTable
from unweave.data.roles import ColumnRole, column_of, column_roles
from unweave.report.numbers import counted, percent, readable, readable_bytes

_SHOWN = 30
_LEVELS = 3
_WORD = r"\S+"
_KINDS = {
    "order": "row number",
    "prose": "free text",
    "flag": "yes or no",
}  # where the word of the library is not plain


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    table = read_some(settings)
    say_table(table, settings, speaker)
    roles = column_roles(table)
    job, why = suggest(table)
    facts = facts_of(table)
    for name, value in facts.items():
        speaker.line(f"  {name}: {value}")
    speaker.table("", ["column", "kind", "missing", "what is in it"], columns_of(table, roles))
    if table.shape[1] > _SHOWN:
        speaker.line(f"  … and {counted(table.shape[1] - _SHOWN, 'more column')}")
    for line in unused(table, roles):
        speaker.line(f"  {line}")
    speaker.line(f"suggested: unweave {job} {shlex.quote(str(settings.file))}    ({why})")
    speaker.result({"verb": "describe", "file": str(settings.file), "kind": table.kind, "rows": n_rows(table),
                    "columns": table.shape[1], **facts, "roles": {role.name: role.kind for role in roles[:10_000]},
                    "suggested": job, "why": why})  # fmt: skip
    return 0


def suggest(table: NamedTable) -> tuple[str, str]:
    """Suggest (job, why): what people usually want of such a table."""
    if table.kind == "ratings" or table.missing == "zeros":
        return "complete", "most ratings are unknown"
    if table.kind in ("text", "counts"):
        return "topics", "counts of words"
    if table.kind == "images":
        return ("compress", "one picture") if table.image is None else ("explain", "pictures: parts")
    if table.rate is not None:
        return "compress", "sound: sources that are mixed in it"
    if table.kind == "pairs":
        return "recommend", "who has what: what else they would like"
    prose = table.prose
    if prose is not None:
        return "topics", f"{prose!r} is free text"
    used = [role.name for role in column_roles(table) if role.used]
    if _holes(table, used):
        return "complete", "some entries are missing"
    return ("compress", "many columns") if len(used) > 10 else ("group", "few columns: rows that are alike")


def _holes(table: NamedTable, names: list[str]) -> bool:
    """Tell whether a value is missing in some of the columns."""
    if table.numeric:
        return share_missing(table) > 0
    return any(table.X[name].null_count() for name in names)


def share_missing(table: NamedTable) -> float:
    """Share of the entries that are unknown."""
    cells = float(np.prod(table.shape)) or 1.0
    if table.sparse:
        return 1 - table.X.nnz / cells if table.missing == "zeros" else 0.0
    if table.numeric:
        return float(np.isnan(table.X).sum() / cells)
    return float(sum(table.X[name].null_count() for name in table.X.columns) / cells)


def facts_of(table: NamedTable) -> dict[str, Any]:
    """Collect a few numbers about the whole table."""
    cells = float(np.prod(table.shape)) or 1.0
    facts: dict[str, Any] = {"missing": f"{percent(share_missing(table))} of the entries"}
    if table.sparse:
        facts["stored"] = f"{counted(table.X.nnz, 'entry', 'entries')}, {percent(table.X.nnz / cells)} of the table"
        facts["memory"] = readable_bytes(table.X.data.nbytes + table.X.indices.nbytes + table.X.indptr.nbytes)
    elif table.numeric:
        facts["zeros"] = f"{percent(float((table.X == 0).sum() / cells))} of the entries"
        facts["memory"] = readable_bytes(table.X.nbytes)
    facts["row names"] = (f"by {table.named_by!r}" if table.named_by else "yes") if table.rows is not None else "no"
    if table.image is not None:
        facts["pictures"] = "×".join(map(str, table.image)) + " pixels"
    return facts


# -- one line for each column ------------------------------------------------------------------------------------------


def unused(table: NamedTable, roles: list[ColumnRole]) -> list[str]:
    """Say which columns other jobs leave out, and why; nothing where all are used."""
    if table.kind != "table":
        return []
    left = [role for role in roles if not role.used and role.kind not in ("constant", "empty")]
    return [f"{role.name!r} is no measurement: {role.why}" for role in left[:_SHOWN]]


def columns_of(table: NamedTable, roles: list[ColumnRole]) -> list[list[str]]:
    """Collect one line for each of the first columns: name, kind, share missing, and what is in it."""
    return [
        [role.name, _KINDS.get(role.kind, role.kind), *_contents(table, j, role)]
        for j, role in enumerate(roles[:_SHOWN])
    ]


def _contents(table: NamedTable, j: int, role: ColumnRole) -> list[str]:
    """Say how much of a column is missing and what the rest holds; a hole is not one of its values."""
    if table.sparse:
        column = table.X[:, [j]]
        unknown = table.missing == "zeros"
        missing = 1 - column.nnz / max(table.shape[0], 1) if unknown else 0.0
        return [percent(missing), _range(column.data if unknown else column.toarray().ravel())]
    column = column_of(table, j)
    if not isinstance(column, np.ndarray):
        return [percent(column.null_count() / max(len(column), 1)), _words(column, role)]
    known = column[~np.isnan(column)]
    missing = 1 - known.size / max(column.size, 1)
    if role.kind == "date" and (layout := layout_of_numbers(column, named_as_time=True)) is not None:
        return [percent(missing), _dates(days_of(known, layout))]
    if role.kind == "flag":
        return [percent(missing), f"{percent(known.mean())} are 1"]
    if role.kind in ("id", "order"):
        return [percent(missing), f"{readable(np.unique(known).size)} different"]
    return [percent(missing), _years(known) if role.kind == "year" else _range(known)]


def _words(column: Any, role: ColumnRole) -> str:
    known = column.drop_nulls()
    if role.kind == "date" and (layout := find_layout(known)) is not None and layout != "time of day":
        return _dates(days_of(known, layout))
    if role.kind == "prose":
        return f"{counted(int(known.str.count_matches(_WORD).median()), 'word')} at the median"
    levels: dict[str, int] = {}
    for word in known.to_list():
        levels[word] = levels.get(word, 0) + 1
    common = sorted(levels, key=lambda word: (-levels[word], word))
    if not common or levels[common[0]] == 1:
        return f"{readable(len(levels))} different"
    some = ", ".join(f"{_short(word)} ({percent(levels[word] / len(known))})" for word in common[:_LEVELS])
    return f"{readable(len(levels))} different: {some}" + (", …" if len(common) > _LEVELS else "")


def _short(word: str) -> str:
    return word if len(word) <= 24 else word[:23] + "…"


def _dates(days: np.ndarray) -> str:
    days = days[~np.isnan(days)]
    return f"{written(days.min())} to {written(days.max())}" if days.size else ""


def _years(known: np.ndarray) -> str:
    return f"{known.min():.0f} to {known.max():.0f}" if known.size else ""


def _range(known: np.ndarray) -> str:
    """Write the least, the mean and the largest of some numbers."""
    if not known.size:
        return ""
    low, mean, high = (readable(float(v)) for v in (known.min(), known.mean(), known.max()))
    return f"{low} to {high}, mean {mean}"
