"""Words, runs of words and their counts, the slow and obvious way."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter


def tokens(text: str, lowercase: bool = True, least: int = 2, marks: str = "split", digits: bool = True) -> list[str]:
    """Longest runs of word characters, in order."""
    if marks == "keep":
        text = unicodedata.normalize("NFC", text)
    if lowercase:
        text = text.lower()
    if marks == "split":
        found = re.findall(r"\w+" if digits else r"[^\W\d_]+", text)
    else:
        kept = [
            c if re.match(r"\w", c) or unicodedata.category(c)[0] == "M" or c in "\u200c\u200d" else " " for c in text
        ]
        found = "".join(kept).split(" ")
    return [word for word in found if len(word) >= least]


def runs(words: list[str], low: int, high: int) -> list[str]:
    """Neighbours joined by blanks."""
    return [" ".join(words[i : i + n]) for n in range(low, high + 1) for i in range(len(words) - n + 1)]


def counts(texts: list[str], low: int = 1, high: int = 1, stop: frozenset[str] = frozenset(), **how) -> list[Counter]:
    """How often each term is in each text."""
    return [Counter(runs([w for w in tokens(text, **how) if w not in stop], low, high)) for text in texts]


def sorted_rows(rows: list[list[tuple[int, int]]], columns: list[int]) -> list[list[tuple[int, int]]]:
    """(column, count) of the terms that have a column, columns ascending."""
    return [sorted((columns[term], n) for term, n in row if columns[term] >= 0) for row in rows]
