"""Entries one a line: ratings (user, item, value and perhaps a time), and pairs (user, item) of a 0/1 relation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.blocks import Block, blocks, head_lines
from unweave.data.readers.ids import TextIds, whole_number_codes
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source
from unweave.data.readers.sparse_build import check_shape, from_entries, missing_of
from unweave.data.readers.triples_layout import Layout, find_layout, looks_like
from unweave.data.readers.triples_parse import NotWhole, is_whole, parse

# Large enough that polars spreads a block over its threads.
_BLOCK = 1 << 25

__all__ = ["FORMATS", "looks_like", "read_pairs", "read_triples"]


class Entries(NamedTuple):
    """All entries of a file: names of both sides, and for each entry its places, value and time."""

    users: list[str]
    items: list[str]
    user: NDArray
    item: NDArray
    value: NDArray | None
    time: NDArray | None


def read_triples(source: Source, options: Options) -> NamedTable:
    """Users × items of ``user, item, value[, time]``, separated by commas, tabs, ``::``, semicolons, bars or blanks.

    Only what is listed is stored, a value of 0 too; the rest is unknown (``missing="zeros"``). Ids are kept as text:
    in the order of their values if all are whole numbers, otherwise as they first appear. Several values of the same
    user and item become one by ``options.duplicates``, and the latest of their times is kept. Columns are found by
    their names in a header, otherwise by their order.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "ratings.dat")
    ...     _ = path.write_text("7::10::5::978300760\\n7::9::0::978302109\\n")
    ...     table = read_triples(Source(path), Options())
    >>> table, table.X.nnz, table.times.tolist()
    (NamedTable(1×2 ratings, columns '9', '10'), 2, [978302109, 978300760])
    """
    layout = find_layout(source, options, 3)
    entries = _read(source, layout)
    merge = "last" if options.duplicates == "error" else options.duplicates
    table = _table(source, options, layout, entries, merge)
    notes = [*table.notes, "an entry that is not listed is unknown" + ("" if table.missing else ": taken as 0")]
    return table.with_(kind="ratings", notes=notes)


def read_pairs(source: Source, options: Options) -> NamedTable:
    """Users × items of ``user item``, 1 for each pair that is listed, 0 for all others; repeated pairs count once.

    Separators, headers and ids are as in :func:`read_triples`.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rights.txt")
    ...     _ = path.write_text("ann read\\nann write\\nbob read\\n")
    ...     read_pairs(Source(path), Options()).X.toarray().tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """
    layout = find_layout(source, options, 2)
    table = _table(source, options, layout, _read(source, layout), "last")
    return table.with_(kind="pairs", notes=[*table.notes, "a pair that is not listed is 0"])


def _table(source: Source, options: Options, layout: Layout, entries: Entries, merge: str) -> NamedTable:
    rated = layout.value is not None
    shape = len(entries.users), len(entries.items)
    check_shape(source, shape, len(entries.user))
    values = np.ones(len(entries.user)) if entries.value is None else entries.value
    built = from_entries(
        entries.user, entries.item, values, shape, merge=merge, times=entries.time, dtype=options.dtype
    )
    if built.merged and rated and options.duplicates == "error":
        raise _duplicate(source, entries)
    if not np.isfinite(built.X.data).all():
        raise ReadError(source.name, f"a value is too large for {options.dtype}; use dtype='float64' or rescale")
    notes = list(layout.notes)
    if built.merged:
        how = f"duplicates={options.duplicates!r}" if rated else "each counts once"
        notes.append(f"{built.merged} lines repeat a user and item of another line: {how}")
    return NamedTable(
        built.X,
        rows=entries.users,
        columns=entries.items,
        missing=missing_of(options, "zeros" if rated else None),
        times=_whole_times(built.times),
        notes=notes,
        source=source.name,
    )


def _whole_times(times: NDArray | None) -> NDArray | None:
    """Integers where nothing is lost by it."""
    if times is None or times.dtype.kind != "f" or np.abs(times).max(initial=0) > 2**53:
        return times
    whole = times.astype(np.int64)
    return whole if (whole == times).all() else times


def _duplicate(source: Source, entries: Entries) -> ReadError:
    keys = entries.user.astype(np.int64) * len(entries.items) + entries.item
    order = np.argsort(keys, kind="stable")
    again = int(order[1:][keys[order[1:]] == keys[order[:-1]]].min())
    user, item = entries.users[entries.user[again]], entries.items[entries.item[again]]
    return ReadError(
        source.name,
        f"user {user!r} and item {item!r} come more than once (entry {again + 1}); "
        "remove one, or say duplicates='mean', 'last' or 'sum'",
    )


def _read(source: Source, layout: Layout) -> Entries:
    """All entries; starts again with ids as text when some turn out not to be whole numbers."""
    whole = _whole_at_first(source, layout)
    while True:
        try:
            return _read_once(source, layout, whole)
        except NotWhole as found:
            whole = (whole[0] and found.side != 0, whole[1] and found.side != 1)


def _read_once(source: Source, layout: Layout, whole: tuple[bool, bool]) -> Entries:
    texts = TextIds(), TextIds()
    parts: list[list[NDArray]] = [[], [], [], []]
    skip = layout.skip
    for block in blocks(source, _BLOCK):
        block, skip = _without_first_lines(block, skip)
        columns = parse(source, block, layout, whole)
        for side in (0, 1):
            ids = (columns.user, columns.item)[side]
            parts[side].append(_narrow(ids) if whole[side] else texts[side].add(ids))
        for kept, column in zip(parts[2:], columns[2:]):
            if column is not None:
                kept.append(column)
    sides = []
    for side in (0, 1):
        codes = np.concatenate(parts[side])
        parts[side].clear()
        if not len(codes):
            raise ReadError(source.name, "there is no line with an entry; is this a file of entries?")
        sides.append(_named(codes) if whole[side] else texts[side].finish(codes))
    value, time = (np.concatenate(kept) if kept else None for kept in parts[2:])
    return Entries(sides[0][0], sides[1][0], sides[0][1], sides[1][1], value, time)


def _without_first_lines(block: Block, skip: int) -> tuple[Block, int]:
    """(the block without its first lines, how many are still to be passed over)."""
    if not skip:
        return block, 0
    lines = block.data.split(b"\n", skip)
    passed = len(lines) - 1
    return Block(block.line + passed, lines[-1], block.n_lines - passed), skip - passed


def _named(ids: NDArray) -> tuple[list[str], NDArray]:
    names, codes = whole_number_codes(ids)
    return [str(name) for name in names.tolist()], codes


def _narrow(ids: NDArray) -> NDArray:
    fits = not len(ids) or (ids.min() >= -(2**31) and ids.max() < 2**31)
    return ids.astype(np.int32) if fits else ids


def _whole_at_first(source: Source, layout: Layout) -> tuple[bool, bool]:
    """Whether the ids of users and of items are whole numbers in the first lines."""
    with source.open_utf8() as file:
        lines = head_lines(file.read(1 << 14))[layout.skip :]
    rows = [line.split(layout.separator) for line in lines] if layout.separator != " " else [s.split() for s in lines]
    rows = [[part.strip().strip('"') for part in row] for row in rows if len(row) == layout.width]
    return all(is_whole(row[layout.user]) for row in rows), all(is_whole(row[layout.item]) for row in rows)


FORMATS = {"triples": read_triples, "pairs": read_pairs}
