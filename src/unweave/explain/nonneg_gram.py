"""Components that are mixtures of rows, found from the inner products of the rows alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.explain.nonneg_base import indicator
from unweave.kernels.nonneg import mix_sweep
from unweave.linalg.products import gram, matmul
from unweave.objectives.models import Quadratic
from unweave.penalties import NonNegative
from unweave.solve.alternate import transform_effort
from unweave.updates import Coordinate, Effort, Half, first_rows

MOST_ROWS = 8192  # rows whose table of inner products is kept (512 MiB in float64)
SIDE = Half(NonNegative())
_SWEEPS, _DROP = 20, 0.02  # a half-step on the weights ends when a sweep moves little against its first


@dataclass
class GramMixtures:
    """½‖X − U·W·X‖² over U ≥ 0, W ≥ 0, from K = X·Xᵀ: codes by coordinate descent, then each row of W by the same.

    Given U the objective in one row w of W is ½g·wKwᵀ − w·s, g = ‖u‖². The scale of w may go over to u at no cost, so
    rows are kept at sum one: cone and hull have the same best objective where codes are non-negative.
    """

    K: NDArray
    left = Coordinate()

    def __post_init__(self):
        self.constant = 0.5 * float(np.trace(self.K, dtype=np.float64))

    def start(self, labels: NDArray, k: int) -> dict:
        """Begin at clusters: with one-hot codes the objective is that of their means."""
        U, W = group_start(labels, k, self.K.dtype)
        return {"codes": U, "mixing": W, "value": np.inf, "still": False}

    def settled(self, state: dict) -> bool:
        """Whether the last step gained nothing: inner products in float32 are too coarse to tell small falls."""
        return state["still"]

    def model(self, W: NDArray) -> Quadratic:
        """The loss of the codes given W."""
        return Quadratic(np.ascontiguousarray(matmul(self.K, W.T)), self.among(W), self.constant)

    def among(self, W: NDArray) -> NDArray:
        """Inner products of the components, W·K·Wᵀ, float64."""
        return symmetric(np.asarray(matmul(matmul(W, self.K), W.T), dtype=np.float64))

    def step(self, state: dict) -> tuple[dict, float]:
        W = state["mixing"]
        Q = matmul(W, self.K)
        among = symmetric(np.asarray(matmul(W, Q.T), dtype=np.float64))
        U = self.left(
            Quadratic(np.ascontiguousarray(Q.T), among, self.constant),
            state["codes"],
            SIDE,
            Effort(sweeps=20, drop=0.01),
        )
        G, B = gram(U), np.ascontiguousarray(matmul(self.K, U).T)
        W, Q = self._improve(W.copy(), np.ascontiguousarray(Q), G, B)
        inner = float(np.einsum("ij,ij->", W, B, dtype=np.float64))
        square = float(np.vdot(G, matmul(W.astype(np.float64), Q.T.astype(np.float64))))
        value = max(0.0, self.constant - inner + 0.5 * square)
        if value > state["value"]:  # half-steps fall, so this is rounding
            return {**state, "still": True}, state["value"]
        return {**self._scaled(U, W, Q), "value": value, "still": False}, value

    def _improve(self, W: NDArray, Q: NDArray, G: NDArray, B: NDArray) -> tuple[NDArray, NDArray]:
        """Each row of W (and of Q = W·K) in turn, the others fixed; both in place."""
        for c in range(len(W)):
            if not G[c, c] > 0:
                continue
            weights = G[c].copy()
            weights[c] = 0
            s = B[c] - (weights.astype(Q.dtype) @ Q)
            curvature, first = Q.dtype.type(G[c, c]), 0.0
            for sweep in range(_SWEEPS):
                moved = float(mix_sweep(self.K, s, W[c], Q[c], curvature))
                first = moved if sweep == 0 else first
                if moved <= _DROP * first:
                    break
        return W, Q

    def _scaled(self, U: NDArray, W: NDArray, Q: NDArray) -> dict:
        """Rows of W at sum one, their scale in the codes; a component without rows or codes moves to a misfit row."""
        sums = W.sum(axis=1)
        alive = (sums > 0) & U.any(axis=0)
        scale = np.where(sums > 0, sums, 1).astype(W.dtype)
        W, U = W / scale[:, None], U * scale
        if not alive.all():
            fitted = matmul(U, np.asarray(matmul(W, Q.T) / scale[:, None], dtype=U.dtype))
            misfit = np.diag(self.K) - np.einsum("ij,ij->i", U, 2 * (Q / scale[:, None]).T - fitted)
            worst = np.argsort(-misfit, kind="stable")
            for c, i in zip(np.flatnonzero(~alive), worst, strict=False):
                W[c], U[:, c] = 0, 0
                W[c, i] = 1
        return {"codes": U, "mixing": W}

    def residual(self, U: NDArray, W: NDArray) -> float:
        """How far a scaled projected gradient step moves W, relative to W."""
        G = gram(U)
        slope = matmul(G.astype(W.dtype), matmul(W, self.K)) - matmul(U.T, self.K)
        size = np.outer(np.diag(G), np.diag(self.K))
        step = np.divide(slope, size, out=np.zeros_like(slope), where=size > 0)
        return float(np.linalg.norm(np.maximum(W - step, 0) - W) / max(float(np.linalg.norm(W)), 1e-30))


def group_start(labels: NDArray, k: int, dtype) -> tuple[NDArray, NDArray]:
    """One-hot codes (n × k), and the weights of the rows in the mean of their cluster; an empty one gets one row."""
    U = indicator(labels, k, dtype)
    W = np.ascontiguousarray(U.T)
    for c in np.flatnonzero(~W.any(axis=1)):
        W[c, c] = 1
    return U, W / W.sum(axis=1, keepdims=True)


def settled_codes(model: Quadratic) -> NDArray:
    """Non-negative codes, each row on its own, from a fixed start until it settles."""
    update = Coordinate()
    return update(model, first_rows(model, SIDE, update), SIDE, transform_effort(model.dtype))


def symmetric(A: NDArray) -> NDArray:
    """The mean of a square table and its transpose: rounding leaves the two halves unequal."""
    return 0.5 * (A + A.T)
