"""Tidy roles that cover a table: each user gets few of them, and none holds what nobody needs from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.explain.roles.limits import Limits
from unweave.linalg.bits import Words, ones_in_rows, pack_bits, unpack
from unweave.linalg.roles import codes_of_rows, needed_items

_ROUNDS = 5


def assigned(granted: Words, denied: Words, roles: Words, most: int = 0) -> NDArray[np.uint8]:
    """The roles of each row among those that hold nothing it lacks: greedily the one that covers most, none in vain."""
    return codes_of_rows(granted, denied, roles, (1.0, 1.0), exact=True, most=most)


def tidied(granted: Words, denied: Words, roles: Words, copies: NDArray[np.int64]) -> Words:
    """Roles as many that cover the same rows with fewer assignments and permissions together.

    In turns roles lose what nobody needs from them, and users get roles anew. `copies` says how often each row is
    there.
    """
    codes = assigned(granted, denied, roles)
    best, fewest = roles, edges(roles, codes, copies)
    for _ in range(_ROUNDS):
        roles = roles.copy()
        for r in np.argsort(-ones_in_rows(roles), kind="stable"):
            roles[r] = needed_items(roles, codes, int(r), granted)
        roles = roles[ones_in_rows(roles) > 0]
        codes = assigned(granted, denied, roles)
        count = edges(roles, codes, copies)
        if count >= fewest:
            break
        best, fewest = roles, count
    return best


def edges(roles: Words, codes: NDArray[np.uint8], copies: NDArray[np.int64]) -> int:
    """|UA| + |PA|: assignments of roles to users and of permissions to roles."""
    return int((codes.sum(axis=1, dtype=np.int64) * copies).sum() + ones_in_rows(roles).sum())


def personal(granted: Words, denied: Words, roles: Words, limits: Limits) -> Words:
    """Add roles for users who cannot be covered by as many roles as one may have: each gets one of all they hold.

    Where roles may not hold all that, the user gets as many as that takes.
    """
    codes = assigned(granted, denied, roles, limits.most_roles)
    more = []
    for u, row in enumerate(granted):
        have = np.bitwise_or.reduce(roles[codes[u] > 0], axis=0) if codes[u].any() else np.zeros_like(row)
        if (row & ~have).any():
            items = np.flatnonzero(unpack(row[None], 64 * len(row))[0])
            table = np.zeros((len(parts := limits.parts(items)), 64 * len(row)), np.uint8)
            for r, part in enumerate(parts):
                table[r, part] = 1
            more.append(pack_bits(table))
    found = np.vstack([roles, *more])
    used = assigned(granted, denied, found, limits.most_roles).any(axis=0)
    return found[used]
