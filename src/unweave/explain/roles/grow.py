"""Cover a table by roles that are grown greedily: where limits are set, or the core is too large for anything else."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unweave.explain.roles.core import Merged, cells_of, holders_of
from unweave.explain.roles.limits import Limits
from unweave.linalg.bits import Words, ones_in_rows, unpack
from unweave.linalg.roles import cover_greedily, needed_items
from unweave.solve.scheme import Scheme, State

MOST_WORK = 1 << 31  # elementary steps that one repair may take; larger tables are covered once
_SHARE = 0.15  # of the roles that a repair takes away


@dataclass
class GrownCover(Scheme):
    """Grow roles until all marked cells are covered; then take some away, again and again, and cover what they leave.

    A repair is kept if there are no more roles than before. The state holds `roles` as bits over kinds of permissions.
    """

    merged: Merged
    marked: Words
    limits: Limits
    patience: int = 25

    ending = "no repair was found that needs fewer roles"

    def adapt(self, loop):
        return replace(loop, tol=None, ending="the steps allowed are done")

    def begin(self, rng=None) -> State:
        roles = self._covered(self.marked.copy(), self._cells(self.marked))
        return {"roles": roles, "stale": 0, "rng": np.random.default_rng(0) if rng is None else rng}

    def step(self, state):
        roles, rng, n = state["roles"], state["rng"], len(state["roles"])
        work = n * int(ones_in_rows(self._holders(roles)).sum())
        if work > MOST_WORK:
            return {"roles": roles, "stale": self.patience, "rng": rng}, float(n)
        roles = self._lean(roles)
        gone = rng.choice(len(roles), max(1, int(np.ceil(_SHARE * len(roles)))), replace=False)
        kept = np.delete(roles, gone, axis=0)
        left = self._without(kept)
        cells = self._cells(left)
        trial = self._lean(np.vstack([kept, self._covered(left, cells[rng.permutation(len(cells))])]))
        best = trial if len(trial) <= len(roles) else roles
        return {"roles": best, "stale": 0 if len(best) < n else state["stale"] + 1, "rng": rng}, float(len(best))

    def settled(self, state):
        return state["stale"] >= self.patience

    def _covered(self, left: Words, cells: NDArray[np.int64]) -> Words:
        limits = self.limits.apart, self.limits.most_permissions
        return cover_greedily(self.merged.rows, self.merged.columns, left, cells, *limits)

    def _cells(self, left: Words) -> NDArray[np.int64]:
        """The cells that are marked, the loneliest first."""
        cells = cells_of(self.merged, left)
        held, holders = ones_in_rows(self.merged.rows), ones_in_rows(self.merged.columns)
        order = np.argsort(held[cells[:, 0]] * holders[cells[:, 1]], kind="stable")
        return np.ascontiguousarray(cells[order])

    def _holders(self, roles: Words) -> Words:
        return holders_of(self.merged, roles)

    def _without(self, roles: Words) -> Words:
        """What these roles leave of the marked cells."""
        left = self.marked.copy()
        for role, users in zip(roles, unpack(self._holders(roles), len(left)), strict=True):
            left[users > 0] &= ~role
        return left

    def _lean(self, roles: Words) -> Words:
        """Drop roles that the others make needless, small ones first."""
        codes = np.ascontiguousarray(unpack(self._holders(roles), len(self.marked)).T)
        kept = np.ones(len(roles), dtype=bool)
        for r in np.argsort(ones_in_rows(roles), kind="stable"):
            if not needed_items(roles, codes, int(r), self.marked).any():
                codes[:, r], kept[r] = 0, False
        return roles[kept]
