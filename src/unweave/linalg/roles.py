"""Kernels of roles, spread over the pool: codes of rows given the roles, and the reduction of an access table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.kernels import cells as graph
from unweave.kernels import roles as kernels
from unweave.linalg.bits import Words, n_words, ones_in_rows
from unweave.parallel import chunks, run

_WORK = 1 << 25  # words that one call of a kernel looks at, about
_DROPPED = 1 << 22  # words that one row may look at while it drops roles from all of them: some milliseconds
ANY = np.int64(1 << 60)  # no limit


def codes_of_rows(
    ones: Words, zeros: Words, roles: Words, prices: tuple[float, float], *, exact: bool, most: int = 0,
    begin: NDArray | None = None,
) -> NDArray[np.uint8]:  # fmt: skip
    """The roles of every row (n × k, zeros and ones) that cost least, by switching one at a time from `begin`.

    `prices` are those of a one that is missed and of a zero that is covered; `exact` allows none of the latter.
    """
    codes = np.zeros((len(ones), len(roles)), dtype=np.uint8) if begin is None else begin.astype(np.uint8, copy=True)
    switch_codes(ones, zeros, roles, prices, exact, most, codes)
    return codes


def cheapest_codes(ones: Words, zeros: Words, roles: Words, prices: tuple[float, float], *, exact: bool):
    """The same from no role and from all of them, whichever ends cheaper, row by row.

    So many roles that to drop most of them one by one takes long begin at none alone.
    """
    k, width = roles.shape
    first = np.zeros((len(ones), k), dtype=np.uint8)
    costs = switch_codes(ones, zeros, roles, prices, exact, 0, first)
    if k * k * width <= _DROPPED:
        second = np.ones_like(first)
        better = switch_codes(ones, zeros, roles, prices, exact, 0, second) < costs
        first[better] = second[better]
    return first


def switch_codes(ones, zeros, roles, prices, exact, most, codes) -> NDArray[np.float64]:
    """Switch roles of all rows in place; what each row costs in the end."""
    (n, width), k = ones.shape, len(roles)
    costs = np.empty(n)

    def task(start: int, stop: int) -> None:
        scratch = np.empty(width, np.uint64), np.empty(width, np.uint64), np.empty(k + 1, np.int64), costs
        limits = (np.int64(0) if exact else ANY), np.int64(most)
        kernels.code_range(
            ones, zeros, roles, float(prices[0]), float(prices[1]), *limits, codes, *scratch, start, stop
        )

    run(task, n, max(1, _WORK // ((k + 1) * width)))
    return costs


def covered_by(codes: NDArray[np.uint8], roles: Words) -> tuple[Words, Words]:
    """What the roles of each row grant, and what two of them or more do, as bits."""
    codes = np.ascontiguousarray(codes)
    once, twice = (np.zeros((len(codes), roles.shape[1]), np.uint64) for _ in range(2))
    size = max(1, _WORK // (codes.shape[1] + roles.shape[1]))
    run(lambda start, stop: kernels.cover_range(codes, roles, once, twice, start, stop), len(codes), size)
    return once, twice


class Reduction:
    """The reduction of a table under way: `left` marks the cells still to be covered, `n_roles` counts forced roles.

    What dropped cells belong to is known by :meth:`groups` once the others have got theirs.
    """

    def __init__(self, rows: Words, columns: Words):
        self.rows, self.columns, self.left = rows, columns, rows.copy()
        self.offsets = np.concatenate([[0], np.cumsum(ones_in_rows(rows))])
        self._parents, self._log = (np.empty(self.offsets[-1], np.int64) for _ in range(2))
        self.n_roles = self._dropped = self.spent = 0
        width, height = rows.shape[1], columns.shape[1]
        numbers = np.empty(width, np.int64), np.empty(64 * max(width, height), np.int64)
        words = (np.empty(size, np.uint64) for size in (width, width, height))
        self._scratch = *numbers, *words, self.offsets, self._parents, self._log

    def go_over(self, cells: NDArray[np.int64], budget: int) -> int:
        """One pass over these cells, or as much of it as looks at `budget` words in all; how many cells went."""
        before = self._dropped
        for start, stop in chunks(len(cells), 256):
            if self.spent > budget:
                break
            found = self.n_roles, self._dropped
            self.n_roles, self._dropped, work = kernels.reduce_range(
                self.rows, self.columns, self.left, cells, *self._scratch, found, start, stop
            )
            self.spent += work
        return self._dropped - before

    def groups(self, left: NDArray[np.int64]) -> NDArray[np.int64]:
        """The role of every cell, row after row: `left` holds the roles of those that were never dropped (in order)."""
        groups = np.full(self.offsets[-1], -1)
        dropped = np.zeros(len(groups), dtype=bool)
        dropped[self._log[: self._dropped]] = True
        groups[~dropped] = left
        kernels.inherit(self._parents, self._log, self._dropped, groups)
        return groups


def near_cells(rows: Words, cells: NDArray) -> Words:
    """Which cells fit into one role with each cell, itself included, as bits."""
    near = np.zeros((len(cells), n_words(len(cells))), dtype=np.uint64)
    run(lambda start, stop: graph.near_range(rows, cells, near, start, stop), len(cells), 1 + _WORK // (len(cells) + 1))
    return near


def apart_cells(near: Words, seed: NDArray, budget: int) -> NDArray[np.int64]:
    """As many cells as `budget` elementary steps find of which no two fit into one role; each needs its own."""
    n = len(near)
    chosen, tight, banned, best = (np.zeros(n, np.int64) for _ in range(4))
    numbers = np.zeros(3, np.int64)
    graph.apart_rounds(near, chosen, tight, banned, best, numbers, seed, np.empty(n + 64, np.int64), np.int64(budget))
    return np.flatnonzero(best)


def search_covers(near: Words, state: dict, least: int, budget: int) -> None:
    """Look for fewer cliques that cover all cells, for so many elementary steps; the arrays of `state` are changed."""
    n, width = near.shape
    words = np.empty(width, np.uint64), np.empty(width, np.uint64)
    arrays = (state[name] for name in ("cliques", "numbers", "counts", "weights", "born", "best", "seed"))
    scratch = np.empty(n, np.int64), *words, np.empty(n + 64, np.int64)
    graph.cover_rounds(near, *arrays, *scratch, np.int64(least), np.int64(budget))


def needed_items(roles: Words, codes: NDArray[np.uint8], r: int, marked: Words) -> Words:
    """The permissions of role r that somebody who has it gets from no other of their roles.

    One row of bits; only cells that are `marked` count."""
    need, others = np.zeros(roles.shape[1], np.uint64), np.empty(roles.shape[1], np.uint64)
    kernels.needed(roles, codes, np.int64(r), marked, need, others)
    return need


def fit_roles(rows, columns, seeds: Words, prices) -> tuple[Words, Words, NDArray[np.float64]]:
    """Who gets each of some roles, what it holds, and what it alone gains: in turns, from the permissions of a seed on.

    `rows` and `columns` are sides of a table with `ones`, `zeros` and `kinds`; `prices` say what is `missed` and
    `extra`.
    """
    users, items = np.zeros((len(seeds), columns.ones.shape[1]), np.uint64), seeds.copy()
    gains = np.empty(len(seeds))

    def task(start: int, stop: int) -> None:
        scratch = np.empty_like(users[0]), np.empty_like(items[0]), np.empty(max(len(rows.ones), len(columns.ones)))
        kernels.fit_roles(
            rows.ones, rows.zeros, columns.ones, columns.zeros, rows.kinds, columns.kinds, users, items, gains,
            float(prices.missed), float(prices.extra), prices.most_extra, *scratch, np.int64(_TURNS), start, stop,
        )  # fmt: skip

    run(task, len(seeds), max(1, _WORK // (8 * (rows.ones.size + columns.ones.size))))
    return users, items, gains


_TURNS = 20  # of one role between users and permissions; most settle after three


def best_concept(rows: Words, free: Words, copies: NDArray, columns: Words) -> tuple[Words, int]:
    """The permissions of a formal concept that covers much of `free`, and how much; `columns` are bits over rows."""
    left = ones_in_rows(free)
    height, width = columns.shape[1], rows.shape[1]
    holders = np.full(height, ~np.uint64(0))
    items, trial, best = (np.zeros(width, np.uint64) for _ in range(3))
    places, others = np.empty(64 * height, np.int64), np.empty(height, np.uint64)
    gain = kernels.grow_concept(rows, free, copies, left, columns, holders, items, trial, best, places, others)
    return items, int(gain)


def gains_of_roles(side, roles: Words, prices) -> NDArray[np.float64]:
    """What each of some roles gains on a side of a table, given to whom it pays for."""
    gains = np.empty(len(roles))

    def task(start: int, stop: int) -> None:
        weights = float(prices.missed), float(prices.extra), prices.most_extra
        kernels.weigh_range(side.ones, side.zeros, side.copies, roles, *weights, gains, start, stop)

    run(task, len(roles), max(1, _WORK // max(1, side.ones.size)))
    return gains


def cover_greedily(
    rows: Words, columns: Words, left: Words, cells: NDArray[np.int64], apart: Words, most: int
) -> Words:
    """Roles grown about the cells that are marked in `left`, in that order, until all are covered; `left` is emptied.

    `apart` marks permissions that may not go together (no rows: all may), `most` is how many a role may have (0: any).
    """
    width, height = rows.shape[1], columns.shape[1]
    words = (np.empty(size, np.uint64) for size in (width, width, height))
    size = 64 * max(width, height)
    scratch = *words, np.zeros(len(rows), np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    parts, at = [np.zeros((0, width), np.uint64)], 0
    while at < len(cells):
        roles = np.empty((64, width), np.uint64)
        found, at = kernels.grow_cover(rows, columns, left, cells, np.int64(at), apart, np.int64(most), roles, *scratch)
        parts.append(roles[:found])
    return np.vstack(parts)
