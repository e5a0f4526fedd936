"""Which pass over the rows k-means takes, and why."""

from __future__ import annotations

from typing import NamedTuple

from unweave.solve.lloyd_rows import LOW_WIDTH

BOUND_BYTES = 2**30  # memory that the lower bounds may take


class LloydChoice(NamedTuple):
    """How the nearest centres are found: the method, the number of lower bounds a row, and why."""

    method: str
    groups: int
    why: str


def choose_lloyd(n: int, d: int, k: int) -> LloydChoice:
    """Choose the pass over the rows for `n` rows of `d` columns and `k` centres.

    >>> print(choose_lloyd(1_000_000, 16, 64).why)
    16 columns fit a tile in cache: distances of 256 rows at once, two bounds a row (Hamerly)
    >>> choose_lloyd(60_000, 784, 100)[:2]
    ('high', 100)
    """
    if d <= LOW_WIDTH:
        return LloydChoice(
            "low", 1, f"{d} columns fit a tile in cache: distances of 256 rows at once, two bounds a row (Hamerly)"
        )
    room = max(1, BOUND_BYTES // (4 * n))
    if k <= max(room, 2 * d):
        return LloydChoice(
            "high",
            k,
            f"{d} columns make a distance dear: matrix products first, then one lower bound "
            "for each row and centre (Elkan)",
        )
    groups = int(max(1, min(k // 10, room)))
    return LloydChoice(
        "high",
        groups,
        f"{d} columns make a distance dear and {k} bounds a row take too much memory: "
        f"matrix products first, then bounds for {groups} groups of centres (Yinyang)",
    )
