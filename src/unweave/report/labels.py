"""Shorten names so that readers still tell them apart: cut in the middle, and never two alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from unweave.report.markup import plain

WIDEST = 26
_HEAD = 6  # letters of the beginning that stay when names only differ far behind


def told_apart(names: Iterable[Any]) -> list[str]:
    """Write names as printable lines and number those that are alike.

    >>> told_apart(["a", "b", "a", "", "a"])
    ['a', 'b', 'a (2)', '(no name)', 'a (3)']
    """
    seen: dict[str, int] = {}
    out = []
    for name in names:
        text = plain(name).strip() or "(no name)"
        new, count = text, seen.get(text, 0)
        while count and new in seen:
            count += 1
            new = f"{text} ({count})"
        seen[text] = max(count, 1)
        seen.setdefault(new, 1)
        out.append(new)
    return out


def shortened(names: Iterable[Any], longest: int = WIDEST) -> dict[str, str]:
    """Find a label of at most `longest` letters for each name; different names have different labels.

    Long names lose their middle. Where that makes two alike, the cut moves to where they begin to differ, and what is
    still alike is numbered.

    >>> shortened(["radius", "mean of the squared radius (worst)", "mean of the squares of radius (worst)"], 20)
    {'radius': 'radius', 'mean of the squared radius (worst)': 'mean o…uared radius…', \
'mean of the squares of radius (worst)': 'mean o…uares of rad…'}
    """
    texts = list(dict.fromkeys(plain(name) or "(no name)" for name in names))
    cut = {text: middle_cut(text, longest) for text in texts}
    for alike in _alike(cut):
        start = max(_HEAD + 1, _same(alike) - 4)
        for text in alike:
            cut[text] = middle_cut(f"{text[:_HEAD]}…{text[start:]}", longest, tail=0)
    for alike in _alike(cut):
        for number, text in enumerate(alike, 1):
            end = f" ({number})"
            cut[text] = middle_cut(text, longest - len(end)) + end
    return cut


def middle_cut(text: str, longest: int, tail: int | None = None) -> str:
    """Cut letters out of the middle of a text, or with ``tail=0`` from its end.

    >>> middle_cut("malic acid of the must", 13), middle_cut("short", 13)
    ('malic a… must', 'short')
    """
    if len(text) <= longest:
        return text
    tail = (2 * longest) // 5 if tail is None else tail
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def _same(texts: Sequence[str]) -> int:
    """Count the letters with which all texts begin."""
    return next((i for i, letters in enumerate(zip(*texts)) if len(set(letters)) > 1), min(map(len, texts)))


def _alike(cut: dict[str, str]) -> list[Sequence[str]]:
    """List the texts that share a label, two or more at a time."""
    groups: dict[str, list[str]] = {}
    for text, short in cut.items():
        groups.setdefault(short, []).append(text)
    return [texts for texts in groups.values() if len(texts) > 1]
