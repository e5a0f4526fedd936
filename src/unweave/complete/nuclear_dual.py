"""Singular-value thresholding as a scheme of the one loop: ascent in the dual, one number for each observed entry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.complete.sparse_plus_low_rank import LowRank, Pattern, leading, shrink
from unweave.linalg.products import matmul
from unweave.solve.iterate import Loop
from unweave.updates import LeastSquares

DENSE_SIDE = 128  # shorter side up to which Y is decomposed as an array
DENSE_ENTRIES = 1 << 22  # entries of the largest Y that is made an array when most of its singular values are wanted
_BLOCK, _SPARE = 8, 6  # columns of the first search, and columns beyond the rank that are kept to see it grow
_ROUNDS = 8  # of a search at most
_ACCURATE = 1e-4  # residual of the singular vectors, as a fraction of τ
_TRIES = 12  # shorter steps tried when the dual value falls


class DualAscent:
    """max over Y on the observed entries of g(Y) = ⟨Y, X⟩ − ½‖D(Y)‖², D(Y) = U·(s − τ)₊·Vᵀ.

    g is the dual of min τ‖M‖₊ + ½‖M‖² subject to M = X where observed, M = D(Y) is the matrix that belongs to Y, and
    the slope of g is X − M on the observed entries: Y grows by a multiple of what M misses. Y is sparse, M of low rank.

    The step length is that of Barzilai and Borwein (``step=None``), or fixed. A step that lowers g is taken back and
    tried shorter; 1 is always short enough.

    References
    ----------
    Cai, Candès and Shen (2010), A singular value thresholding algorithm for matrix completion.
    Barzilai and Borwein (1988), Two-point step size gradient methods.
    """

    def __init__(self, entries: Pattern, tau: float, top: float, *, step: float | None, tol: float, seed: int):
        self.entries, self.tau, self.top, self.given_step, self.tol, self.seed = entries, tau, top, step, tol, seed
        self.left = LeastSquares()
        self.size = float(np.linalg.norm(entries.values.astype(np.float64)))
        self.exact = True  # until a decomposition was only searched for
        self._seen: tuple[object, NDArray] | None = None

    @property
    def usual_step(self) -> float:
        """1.2 over the share of entries that were observed."""
        return 1.2 * self.entries.shape[0] * self.entries.shape[1] / max(1, self.entries.nnz)

    def pace(self, loop: Loop) -> Loop:
        return replace(loop, tol=None if loop.tol else 0.0)

    def begin(self) -> dict:
        """The kicked start: as many first steps at once as leave D(Y) empty."""
        length = self.given_step or self.usual_step
        kick = np.ceil(self.tau / (length * self.top)) * length if self.top > 0 else 0.0
        rng = np.random.default_rng((self.seed, 0))
        width = min(_BLOCK, *self.entries.shape)
        block = rng.standard_normal((self.entries.shape[1], width)).astype(self.entries.dtype)
        Y = (kick * self.entries.values).astype(self.entries.dtype)
        return self._at(Y, np.linalg.qr(block)[0], float(length), 0)

    def step(self, state: dict) -> tuple[dict, float]:
        residual = self._residual(state)
        length = state["length"]
        for _ in range(_TRIES):
            Y = state["Y"] + self.entries.dtype.type(length) * residual
            new = self._at(Y, state["block"], length, state["turn"] + 1)
            if new["dual"] >= state["dual"] - 1e-10 * abs(state["dual"]):
                break
            length = max(1.0, length / 3) if length > 1 else length / 2
        else:
            return {**state, "stuck": True}, -state["dual"]  # rounding: there is nothing left to gain
        new["length"] = self._next_length(length, residual, self._residual(new))
        return new, -new["dual"]

    def settled(self, state: dict) -> bool:
        return bool(state["missed"] <= self.tol or state["stuck"])

    def finish(self, state: dict) -> dict:
        codes, components = LowRank(state["U"], state["s"], state["V"]).padded().halves()
        return {**state, "codes": codes, "components": components}

    # -- one point of the dual -----------------------------------------------------------------------------------

    def _at(self, Y: NDArray, block: NDArray, length: float, turn: int) -> dict:
        M, block = self.threshold(Y, block, turn)
        residual = self.entries.residual(M)
        dual = float(Y.astype(np.float64) @ self.entries.values) - 0.5 * float(M.s @ M.s)
        missed = float(np.linalg.norm(residual.astype(np.float64))) / max(self.size, np.finfo(np.float64).tiny)
        self._seen = (M.U, residual)
        numbers = {"length": length, "turn": turn, "dual": dual, "missed": missed, "stuck": False}
        return {"Y": Y, "block": block, **M._asdict(), **numbers}

    def _residual(self, state: dict) -> NDArray:
        if self._seen is None or self._seen[0] is not state["U"]:
            self._seen = (state["U"], self.entries.residual(LowRank(state["U"], state["s"], state["V"])))
        return self._seen[1]

    def _next_length(self, length: float, before: NDArray, after: NDArray) -> float:
        """‖ΔY‖² / ⟨ΔY, Δslope⟩ from the last step, kept between 1 (always safe) and fifty times the usual."""
        if self.given_step is not None:
            return self.given_step
        b, a = before.astype(np.float64), after.astype(np.float64)
        bend = float(b @ (b - a))
        square = float(b @ b)
        most = 50 * self.usual_step
        return float(np.clip(length * square / bend, 1.0, most)) if bend > 0 else most

    # -- D(Y) ----------------------------------------------------------------------------------------------------

    def threshold(self, Y: NDArray, block: NDArray, turn: int) -> tuple[LowRank, NDArray]:
        """D(Y), and the right vectors from which the next search begins."""
        e, short = self.entries, min(self.entries.shape)
        for attempt in range(_ROUNDS):
            width = block.shape[1]
            if short <= DENSE_SIDE or (6 * width >= short and e.shape[0] * e.shape[1] <= DENSE_ENTRIES):
                return self._decomposed(Y), block
            self.exact = False
            U, s, V = self._search(Y, block)
            kept = int(np.count_nonzero(s > self.tau))
            if kept == width and width < short:
                block = self._wider(V, min(2 * width, short), (turn, attempt))
                continue
            missed = e.tdot(Y, U[:, :kept]) - V[:, :kept] * s[:kept].astype(V.dtype)
            block = V
            if not kept or np.linalg.norm(missed, axis=0).max() <= _ACCURATE * self.tau:
                break
        M = LowRank(U, s - self.tau, V).cut(kept)
        return M, np.ascontiguousarray(block[:, : max(kept + _SPARE, _BLOCK)])

    def _decomposed(self, Y: NDArray) -> LowRank:
        array = self.entries.matrix(Y).toarray()
        return shrink(array, np.eye(array.shape[1], dtype=array.dtype), self.tau, min(array.shape))

    def _search(self, Y: NDArray, block: NDArray) -> LowRank:
        """The best triplets in the Krylov space of two multiplications from `block`."""
        e, blocks = self.entries, [block]
        for _ in range(2):
            blocks.append(np.linalg.qr(e.tdot(Y, e.dot(Y, blocks[-1])))[0])
        K = np.linalg.qr(np.hstack(blocks)[:, : e.shape[1]])[0]
        return leading(e.dot(Y, K), K, block.shape[1])

    def _wider(self, V: NDArray, width: int, turn: tuple[int, int]) -> NDArray:
        rng = np.random.default_rng((self.seed, 1, *turn))
        more = rng.standard_normal((len(V), width - V.shape[1])).astype(V.dtype)
        return np.linalg.qr(np.hstack([V, more - matmul(V, V.T @ more)]))[0]
