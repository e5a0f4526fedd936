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
def word_characters(marks: str, digits: bool = True) -> NDArray[np.bool_]:
    """For every code point whether it is part of a word: letters, digits and ``_``, as ``\\w`` of Python's `re`.

    With marks="keep", combining marks and joiners too; with digits=False, no ``_`` and no digits (``\\d``).

    >>> table = word_characters("split")
    >>> [bool(table[ord(c)]) for c in ("é", "字", "_", "-", "\\u0301")]
    [True, True, True, False, False]
    """
    table = np.fromiter(map(str.isalnum, map(chr, range(_POINTS))), np.bool_, _POINTS)
    if digits:
        table[ord("_")] = True
    else:
        table[np.fromiter(map(str.isdecimal, map(chr, range(_POINTS))), np.bool_, _POINTS)] = False
    if marks == "keep":
        # category "M…" of the table of a Python without going through a million calls: marks are no letters or digits
        rest = np.flatnonzero(~table[:0xE0200])
        table[[p for p in rest.tolist() if unicodedata.category(chr(p))[0] == "M"]] = True
        table[list(_JOINERS)] = True
    return table


@cache
def ascii_fold(lowercase: bool, digits: bool = True) -> NDArray[np.uint8]:
    """What an ASCII byte becomes in a word; zero where a word ends.

    >>> fold = ascii_fold(True)
    >>> chr(fold[ord("A")]), int(fold[ord(" ")])
    ('a', 0)
    """
    letters = [chr(c).lower() if lowercase else chr(c) for c in range(128)]
    return np.array([ord(c) if c.isalpha() or (digits and (c.isdigit() or c == "_")) else 0 for c in letters], np.uint8)
