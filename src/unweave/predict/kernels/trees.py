"""The kernel of trees: how many subtrees, or fragments, two of them share."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import scipy.sparse as sp

from unweave.data.arguments import number
from unweave.predict.kernels.base import Kernel
from unweave.predict.kernels.strings import Counted

KINDS = ("subtrees", "fragments")


class Trees(Kernel):
    """Common subtrees of ordered trees, given as nested tuples: ``("S", ("NP", "she"), ("VP", "runs"))``.

    A tree is a label (a leaf) or a tuple (or list) of a label and its children. "subtrees" are a node with all that is
    below it; k counts the pairs of equal ones. "fragments" may end at any node below, but take all children of a node
    or none (Collins and Duffy): C(a, b) = λ·Π(1 + C(aᵢ, bᵢ)) for nodes with the same label and the same labels of
    children, and k = Σ C(a, b) over all pairs of nodes. Use them for parsed sentences, programs, folded molecules.

    Parameters
    ----------
    kind : {"subtrees", "fragments"}, default="subtrees"
        A leaf is a subtree, but no fragment.
    decay : float, default=1.0
        λ, above 0 and at most 1: what every node with children costs. Fragments of large trees are many: less than 1
        keeps a tree from being like itself alone.

    Examples
    --------
    >>> she, he = ("S", ("NP", "she"), ("VP", "runs")), ("S", ("NP", "he"), ("VP", "runs"))
    >>> Trees()([she], [she, he]).tolist()
    [[5.0, 2.0]]
    >>> Trees("fragments")([she], [she, he]).tolist()
    [[6.0, 3.0]]

    References
    ----------
    Collins and Duffy (2001), Convolution kernels for natural language.
    """

    takes = "trees"

    def __init__(self, kind="subtrees", *, decay=1.0):
        self.kind = kind
        self.decay = decay

    def read(self, X, name="X"):
        if isinstance(X, str | tuple) or not hasattr(X, "__len__"):
            raise ValueError(f"{name} must be a list of trees, got {X!r:.60}: give [{name}]")
        trees = [X[i] for i in range(len(X))]
        forest = Forest()
        for i, tree in enumerate(trees):
            forest.add(tree, f"{name}[{i}]")
        return trees

    def _features(self, trees: list) -> sp.csr_array:
        """One column for each subtree that differs, so that products of rows are the kernel."""
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise ValueError(f"kind={self.kind!r} is not known; use 'subtrees' or 'fragments'")
        decay = number(self.decay, "decay")
        if not 0 < decay <= 1:
            raise ValueError(f"decay must be above 0 and at most 1, got {decay}")
        forest = Forest()
        roots = [forest.add(tree, f"tree {i}") for i, tree in enumerate(trees)]
        return forest.counts(roots), forest, decay

    def pairs(self, A, B):
        counts, forest, decay = self._features(A if B is A else [*A, *B])
        n = len(A)
        left, right = counts[:n], counts if B is A else counts[n:]
        weights = forest.subtrees(decay) if self.kind == "subtrees" else forest.fragments(decay)
        return _Weighed(sp.csr_array(left @ weights), right)

    def own(self, A):
        counts, forest, decay = self._features(A)
        weights = forest.subtrees(decay) if self.kind == "subtrees" else forest.fragments(decay)
        return np.asarray((counts @ weights).multiply(counts).sum(axis=1), dtype=np.float64).ravel()


class _Weighed(Counted):
    """Blocks of products of two tables of counts."""

    def __init__(self, A, B):
        self.A, self.B, self.shape = A, B, (A.shape[0], B.shape[0])


class Forest:
    """Every subtree that differs, once: a number, a label, and the numbers of its children, which are smaller."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[Hashable, ...], int] = {}
        self.labels: list[Hashable] = []
        self.children: list[tuple[int, ...]] = []

    def add(self, tree: Any, name: str) -> int:
        """The number of a tree, whose subtrees get numbers as well; no recursion, so that trees may be deep."""
        path: set[int] = set()
        known: dict[int, int] = {}  # of nodes that were seen whole, by what they are in memory
        waiting: list[tuple[Any, bool]] = [(tree, False)]
        while waiting:
            node, whole = waiting.pop()
            if not isinstance(node, tuple | list):
                known[id(node)] = self._number((_label(node, name),))
                continue
            if whole:
                path.discard(id(node))
                known[id(node)] = self._number((_label(node[0], name), *(known[id(child)] for child in node[1:])))
                continue
            if not node:
                raise ValueError(f"{name} has an empty node: give every node a label, (label, child, …)")
            if id(node) in path:
                raise ValueError(f"{name} has a cycle: a node is below itself, so this is no tree")
            if id(node) in known:
                continue
            path.add(id(node))
            waiting.append((node, True))
            waiting.extend((child, False) for child in node[1:])
        return known[id(tree)]

    def _number(self, key: tuple[Hashable, ...]) -> int:
        found = self.numbers.setdefault(key, len(self.labels))
        if found == len(self.labels):
            self.labels.append(key[0])
            self.children.append(key[1:])  # type: ignore[arg-type]
        return found

    def counts(self, roots: list[int]) -> sp.csr_array:
        """How often each subtree is in each tree, from the root down."""
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        for i, root in enumerate(roots):
            times = {root: 1.0}
            for node in sorted(self._below(root), reverse=True):
                for child in self.children[node]:
                    times[child] = times.get(child, 0.0) + times[node]
            rows += [i] * len(times)
            columns += times.keys()
            values += times.values()
        return sp.csr_array((values, (rows, columns)), shape=(len(roots), len(self.labels)))

    def _below(self, root: int) -> set[int]:
        seen, waiting = {root}, [root]
        while waiting:
            for child in self.children[waiting.pop()]:
                if child not in seen:
                    seen.add(child)
                    waiting.append(child)
        return seen

    def subtrees(self, decay: float) -> sp.csr_array:
        """λ to the power of the nodes with children, for each subtree with itself."""
        powers = np.zeros(len(self.labels))
        for node, children in enumerate(self.children):
            powers[node] = sum(powers[child] for child in children) + (len(children) > 0)
        return sp.csr_array(sp.diags_array(decay**powers))

    def fragments(self, decay: float) -> sp.csr_array:
        """C(a, b) of every two subtrees whose roots agree: from small numbers up, children come before parents."""
        alike: dict[tuple, list[int]] = {}
        for node, children in enumerate(self.children):
            if children:
                alike.setdefault((self.labels[node], *(self.labels[child] for child in children)), []).append(node)
        weights: dict[tuple[int, int], float] = {}
        group = {node: nodes for nodes in alike.values() for node in nodes}
        for a in sorted(group):
            for b in group[a]:
                if b > a:
                    break
                value = decay
                for p, q in zip(self.children[a], self.children[b], strict=True):
                    value *= 1.0 + weights.get((max(p, q), min(p, q)), 0.0)
                weights[a, b] = value
        n = len(self.labels)
        if not weights:
            return sp.csr_array((n, n))
        pairs, values = np.array(list(weights)), np.array(list(weights.values()))
        lower = sp.csr_array((values, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        return sp.csr_array(lower + sp.tril(lower, -1).T)


def _label(label: Any, name: str) -> Hashable:
    if isinstance(label, tuple | list) or not isinstance(label, Hashable):
        raise ValueError(f"{name} has the label {label!r:.40}: labels are words or numbers, the first item of a node")
    return label
