"""Run ``unweave describe``: say what is in a file and which job it suggests."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import read_table
from unweave.data.named import NamedTable

_SHOWN = 12


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    table = read_table(settings, speaker)
    job, why = suggest(table)
    facts = facts_of(table)
    for name, value in facts.items():
        speaker.line(f"  {name}: {value}")
    speaker.table("", ["column", "type", "missing", "least", "mean", "most"], columns_of(table))
    if table.shape[1] > _SHOWN:
        speaker.line(f"  … and {table.shape[1] - _SHOWN:,} more columns")
    speaker.line(f"suggested: unweave {job} {settings.file}    ({why})")
    speaker.result({"verb": "describe", "file": str(settings.file), "kind": table.kind, "rows": table.shape[0],
                    "columns": table.shape[1], **facts, "suggested": job, "why": why})  # fmt: skip
    return 0


def suggest(table: NamedTable) -> tuple[str, str]:
    """Suggest (job, why): what people usually want of such a table."""
    if table.kind == "ratings" or table.missing == "zeros":
        return "complete", "most ratings are unknown"
    if table.kind in ("text", "counts"):
        return "topics", "counts of words"
    if table.kind == "images":
        return "explain", "pictures: parts"
    if share_missing(table) > 0:
        return "complete", "some entries are missing"
    if table.kind == "pairs":
        return "group", "who has what: rows that are alike"
    return ("compress", "many columns") if table.shape[1] > 10 else ("group", "few columns: rows that are alike")


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
    facts: dict[str, Any] = {"missing": f"{share_missing(table):.2%} of the entries"}
    if table.sparse:
        facts["stored"] = f"{table.X.nnz:,} entries, {table.X.nnz / cells:.3%} of the table"
        facts["memory"] = _bytes(table.X.data.nbytes + table.X.indices.nbytes + table.X.indptr.nbytes)
    elif table.numeric:
        facts["zeros"] = f"{float((table.X == 0).sum() / cells):.2%} of the entries"
        facts["memory"] = _bytes(table.X.nbytes)
    facts["row names"] = "yes" if table.rows is not None else "no"
    if table.image is not None:
        facts["pictures"] = "×".join(map(str, table.image)) + " pixels"
    return facts


def _bytes(n: float) -> str:
    for unit in ("B", "KB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"


def columns_of(table: NamedTable) -> list[list[str]]:
    """Collect one line for each of the first columns: name, type, share missing, least, mean, most."""
    names = table.columns or [f"column {j + 1}" for j in range(table.shape[1])]
    return [[name, *_column(table, j)] for j, name in enumerate(names[:_SHOWN])]


def _column(table: NamedTable, j: int) -> list[str]:
    if not table.numeric:
        series = table.X.to_series(j)
        missing = f"{series.null_count() / max(len(series), 1):.0%}"
        if not series.dtype.is_numeric():
            return [f"text, {series.n_unique()} different", missing, "", "", ""]
        values = series.cast(float).to_numpy()
    elif table.sparse:
        column = table.X[:, [j]]
        values = column.data if table.missing == "zeros" else column.toarray().ravel()
        missing = f"{1 - column.nnz / max(table.shape[0], 1):.0%}" if table.missing == "zeros" else "0%"
    else:
        values = table.X[:, j]
        missing = f"{np.isnan(values).mean():.0%}"
    known = values[~np.isnan(values)]
    if not known.size:
        return ["empty", missing, "", "", ""]
    kind = "0/1" if np.isin(known, (0, 1)).all() else "whole" if (known == np.round(known)).all() else "number"
    return [kind, missing, *(f"{v:.4g}" for v in (known.min(), known.mean(), known.max()))]
