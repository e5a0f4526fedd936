"""A table of zeros and ones seen from both sides, as bits without copies of rows and columns: what fits roles to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.explain.roles.access import Access
from unweave.linalg.bits import Words, distinct, pack_bits, transpose, unpack
from unweave.linalg.roles import ANY, cheapest_codes, covered_by, fit_roles, switch_codes


@dataclass(frozen=True)
class Side:
    """The rows of a table, each kind once: `ones` and `zeros` as bits over all columns, the kind of every row, and of
    each kind how many there are and which row is the first."""

    ones: Words
    zeros: Words
    kinds: NDArray[np.int64]
    copies: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, ones: Words, zeros: Words, *, whole: bool = False) -> Side:
        """Put rows that are equal together; in a `whole` table, without holes, ones say what is zero."""
        first, kinds = distinct(ones if whole else np.hstack([ones, zeros]))
        if len(first) < len(ones):
            ones, zeros = ones[first], zeros[first]
        return cls(ones, zeros, kinds, np.bincount(kinds), first)

    def less(self, covered: Words) -> Side:
        """The same with the cells that are covered neither one nor zero: what is free for another role."""
        return Side(self.ones & ~covered, self.zeros & ~covered, self.kinds, self.copies, self.first)

    def some(self, which: NDArray[np.bool_]) -> Side:
        """Some kinds of rows; what they are the kinds of is not known any more."""
        nothing = np.zeros(0, np.int64)
        return Side(self.ones[which], self.zeros[which], nothing, self.copies[which], nothing)


@dataclass(frozen=True)
class Prices:
    """What an answer costs: `missed` for a one that no role covers, `extra` for a zero that one does, which `exact`
    never allows."""

    missed: float = 1.0
    extra: float = 1.0
    exact: bool = False

    @property
    def most_extra(self) -> np.int64:
        return np.int64(0) if self.exact else ANY


class Sides:
    """A table as rows and as columns, and what roles cost on it.

    A solution is a pair of bits: `roles` (k rows of all permissions) and `users` (k rows of all users).
    """

    def __init__(self, access: Access, prices: Prices):
        self.shape, self.prices = access.shape, prices
        m, whole = access.shape[1], access.holes is None
        self.rows = Side.of(access.granted, access.denied, whole=whole)
        self.columns = Side.of(transpose(access.granted, m), transpose(access.denied, m), whole=whole)

    @property
    def size(self) -> int:
        """How many words hold it: what one role looks at, in one turn of rows and columns."""
        return self.rows.ones.size + self.columns.ones.size

    def users_of(self, roles: Words, users: Words | None = None) -> Words:
        """Who has each role, at least cost; from `users` on, or from nobody."""
        return self._switched(self.rows, roles, users)[0]

    def users_anew(self, roles: Words) -> Words:
        """Who has each role as new users would get it: whatever was found for them before does not count."""
        prices = self.prices.missed, self.prices.extra
        codes = cheapest_codes(self.rows.ones, self.rows.zeros, roles, prices, exact=self.prices.exact)
        return pack_bits(codes[self.rows.kinds].T)

    def roles_of(self, users: Words, roles: Words | None = None) -> tuple[Words, float]:
        """What each role holds, given who has it, at least cost; and what the table then costs."""
        return self._switched(self.columns, users, roles)

    def _switched(self, side: Side, factor: Words, begin: Words | None) -> tuple[Words, float]:
        codes = np.zeros((len(side.ones), len(factor)), np.uint8) if begin is None else self.codes(side, begin)
        prices = self.prices.missed, self.prices.extra
        costs = switch_codes(side.ones, side.zeros, factor, prices, self.prices.exact, 0, codes)
        return pack_bits(codes[side.kinds].T), float(costs @ side.copies)

    def codes(self, side: Side, words: Words) -> NDArray[np.uint8]:
        """What each kind of row has (kinds × k), of bits over all rows."""
        return np.ascontiguousarray(unpack(words, len(side.kinds))[:, side.first].T)

    def covered(self, side: Side, own: Words, other: Words) -> Words:
        """What the roles cover of each kind of row; `own` are bits over all rows, `other` over all columns."""
        return covered_by(self.codes(side, own), other)[0]

    def errors(self, users: Words, roles: Words) -> tuple[int, int]:
        """How many ones are missed and how many zeros are covered."""
        covered = self.covered(self.rows, users, roles)
        missed = np.bitwise_count(self.rows.ones & ~covered).sum(axis=1, dtype=np.int64) @ self.rows.copies
        extra = np.bitwise_count(self.rows.zeros & covered).sum(axis=1, dtype=np.int64) @ self.rows.copies
        return int(missed), int(extra)

    def cost(self, users: Words, roles: Words) -> float:
        """What a solution costs."""
        missed, extra = self.errors(users, roles)
        return self.prices.missed * missed + self.prices.extra * extra

    def best_role(
        self, free: tuple[Side, Side], seeds: Words, prices: Prices | None = None
    ) -> tuple[Words, Words, float]:
        """The best role met from any seed (rows of permissions), on what is free: users, permissions, and its gain."""
        prices = self.prices if prices is None else prices
        users, items, gains = fit_roles(*free, seeds, prices)
        best = int(gains.argmax())
        return users[best], items[best], float(gains[best])

    def free(self, users: Words, roles: Words, of: tuple[Side, Side] | None = None) -> tuple[Side, Side]:
        """Both sides (or what is free of them already) less what roles cover."""
        rows, columns = (self.rows, self.columns) if of is None else of
        return rows.less(self.covered(rows, users, roles)), columns.less(self.covered(columns, roles, users))


class Covered:
    """What the roles of a solution cover together, kept so that it is known at once what is free if one of them goes.

    `rows` and `columns` hold for each kind of these what some role covers, and what two or more do.
    """

    def __init__(self, sides: Sides, users: Words, roles: Words):
        self.sides, self.users, self.roles = sides, users, roles
        self.rows = covered_by(sides.codes(sides.rows, users), roles)
        self.columns = covered_by(sides.codes(sides.columns, roles), users)

    def without(self, r: int) -> tuple[Side, Side]:
        """Both sides less what the other roles cover."""
        return (
            _freed(self.sides.rows, self.rows, self.users[r], self.roles[r]),
            _freed(self.sides.columns, self.columns, self.roles[r], self.users[r]),
        )

    def values(self) -> NDArray[np.float64]:
        """What would be lost without each role: of the cells that it alone covers."""
        side, (_, twice), prices = self.sides.rows, self.rows, self.sides.prices
        codes, values = self.sides.codes(side, self.users), np.zeros(len(self.roles))
        for r, role in enumerate(self.roles):
            have = codes[:, r] > 0
            alone, copies = role & ~twice[have], side.copies[have]
            ones = np.bitwise_count(side.ones[have] & alone).sum(axis=1, dtype=np.int64) @ copies
            zeros = np.bitwise_count(side.zeros[have] & alone).sum(axis=1, dtype=np.int64) @ copies
            values[r] = prices.missed * ones - prices.extra * zeros
        return values


def _freed(side: Side, covered: tuple[Words, Words], own: Words, other: Words) -> Side:
    """A side less what roles cover but one, which `own` (bits over its rows) have and `other` is."""
    once, twice = covered
    have = unpack(own[None], len(side.kinds))[0, side.first] > 0
    left = once.copy()
    left[have] &= ~other | twice[have]
    return side.less(left)


def some_users(access: Access, k: int, rng: np.random.Generator) -> Access:
    """Users drawn from a table on which k roles take long, so that they take seconds; else the table itself.

    At least twenty for each role, of which a role is then held by some.
    """
    n, m = access.shape
    most = max(20 * k, 32 * _TURN // (k * max(m, 1)))  # users and permissions as bits: m / 32 words a user
    return access if n <= most else access.take(np.sort(rng.choice(n, most, replace=False)))


_TURN = 1 << 29  # words that one turn of rows and columns looks at, at most: about a second
