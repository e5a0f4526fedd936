"""Leading right singular vectors by block Lanczos on A^T A, every block kept and thick restarts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from unweave.linalg.products import cross, gram, matmul
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme


class Ritz(NamedTuple):
    """What :class:`BlockKrylov` found: V (columns by k, orthonormal), s^2, ||A^T u - s v||, blocks, reached tol?"""

    V: np.ndarray
    values: np.ndarray
    residuals: np.ndarray
    steps: int
    converged: bool


def orthonormalise(S: np.ndarray, floor: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """``S = Q R`` with orthonormal Q by Cholesky QR done twice; directions no longer than `floor` are dropped.

    Two passes over S with matrix products only, where Householder QR would be one column at a time. When S is nearly
    rank-deficient, Cholesky is replaced by the eigenvectors of S^T S and Q has fewer columns than S.

    Reference: Yamamoto, Nakatsukasa, Yanagisawa, Fukaya, "Roundoff error analysis of the CholeskyQR2 algorithm" (2015).
    """
    Q, total = S, np.eye(S.shape[1])
    for turn in range(2):
        G = gram(Q)
        R, inverse = _root(G, np.finfo(S.dtype).eps, floor if turn == 0 else 0.0)
        total = R @ total
        Q = matmul(Q, inverse.astype(S.dtype))
    return Q, total


def _root(G: np.ndarray, eps: float, floor: float) -> tuple[np.ndarray, np.ndarray]:
    """R with ``R^T R = G`` and its right inverse, of full row rank; Cholesky where that is safe."""
    scale = max(float(G.diagonal().max(initial=0.0)), floor**2)
    least = max(floor**2, 100 * eps * scale)
    R, failed = linalg.lapack.dpotrf(G, lower=0, clean=1)
    if not failed and len(R) and R.diagonal().min() ** 2 > least:
        return R, linalg.lapack.dtrtri(R, lower=0)[0]
    values, vectors = linalg.eigh(G, check_finite=False)
    # The eigenvectors of a float32 Gram are only good down to eps * scale; what is left is noise.
    keep = values > max(floor**2, 10 * eps * scale, np.finfo(np.float64).tiny)
    lengths, vectors = np.sqrt(values[keep]), vectors[:, keep]
    return lengths[:, None] * vectors.T, vectors / lengths


def _split(V: np.ndarray, S: np.ndarray, largest: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``S = V C + Q R`` with Q orthonormal and orthogonal to V; what is left at the level of rounding is dropped.

    All but a little of S lies along the last two blocks of V (Lanczos has three terms). These are taken out first, so
    that the pass over all of V has little left to cancel: once is enough, where it would otherwise be done twice.

    A direction of which little was left has been stretched to length 1, rounding errors along V included, and A^T A
    would multiply these by s_1^2. So Q is measured against V and cleaned until they are gone.
    """
    eps = float(np.finfo(S.dtype).eps)
    last = slice(max(0, V.shape[1] - 2 * S.shape[1]), None)
    near = cross(V[:, last], S)
    S = S - matmul(V[:, last], near.astype(S.dtype))
    C = cross(V, S)
    S -= matmul(V, C.astype(S.dtype))
    C[last] += near
    floor = 10 * eps * max(largest, float(np.linalg.norm(C, axis=0).max(initial=0.0)))
    Q, R = orthonormalise(S, floor)
    for _ in range(3):
        extra = cross(V, Q)
        if np.abs(extra).max(initial=0.0) <= 20 * eps:
            break
        C += extra @ R
        Q, again = orthonormalise(Q - matmul(V, extra.astype(S.dtype)))
        R = again @ R
    return C, Q, R


def _turned_into(rows: np.ndarray, block: np.ndarray) -> None:
    """``rows[:] = block.T``, a stretch at a time that stays in the cache."""
    for start in range(0, len(block), 512):
        rows[:, start : start + 512] = block[start : start + 512].T


class Normal:
    """A^T A for an A with ``dot`` and ``tdot``: what :class:`BlockKrylov` multiplies by."""

    def __init__(self, A):
        self.A, self.shape, self.dtype = A, A.shape, A.dtype

    def normal(self, V: np.ndarray) -> np.ndarray:
        """A^T A V."""
        return self.A.tdot(self.A.dot(V))

    def start_block(self, width: int, rng: np.random.Generator) -> np.ndarray:
        """An orthonormal block of ``A^T`` times random numbers: half a step ahead of random numbers alone."""
        n, m = self.shape
        start = rng.standard_normal((n, width)).astype(self.dtype)
        block = orthonormalise(self.A.tdot(start))[0]
        return block if block.shape[1] else _random_block(np.empty((m, 0), self.dtype), width, rng)


def _random_block(V: np.ndarray, width: int, rng: np.random.Generator) -> np.ndarray:
    """Random directions orthogonal to V."""
    return _split(V, rng.standard_normal((len(V), width)).astype(V.dtype), 0.0)[1]


def _settled(former: np.ndarray, now: np.ndarray, tol: float, total: float, eps: float) -> bool:
    """Did the last step add less than `tol` to the values (mean of their relative gains) and to the objective?"""
    if len(former) < len(now):
        return False
    gains = now - former
    relative = gains / np.maximum(now, max(eps * now[0], np.finfo(np.float64).tiny))
    return bool(relative.mean() <= tol and gains.sum() <= max(tol * (total - now.sum()), 4 * eps * total))


def default_block(k: int) -> int:
    """Columns multiplied at once: narrow blocks reach higher degrees, wide ones use the memory bus better.

    Multiples of 8, because the sparse kernel works on whole vectors of numbers. Set on 20 Newsgroups with 20 to 200
    components and on three sparse tables of chance, one of them that of the benchmark.
    """
    return 8 if k <= 24 else 16 if k <= 128 else 32


class BlockKrylov(Scheme):
    """Top-k eigenpairs of A^T A, given by an operator as :class:`Normal` is one; a scheme of the one loop.

    The basis V = [V_1, V_2, ...] spans the Krylov space of A^T A on a random block; T = V^T A^T A V comes out of the
    orthogonalisation, and the Ritz residuals out of its last block, so no product is spent on checking. When V is full
    (`basis` columns) its best k + block Ritz vectors are kept and the rest dropped. A step adds blocks of some k/3
    columns in all (the first as many as k needs) and looks at the eigenvalues once. It has settled when every
    ``||A^T u_i - s_i v_i|| <= tol * s_i``, or when a step adds less than `tol` to the s_i^2, by the mean of their
    relative gains, and lowers the objective ``total - sum s_i^2`` by less than `tol` of it; `total` is ``||A||^2``.

    Reference: Musco and Musco, "Randomized block Krylov methods for stronger and faster approximate singular value
    decomposition" (2015); Baglama and Reichel, "Restarted block Lanczos bidiagonalization methods" (2006).
    """

    reuses = ("basis",)  # a step writes behind what the old state has filled

    def __init__(
        self, operator, k: int, *, total: float, tol: float = 1e-3, seed: int = 0,
        block: int | None = None, basis: int | None = None,
    ):  # fmt: skip
        self.operator, self.k, self.total, self.tol, self.seed = operator, k, total, tol, seed
        self.size, self.eps = operator.shape[1], float(np.finfo(operator.dtype).eps)
        self.width = min(block or default_block(k), self.size)
        self.each = max(1, round(k / 3 / self.width))
        self.limit = min(self.size, max(basis or 6 * k, k + 3 * self.width))

    def adapt(self, loop: Loop) -> Loop:
        """The loop's limits; when to stop is decided by :meth:`settled`, for the objective may hide the vectors."""
        return replace(loop, tol=None if loop.tol else 0.0)

    def begin(self, rng=None) -> dict:
        """A random block, nothing multiplied yet."""
        return {
            # A vector of the basis is a row: what is not filled yet then takes no memory, and products are faster.
            "basis": np.zeros((self.limit, self.size), dtype=self.operator.dtype),
            "inner": np.zeros((self.limit, self.limit)), "last": np.zeros((0, 0)),
            "fresh": self.operator.start_block(self.width, np.random.default_rng((self.seed, 0))),
            "values": np.zeros(0), "vectors": np.zeros((0, 0)), "lengths": np.zeros(0),
            "filled": 0, "blocks": 0, "probing": False, "probed": False, "settled": False,
        }  # fmt: skip

    def step(self, state: dict) -> tuple[dict, float]:
        """Some blocks more; the objective is half of what the k largest values leave of the total."""
        state, grown = self._grow(state), 1
        while state["filled"] < self.k or (grown < self.each and self._has_room(state)):
            state, grown = self._grow(state), grown + 1
        state = self._look(state)
        return state, 0.5 * max(self.total - float(state["values"][: self.k].sum()), 0.0)

    def settled(self, state: dict) -> bool:
        return bool(state["settled"])

    def ritz(self, state: dict) -> Ritz:
        """The k best pairs in the basis."""
        values, filled = state["values"][: self.k], state["filled"]
        V = matmul(state["basis"][:filled].T, state["vectors"][:, : self.k].astype(self.operator.dtype))
        residuals = state["lengths"] / np.sqrt(np.maximum(values, np.finfo(np.float64).tiny))
        return Ritz(V, values, residuals, state["blocks"], self.settled(state))

    def _grow(self, state: dict) -> dict:
        """Multiply the fresh block, join it to the basis, and find the next one."""
        if state["filled"] == self.size:
            return state
        first, V, T = self._room(state)
        filled, blocks = first + state["fresh"].shape[1], state["blocks"] + 1
        # Columns of V beyond those of the old state are not part of it, so they may be written in place.
        _turned_into(V.T[first:filled], state["fresh"])
        product = self.operator.normal(state["fresh"])
        C, fresh, R = _split(V[:, :filled], product, float(T.diagonal()[:first].max(initial=0.0)))
        T[:filled, first:filled] = C
        T[first:filled, :filled] = C.T
        missing = min(self.width, self.size - filled) - fresh.shape[1]
        if missing > 0:  # V is all but invariant, yet values repeated more often than the block is wide may lie outside
            rng = np.random.default_rng((self.seed, blocks))
            fresh = np.hstack([fresh, _random_block(np.hstack([V[:, :filled], fresh]), missing, rng)])
        if self.limit == self.size:
            fresh = fresh[:, : self.size - filled]
        return {
            **state, "basis": V.T, "inner": T, "last": R, "fresh": fresh, "filled": filled, "blocks": blocks,
            "probing": missing > 0, "probed": state["probing"],
        }  # fmt: skip

    def _look(self, state: dict) -> dict:
        """The eigenpairs of V^T A^T A V, how far they are from those of A^T A, and whether that is near enough."""
        filled, R, former = state["filled"], state["last"], state["values"][: self.k]
        # all of them by divide and conquer: faster than the default driver, and than the largest alone
        values, Y = linalg.eigh(state["inner"][:filled, :filled], check_finite=False, driver="evd")
        values, Y = np.maximum(values[::-1], 0.0), Y[:, ::-1]
        lengths = np.linalg.norm(R @ Y[filled - R.shape[1] :, : self.k], axis=0)  # ||A^T A v - s^2 v||
        done = _settled(former, values[: self.k], self.tol, self.total, self.eps)
        if not state["probing"]:
            least = np.maximum(self.tol * values[: self.k], 4 * self.eps * values[0])
            done = done or bool(np.all(lengths <= least))
        done = filled == self.size or (done and (state["probed"] or not state["probing"]))
        return {**state, "values": values, "vectors": Y, "lengths": lengths, "settled": done}

    def _has_room(self, state: dict) -> bool:
        """Whether the fresh block fits behind what is there."""
        filled = state["filled"]
        return filled < self.size and (self.limit == self.size or filled + state["fresh"].shape[1] <= self.limit)

    def _room(self, state: dict) -> tuple[int, np.ndarray, np.ndarray]:
        """How much of the basis is kept, the basis and T = V^T A^T A V; the best Ritz vectors alone when it is full."""
        filled = state["filled"]
        if self._has_room(state):
            return filled, state["basis"].T, state["inner"].copy()
        keep = min(self.k + self.width, self.limit - 2 * self.width)
        # A new array: the old one is the answer if this step is interrupted.
        V, T = np.zeros((self.limit, self.size), dtype=self.operator.dtype).T, np.zeros((self.limit, self.limit))
        best = np.ascontiguousarray(state["vectors"][:, :keep]).astype(V.dtype)
        V[:, :keep] = matmul(state["basis"][:filled].T, best)
        T[np.arange(keep), np.arange(keep)] = state["values"][:keep]
        return keep, V, T
