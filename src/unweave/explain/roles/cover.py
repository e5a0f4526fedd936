"""Cover the cells of a core by the fewest roles: exactly where that is possible, else by a search or greedily."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.explain.roles.core import Core, holders_of, plain_covers
from unweave.linalg.bits import Words, pack_bits, unpack
from unweave.linalg.roles import apart_cells, best_concept, search_covers
from unweave.solve.scheme import Scheme, State

MOST_CELLS = 8192  # of a core whose graph of cells is made (8 MB)
MOST_CLIQUES = 20_000  # of a graph that are all listed
_MOST_LOOKS = 2_000_000  # at nodes, in the search for them: about a second
_NODES = 20_000  # of the branch and bound
_STEP = 1 << 27  # elementary steps of one step of the search: a tenth of a second


def maximal_cliques(near: Words) -> list[int] | None:
    """Every maximal clique of a graph as a number whose bits are its nodes; None where there are too many.

    Bron and Kerbosch's search with the pivot of Tomita, Tanaka and Takahashi.
    """
    n = len(near)
    around = [int.from_bytes(row.tobytes(), "little") & ~(1 << i) for i, row in enumerate(near)]
    found: list[int] = []
    stack = [(0, (1 << n) - 1, 0)]
    looks = 0
    while stack:
        clique, open_, closed = stack.pop()
        looks += 1 + (open_ | closed).bit_count()
        if looks > _MOST_LOOKS or len(found) > MOST_CLIQUES:
            return None
        if not open_:
            if not closed:
                found.append(clique)
            continue
        pivot = max(_bits(open_ | closed), key=lambda x: (open_ & around[x]).bit_count())
        for x in _bits(open_ & ~around[pivot]):
            stack.append((clique | 1 << x, open_ & around[x], closed & around[x]))
            open_ &= ~(1 << x)
            closed |= 1 << x
    return found


def _bits(word: int) -> list[int]:
    places = []
    while word:
        low = word & -word
        places.append(low.bit_length() - 1)
        word ^= low
    return places


def fewest(sets: sp.csr_array) -> tuple[NDArray[np.int64], int]:
    """The fewest columns of a table of zeros and ones that cover all its rows, and a proven least number of them.

    By branch and bound on the linear programme; where its nodes run out the first is not proven to be the least.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    ones = np.ones(sets.shape[1])
    found = milp(
        ones, integrality=ones, bounds=Bounds(0, 1), constraints=LinearConstraint(sets, 1, np.inf),
        options={"node_limit": _NODES},
    )  # fmt: skip
    if found.x is None:
        return np.arange(sets.shape[1]), 1
    bound = found.fun if found.mip_dual_bound is None else found.mip_dual_bound
    return np.flatnonzero(found.x > 0.5), math.ceil(bound - 1e-6)


class ExactCover(Scheme):
    """List every maximal clique of cells and choose the fewest by branch and bound; one step.

    The state holds `groups`, a table of cells by cliques, and `least`, below which no cover can be.
    """

    ending = "solved by branch and bound"

    def __init__(self, cliques: list[int], n_cells: int):
        self.cliques, self.n_cells = cliques, n_cells

    def adapt(self, loop):
        return loop.once()

    def begin(self, rng=None) -> State:
        return {"groups": np.zeros((self.n_cells, 0), np.uint8), "least": 0}

    def step(self, state):
        rows = [_bits(clique) for clique in self.cliques]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        indices = np.concatenate(rows)
        shape = len(rows), self.n_cells
        sets = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)
        chosen, least = fewest(sp.csr_array(sets.T))
        groups = np.ascontiguousarray(sets[chosen].toarray().T.astype(np.uint8))
        return {"groups": groups, "least": least}, float(len(chosen))


def first_cover(core: Core) -> Words:
    """Cover the cells of a core by the fewest of three: formal concepts, users, permissions; as bits over cells."""
    covers = (concepts(core), *plain_covers(core.merged))
    return min((over_cells(core, roles) for roles in covers), key=len)


def concepts(core: Core) -> Words:
    """Cover a core by formal concepts, each grown greedily (GreConD): bits over kinds of permissions.

    Random tables of some thousand cells take a fifth to a third fewer of them than of cliques grown about a cell.
    """
    rows, columns, free = core.merged.rows, core.merged.columns, core.reduction.left.copy()
    roles, once = [], np.ones(len(rows), np.int64)
    while free.any():
        items, _ = best_concept(rows, free, once, columns)
        free[((rows & items) == items).all(axis=1)] &= ~items
        roles.append(items)
    return np.array(roles, dtype=np.uint64).reshape(-1, rows.shape[1])


def over_cells(core: Core, roles: Words) -> Words:
    """Which cells of a core each role covers, as bits; those that cover none are left out."""
    u, p = core.cells.T
    have = unpack(holders_of(core.merged, roles), len(core.merged.rows))[:, u]
    found = pack_bits(have & unpack(roles, len(core.merged.columns))[:, p])
    return found[found.any(axis=1)]


class SearchedCover(Scheme):
    """Search among covers by cliques, with weights on cells that are hard to cover; never rises.

    The weighting local search for set covering (Gao et al. 2015), with cliques grown when they are needed in place of a
    list of them. It begins at the cover `first`, cliques as bits over cells.
    """

    ending = "no cover can have fewer roles, or none was found for long"

    def __init__(self, near: Words, first: Words):
        self.near, self.first, self.patience = near, first, 12

    def adapt(self, loop):
        return replace(loop, tol=None, ending="the steps allowed are done")

    def begin(self, rng=None) -> State:
        (n, width), k = self.near.shape, len(self.first)
        seed = np.array([1 + int((rng or np.random.default_rng(0)).integers(2**62))], dtype=np.uint64)
        cliques = np.zeros((max(n, k) + 1, width), np.uint64)
        cliques[:k] = self.first
        state = {
            "cliques": cliques, "best": cliques.copy(), "counts": unpack(self.first, n).sum(axis=0, dtype=np.int64),
            "weights": np.ones(n, np.int64), "born": np.full(len(cliques), -2),  # none is as young as the last round
            "numbers": np.array([k, k, 0, 0]), "seed": seed, "stale": 0,
        }  # fmt: skip
        state["least"] = len(apart_cells(self.near, seed, _STEP))
        return state

    def step(self, state):
        new = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        search_covers(self.near, new, state["least"], _STEP)
        better = new["numbers"][1] < state["numbers"][1]
        new["stale"] = 0 if better else state["stale"] + 1
        return new, float(new["numbers"][1])

    def settled(self, state):
        return bool(state["numbers"][1] <= state["least"] or state["stale"] >= self.patience)

    def finish(self, state):
        best = state["best"][: state["numbers"][1]]
        return {"groups": np.ascontiguousarray(unpack(best, len(self.near)).T), "least": state["least"]}


class Settled(Scheme):
    """Nothing is left to decide."""

    ending = "the reduction left nothing to decide"

    def adapt(self, loop):
        return loop.once()

    def begin(self, rng=None):
        return {"groups": np.zeros((0, 0), np.uint8), "least": 0}

    def step(self, state):
        return state, 0.0
