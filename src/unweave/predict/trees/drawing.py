"""Draw a decision tree: boxes of questions and answers, branches labelled by levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unweave.predict.trees.columns import TreeColumns
from unweave.predict.trees.nodes import TreeNodes, branch_words, leaf_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST = 200  # nodes that can still be told apart on paper


def places(nodes: TreeNodes) -> NDArray[np.float64]:
    """Where each node stands across the page: leaves side by side, every other node above the middle of its branches.

    >>> one = np.zeros((3, 1), dtype=int)
    >>> parent, branch, column = np.array([[-1, 0, 0], [0, 0, 1], [0, -1, -1]])
    >>> nodes = TreeNodes(parent, branch, column, np.zeros(3), np.zeros(3), one)
    >>> places(nodes).tolist()
    [0.5, 0.0, 1.0]
    """
    below, across = nodes.children(), np.zeros(len(nodes))
    stack, order, leaves = [0], [], 0
    while stack:
        i = stack.pop()
        order.append(i)
        if not below[i]:
            across[i] = leaves
            leaves += 1
        stack += reversed(below[i])
    for i in reversed(order):
        if below[i]:
            across[i] = 0.5 * (across[below[i][0]] + across[below[i][-1]])
    return across


def draw(nodes: TreeNodes, layout: TreeColumns, classes: NDArray) -> Figure:
    """Draw the tree as a matplotlib figure; one too large to be read is refused."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("drawing needs matplotlib, which is not installed: pip install 'unweave[plot]'") from error
    if len(nodes) > _MOST:
        raise ValueError(
            f"the tree has {len(nodes)} nodes, more than {_MOST} cannot be read on a page: give max_depth or pruning, "
            "or print(tree)"
        )
    across, depth = places(nodes), nodes.depth
    size = (max(5.0, 1.5 * nodes.is_leaf().sum()), max(2.5, 1.3 * (depth.max() + 1)))
    figure = pyplot.figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    axis.set_axis_off()
    colours = pyplot.get_cmap("tab10")
    for i in range(len(nodes)):
        above = int(nodes.parent[i])
        if above >= 0:
            ends = [across[above], across[i]], [-depth[above], -depth[i]]
            axis.plot(*ends, color="#888888", linewidth=1, zorder=1)
            axis.text(
                float(np.mean(ends[0])), float(np.mean(ends[1])), branch_words(nodes, layout, i), fontsize=8,
                ha="center", va="center", backgroundcolor="white", zorder=2,
            )  # fmt: skip
        leaf = nodes.column[i] < 0
        words = leaf_words(nodes, classes, i) if leaf else layout.names[nodes.column[i]]
        edge = colours(int(nodes.counts[i].argmax()) % 10) if leaf else "#333333"
        box = {"boxstyle": "round,pad=0.4", "facecolor": "white", "edgecolor": edge, "linewidth": 1.5}
        axis.text(across[i], -depth[i], words, ha="center", va="center", bbox=box, zorder=3, fontsize=9)
    axis.set_xlim(-0.6, across.max() + 0.6)
    axis.set_ylim(-depth.max() - 0.5, 0.5)
    return figure
