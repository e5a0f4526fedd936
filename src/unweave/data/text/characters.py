"""Which characters make up words."""

from __future__ import annotations

import unicodedata
from functools import cache

import numpy as np
from numpy.typing import NDArray

_POINTS = 0x110000
_JOINERS = (0x200C, 0x200D)  # invisible, inside words of Indic scripts and Persian
MARKS = ("split", "keep")


@cache
def word_characters(marks: str) -> NDArray[np.bool_]:
    """For every code point whether it is part of a word: letters, digits and ``_``, as ``\\w`` of Python's `re`.

    With marks="keep", combining marks and joiners too.

    >>> table = word_characters("split")
    >>> [bool(table[ord(c)]) for c in ("é", "字", "_", "-", "\\u0301")]
    [True, True, True, False, False]
    """
    table = np.fromiter(map(str.isalnum, map(chr, range(_POINTS))), np.bool_, _POINTS)
    table[ord("_")] = True
    if marks == "keep":
        # category "M…" of the table of a Python without going through a million calls: marks are no letters or digits
        rest = np.flatnonzero(~table[:0xE0200])
        table[[p for p in rest.tolist() if unicodedata.category(chr(p))[0] == "M"]] = True
        table[list(_JOINERS)] = True
    return table


@cache
def ascii_fold(lowercase: bool) -> NDArray[np.uint8]:
    """What an ASCII byte becomes in a word; zero where a word ends.

    >>> fold = ascii_fold(True)
    >>> chr(fold[ord("A")]), int(fold[ord(" ")])
    ('a', 0)
    """
    letters = [chr(c).lower() if lowercase else chr(c) for c in range(128)]
    return np.array([ord(c) if c.isalnum() or c == "_" else 0 for c in letters], np.uint8)
