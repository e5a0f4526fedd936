"""Steps that follow one gradient after the other: plain, with momentum, Nesterov's, AdaGrad and Adam.

A rule keeps what it remembers in a flat dict, so that its state is saved like any other. All take a `decay`: weights
are drawn towards zero by step·decay of themselves in each step, apart from the gradient (so-called decoupled weight
decay, which for plain steps is a ridge).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Memory = dict  # arrays and numbers


@dataclass(frozen=True)
class Rule(ABC):
    """How a gradient becomes a step; `step` is its length, which a schedule may shrink.

    Examples
    --------
    >>> rule = SGD(step=0.5)
    >>> x, memory = np.array([2.0]), rule.begin(np.array([2.0]))
    >>> rule.move(x, np.array([1.0]), memory, 1.0)[0].tolist()
    [1.5]
    """

    step: float = 0.1
    decay: float = 0.0

    def begin(self, x: NDArray) -> Memory:
        """What is remembered before the first step."""
        return {}

    @abstractmethod
    def move(self, x: NDArray, gradient: NDArray, memory: Memory, share: float) -> tuple[NDArray, Memory]:
        """The next point and what is remembered then; the step has the length `share` · `step`."""

    def moved(self, x: NDArray, way: NDArray, share: float) -> NDArray:
        """Go against `way`, and let the weights decay."""
        length = share * self.step
        return x - length * (way + self.decay * x)


@dataclass(frozen=True)
class SGD(Rule):
    """x − step·g."""

    def move(self, x, gradient, memory, share):
        return self.moved(x, gradient, share), memory


@dataclass(frozen=True)
class Momentum(Rule):
    """x − step·v with v ← keep·v + g: a heavy ball that rolls on (Polyak)."""

    keep: float = 0.9

    def begin(self, x):
        return {"v": np.zeros_like(x)}

    def move(self, x, gradient, memory, share):
        v = self.keep * memory["v"] + gradient
        return self.moved(x, v, share), {"v": v}


@dataclass(frozen=True)
class Nesterov(Momentum):
    """Momentum whose step looks ahead: x − step·(g + keep·v)."""

    def move(self, x, gradient, memory, share):
        v = self.keep * memory["v"] + gradient
        return self.moved(x, gradient + self.keep * v, share), {"v": v}


@dataclass(frozen=True)
class AdaGrad(Rule):
    """Every number has a step of its own, step/√(Σ g²): for gradients that are mostly zero."""

    least: float = 1e-10

    def begin(self, x):
        return {"squares": np.zeros_like(x)}

    def move(self, x, gradient, memory, share):
        squares = memory["squares"] + gradient**2
        return self.moved(x, gradient / (np.sqrt(squares) + self.least), share), {"squares": squares}


@dataclass(frozen=True)
class Adam(Rule):
    """Momentum over the root of a running mean of squares, both freed of their start at zero (with decay: AdamW)."""

    step: float = 0.01
    keep: float = 0.9
    keep_squares: float = 0.999
    least: float = 1e-8

    def begin(self, x):
        return {"v": np.zeros_like(x), "squares": np.zeros_like(x), "count": 0}

    def move(self, x, gradient, memory, share):
        count = memory["count"] + 1
        v = self.keep * memory["v"] + (1 - self.keep) * gradient
        squares = self.keep_squares * memory["squares"] + (1 - self.keep_squares) * gradient**2
        way = v / (1 - self.keep**count)
        way = way / (np.sqrt(squares / (1 - self.keep_squares**count)) + self.least)
        return self.moved(x, way, share), {"v": v, "squares": squares, "count": count}


RULES: dict[str, type[Rule]] = {
    "sgd": SGD, "momentum": Momentum, "nesterov": Nesterov, "adagrad": AdaGrad, "adam": Adam,
}  # fmt: skip
