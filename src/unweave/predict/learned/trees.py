"""Hold trees that scikit-learn has grown as plain arrays, so that they can be saved without pickle, and ask them.

Every node of every tree is one place in a few flat arrays; a leaf leads to itself. Rows go down all trees at once: as
many rounds of NumPy indexing as the deepest tree has levels. A comparison is made as scikit-learn makes it, so answers
agree with its own to the last bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

_AT_ONCE = 1 << 19  # places of rows in trees that are moved in one round: a few arrays of some megabytes


@dataclass
class Trees:
    """Some grown trees: where a row goes at each node, and where each tree begins."""

    _name_in_files = "GrownTrees"  # a kernel has the other

    feature: NDArray  # of each node, 0 in a leaf
    threshold: NDArray
    left: NDArray  # the next node, itself in a leaf
    right: NDArray
    unknown_left: NDArray  # whether a hole goes to the left
    roots: NDArray
    depth: int

    def leaves(self, X: NDArray) -> NDArray:
        """Return the leaf that each row ends in, a column for every tree."""
        out = np.empty((len(X), len(self.roots)), dtype=np.int64)
        step = max(1, _AT_ONCE // len(self.roots))
        for start in range(0, len(X), step):
            out[start : start + step] = self._down(X[start : start + step])
        return out

    def _down(self, X: NDArray) -> NDArray:
        rows = np.arange(len(X))[:, None]
        at = np.broadcast_to(self.roots, (len(X), len(self.roots)))
        holes = bool(np.isnan(X).any())
        for _ in range(self.depth):
            values = X[rows, self.feature[at]]
            left = values <= self.threshold[at]
            if holes:
                left |= np.isnan(values) & self.unknown_left[at]
            at = np.where(left, self.left[at], self.right[at])
        return at

    def check(self, n_columns: int) -> None:
        """Raise ValueError unless every node leads to a node, and asks for a column that there is."""
        n = len(self.feature)
        arrays = (self.threshold, self.left, self.right, self.unknown_left)
        if not n or any(np.shape(array) != (n,) for array in arrays) or type(self.depth) is not int:
            raise ValueError("the parts of the trees do not fit together")
        places = ((self.left, n), (self.right, n), (self.roots, n), (self.feature, n_columns))
        for array, limit in places:
            if array.dtype.kind != "i" or not array.size or array.min() < 0 or array.max() >= limit:
                raise ValueError("a node of the trees leads nowhere")


@dataclass
class Forest:
    """Many trees, each grown on other rows, whose answers are averaged."""

    trees: Trees
    values: NDArray  # what each node says, a column for every class, or one number
    takes_holes = True
    takes_sparse = False

    def answers(self, X: NDArray) -> NDArray:
        """Average what the leaves say."""
        X = np.asarray(X, dtype=np.float32).astype(np.float64)  # the forest compares in single precision
        out = np.zeros((len(X), self.values.shape[1]))
        leaves = self.trees.leaves(X)
        for j in range(leaves.shape[1]):
            out += self.values[leaves[:, j]]
        return out / leaves.shape[1]

    def check(self, n_columns: int) -> None:
        self.trees.check(n_columns)
        if self.values.ndim != 2 or len(self.values) != len(self.trees.feature):
            raise ValueError("the leaves of the forest do not fit its trees")

    @staticmethod
    def of(grown: Any) -> Forest:
        """Take the arrays out of a forest of scikit-learn."""
        parts = [one.tree_ for one in grown.estimators_]
        starts = np.cumsum([0, *(part.node_count for part in parts)])[:-1]
        own = np.concatenate([np.arange(part.node_count) + start for part, start in zip(parts, starts, strict=True)])
        left = np.concatenate([part.children_left + start for part, start in zip(parts, starts, strict=True)])
        right = np.concatenate([part.children_right + start for part, start in zip(parts, starts, strict=True)])
        leaf = np.concatenate([part.children_left < 0 for part in parts])
        values = np.concatenate([part.value[:, 0, :] for part in parts]).astype(np.float64)
        if hasattr(grown, "classes_"):
            values = values / values.sum(axis=1, keepdims=True)
        trees = Trees(
            np.where(leaf, 0, np.concatenate([part.feature for part in parts])).astype(np.int32),
            np.concatenate([part.threshold for part in parts]),
            np.where(leaf, own, left).astype(np.int32), np.where(leaf, own, right).astype(np.int32),
            np.concatenate([part.missing_go_to_left for part in parts]).astype(bool), starts.astype(np.int32),
            int(max(part.max_depth for part in parts)),
        )  # fmt: skip
        return Forest(trees, values)


@dataclass
class Boosted:
    """Small trees that follow each other, each of which corrects the sum of those before."""

    trees: Trees
    values: NDArray  # what each leaf adds
    output: NDArray  # the column of the answer that each tree adds to
    start: NDArray
    classes: bool
    takes_holes = True
    takes_sparse = False

    def answers(self, X: NDArray) -> NDArray:
        """Add up what the leaves say; shares of the classes where there are classes."""
        out = np.repeat(self.start[None], len(X), axis=0)
        leaves = self.trees.leaves(np.asarray(X, dtype=np.float64))
        for j, k in enumerate(self.output):
            out[:, k] += self.values[leaves[:, j]]
        if not self.classes:
            return out
        if out.shape[1] == 1:
            yes = expit(out)
            return np.hstack([1 - yes, yes])
        return softmax(out, axis=1)

    def check(self, n_columns: int) -> None:
        self.trees.check(n_columns)
        k, T = len(self.start), len(self.trees.roots)
        sound = np.shape(self.output) == (T,) and self.output.dtype.kind == "i" and self.values.ndim == 1
        if not sound or self.output.min() < 0 or self.output.max() >= k or len(self.values) != len(self.trees.feature):
            raise ValueError("the leaves of the boosted trees do not fit")

    @staticmethod
    def of(grown: Any) -> Boosted:
        """Take the arrays out of boosted trees of scikit-learn."""
        rounds = grown._predictors
        every = [(k, one.nodes) for trees in rounds for k, one in enumerate(trees)]
        starts = np.cumsum([0, *(len(nodes) for _, nodes in every)])[:-1]
        nodes = np.concatenate([nodes for _, nodes in every])
        shift = np.repeat(starts, [len(nodes) for _, nodes in every])
        leaf, own = nodes["is_leaf"].astype(bool), np.arange(len(nodes))
        trees = Trees(
            np.where(leaf, 0, nodes["feature_idx"]).astype(np.int32), nodes["num_threshold"].astype(np.float64),
            np.where(leaf, own, nodes["left"] + shift).astype(np.int32),
            np.where(leaf, own, nodes["right"] + shift).astype(np.int32),
            nodes["missing_go_to_left"].astype(bool), starts.astype(np.int32), int(nodes["depth"].max()),
        )  # fmt: skip
        start = np.asarray(grown._baseline_prediction, dtype=np.float64).ravel().copy()
        output = np.array([k for k, _ in every], dtype=np.int32)
        return Boosted(trees, nodes["value"].astype(np.float64), output, start, hasattr(grown, "classes_"))
