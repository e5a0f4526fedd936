"""Cover a table with few assignments of roles to users and of permissions to roles, or by roles of a list."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.explain.roles.candidates import fast_miner
from unweave.explain.roles.core import Merged, holders_of
from unweave.explain.roles.cover import fewest
from unweave.linalg.bits import Words, ones_in_rows, unpack

_MOST_CELLS = 2_000_000  # ones of the table of cells by candidates that branch and bound is given


def cover_by_candidates(merged: Merged, miner) -> Words:
    """The fewest roles of a list of candidates: greedily, and by branch and bound where that is small enough.

    A list without what every user holds has no cover; both miners list that.
    """
    candidates, _ = miner(merged.rows, np.bincount(merged.user_kinds))
    holders = unpack(holders_of(merged, candidates), len(merged.users))
    kept = _greedily(merged, candidates, holders, np.ones(len(candidates)))
    sizes = holders.sum(axis=1, dtype=np.int64) * ones_in_rows(candidates)
    if sizes.sum() > _MOST_CELLS:
        return candidates[kept]
    numbers = _numbers(merged)
    columns = [numbers[np.ix_(users > 0, items > 0)].ravel()
               for users, items in zip(holders, unpack(candidates, len(merged.items)), strict=True)]  # fmt: skip
    where = np.repeat(np.arange(len(candidates)), [len(column) for column in columns])
    sets = sp.csr_array(
        (np.ones(len(where)), (np.concatenate(columns), where)), shape=(int(numbers.max()) + 1, len(candidates))
    )
    best, _ = fewest(sets)
    return candidates[best] if len(best) < len(kept) else candidates[kept]


def _numbers(merged: Merged) -> NDArray[np.int64]:
    """A number for each one of the table of kinds, -1 elsewhere."""
    ones = unpack(merged.rows, len(merged.items)) > 0
    numbers = np.full(ones.shape, -1)
    numbers[ones] = np.arange(ones.sum())
    return numbers


def _greedily(merged: Merged, candidates: Words, holders: NDArray, price: NDArray) -> NDArray[np.int64]:
    """Candidates that cover all, the one with most new cells for its price first."""
    left, taken = merged.rows.copy(), []
    fresh = np.array([_new(left, one, users) for one, users in zip(candidates, holders, strict=True)], dtype=float)
    while left.any():
        while True:  # gains only fall: the first whose gain is still the highest is the best
            best = int((fresh / price).argmax())
            now = _new(left, candidates[best], holders[best])
            if now == fresh[best]:
                break
            fresh[best] = now
        taken.append(best)
        left[holders[best] > 0] &= ~candidates[best]
        fresh[best] = 0
    return np.array(taken, dtype=np.int64)


def _new(left: Words, items: Words, users: NDArray) -> int:
    return int(np.bitwise_count(left[users > 0] & items).sum(dtype=np.int64))


def fewest_edges(merged: Merged, roles: Words) -> Words:
    """Of several covers the one with fewest assignments: the roles given, one role a kind of user, and candidates by
    what they cost for each cell that they add."""
    copies, sizes = np.bincount(merged.user_kinds), np.bincount(merged.item_kinds)
    covers = [roles, merged.rows[ones_in_rows(merged.rows) > 0]]
    candidates, users = fast_miner(merged.rows, copies)
    holders = unpack(holders_of(merged, candidates), len(merged.users))
    price = unpack(candidates, len(merged.items)) @ sizes.astype(float) + users
    covers.append(candidates[_greedily(merged, candidates, holders, price)])
    from unweave.explain.roles.tidy import assigned, edges, tidied

    def cost(some: Words) -> int:
        wide, rows = merged.spread(some), merged.spread(merged.rows)
        denied = ~rows
        found = tidied(rows, denied, wide, copies)
        return edges(found, assigned(rows, denied, found), copies)

    return min(covers, key=cost)
