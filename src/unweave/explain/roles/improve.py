"""Improve roles of a given number: rows and columns in turns, roles exchanged one at a time, never for the worse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unweave.explain.roles.sides import Covered, Prices, Side, Sides
from unweave.linalg.bits import Words, ones_in_rows
from unweave.solve.scheme import Scheme, State

_PATIENCE = 2  # sweeps without a gain
_TURNS = 20  # between users and permissions
_ENDING = 20  # turns at the end, most of which are not needed
_SEEDS = 24  # rows from which a new role is grown, at most,
_LOOK = 1 << 26  # and words of the table that these look at in one turn
_WORK = 1 << 36  # words that the exchanges of roles look at in one turn each, all together; and the turns at the end


def alternate(sides: Sides, users: Words, roles: Words, goal: float = np.inf) -> tuple[Words, Words, float]:
    """Who has which role and what each holds, in turns, until the cost no longer falls.

    Turns gain less and less: where the last has gained less than is wanting to a `goal`, this is not reached.
    """
    cost = sides.cost(users, roles)
    for _ in range(_TURNS):
        next_users = sides.users_of(roles, users)
        next_roles, found = sides.roles_of(next_users, roles)
        if found >= cost:
            break
        gained = cost - found
        users, roles, cost = next_users, next_roles, found
        if cost - gained > goal:
            break
    return users, roles, cost


def grown(
    sides: Sides, users: Words, roles: Words, k: int, rng, prices: Prices | None = None,
    free: tuple[Side, Side] | None = None,
) -> tuple[Words, Words]:  # fmt: skip
    """Add the best role that is met from some rows with much left to cover, until there are k or none gains.

    `free` is what the roles leave, where that is known.
    """
    if free is None and len(roles) < k:
        free = sides.free(users, roles)
    while free is not None and len(roles) < k:
        new_users, new_items, gain = sides.best_role(free, _seeds(free, rng), prices)
        if gain <= 0:
            break
        users, roles = np.vstack([users, new_users]), np.vstack([roles, new_items])
        free = sides.free(new_users[None], new_items[None], free)
    return users, roles


def _seeds(free: tuple[Side, Side], rng) -> Words:
    """Rows drawn by how much of them is left to cover; fewer of a table that takes long to look at."""
    ones = free[0].ones
    size = min(_SEEDS, max(2, _LOOK // (ones.size + free[1].ones.size)))
    weight = ones_in_rows(ones).astype(np.float64)
    if not weight.any():
        return ones[:1]
    size = min(size, int((weight > 0).sum()))
    with np.errstate(divide="ignore"):
        turns = rng.exponential(size=len(ones)) / weight  # those that come first are drawn by weight, none twice
    return ones[np.argpartition(turns, size - 1)[:size]]


class Improve(Scheme):
    """Rows and columns in turns, then exchanges of roles; the state holds `users`, `roles` and the generator.

    `sides` may be of some users of a large table, of which `whole` are all: these get their roles in the end. The
    exchanges that are tried and the turns of the end are bounded by the work that they take.
    """

    ending = "no move of a row, a column or a role was found that helps"

    def __init__(self, sides: Sides, users: Words, roles: Words, k: int, whole: Sides | None = None):
        self.sides, self.whole, self.k, self.first = sides, whole, k, (users, roles)
        self.careful = replace(sides.prices, exact=True)

    def adapt(self, loop):
        return replace(loop, tol=None, ending="the steps allowed are done")

    def begin(self, rng=None) -> State:
        users, roles = self.first
        users, roles, cost = alternate(self.sides, users, roles)
        rng = np.random.default_rng(0) if rng is None else rng
        left = _WORK // (self.k * self.sides.size)
        return {"users": users, "roles": roles, "cost": cost, "stale": 0, "left": left, "rng": rng}

    def step(self, state):
        rng, left = state["rng"], state["left"]
        users, roles = grown(self.sides, state["users"], state["roles"], self.k, rng)
        users, roles, cost = alternate(self.sides, users, roles)
        covered = Covered(self.sides, users, roles)
        for r in np.argsort(covered.values(), kind="stable"):
            for gone, prices in ((_one(r), None), (_one(r), self.careful), (_with_twin(roles, r), None)):
                if left <= 0:
                    break
                found, left = self._replaced(covered, cost, gone, rng, prices), left - 1
                if found[2] < cost:
                    users, roles, cost = found
                    covered = Covered(self.sides, users, roles)
                    break
        stale = 0 if cost < state["cost"] else state["stale"] + 1
        return {"users": users, "roles": roles, "cost": cost, "stale": stale, "left": left, "rng": rng}, cost

    def settled(self, state):
        return state["stale"] >= _PATIENCE or state["left"] <= 0 or state["cost"] <= 0

    def finish(self, state):
        """End with the half-step that finds the roles of new users, so that those of the table are what they get."""
        roles = state["roles"][Covered(self.sides, state["users"], state["roles"]).values() > 0]
        best = self._ended(self.sides, roles)
        if self.whole is not None:
            best = self._ended(self.whole, best[1])
        return {**state, "users": best[0], "roles": best[1], "cost": best[2]}

    def _ended(self, sides: Sides, roles: Words) -> tuple[Words, Words, float]:
        """Users as new ones get their roles, and roles that suit these, in turns until the cost no longer falls."""
        users = sides.users_anew(roles)
        best = users, roles, sides.cost(users, roles)
        for _ in range(min(_ENDING, max(1, _WORK // (self.k * sides.size)))):
            roles, _ = sides.roles_of(users, roles)
            users = sides.users_anew(roles)
            cost = sides.cost(users, roles)
            if cost >= best[2]:
                break
            best = users, roles, cost
        return best

    def _replaced(self, covered: Covered, cost: float, gone: list[int], rng, prices):
        """Drop some roles (two make room for their union), grow others in their place, and settle where that pays."""
        kept = np.delete(np.arange(len(covered.roles)), gone)
        users, roles = covered.users[kept], covered.roles[kept]
        if len(gone) > 1:
            union = np.bitwise_or.reduce(covered.roles[gone], axis=0)
            joined = self.sides.best_role(self.sides.free(users, roles), union[None])
            if joined[2] > 0:
                users, roles = np.vstack([users, joined[0]]), np.vstack([roles, joined[1]])
            return alternate(self.sides, *grown(self.sides, users, roles, self.k, rng, prices), cost)
        users, roles = grown(self.sides, users, roles, self.k, rng, prices, covered.without(gone[0]))
        if len(roles) > len(kept) and _same(users, roles, covered, gone[0]):
            return covered.users, covered.roles, cost  # the role that went has come again
        return alternate(self.sides, users, roles, cost)


def _same(users: Words, roles: Words, covered: Covered, r: int) -> bool:
    """Whether the last role is the role r of a solution."""
    return np.array_equal(roles[-1], covered.roles[r]) and np.array_equal(users[-1], covered.users[r])


def _one(r: int) -> list[int]:
    return [int(r)]


def _with_twin(roles: Words, r: int) -> list[int]:
    """A role and the one that shares most of its permissions."""
    shared = np.bitwise_count(roles & roles[r]).sum(axis=1, dtype=np.int64).astype(np.float64)
    shared /= np.maximum(np.bitwise_count(roles | roles[r]).sum(axis=1, dtype=np.int64), 1)
    shared[r] = -1
    twin = int(shared.argmax())
    return [int(r)] if twin == r else [int(r), twin]
