"""Cut a tree back where its branches say more than the rows can prove: three ways, from the leaves to the root.

Each way prices a node as a leaf; a node whose price is no higher than that of what hangs below it becomes a leaf.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.predict.trees.columns import TreeColumns
from unweave.predict.trees.nodes import TreeNodes


def cut_back(nodes: TreeNodes, price: NDArray, leaf_price: float = 0.0, own: NDArray | float = 0.0) -> TreeNodes:
    """The cheapest tree: `price` is what each node would cost as a leaf, and every leaf costs `leaf_price` more.

    A node that is split costs what its branches cost, and its `own` beside.

    >>> nodes = TreeNodes(np.array([-1, 0, 0]), np.array([0, 0, 1]), np.array([0, -1, -1]), np.full(3, np.nan),
    ...               np.zeros(3), np.array([[2, 3], [1, 1], [1, 2]]))
    >>> len(cut_back(nodes, np.array([2.0, 1.0, 1.0])))
    1
    """
    cost = price + leaf_price
    below = np.zeros(len(nodes)) + own
    leaf = nodes.is_leaf().copy()
    for i in range(len(nodes) - 1, -1, -1):  # every child comes after its parent
        if not leaf[i]:
            if cost[i] <= below[i] + 1e-9:
                leaf[i] = True
            else:
                cost[i] = below[i]
        if i:
            below[nodes.parent[i]] += cost[i]
    return nodes.kept(leaf)


def _errors(counts: NDArray) -> NDArray[np.float64]:
    return (counts.sum(axis=1) - counts.max(axis=1)).astype(np.float64)


def by_cost(nodes: TreeNodes, alpha: float) -> TreeNodes:
    """Cost-complexity: share of training rows in error plus alpha for every leaf (Breiman)."""
    n = nodes.counts[0].sum()
    return cut_back(nodes, _errors(nodes.counts) / n, alpha)


def by_doubt(nodes: TreeNodes, confidence: float) -> TreeNodes:
    """Pessimistic: errors counted at the upper end of their confidence interval (C4.5)."""
    from scipy.stats import beta

    n, errors = nodes.counts.sum(axis=1), _errors(nodes.counts)
    upper = np.where(errors < n, beta.ppf(1.0 - confidence, errors + 1.0, np.maximum(n - errors, 1e-9)), 1.0)
    return cut_back(nodes, n * upper)


def by_held_out(nodes: TreeNodes, layout: TreeColumns, table: NDArray, y: NDArray) -> TreeNodes:
    """Reduced error: errors counted on rows that the tree was not grown from (Quinlan)."""
    answer = nodes.counts.argmax(axis=1)
    price, former = np.zeros(len(nodes)), None
    for at in nodes.paths(table, layout):
        moved = np.ones(len(at), dtype=bool) if former is None else at != former
        # What the row is told if the tree ends at this node.
        price += np.bincount(at[moved], answer[at[moved]] != y[moved], len(nodes))
        former = at
    # A row that finds no branch stops at a node, which answers for it however the tree goes on there.
    stays = np.bincount(former, answer[former] != y, len(nodes)) if former is not None else np.zeros(len(nodes))
    return cut_back(nodes, price, own=np.where(nodes.is_leaf(), 0.0, stays))
