"""Reads typed columns (Parquet, JSON, NDJSON) into one array, a few columns at a time, so that none is held twice."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.build import column_asked, dense_table, frame_table, row_names
from unweave.data.readers.lines import Block, blocks
from unweave.data.readers.source import Options, ReadError, Source

_LEAST_BYTES = 64 << 20
_FIRST_ROWS = 1000


def role_of_type(dtype: Any) -> str | None:
    """Return "number", "text", or None for columns that are neither (lists, objects, bytes)."""
    import polars as pl

    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return "number"
    if dtype.is_temporal() or dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return None


def columns_table(
    source: Source, options: Options, schema: dict[str, Any], n: int, take: Callable[[list[str]], Any]
) -> NamedTable:
    """Make a table of `n` rows from typed columns; ``take(names)`` hands out a frame with some of them."""
    roles = {name: role_of_type(dtype) for name, dtype in schema.items()}
    for name, found in roles.items():
        if found is None:
            words = f"the column {name!r} holds {schema[name]}, not numbers or words; flatten it or leave it out"
            raise ReadError(source.name, words)
    notes: list[str] = []
    names, asked = _names(source, options, roles)
    rows = None
    if names is not None:
        rows = row_names(_as_words(take([names])[names]), asked, names, notes)
    kept = [name for name in roles if rows is None or name != names]
    if any(roles[name] == "text" for name in kept):
        return frame_table(source, options, _typed_frame(source, take, kept, roles), rows, notes, names or "")
    X = _fill(source, options, kept, n, take)
    holes = bool(np.isnan(X.sum())) and bool(np.isnan(X).any())
    by = "" if rows is None else names
    return dense_table(source, options, X, holes=holes, rows=rows, columns=kept, notes=notes, named_by=by)


def _names(source: Source, options: Options, roles: dict[str, str | None]) -> tuple[str | None, bool]:
    """Return the column that names rows, and whether it was asked for."""
    names = list(roles)
    asked = column_asked(source, options, names)
    if asked is not None:
        return names[asked], True
    first = options.names == "auto" and len(names) > 1 and roles[names[0]] == "text"
    return (names[0] if first else None), False


def _as_words(column: Any) -> Any:
    import polars as pl

    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        column = whole if whole.cast(column.dtype).equals(column) else column
    return column.cast(pl.String)


def _typed_frame(
    source: Source, take: Callable[[list[str]], Any], kept: list[str], roles: dict[str, str | None]
) -> Any:
    import polars as pl

    frame = take(kept)
    types = {name: pl.String if roles[name] == "text" else pl.Float64 for name in kept}
    frame = frame.with_columns([frame[name].cast(types[name], strict=False) for name in kept])
    numbers = [name for name in kept if roles[name] == "number"]
    for name in numbers:
        _refuse_infinite(source, frame[name].to_numpy(), name)
    return frame.with_columns([frame[name].fill_nan(None) for name in numbers])


def _fill(source: Source, options: Options, kept: list[str], n: int, take: Callable[[list[str]], Any]) -> Any:
    import polars as pl

    width, size = len(kept), np.dtype(options.dtype).itemsize
    if n * width * size > source.memory_limit:
        words = f"{n:,} rows of {width:,} numbers need {n * width * size:,} bytes; if that is meant, raise limit="
        raise ReadError(source.name, words)
    X = np.empty((n, width), dtype=options.dtype)
    step = max(1, max(_LEAST_BYTES, X.nbytes // 8) // max(1, n * 8))
    for start in range(0, width, step):
        names = kept[start : start + step]
        frame = take(names)
        if frame.height != n:
            raise ReadError(source.name, f"announces {n:,} rows but holds {frame.height:,}; get the file again")
        with np.errstate(over="ignore"):
            for j, name in enumerate(names, start):
                X[:, j] = frame[name].cast(pl.Float64).to_numpy()
                _refuse_infinite(source, X[:, j], name)
    return X


def _refuse_infinite(source: Source, values: Any, name: str) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        words = f"row {int(infinite.argmax()) + 1} of the column {name!r} is infinite or too large"
        raise ReadError(source.name, f"{words}; leave the value out if it is missing")


# -- Parquet, by polars ------------------------------------------------------------------------------------------------


def read_parquet(source: Source, options: Options) -> NamedTable:
    """Read a Parquet file, a few columns at a time, into one array."""
    file: Any = io.BytesIO(source.everything()) if source.compressed else source.path
    schema, n = parquet_layout(source, file)

    def take(names: list[str]) -> Any:
        return _guarded(source, lambda pl: _scan(pl, file).select(names).collect())

    return columns_table(source, options, schema, n, take)


def parquet_layout(source: Source, file: Any) -> tuple[dict[str, Any], int]:
    """Find the types of the columns and the number of rows of a Parquet file, from its end alone."""
    _check_ends(source)
    schema = _guarded(source, lambda pl: dict(_scan(pl, file).collect_schema()))
    if not schema:
        raise ReadError(source.name, "holds no columns; there is nothing to read")
    return schema, _guarded(source, lambda pl: _scan(pl, file).select(pl.len()).collect().item())


def parquet_rows(source: Source, names: list[str], start: int, stop: int, dtype: str) -> NDArray:
    """Read some rows of some columns of a Parquet file, as numbers; nothing else of it is decoded."""

    def cast(pl: Any, rows: Any) -> Any:
        kind = pl.Float32 if dtype == "float32" else pl.Float64
        return rows.select([pl.col(name).cast(kind) for name in names])

    return _rows(source, start, stop, cast).to_numpy(order="c")


def read_parquet_rows(source: Source, options: Options, start: int, stop: int) -> NamedTable:
    """Read some rows of a Parquet file as a table, as :func:`read_parquet` does all of them."""
    frame = _rows(source, start, stop, lambda pl, rows: rows)
    return columns_table(source, options, dict(frame.schema), frame.height, frame.select)


def _rows(source: Source, start: int, stop: int, change: Callable[[Any, Any], Any]) -> Any:
    """Read some rows after a change of what is read; only the row groups that hold them are looked at."""
    frame = _guarded(source, lambda pl: change(pl, _scan(pl, source.path).slice(start, stop - start)).collect())
    if frame.height != stop - start:
        raise ReadError(source.name, f"holds {frame.height:,} rows here, where {stop - start:,} were announced")
    return frame


def parquet_names(source: Source, options: Options, schema: dict[str, Any]) -> int | None:
    """Find the column of a Parquet file that names the rows, by those of the first rows; None if there is none."""
    names, asked = _names(source, options, {name: role_of_type(dtype) for name, dtype in schema.items()})
    if names is None:
        return None
    first = _guarded(source, lambda pl: _scan(pl, source.path).select(names).head(_FIRST_ROWS).collect())
    return None if row_names(_as_words(first[names]), asked, names, []) is None else list(schema).index(names)


def _check_ends(source: Source) -> None:
    if source.compressed:
        return
    with source.open() as file:
        file.seek(max(0, source.size() - 8))
        tail = file.read()
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != b"PAR1" or length > source.size() - 8:
        raise ReadError(source.name, "the Parquet file is cut off or damaged at its end; get the file again")


def _scan(pl: Any, file: Any) -> Any:
    if isinstance(file, io.BytesIO):
        file.seek(0)
        return pl.scan_parquet(file)
    return pl.scan_parquet(file, glob=False, hive_partitioning=False)


def _guarded(source: Source, call: Any) -> Any:
    """Call polars; what it says of a damaged file becomes one sentence, a panic of its decoder too."""
    import polars as pl

    try:
        return call(pl)
    except (pl.exceptions.PolarsError, ValueError, OSError, RuntimeError, MemoryError, OverflowError) as error:
        raise ReadError(
            source.name, f"the Parquet file is damaged ({_first_line(error)}); get the file again"
        ) from None
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise ReadError(source.name, "the Parquet file is damaged; get the file again") from None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:120] if lines else type(error).__name__


# -- NDJSON: one JSON object per line, its keys the columns ------------------------------------------------------------


def read_ndjson(source: Source, options: Options) -> NamedTable:
    """Read one JSON object per line; a key that a line lacks is missing there."""
    import polars as pl

    if source.head(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return read_json(source, options)
    roles: dict[str, str] = {}
    frames = [_checked(source, block, _block_frame(source, block), roles) for block in blocks(source)]
    frame = pl.concat(frames, how="diagonal") if frames else pl.DataFrame()
    if not frame.width:
        raise ReadError(source.name, 'holds no keys; write one JSON object per line, such as {"x": 1}', 1)
    return columns_table(source, options, dict(frame.schema), frame.height, frame.select)


def _block_frame(source: Source, block: Block) -> Any:
    """Read the block as numbers and words, by polars, or line by line where it refuses."""
    import polars as pl

    try:
        frame = pl.read_ndjson(block.data, infer_schema_length=None)
    except (pl.exceptions.PolarsError, ValueError, RuntimeError):  # older versions raise plain RuntimeErrors
        return _block_frame_by_line(source, block)
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return _block_frame_by_line(source, block)
    numbers = [name for name, dtype in frame.schema.items() if role_of_type(dtype) == "number"]
    return frame.with_columns([frame[name].cast(pl.Float64, strict=False) for name in numbers])


def _block_frame_by_line(source: Source, block: Block) -> Any:
    """Read the block by Python's own parser, which takes NaN and names the line of what is wrong."""
    return _frame_of(source, _records(source, block))


def _frame_of(source: Source, records: list[tuple[int, dict[str, Any]]]) -> Any:
    """Make a frame of records, each with the number of its line (or its place) for errors."""
    import polars as pl

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
            raise source.not_utf8(line) from None
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
    """Return the frame after checking that its types agree with those of earlier blocks."""
    import polars as pl

    for name, dtype in frame.schema.items():
        if dtype == pl.Null or (frame.height and frame[name].null_count() == frame.height):
            frame = frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(name))
            continue
        found = role_of_type(dtype)
        if found is None:
            raise ReadError(source.name, f"{name!r} holds lists or objects; flatten it or leave it out", block.line)
        if roles.setdefault(name, found) != found:
            raise _mixed(source, block.line, name)
    return frame


# -- JSON: one array of records ----------------------------------------------------------------------------------------


def read_json(source: Source, options: Options) -> NamedTable:
    """Read an array of JSON objects, each a row; an object around the array is looked through, and noted."""
    with source.open_utf8() as file:
        data = file.read()
    try:
        found = json.loads(data)
    except UnicodeDecodeError as error:
        raise source.not_utf8(data.count(b"\n", 0, error.start) + 1) from None
    except json.JSONDecodeError as error:
        raise ReadError(source.name, f"is not JSON ({error.msg.lower()}); correct it", error.lineno) from None
    except (ValueError, RecursionError):
        raise ReadError(source.name, "is not JSON that can be read; write an array of objects") from None
    key, records = _records_inside(found)
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise ReadError(source.name, 'is not an array of JSON objects such as [{"x": 1}, {"x": 2}]; write it like that')
    if not any(records):
        raise ReadError(source.name, 'holds no keys; write objects such as {"x": 1}')
    frame = _checked(source, Block(1, b"", 0), _frame_of(source, list(enumerate(records, 1))), {})
    table = columns_table(source, options, dict(frame.schema), frame.height, frame.select)
    return table if key is None else table.with_(notes=[f"the rows are those under {key!r}", *table.notes])


def _records_inside(found: Any) -> tuple[str | None, Any]:
    """Return the one array of objects that an object holds, with its key; anything else as it is."""
    if not isinstance(found, dict):
        return None, found
    arrays = [key for key, value in found.items() if isinstance(value, list) and value and isinstance(value[0], dict)]
    return (arrays[0], found[arrays[0]]) if len(arrays) == 1 else (None, found)


# -- all formats ------------------------------------------------------------------------------------------------------

FORMATS = {"parquet": read_parquet, "ndjson": read_ndjson, "json": read_json}


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "parquet" by its first bytes, "json" by an array of objects, "ndjson" by an object at the start.

    >>> looks_like(b"PAR1...", "a.bin"), looks_like(b'{"x": 1}\\n', "a.txt"), looks_like(b"{1, 2}", "a.txt")
    ('parquet', 'ndjson', None)
    """
    if head.startswith(b"PAR1"):
        return "parquet"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    inner = start[1:].lstrip()
    if start.startswith(b"[") and inner.startswith(b"{") and inner[1:].lstrip().startswith(b'"'):
        return "json"
    if not start.startswith(b"{") or inner[:1] not in (b'"', b"}"):
        return None
    whole_line = start.split(b"\n", 1)[0].rstrip().endswith(b"}") or b"\n" not in start
    return "ndjson" if whole_line or not name.lower().endswith(".json") else "json"
