"""FastICA one source after the other, each kept at right angles to those before it (deflation)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.compress.ica.rotations import Unmixing
from unweave.solve.iterate import Loop
from unweave.solve.scheme import State

_HALVINGS = 12


class Deflation(Unmixing):
    """FastICA source by source; `W` holds those found so far, and `w` the one that is sought now.

    For one source FastICA's fixed point is Newton's step w − P·E[z·G'(w·z)]/κ on the sphere, P taking off what lies
    along w and the sources before. It is halved where the contrast would fall.
    """

    most = 200  # steps for one source

    def adapt(self, loop: Loop) -> Loop:
        self.most = loop.max_iter
        return replace(super().adapt(loop), max_iter=loop.max_iter * len(self.first))

    def begin(self, rng=None) -> State:
        W = np.zeros(self.first.shape)
        return {"W": W, "at": 0, **self._sought(W, 0)}

    def step(self, state: State) -> tuple[State, float]:
        at, before = state["at"], self.value(state)
        new = {**state, "change": 0.0, "tries": state["tries"] + 1}
        for w in self._proposals(state):
            found = self._at(state["levels"], at, w)
            if self.value(found) <= before + self.rounding * abs(before):
                new |= {**found, "change": float(np.linalg.norm(found["w"] - state["w"]))}
                break
        if new["change"] > self.tol and new["tries"] < self.most:
            return new, self.value(new)
        W = state["W"].copy()
        W[at] = new["w"]
        new |= {"W": W, "at": at + 1}
        return ({**new, **self._sought(W, at + 1, new["levels"])} if at + 1 < len(W) else new), self.value(new)

    def settled(self, state: State) -> bool:
        return state["at"] == len(self.first)

    fixed = settled

    def value(self, state: State) -> float:
        return -float(np.abs(state["levels"] - self.contrast.gaussian).sum())

    def finish(self, state: State) -> State:
        """Measure all sources; where the fit was ended early, those that are missing stay as the start had them."""
        W, at = state["W"].copy(), state["at"]
        if at < len(W):
            W[at] = state["w"]
            for i in range(at + 1, len(W)):
                W[i] = _beside(self.first[i], W[:i])
        return super().finish(self.measured(W))

    def _sought(self, W: NDArray, at: int, levels: NDArray | None = None) -> State:
        """Begin with the next source: the start's, at right angles to those found."""
        levels = np.full(len(W), self.contrast.gaussian) if levels is None else levels
        return {**self._at(levels, at, _beside(self.first[at], W[:at])), "tries": 0, "change": np.inf}

    def _at(self, levels: NDArray, at: int, w: NDArray) -> State:
        found = self.rows.measure(w[None], self.contrast)
        levels = levels.copy()
        levels[at] = found.level[0]
        return {"w": w, "pull": found.cross[0], "bend": float(found.slope[0]), "levels": levels}

    def _proposals(self, state: State) -> Iterator[NDArray]:
        w, before = state["w"], state["W"][: state["at"]]
        sign = self.kinds(state["levels"])[state["at"]]
        pull = state["pull"] - w * (w @ state["pull"])
        pull = pull - before.T @ (before @ pull)
        bend = abs(state["bend"] - w @ state["pull"])
        E = -sign * pull / max(bend, 1e-12)
        E /= max(1.0, 0.5 * float(np.linalg.norm(E)))
        for i in range(_HALVINGS):
            yield _beside(w + 0.5**i * E, before)


def _beside(w: NDArray, others: NDArray) -> NDArray:
    """Bring w to right angles with rows that are so among themselves, and to length one."""
    for _ in range(2):  # once more: the first leaves rounding
        w = w - others.T @ (others @ w)
        w = w / np.linalg.norm(w)
    return w
