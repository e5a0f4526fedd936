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
from unweave.linalg.bits import Words, distinct, ones_in_rows, pack, sorted_csr, transpose, unpack_sparse
from unweave.linalg.roles import Reduction

BUDGET = 20_000_000_000  # words that the reduction may look at: some ten seconds


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


def merge(access: Access) -> Merged:
    """One row for users who hold the same, one column for permissions that the same users hold."""
    users, user_kinds = distinct(access.granted)
    columns = transpose(access.granted[users], access.shape[1])
    items, item_kinds = distinct(columns)
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

    def roles(self, groups: NDArray[np.uint8]) -> Words:
        """Roles of permissions (kinds) as bits: those that must be, and one for each column of `groups`, which says
        which cells it covers.

        Dropped cells follow the cell that covers for them: what comes together fits into one role.
        """
        own = groups.argmax(axis=1) if groups.size else np.zeros(0, np.int64)
        numbers = self.reduction.groups(self.n_forced + own)
        items = unpack_sparse(self.merged.rows, self.merged.shape[1]).indices
        k = self.n_forced + (groups.shape[1] if groups.size else 0)
        table = sp.csr_array((np.ones(len(items), np.uint8), (numbers, items)), shape=(k, self.merged.shape[1]))
        table.sum_duplicates()
        return pack(table)


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
