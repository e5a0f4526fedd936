"""Put titles in the place of the ids of items, by a second file that lists them."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from unweave.data.named import NamedTable

_TITLES = ("title", "name", "label", "description")


def titled(table: NamedTable, path: str | os.PathLike) -> NamedTable:
    """Name the columns of a table by titles: a file of them has the ids in its first column.

    The title is in the column called so (title, name, label, description), else in the second. An id without a title
    stays, and items of the same title keep their ids behind it.
    """
    found = read_titles(path)
    ids = table.columns or [str(j) for j in range(table.shape[1])]
    titles = [found.get(item, item) for item in ids]
    if not any(item in found for item in ids):
        raise ValueError(f"{path} has a title for none of the items, such as {ids[0]!r}; ids are in its first column")
    often = Counter(titles)
    return table.with_(columns=[t if often[t] == 1 else f"{t} [{item}]" for t, item in zip(titles, ids, strict=True)])


def read_titles(path: str | os.PathLike) -> dict[str, str]:
    """Read ids and titles from a CSV or TSV file, maybe packed."""
    frame = read_columns(path, "ids and titles")
    by_name = [name for known in _TITLES for name in frame.columns[1:] if name.strip().lower() == known]
    column = by_name[0] if by_name else frame.columns[1]
    return {item: title for item, title in frame.select(frame.columns[0], column).iter_rows() if title}


def read_columns(path: str | os.PathLike, what: str) -> Any:
    """Read a small file of two or more columns as a frame of texts; `what` they are is said if it cannot be read."""
    frame = next((found for separator in ("\t", ",", ";", "|") if (found := _read(path, separator)) is not None), None)
    if frame is None:
        raise ValueError(f"{path} cannot be read as a table of {what}; save it as CSV")
    return frame


def _read(path: str | os.PathLike, separator: str) -> Any:
    """Read a table of texts; None if it does not have two columns and more with this separator."""
    import polars

    quote = None if separator == "\t" else '"'
    try:
        frame = polars.read_csv(os.fspath(path), separator=separator, infer_schema=False, quote_char=quote)
    except polars.exceptions.PolarsError:
        return None
    return frame if frame.width > 1 else None
