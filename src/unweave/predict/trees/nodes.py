"""The tree itself: flat arrays of nodes, how rows go down it, and its text."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from unweave.predict.trees.columns import TreeColumns


@dataclass(frozen=True)
class TreeNodes:
    """A tree as arrays; node 0 is the root, and every child comes after its parent.

    Attributes
    ----------
    parent : array of int (N,)
        −1 for the root.
    branch : array of int (N,)
        Which branch of the parent leads here: the code of a level, or 0 (at most the threshold), 1 (above), 2 (a hole).
    column : array of int (N,)
        What the node splits by; −1 for a leaf.
    threshold : array (N,)
        Where amounts are cut, otherwise NaN.
    gain : array (N,)
        Of its split, in bits; 0 for a leaf.
    counts : array of int (N, C)
        Rows of each class that came here in the fit.
    """

    parent: NDArray[np.int64]
    branch: NDArray[np.int64]
    column: NDArray[np.int64]
    threshold: NDArray[np.float64]
    gain: NDArray[np.float64]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def depth(self) -> NDArray[np.int64]:
        """Splits above each node."""
        depth = np.zeros(len(self), dtype=np.int64)
        for i in range(1, len(self)):
            depth[i] = depth[self.parent[i]] + 1
        return depth

    def is_leaf(self) -> NDArray[np.bool_]:
        return self.column < 0

    def children(self) -> list[list[int]]:
        """The children of each node, in the order of their branches."""
        below: list[list[int]] = [[] for _ in range(len(self))]
        for i in range(1, len(self)):
            below[self.parent[i]].append(i)
        return below

    def paths(self, table: NDArray, layout: TreeColumns) -> list[NDArray[np.int64]]:
        """The nodes that every row passes: arrays (n,) level by level; a row that has arrived stays where it is.

        A row whose branch the fit did not see, because the level is new or the cell is empty, stays at the node above.
        """
        width = np.array([layout.branches(j) for j in range(len(layout.levels))])
        first = np.cumsum(np.where(self.column < 0, 0, width[self.column]))
        first = np.concatenate([[0], first])[:-1]  # where the branches of each node stand in the list of all
        last = int(first[-1] + (width[self.column[-1]] if self.column[-1] >= 0 else 0))
        child = np.full(last, -1, dtype=np.int64)
        if len(self) > 1:
            child[first[self.parent[1:]] + self.branch[1:]] = np.arange(1, len(self))
        at = np.zeros(len(table), dtype=np.int64)
        passed = [at]
        going = np.flatnonzero(self.column[at] >= 0)
        while len(going):
            node = at[going]
            cell = table[going, self.column[node]]
            cut = self.threshold[node]
            kinds = np.isnan(cut)
            branch = np.where(np.isnan(cell), 2, cell > cut).astype(np.int64)
            branch[kinds] = cell[kinds].astype(np.int64)
            below = np.where(branch < 0, -1, child[first[node] + np.maximum(branch, 0)])
            moved = below >= 0
            at = at.copy()
            at[going[moved]] = below[moved]
            passed.append(at)
            going = going[moved]
            going = going[self.column[at[going]] >= 0]
        return passed

    def kept(self, leaf: NDArray[np.bool_]) -> TreeNodes:
        """The tree in which the marked nodes are leaves, without what hangs below them."""
        gone = np.zeros(len(self), dtype=bool)
        for i in range(1, len(self)):
            gone[i] = gone[self.parent[i]] or leaf[self.parent[i]]
        place = np.cumsum(~gone) - 1
        kept = {part.name: getattr(self, part.name)[~gone] for part in fields(self)}
        cut = leaf[~gone]
        kept["parent"] = np.where(kept["parent"] < 0, -1, place[kept["parent"]])
        kept["column"] = np.where(cut, -1, kept["column"])
        kept["threshold"] = np.where(cut, np.nan, kept["threshold"])
        kept["gain"] = np.where(cut, 0.0, kept["gain"])
        return TreeNodes(**kept)

    def check(self, layout: TreeColumns, n_classes: int) -> None:
        """Raise ValueError unless the arrays are a tree over these columns."""
        n = len(self)
        shapes = all(np.shape(getattr(self, part.name))[:1] == (n,) for part in fields(self))
        if not n or not shapes or np.shape(self.counts) != (n, n_classes):
            raise ValueError("the arrays of the tree do not fit together")
        whole = all(getattr(self, name).dtype.kind == "i" for name in ("parent", "branch", "column", "counts"))
        if (
            not whole
            or self.parent[0] != -1
            or (self.parent[1:] >= np.arange(1, n)).any()
            or (self.parent[1:] < 0).any()
        ):
            raise ValueError("the parents of the tree make no tree")
        if (self.column >= len(layout.levels)).any() or (self.column < -1).any():
            raise ValueError("the tree splits by a column that is not there")
        above = self.column[self.parent[1:]]
        most = np.array([layout.branches(j) for j in range(len(layout.levels))])[above]
        if (above < 0).any() or (self.branch[1:] < 0).any() or (self.branch[1:] >= most).any():
            raise ValueError("the tree has a branch that its column has not")
        amounts = np.array([not layout.is_kinds(j) for j in range(len(layout.levels))])
        if ((self.column >= 0) & (np.isnan(self.threshold) == amounts[self.column])).any():
            raise ValueError("the thresholds of the tree do not fit its columns")


def branch_words(nodes: TreeNodes, layout: TreeColumns, i: int) -> str:
    """What leads to node i from its parent, in words."""
    above, branch = int(nodes.parent[i]), int(nodes.branch[i])
    levels = layout.levels[nodes.column[above]]
    if levels is not None:
        return f"= {levels[branch]}" if branch < len(levels) else "is empty"
    cut = f"{nodes.threshold[above]:.6g}"
    return ("≤ " + cut, "> " + cut, "is empty")[branch]


def leaf_words(nodes: TreeNodes, classes: NDArray, i: int) -> str:
    """What is answered at node i, with the rows that speak for it and the rows that do not."""
    counts = nodes.counts[i]
    best, total = int(counts.argmax()), int(counts.sum())
    others = f", {total - counts[best]} others" if counts[best] < total else ""
    return f"{classes[best]} ({counts[best]}{others})"


def as_text(nodes: TreeNodes, layout: TreeColumns, classes: NDArray) -> str:
    """The tree in lines, one a branch."""
    below = nodes.children()
    if nodes.column[0] < 0:
        return f"always {leaf_words(nodes, classes, 0)}"
    lines = [layout.names[nodes.column[0]]]
    left = [(child, "") for child in reversed(below[0])]
    last = {children[-1] for children in below if children}
    while left:  # without recursion: a chain of splits may be deeper than Python allows
        i, margin = left.pop()
        turn, on = ("└─ ", "   ") if i in last else ("├─ ", "│  ")
        split = nodes.column[i] >= 0
        end = layout.names[nodes.column[i]] if split else leaf_words(nodes, classes, i)
        lines.append(f"{margin}{turn}{branch_words(nodes, layout, i)}: {end}")
        left += [(child, margin + on) for child in reversed(below[i])]
    return "\n".join(lines)
