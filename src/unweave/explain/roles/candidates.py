"""Candidates for roles: intersections of what users hold, of all users (CompleteMiner) or of pairs (FastMiner)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.bits import Words, distinct, ones_in_rows

MOST = 50_000  # candidates that are kept
_AT_ONCE = 256


def fast_miner(rows: Words, copies: NDArray[np.int64]) -> tuple[Words, NDArray[np.int64]]:
    """What each kind of user holds and what any two have in common, and how many users hold each of these sets.

    Vaidya, Atluri and Warner (2006), RoleMiner: mining roles using subset enumeration.
    """
    found = rows
    for row in rows:
        found = _distinct(np.vstack([found, rows & row]))
        if len(found) > MOST:
            break
    return _counted(found, rows, copies)


def complete_miner(rows: Words, copies: NDArray[np.int64]) -> tuple[Words, NDArray[np.int64]]:
    """All intersections of what any users hold (the closed sets), and how many users hold each; MOST of them at most.

    Those of fewer users come first: where there are too many, it is deep intersections that are left out.
    """
    found = new = rows
    while len(new) and len(found) <= MOST:
        before = len(found)
        for start in range(0, len(new), _AT_ONCE):
            some = new[start : start + _AT_ONCE]
            met = (rows[:, None, :] & some[None]).reshape(-1, rows.shape[1])
            found = _distinct(np.vstack([found, _distinct(met)]))
            if len(found) > MOST:
                break
        new = found[before:]
    return _counted(found, rows, copies)


def _distinct(sets: Words) -> Words:
    return sets[distinct(sets)[0]]


def _counted(found: Words, rows: Words, copies: NDArray[np.int64]) -> tuple[Words, NDArray[np.int64]]:
    """The sets that hold something, those of most users first, with their numbers of users."""
    found = found[ones_in_rows(found) > 0][:MOST]
    holders = np.array([copies[((rows & one) == one).all(axis=1)].sum() for one in found], dtype=np.int64)
    order = np.argsort(-holders, kind="stable")
    return found[order], holders[order]


MINERS = {"fast": fast_miner, "complete": complete_miner}
