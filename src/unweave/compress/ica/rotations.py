"""Find the rotation of whitened rows whose coordinates are the least Gaussian: all sources at once.

With y = W·z, W·Wᵀ = I, the objective is −Σ_j |E[G(y_j)] − c|, c the mean of G of a Gaussian. M = E[G'(y)·yᵀ] and
κ_j = E[G''(y_j)] − M_jj say how it changes when W is turned: FastICA steps to the rotation nearest to
diag(E[G''(y)]) − M.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.compress.ica.contrasts import Contrast
from unweave.compress.ica.rows import Rows
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import FactorScheme, State
from unweave.updates import LeastSquares

_HALVINGS = 12
_FLATTEST = 0.01  # of the largest curvature: flatter pairs of sources are turned as if they were so curved
_ROUGH = 1e-2  # radians to which a sample is unmixed; its own error is of that size


def nearest_rotation(A: NDArray) -> NDArray:
    """Find the orthogonal matrix nearest to A: (A·Aᵀ)^(−½)·A.

    >>> nearest_rotation(np.diag([2.0, 3.0])).round(12)
    array([[1., 0.],
           [0., 1.]])
    """
    U, _, Vt = np.linalg.svd(A)
    return U @ Vt


def random_rotation(k: int, rng: np.random.Generator) -> NDArray:
    """Draw a rotation at random."""
    return nearest_rotation(rng.normal(size=(k, k)))


class Unmixing(FactorScheme):
    """What all methods share: rows to measure, the contrast, a first W, and what of W's change is none.

    States hold `W` with the means there (`cross`, `slope`, `level`), and `change`, how far it still is from its end.
    """

    ending = "the sources do not change any more"

    def __init__(self, rows: Rows, contrast: Contrast, start: NDArray, tol: float):
        self.rows, self.contrast, self.first, self.tol = rows, contrast, start, tol
        self.left = LeastSquares()
        # What sums over rows are known to, relative.
        self.rounding = 16 * float(np.finfo(rows.dtype).eps) * (1 if rows.dtype == np.float64 else 4)

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=None if loop.tol else 0.0)

    def settled(self, state: State) -> bool:
        return state["change"] <= self.tol

    def fixed(self, state: State) -> bool:
        return state["change"] == 0.0

    def finish(self, state: State) -> State:
        """Return sources of variance one; `scale` is what the method itself would make of each."""
        return {**state, "scale": np.ones(len(self.first))}

    def measured(self, W: NDArray) -> State:
        """Measure the sources that W gives."""
        return {"W": W, **self.rows.measure(W, self.contrast)._asdict(), "change": np.inf}

    def value(self, state: State) -> float:
        """The objective of a state."""
        return -float(np.abs(state["level"] - self.contrast.gaussian).sum())

    def residual(self, state: State) -> float:
        """How much the objective of a finished state changes at most for a small turn of a pair of sources."""
        return float(np.abs(self.gradient(state)).max(initial=0.0))

    def gradient(self, state: State) -> NDArray:
        """How the objective rises as source i is turned towards j: an antisymmetric matrix."""
        M = self.kinds(state["level"])[:, None] * (state["cross"] @ state["W"].T)
        return M - M.T

    def kinds(self, level: NDArray) -> NDArray:
        """Tell sources whose mean of G lies below that of a Gaussian (1) from those where it lies above (−1)."""
        return np.where(level <= self.contrast.gaussian, 1.0, -1.0)


class Rotations(Unmixing):
    """Turn all sources at once: the first of the proposals that does not raise the objective is taken."""

    @abstractmethod
    def proposals(self, state: State) -> Iterator[tuple[NDArray, State]]:
        """Yield rotations of the sources, the boldest first, each with what its state shall remember of it."""

    def begin(self, rng=None) -> State:
        return self.measured(self.first)

    def step(self, state: State) -> tuple[State, float]:
        before = self.value(state)
        for Q, noted in self.proposals(state):
            new = self.measured(nearest_rotation(Q @ state["W"]))
            value = self.value(new)
            if value <= before + self.rounding * abs(before):
                return {**state, **new, **noted, "change": self.ahead(new)}, value
        return {**state, "change": 0.0}, before

    @abstractmethod
    def ahead(self, state: State) -> float:
        """How far a state is from its end."""


class Parallel(Rotations):
    """FastICA for all sources at once, guarded: where its step raises the objective, a shorter one of Newton's kind."""

    def proposals(self, state: State) -> Iterator[tuple[NDArray, State]]:
        yield self._fixed_point(state), {}
        M = state["cross"] @ state["W"].T
        bends = self.kinds(state["level"]) * (state["slope"] - np.diag(M))
        bends = np.abs(bends[:, None] + bends)
        bends = np.maximum(bends, max(_FLATTEST * float(bends.max()), 1e-12))
        E = -self.gradient(state) / bends
        E /= max(1.0, float(np.abs(E).max(initial=0.0)))
        for i in range(_HALVINGS):
            yield np.eye(len(E)) + 0.5**i * E, {}

    def ahead(self, state: State) -> float:
        """Return the largest angle by which the next step would turn one source towards another; it costs no pass."""
        Q = self._fixed_point(state)
        return float(np.abs(Q - np.diag(np.diag(Q))).max(initial=0.0))

    def _fixed_point(self, state: State) -> NDArray:
        B = state["cross"] @ state["W"].T - np.diag(state["slope"])
        return nearest_rotation(np.where(np.diag(B) < 0, -1.0, 1.0)[:, None] * B)


class Ascent(Rotations):
    """Projected gradient ascent: a step along the gradient of the contrast, then back to the nearest rotation.

    The step length is halved until the contrast rises enough for the slope, and doubled after each step that is taken.
    """

    def begin(self, rng=None) -> State:
        return {**super().begin(rng), "pace": 1.0}

    def proposals(self, state: State) -> Iterator[tuple[NDArray, State]]:
        A = self.gradient(state)
        for i in range(4 * _HALVINGS):
            pace = state["pace"] * 0.5**i
            yield np.eye(len(A)) - pace * A, {"pace": 2 * pace}

    def ahead(self, state: State) -> float:
        """Return the largest entry of the gradient."""
        return float(np.abs(self.gradient(state)).max(initial=0.0))


def roughly_unmixed(rows: Rows, contrast: Contrast, W: NDArray) -> NDArray:
    """Unmix rows by FastICA, from W, as far as a start need go.

    These iterations are part of the start, mostly on a sample of the rows: nobody is told of them.
    """
    scheme = Parallel(rows, contrast, W, _ROUGH)
    state, _ = iterate(scheme, scheme.begin(), Loop(max_iter=100, tol=None, ending="as far as a start need go"))
    return state["W"]
