"""Add up what blocks hand back, in an order that depends on their number alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

TOGETHER = 8  # neighbours that are added in order; their sums again, and so on: no sum is longer than the logarithm


def add(one: Any, other: Any) -> Any:
    """Add two summaries: numbers and arrays, or tuples and dicts of such; None stands for nothing.

    >>> add((1, {"a": np.ones(2)}), (2, {"a": np.ones(2)}))
    (3, {'a': array([2., 2.])})
    """
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, dict):
        return {name: add(value, other[name]) for name, value in one.items()}
    if isinstance(one, tuple):
        return tuple(add(a, b) for a, b in zip(one, other, strict=True))
    return one + other


def add_up(parts: list) -> Any:
    """Add neighbours, from the first to the last."""
    total = parts[0]
    for part in parts[1:]:
        total = add(total, part)
    return total


class Sum:
    """Add summaries as they come, holding only a few at a time.

    The order is that of :func:`tree`: whoever adds (this process, workers of a cluster) ends in the same bits.

    >>> total = Sum()
    >>> for number in range(100):
    ...     total.take(number)
    >>> total.close()
    4950
    """

    def __init__(self) -> None:
        self._levels: list[list] = [[]]

    def take(self, part: Any) -> None:
        """Take the next summary."""
        self._take(part, 0)

    def _take(self, part: Any, level: int) -> None:
        if level == len(self._levels):
            self._levels.append([])
        waiting = self._levels[level]
        waiting.append(part)
        if len(waiting) == TOGETHER:
            self._levels[level] = []
            self._take(add_up(waiting), level + 1)

    def close(self) -> Any:
        """Return the sum of all."""
        carried: list = []
        for waiting in self._levels:
            left = [*waiting, *carried]
            carried = [add_up(left)] if left else []
        return carried[0] if carried else None


def tree(parts: Iterable, join: Callable[[list], Any]) -> Any:
    """Add with `join` (of at most eight neighbours) in the order of :class:`Sum`; for sums that others carry out.

    >>> tree([f"{i}" for i in range(10)], lambda few: "(" + "+".join(few) + ")")
    '((0+1+2+3+4+5+6+7)+(8+9))'
    """
    level = list(parts)
    while len(level) > 1:
        level = [
            few[0] if len(few) == 1 else join(few)
            for few in (level[i : i + TOGETHER] for i in range(0, len(level), TOGETHER))
        ]
    return level[0] if level else None


def same(one: Any, other: Any) -> bool:
    """Tell whether two summaries agree to the bit."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(np.array_equal(one, other, equal_nan=True))
