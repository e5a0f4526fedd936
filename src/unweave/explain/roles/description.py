"""How many roles describe a table in the fewest bits: the roles, who has them, and where they err."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from unweave.data.arguments import generator
from unweave.explain.roles.access import Access
from unweave.explain.roles.sides import Sides
from unweave.linalg.bits import Words, ones_in_rows
from unweave.select.choose import Choice

_FIRST, _MOST = 8, 512  # roles of the first path, and of the longest


def choose_by_length(access: Access, sides: Sides, start: Callable, random_state) -> Choice:
    """The number of roles with the shortest description, among the first roles of one start.

    Paths twice as long are tried as long as the best is among the upper half.
    """
    most = _FIRST
    while True:
        users, roles = start(sides, most, generator(random_state))
        users, roles = _by_worth(sides, users, roles)
        scores = {k: bits(access, sides, users[:k], roles[:k]) for k in range(len(roles) + 1)}
        best = min(scores, key=lambda k: scores[k])
        if len(roles) < most or best <= most // 2 or most >= _MOST:
            break
        most *= 2
    scores = {k: score for k, score in scores.items() if k} or {1: scores[0]}
    title = "bits that describe roles, who has them, and errors"
    return Choice(max(1, best), scores, {}, "description length", title, "n_components", False)


def _by_worth(sides: Sides, users: Words, roles: Words) -> tuple[Words, Words]:
    """Roles in the order in which they lower the cost most, each beside those before it."""
    order: list[int] = []
    rows, columns = sides.codes(sides.rows, users), sides.rows
    covered = np.zeros_like(columns.ones)
    for _ in range(len(roles)):
        gains = np.full(len(roles), -np.inf)
        for r in set(range(len(roles))) - set(order):
            have = rows[:, r] > 0
            fresh, copies = roles[r] & ~covered[have], columns.copies[have]
            ones = np.bitwise_count(columns.ones[have] & fresh).sum(axis=1, dtype=np.int64) @ copies
            zeros = np.bitwise_count(columns.zeros[have] & fresh).sum(axis=1, dtype=np.int64) @ copies
            gains[r] = sides.prices.missed * ones - sides.prices.extra * zeros
        best = int(gains.argmax())
        order.append(best)
        covered[rows[:, best] > 0] |= roles[best]
    return users[order], roles[order]


def bits(access: Access, sides: Sides, users: Words, roles: Words) -> float:
    """The length of a description in bits: each set by its size and which of all sets of that size it is."""
    n, m = access.shape
    missed, extra = sides.errors(users, roles)
    ones = int(access.ones.nnz)
    zeros = int(ones_in_rows(access.denied).sum())
    covered = ones - missed + extra  # of what was seen
    length = _subset(covered, extra) + _subset(ones + zeros - covered, missed)
    for who, what in zip(ones_in_rows(users), ones_in_rows(roles), strict=True):
        length += _subset(n, int(who)) + _subset(m, int(what))
    return length


def _subset(n: int, k: int) -> float:
    """Bits to say which k of n things are meant, and k."""
    return float((gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)) / np.log(2) + np.log2(n + 1))
