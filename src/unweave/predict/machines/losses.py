"""The logistic loss of rows of scores against shares of classes: two classes by one score, more by one score each.

With scores f, targets t and predicted shares q: loss Σᵢ wᵢ (log Σ exp f − ⟨t, f⟩), slope w(q − t), and curvature of a
row w(diag q − q·qᵀ) = B·Bᵀ, whose root B is what Newton's method needs. Two classes are the same with the first score
held at 0: log(1 + exp f) − t·f.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray


class Shares(ABC):
    """Targets (n × c) and weights of rows, and how scores are turned into shares."""

    def __init__(self, targets: NDArray[np.float64], weights: NDArray[np.float64]):
        self.targets, self.weights = targets, weights[:, None]

    @abstractmethod
    def value(self, F: NDArray) -> float:
        """The loss of all rows."""

    @abstractmethod
    def shares(self, F: NDArray) -> NDArray:
        """q, the predicted share of each class that has a score."""

    @abstractmethod
    def entropy(self, q: NDArray) -> float:
        """−Σ w Σ q log q over all classes: what the dual of the loss has in its place."""

    @abstractmethod
    def root(self, q: NDArray, V: NDArray, transposed: bool = False) -> NDArray:
        """B·v of each row, or Bᵀ·v."""

    @abstractmethod
    def curvature(self, q: NDArray) -> NDArray:
        """Σ B·Bᵀ over rows (c × c)."""

    def pull(self, q: NDArray) -> NDArray:
        """R = w(t − q): minus the slope."""
        return self.weights * (self.targets - q)

    def spread(self, q: NDArray) -> NDArray:
        """The roots of the diagonal of B·Bᵀ: B as if classes did not meet."""
        return np.sqrt(self.weights * q * np.maximum(1.0 - q, 0.0))

    def balanced(self, q: NDArray) -> NDArray:
        """Shares near q that add up to the targets in every class, as those of the best intercept do.

        They are (1 − ε)q + εs, where s makes up for what is lacking and is a share for the smallest ε that allows it.
        """
        lacking = self.pull(q).sum(axis=0)
        total = float(self.weights.sum())
        mean = (self.weights * self.targets).sum(axis=0) / total
        room = np.minimum(mean, self._rest(mean))
        need = float(np.max(np.abs(lacking) / np.maximum(total * room, np.finfo(np.float64).tiny), initial=0.0))
        if need == 0:
            return q
        share = need / (1.0 + need)
        return (1.0 - share) * q + share * (mean + lacking / (total * need))

    def _rest(self, mean: NDArray) -> NDArray:
        return mean


class TwoClasses(Shares):
    """One score: the share of the second class is 1 / (1 + exp(−f))."""

    def value(self, F):
        return float((self.weights * (np.logaddexp(0.0, F) - self.targets * F)).sum())

    def shares(self, F):
        small = np.exp(-np.abs(F))
        return np.where(F >= 0, 1.0, small) / (1.0 + small)

    def entropy(self, q):
        return -float((self.weights * (_xlogx(q) + _xlogx(1.0 - q))).sum())

    def root(self, q, V, transposed=False):
        return self.spread(q) * V

    def curvature(self, q):
        return np.square(self.spread(q)).sum(axis=0, keepdims=True)

    def _rest(self, mean):
        return 1.0 - mean


class ManyClasses(Shares):
    """A score for each class: shares are exp(f) over their sum."""

    def value(self, F):
        top = F.max(axis=1, keepdims=True)
        log_sum = top + np.log(np.exp(F - top).sum(axis=1, keepdims=True))
        return float((self.weights * (log_sum - (self.targets * F).sum(axis=1, keepdims=True))).sum())

    def shares(self, F):
        q = np.exp(F - F.max(axis=1, keepdims=True))
        return q / q.sum(axis=1, keepdims=True)

    def entropy(self, q):
        return -float((self.weights * _xlogx(q)).sum())

    def root(self, q, V, transposed=False):
        root = np.sqrt(q)
        if transposed:
            return np.sqrt(self.weights) * root * (V - (q * V).sum(axis=1, keepdims=True))
        return np.sqrt(self.weights) * (root * V - q * (root * V).sum(axis=1, keepdims=True))

    def curvature(self, q):
        weighed = self.weights * q
        return np.diag(weighed.sum(axis=0)) - weighed.T @ q


def _xlogx(q: NDArray) -> NDArray:
    return q * np.log(np.where(q > 0, q, 1.0))
