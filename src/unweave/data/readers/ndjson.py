"""NDJSON: one JSON object a line, its keys the columns."""

from __future__ import annotations

import json
from typing import Any

from unweave.data.named import NamedTable
from unweave.data.readers.blocks import Block, blocks
from unweave.data.readers.frames import columns_table, role
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source


def read_ndjson(source: Source, options: Options) -> NamedTable:
    """One object a line; a key that a line lacks is missing there."""
    import polars as pl

    if source.head(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        raise ReadError(source.name, "is one JSON array; write one object a line (NDJSON) instead", 1)
    roles: dict[str, str] = {}
    frames = [_checked(source, block, _frame(source, block), roles) for block in blocks(source)]
    frame = pl.concat(frames, how="diagonal") if frames else pl.DataFrame()
    if not frame.width:
        raise ReadError(source.name, 'holds no keys; write one JSON object a line, such as {"x": 1}', 1)
    return columns_table(source, options, dict(frame.schema), frame.height, frame.select)


FORMATS = {"ndjson": read_ndjson}


def looks_like(head: bytes, name: str) -> str | None:
    """Whether the text begins with a JSON object (or an array of them, which the reader refuses in words).

    >>> looks_like(b'{"x": 1}\\n', "a.txt"), looks_like(b"{1, 2}", "a.txt")
    ('ndjson', None)
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    inner = start[1:].lstrip()
    if start.startswith(b"[") and inner.startswith(b"{") and inner[1:].lstrip().startswith(b'"'):
        return "ndjson"
    return "ndjson" if start.startswith(b"{") and inner[:1] in (b'"', b"}") else None


def _frame(source: Source, block: Block) -> Any:
    """The block as numbers and words, by polars; line by line where it refuses."""
    import polars as pl

    try:
        frame = pl.read_ndjson(block.data, infer_schema_length=None)
    except (pl.exceptions.PolarsError, ValueError, RuntimeError):  # older versions raise plain RuntimeErrors
        return _slow_frame(source, block)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return _slow_frame(source, block)
    numbers = [name for name, dtype in frame.schema.items() if role(dtype) == "number"]
    return frame.with_columns([frame[name].cast(pl.Float64, strict=False) for name in numbers])


def _slow_frame(source: Source, block: Block) -> Any:
    """The block by Python's own parser, which takes NaN and names the line of what is wrong."""
    import polars as pl

    records = _records(source, block)
    names = list(dict.fromkeys(name for _, record in records for name in record))
    columns = {}
    for name in names:
        kinds: dict[str, int] = {}
        for line, record in records:
            kinds.setdefault(_kind(source, line, name, record.get(name)), line)
        kinds.pop("missing", None)
        if len(kinds) > 1:
            raise _mixed(source, max(kinds.values()), name)
        values = [record.get(name) for _, record in records]
        if "text" not in kinds:
            values = [None if value is None else float(value) for value in values]
        columns[name] = pl.Series(name, values, dtype=pl.String if "text" in kinds else pl.Float64)
    return pl.DataFrame(columns)


def _records(source: Source, block: Block) -> list[tuple[int, dict[str, Any]]]:
    records = []
    for line, raw in enumerate(block.data.split(b"\n"), block.line):
        if not raw.strip():
            continue
        try:
            record = json.loads(raw)
        except UnicodeDecodeError:
            words = "is not UTF-8 text; say which it is, for instance encoding='latin-1'"
            raise ReadError(source.name, words, line) from None
        except (ValueError, RecursionError):
            raise ReadError(source.name, "is not a JSON object; correct or remove the line", line) from None
        if not isinstance(record, dict):
            raise ReadError(source.name, 'is not a JSON object such as {"x": 1}; correct the line', line)
        records.append((line, record))
    return records


def _kind(source: Source, line: int, name: str, value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, int, float)):
        if (abs(value) != float("inf") and abs(value) < 1e308) or value != value:
            return "number"
        raise ReadError(source.name, f"{name!r} is infinite or too large; use null if it is missing", line)
    raise ReadError(source.name, f"{name!r} holds a list or an object; flatten it or leave it out", line)


def _mixed(source: Source, line: int, name: str) -> ReadError:
    return ReadError(source.name, f"{name!r} is a number on some lines and words on others; correct this one", line)


def _checked(source: Source, block: Block, frame: Any, roles: dict[str, str]) -> Any:
    """The frame, with types that agree with those of earlier blocks."""
    import polars as pl

    for name, dtype in frame.schema.items():
        if dtype == pl.Null or (frame.height and frame[name].null_count() == frame.height):
            frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(name))
            continue
        found = role(dtype)
        if found is None:
            raise ReadError(source.name, f"{name!r} holds lists or objects; flatten it or leave it out", block.line)
        if roles.setdefault(name, found) != found:
            raise _mixed(source, block.line, name)
    return frame
