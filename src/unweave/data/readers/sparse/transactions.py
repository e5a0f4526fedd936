"""Reads baskets as in the FIMI collection: each line lists the numbers of the things that go together."""

from __future__ import annotations

import re

import numpy as np

from unweave.data.named import NamedTable
from unweave.data.readers.build import check_shape, from_entries, missing_of, whole_number_codes
from unweave.data.readers.lines import blocks, head_lines, whole_numbers
from unweave.data.readers.source import Options, ReadError, Source

_BASKET = re.compile(r"\d+(?: \d+)* ?")


def read_transactions(source: Source, options: Options) -> NamedTable:
    """Read a table of baskets × items, 1 where an item is in a basket, columns named by the items' numbers.

    Zero means "not bought", so nothing is missing. An item that a basket names twice counts once; an empty line is an
    empty basket. Rows have no names: they are the lines.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "baskets.dat")
    ...     _ = path.write_text("30 31\\n31 32 7\\n")
    ...     read_transactions(Source(path), Options())
    NamedTable(2×4 pairs, columns '7', '30', '31', …)
    """
    counts, items = [], []
    for block in blocks(source):
        numbers = whole_numbers(source, block)
        counts.append(numbers.counts)
        items.append(numbers.values)
    sizes, things = np.concatenate(counts), np.concatenate(items)
    if not len(things):
        raise ReadError(source.name, "there is no item in any basket; is this a file of transactions?")
    names, columns = whole_number_codes(things)
    shape = len(sizes), len(names)
    check_shape(source, shape, len(things))
    rows = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    built = from_entries(rows, columns, np.ones(len(things)), shape, merge="last", dtype=options.dtype)
    return NamedTable(
        built.X,
        columns=[str(name) for name in names.tolist()],
        missing=missing_of(options, None),
        kind="pairs",
        notes=_notes(built.merged, int((sizes == 0).sum())),
        source=source.name,
    )


def _notes(merged: int, empty: int) -> list[str]:
    notes = ["each line is a basket of items; an item that is not named is not in it (0)"]
    if merged:
        notes.append(f"items that a basket names more than once count once ({merged} left out)")
    if empty:
        notes.append(f"{empty} empty lines are empty baskets")
    return notes


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "transactions" for lines of whole numbers, one space apart, that are not all of the same length.

    Lines that name the same number of items are a table of numbers, unless the file is called ``*.fimi``.

    >>> looks_like(b"1 2 3\\n4 5\\n", "retail.dat"), looks_like(b"1 2 3\\n4 5 6\\n", "numbers.txt")
    ('transactions', None)
    """
    lines = head_lines(head)
    named = ".fimi" in name.lower() or ".basket" in name.lower()
    if len(lines) < 2 or not all(_BASKET.fullmatch(line) for line in lines if line):
        return None
    lengths = {line.count(" ") + (not line.endswith(" ")) for line in lines if line}
    # Three header numbers and then triples: the bag of words of UCI, not baskets.
    uci = len(lines) > 3 and lengths == {1, 3} and all(" " not in line.strip() for line in lines[:3])
    return "transactions" if lengths and (named or (len(lengths) > 1 and not uci)) else None


FORMATS = {"transactions": read_transactions}
