"""Grow a tree level by level: every open node is split by the column that tells most, or is a leaf for good."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.predict.trees.columns import TreeColumns
from unweave.predict.trees.gains import Splits, entropy, split_amounts, split_kinds
from unweave.predict.trees.nodes import TreeNodes
from unweave.solve.scheme import Scheme, State

_NOTHING = 1e-10  # bits, below which a gain is rounding and no gain


class Growth(Scheme):
    """One level of the tree a step; the objective is what is left to ask: the bits of y given the leaf, of all rows.

    Parameters
    ----------
    table : array (n, m)
        As :func:`unweave.predict.trees.columns.encode` makes it.
    layout : TreeColumns
    y : array of int (n,)
        Class of each row.
    n_classes : int
    by_ratio : bool
        Whether columns are compared by gain over the entropy of the split, among those of at least average gain.
    min_rows, min_leaf : int
        Rows of a node that is split, and of a branch.
    """

    ending = "every leaf is of one class, or no column tells more"

    def __init__(
        self,
        table: NDArray,
        layout: TreeColumns,
        y: NDArray,
        n_classes: int,
        by_ratio: bool,
        min_rows: int,
        min_leaf: int,
    ):
        self.table, self.layout, self.y, self.n_classes = table, layout, y, n_classes
        self.by_ratio, self.min_rows, self.min_leaf = by_ratio, min_rows, min_leaf
        self.order = {j: np.argsort(table[:, j], kind="stable") for j, kind in enumerate(layout.levels) if kind is None}

    def begin(self, rng=None) -> State:
        counts = np.bincount(self.y, minlength=self.n_classes)[None, :]
        one = np.zeros(1, dtype=np.int64)
        return {
            "parent": one - 1, "branch": one, "column": one - 1, "threshold": np.full(1, np.nan),
            "gain": np.zeros(1), "counts": counts, "node": np.zeros(len(self.y), dtype=np.int64),
            "open": self._worth(counts),
        }  # fmt: skip

    def step(self, state: State) -> tuple[State, float]:
        opened = np.flatnonzero(state["open"])
        if not len(opened):
            return state, self._left(state)
        local = np.full(len(state["parent"]), -1, dtype=np.int64)
        local[opened] = np.arange(len(opened))
        of_row = local[state["node"]]
        best, column = self._best(of_row, state["counts"][opened])
        split = column >= 0
        state = {**state, "column": state["column"].copy(), "threshold": state["threshold"].copy()}
        state["gain"] = state["gain"].copy()
        state["column"][opened[split]] = column[split]
        state["threshold"][opened] = np.where(split, best.threshold, np.nan)
        state["gain"][opened[split]] = best.gain[split]
        state = self._branched(state, of_row, opened, column)
        return state, self._left(state)

    def fixed(self, state: State) -> bool:
        return not state["open"].any()

    def gains(self) -> NDArray[np.float64]:
        """What each column tells at the root, in bits."""
        root = np.zeros(len(self.y), dtype=np.int64)
        counts = np.bincount(self.y, minlength=self.n_classes)[None, :]
        found = [float(self._splits(j, root, counts, 1).gain[0]) for j in range(len(self.layout.levels))]
        return np.maximum(found, 0.0)

    def _worth(self, counts: NDArray) -> NDArray[np.bool_]:
        """TreeNodes that may be split: enough rows, of more than one class."""
        total = counts.sum(axis=1)
        return (total >= self.min_rows) & (counts.max(axis=1) < total)

    def _left(self, state: State) -> float:
        leaf = state["column"] < 0
        counts = state["counts"][leaf]
        return float((entropy(counts) * counts.sum(axis=1)).sum())

    def _splits(self, j: int, of_row: NDArray, counts: NDArray, least: int) -> Splits:
        if self.layout.is_kinds(j):
            rows = np.flatnonzero(of_row >= 0)
            code = self.table[rows, j].astype(np.int64)
            return split_kinds(code, self.layout.branches(j), of_row[rows], self.y[rows], counts, least)
        rows = self.order[j][of_row[self.order[j]] >= 0]
        rows = rows[np.argsort(of_row[rows], kind="stable")]
        return split_amounts(self.table[rows, j], of_row[rows], self.y[rows], counts, least)

    def _best(self, of_row: NDArray, counts: NDArray) -> tuple[Splits, NDArray[np.int64]]:
        """The split of each open node, and its column; −1 where nothing is gained."""
        each = [self._splits(j, of_row, counts, self.min_leaf) for j in range(len(self.layout.levels))]
        gain, spread, threshold = (np.array(part) for part in zip(*each, strict=True))
        useful = gain > _NOTHING
        measure = np.where(useful, gain, -np.inf)
        if self.by_ratio:
            number = np.maximum(useful.sum(axis=0), 1)
            mean = np.where(useful, gain, 0.0).sum(axis=0) / number
            ratio = gain / np.where(spread > 0, spread, 1.0)
            measure = np.where(useful & (gain >= mean - _NOTHING), ratio, -np.inf)
        column = measure.argmax(axis=0)
        at = (column, np.arange(len(column)))
        found = np.isfinite(measure[at])
        return Splits(gain[at], spread[at], threshold[at]), np.where(found, column, -1)

    def _branched(self, state: State, of_row: NDArray, opened: NDArray, column: NDArray) -> State:
        """Add the branches of the nodes that were split, and send the rows there."""
        rows = np.flatnonzero(of_row >= 0)
        rows = rows[column[of_row[rows]] >= 0]
        nodes = state["node"][rows]
        cut, cell = state["threshold"][nodes], self.table[rows, state["column"][nodes]]
        branch = np.where(np.isnan(cut), cell, np.where(np.isnan(cell), 2, cell > cut)).astype(np.int64)
        most = max(self.layout.branches(j) for j in range(len(self.layout.levels)))
        cells, of_cell = np.unique(nodes * most + branch, return_inverse=True)
        n, C = len(cells), self.n_classes
        counts = np.bincount(of_cell * C + self.y[rows], minlength=n * C).reshape(n, C)
        first = len(state["parent"])
        node = state["node"].copy()
        node[rows] = first + of_cell
        return {
            "parent": np.concatenate([state["parent"], cells // most]),
            "branch": np.concatenate([state["branch"], cells % most]),
            "column": np.concatenate([state["column"], np.full(n, -1)]),
            "threshold": np.concatenate([state["threshold"], np.full(n, np.nan)]),
            "gain": np.concatenate([state["gain"], np.zeros(n)]),
            "counts": np.concatenate([state["counts"], counts]),
            "node": node,
            "open": np.concatenate([np.zeros(first, dtype=bool), self._worth(counts)]),
        }


def grown(state: State) -> TreeNodes:
    """The tree of a state."""
    return TreeNodes(*(state[name] for name in ("parent", "branch", "column", "threshold", "gain", "counts")))
