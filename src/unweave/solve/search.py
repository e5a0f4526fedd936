"""Leading singular triplets by products alone, as a scheme of the one loop: for tables too large to decompose."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from unweave.linalg.operators import Flipped, Shifted
from unweave.linalg.products import gram, matmul
from unweave.solve.iterate import Loop
from unweave.solve.krylov import BlockKrylov
from unweave.solve.power import Power
from unweave.solve.triplets import SVDResult, unit_columns


class Search:
    """``X - 1 shift^T ~ U diag(s) Vt`` by block Krylov or the power method on the shorter side.

    The objective of a state is half of what its k values leave of ``||X - 1 shift^T||^2``. `tol` is on the vectors:
    1e-3 for krylov; 1e-8, or 1e-5 in float32, for power unless given.
    """

    def __init__(self, product, k: int, shift: np.ndarray | str | None, method: str, tol: float | None, seed: int):
        self.shift = product.column_means() if isinstance(shift, str) else shift
        self.method, self.k = method, k
        A = product if self.shift is None else Shifted(product, self.shift)
        self.total = A.squared_norm()
        self.wide = A.shape[0] < A.shape[1]
        self.side = Flipped(A) if self.wide else A
        self.scheme: BlockKrylov | Power
        if method == "krylov":
            self.scheme = BlockKrylov(self.side, k, total=self.total, tol=tol or 1e-3, seed=seed)
        else:
            floor = 1e-8 if self.side.dtype == np.float64 else 1e-5
            self.scheme = Power(_Normal(self.side), k, tol=max(tol or 0.0, floor), seed=seed)

    def pace(self, loop: Loop) -> Loop:
        return self.scheme.pace(loop)

    def begin(self) -> dict:
        return self.scheme.begin()

    def step(self, state: dict) -> tuple[dict, float]:
        state, _ = self.scheme.step(state)
        return state, 0.5 * max(self.total - float(self.values(state).sum()), 0.0)

    def settled(self, state: dict) -> bool:
        return isinstance(self.scheme, BlockKrylov) and self.scheme.settled(state)

    def values(self, state: dict) -> np.ndarray:
        """The squares of the k singular values as they stand."""
        return np.maximum(state["values"][: self.k], 0.0)

    def result(self, state: dict, codes: bool) -> SVDResult:
        """Rayleigh-Ritz on ``W = A V``: s are the singular values of W, so never above those of X."""
        V, converged = self._vectors(state)
        W = self.side.dot(V)
        values, R = linalg.eigh(gram(W), check_finite=False)
        R = np.ascontiguousarray(R[:, ::-1])
        s = np.sqrt(np.maximum(values[::-1], 0.0))
        if codes or not self.wide:
            V = matmul(V, R.astype(V.dtype))
        if codes or self.wide:
            W = unit_columns(matmul(W, R.astype(W.dtype)), s)
        U, Vt = (V, W.T) if self.wide else (W, V.T)
        tail = self.total - float(s @ s)
        return SVDResult(U if codes else None, s, Vt, tail, False, self.method, self.shift, self.total, converged)

    def _vectors(self, state: dict) -> tuple[np.ndarray, bool]:
        """Orthonormal vectors of the shorter side, and whether they reached the tolerance."""
        if isinstance(self.scheme, BlockKrylov):
            ritz = self.scheme.ritz(state)
            return ritz.V, ritz.converged
        found = self.scheme.result(state)
        # Stopped early, some are still zero: any directions orthogonal to the others stand in for them.
        lengths = np.arange(self.k) < state["found"]
        complete = state["found"] == self.k
        V = found.vectors if complete else unit_columns(found.vectors, lengths.astype(np.float64))
        return V.astype(self.side.dtype), found.converged and complete


class _Normal:
    """``A^T A`` as something to multiply vectors by."""

    def __init__(self, A):
        self.A, self.shape = A, (A.shape[1], A.shape[1])

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        return self.A.tdot(self.A.dot(v.astype(self.A.dtype)[:, None]))[:, 0]
