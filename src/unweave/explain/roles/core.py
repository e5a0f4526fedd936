"""Reduce an access table to its irreducible core: the cells that decide how many roles it takes.

Users who hold the same are one user, permissions held by the same users are one permission. Of what is left, a cell
whose users and permissions are all ones between them lies in one role worth having, which is taken; a cell that is
covered whenever another one is (it is *dominated*) can be forgotten. This goes on until nothing changes. No step
changes the least number of roles, so `forced` roles and the fewest for the core together are the fewest for the table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.explain.roles.access import Access
from unweave.linalg.bits import (
    Words,
    distinct,
    ones_in_rows,
    pack,
    pack_bits,
    sorted_csr,
    transpose,
    unpack,
    unpack_sparse,
)
from unweave.linalg.roles import Reduction

BUDGET = 20_000_000_000  # words that the reduction may look at: some ten seconds
_LOOKED_AT = 20_000  # cells from which pairwise apart ones are chosen


@dataclass(frozen=True)
class Merged:
    """A table without copies of rows and of columns.

    `users` and `items` are the first row and column of each kind, `user_kinds` and `item_kinds` the kind of each;
    `rows` and `columns` the table of kinds as bits.
    """

    users: NDArray[np.int64]
    items: NDArray[np.int64]
    user_kinds: NDArray[np.int64]
    item_kinds: NDArray[np.int64]
    rows: Words
    columns: Words

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.users), len(self.items)

    def spread(self, roles: Words) -> Words:
        """Roles of kinds of permissions as roles of permissions."""
        return pack(sorted_csr(unpack_sparse(roles, len(self.items))[:, self.item_kinds]))


def merge(access: Access, *, items_too: bool = True) -> Merged:
    """One row for users who hold the same, one column for permissions that the same users hold (if these may merge)."""
    users, user_kinds = distinct(access.granted)
    columns = transpose(access.granted[users], access.shape[1])
    items, item_kinds = distinct(columns) if items_too else (np.arange(len(columns)),) * 2
    columns = np.ascontiguousarray(columns[items])
    return Merged(users, items, user_kinds, item_kinds, transpose(columns, len(users)), columns)


@dataclass(frozen=True)
class Core:
    """What is left of a table: how many roles must be (`n_forced`), and the cells still to be covered.

    `cells` are pairs of user and permission (kinds), row after row. `whole` says that the reduction came to its end,
    not to that of its budget.
    """

    merged: Merged
    reduction: Reduction
    cells: NDArray[np.int64]
    whole: bool

    @property
    def n_forced(self) -> int:
        return self.reduction.n_roles

    def roles(self, own: NDArray[np.int64]) -> Words:
        """Roles of permissions (kinds) as bits: those that must be, and those that `own` says of which every cell is.

        Dropped cells follow the cell that covers for them: what comes together fits into one role.
        """
        numbers = self.reduction.groups(self.n_forced + own)
        items = unpack_sparse(self.merged.rows, self.merged.shape[1]).indices
        k = int(numbers.max(initial=-1)) + 1
        table = sp.csr_array((np.ones(len(items), np.uint8), (numbers, items)), shape=(k, self.merged.shape[1]))
        table.sum_duplicates()
        return pack(table)

    def first_role(self, roles: Words) -> NDArray[np.int64]:
        """The first of some roles (bits over kinds of permissions) that covers each cell of the core."""
        own = np.full(len(self.cells), -1)
        open_ = np.arange(len(self.cells))
        holders = holders_of(self.merged, roles)
        for r in range(len(roles)):
            u, p = self.cells[open_].T
            inside = _bit(holders[r], u) & _bit(roles[r], p)
            own[open_[inside]] = r
            open_ = open_[~inside]
        return own

    def apart(self) -> int:
        """How many of the loneliest cells greedily chosen are pairwise apart: no two fit into one role."""
        rows, chosen = self.merged.rows, 0
        held, holders = ones_in_rows(rows), ones_in_rows(self.merged.columns)
        order = np.argsort(held[self.cells[:, 0]] * holders[self.cells[:, 1]], kind="stable")
        open_ = self.cells[order[:_LOOKED_AT]]
        while len(open_):
            (u, p), (users, items) = open_[0], open_.T
            open_ = open_[~(_bit(rows[u], items) & _bit(self.merged.columns[p], users))]
            chosen += 1
        return chosen


def _bit(words: Words, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether bits of one row are set."""
    return (words[places >> 6] >> (places & 63).astype(np.uint64) & np.uint64(1)) > 0


def reduce(merged: Merged, budget: int = BUDGET) -> Core:
    """Take the roles that must be and forget dominated cells, until nothing changes or the budget is spent."""
    reduction = Reduction(merged.rows, merged.columns)
    cells = cells_of(merged, reduction.left)
    while len(cells) and reduction.spent < budget:
        held, holders = ones_in_rows(merged.rows), ones_in_rows(merged.columns)
        order = np.argsort(held[cells[:, 0]] * holders[cells[:, 1]], kind="stable")  # the loneliest first
        if not reduction.go_over(np.ascontiguousarray(cells[order]), budget):
            break
        cells = cells_of(merged, reduction.left)
    return Core(merged, reduction, cells, reduction.spent < budget)


def cells_of(merged: Merged, left: Words) -> NDArray[np.int64]:
    """The cells that are marked in `left`, row after row."""
    coo = unpack_sparse(left, merged.shape[1]).tocoo()
    return np.ascontiguousarray(np.column_stack([coo.row, coo.col]).astype(np.int64))


def holders_of(merged: Merged, roles: Words) -> Words:
    """Who holds all that a role holds (kinds of users as bits), role by role."""
    full = pack_bits(np.ones((1, len(merged.users)), np.uint8))[0]
    lists = (np.flatnonzero(row) for row in unpack(roles, len(merged.items)))
    found = [np.bitwise_and.reduce(merged.columns[items], axis=0) if len(items) else full for items in lists]
    return np.array(found, dtype=np.uint64).reshape(len(roles), merged.columns.shape[1])


def closed(merged: Merged, roles: Words) -> Words:
    """Roles with everything that all hold who could have them."""
    found = roles.copy()
    for r, users in enumerate(unpack(holders_of(merged, roles), len(merged.users))):
        found[r] = np.bitwise_and.reduce(merged.rows[users > 0], axis=0) if users.any() else roles[r]
    return found


def plain_covers(merged: Merged) -> tuple[Words, Words]:
    """A role for each kind of user, and one for each kind of permission: no cover needs more roles than the fewer."""
    held = np.flatnonzero(ones_in_rows(merged.columns))
    alone = np.zeros((len(held), merged.rows.shape[1]), np.uint64)
    alone[np.arange(len(held)), held >> 6] = np.uint64(1) << (held & 63).astype(np.uint64)
    return merged.rows[ones_in_rows(merged.rows) > 0], alone
