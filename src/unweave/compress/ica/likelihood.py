"""ICA by maximum likelihood (extended Infomax), in steps of a preconditioned quasi-Newton method.

Sources have the density p(y) ∝ exp(−y²/2 − s·G(y)), s = 1 for peaked ones and −1 for flat ones, and W any matrix that
can be inverted. Minimised is −log|det W| + Σ_j E[−log p_j(y_j)] with y = W·z: log|det W| keeps W from shrinking.
With W ← (I + E)·W the gradient is E[ψ(y)·yᵀ] − I, ψ(y) = y + s·G'(y), and near independence the Hessian falls into 2×2
blocks (h_ij, 1; 1, h_ji) with h_ij = E[ψ'(y_i)]·E[y_j²], whose inverse costs nothing: it is where L-BFGS starts from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.compress.ica.rotations import Unmixing
from unweave.solve.optimise.pairs import direction, no_pairs, remembered
from unweave.solve.scheme import State

_MEMORY = 7  # pairs that are remembered, as in the paper of Ablin and others
_LEAST_BEND = 0.01  # blocks that bend less are lifted to it
_HALVINGS = 20


class Likelihood(Unmixing):
    """Steps of L-BFGS from the inverse of the blocks, halved until the likelihood does not fall.

    Which sources are flat and which peaked is told from the start, FastICA's on some rows, and then stays: the
    objective is one function and never rises.
    """

    def begin(self, rng=None) -> State:
        state = self.measured(self.first)
        k = len(self.first)
        return {**state, "signs": self.kinds(state["level"]), **no_pairs(k * k)}

    def step(self, state: State) -> tuple[State, float]:
        before, G = self.value(state), self.gradient(state)
        for pairs in (state, no_pairs(G.size)):  # forgetting all pairs, where they mislead
            E = direction(G.ravel(), pairs, lambda q: self._solved(q, state)).reshape(G.shape)
            E /= max(1.0, float(np.abs(E).max()))
            if np.vdot(E, G) >= 0:
                continue
            for i in range(_HALVINGS):
                new = {**state, **self.measured((np.eye(len(E)) + 0.5**i * E) @ state["W"])}
                value = self.value(new)
                if value <= before + self.rounding * abs(before):
                    after = self.gradient(new)
                    new |= remembered(pairs, 0.5**i * E.ravel(), (after - G).ravel(), _MEMORY)
                    return {**new, "change": float(np.abs(after).max())}, value
        return {**state, "change": 0.0}, before

    def gradient(self, state: State) -> NDArray:
        """How the objective rises with E: E[ψ(y)·yᵀ] − I."""
        W = state["W"]
        return W @ W.T + state["signs"][:, None] * (state["cross"] @ W.T) - np.eye(len(W))

    def value(self, state: State) -> float:
        W = state["W"]
        sign, log_det = np.linalg.slogdet(W)
        if sign == 0:
            return np.inf
        return float(0.5 * np.vdot(W, W) + state["signs"] @ state["level"] - log_det)

    def finish(self, state: State) -> State:
        """Bring the sources to variance one, which the mixing takes over."""
        scale = np.linalg.norm(state["W"], axis=1)
        return {**self.measured(state["W"] / scale[:, None]), "scale": scale}

    def residual(self, state: State) -> float:
        scaled = self.measured(state["scale"][:, None] * state["W"])
        return float(np.abs(self.gradient({**scaled, "signs": self.kinds(state["level"])})).max(initial=0.0))

    def _solved(self, q: NDArray, state: State) -> NDArray:
        W = state["W"]
        G = q.reshape(W.shape)
        powers = np.square(W).sum(axis=1)  # E[y_j²]: z is white
        h = (1 + state["signs"] * state["slope"])[:, None] * powers
        least = 0.5 * (h + h.T - np.sqrt(np.square(h - h.T) + 4))
        h = h + np.maximum(_LEAST_BEND - least, 0)
        return ((h.T * G - G.T) / (h * h.T - 1)).ravel()
