"""Slow and obvious twin of the kernel of common subsequences: every choice of letters is written out."""

from __future__ import annotations

from itertools import combinations


def spread(text: str, length: int, decay: float) -> dict[str, float]:
    """Each subsequence of that many letters, with its weights: decay to the power of its span, added up."""
    found: dict[str, float] = {}
    for places in combinations(range(len(text)), length):
        word = "".join(text[i] for i in places)
        found[word] = found.get(word, 0.0) + decay ** (places[-1] - places[0] + 1)
    return found


def common(a: str, b: str, longest: int, shortest: int, decay: float) -> float:
    """The products of the weights of what both have."""
    total = 0.0
    for length in range(shortest, longest + 1):
        one, other = spread(a, length, decay), spread(b, length, decay)
        total += sum(weight * other[word] for word, weight in one.items() if word in other)
    return total
