"""Solve for weights between items in closed form, and find the ridge under which they find held-out pairs best."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import get_lapack_funcs

from unweave.complete.implicit.held_out_pairs import HeldOut, peak
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme

_BEGIN = 4.0  # in units of the number of users that a pair's item has on average
_MOST_STEPS = 8  # of a factor of four either way
_SLOW = 200  # operations with dense rows in the time that two stored entries take to meet
_ROWS = 1024  # rows that are made dense together


def ones(X: sp.csr_array, dtype) -> sp.csr_array:
    """The same pairs, each counting one."""
    return sp.csr_array((np.ones(X.nnz, dtype), X.indices, X.indptr), shape=X.shape)


def co_occurrence(X: sp.csr_array, dtype) -> NDArray:
    """How many users have both, for every two items: XᵀX of zeros and ones, dense."""
    X, (n, m) = ones(X, dtype), X.shape
    if meetings(X) < n * m**2:
        return np.asarray((X.T @ X).toarray(order="F"))
    G = np.zeros((m, m), dtype, order="F")
    for start in range(0, n, _ROWS):  # sums of ones: exact in any order
        block = X[start : start + _ROWS].toarray()
        G += block.T @ block
    return G


def meetings(X: sp.csr_array) -> float:
    """What it costs that every two stored entries of a row meet, in operations with dense rows."""
    return _SLOW * float(np.sum(np.diff(X.indptr).astype(np.float64) ** 2))


def work_of_weights(X: sp.csr_array, m: int) -> float:
    """Operations of weights between m of the items: the Gram matrix and its inverse."""
    return m**3 + min(X.shape[0] * m**2, meetings(X))


def inverse(G: NDArray, ridge: float) -> NDArray:
    """(G + ridge·I)⁻¹ of a Gram matrix, by its Cholesky factor, in its dtype; G is left as it is."""
    factor, invert = get_lapack_funcs(("potrf", "potri"), (G,))
    A = np.array(G, order="F")
    A[np.diag_indices_from(A)] += ridge
    A, failed = factor(A, lower=True, overwrite_a=True, clean=True)
    if not failed:
        A, failed = invert(A, lower=True, overwrite_c=True)
    if failed:
        raise ValueError(f"ridge={ridge:g} is too small: items that the same users have cannot be told apart; raise it")
    A += np.tril(A, -1).T
    return A


def weights(P: NDArray) -> NDArray:
    """B = I − P·diag(1/diag P), written over P: column j predicts item j from the others.

    >>> import numpy as np
    >>> weights(np.linalg.inv(np.array([[2.0, 1.0], [1.0, 2.0]]))).round(6)
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    P /= -np.diag(P).copy()
    P[np.diag_indices_from(P)] = 0
    return P


class SolveWeights(Scheme):
    """Solve for the weights between items in one step, for rows of ones under a ridge."""

    def __init__(self, codes: sp.csr_array, ridge: float):
        self.codes, self.ridge = codes, ridge

    def begin(self, rng=None) -> dict:
        return {}

    def step(self, state: dict) -> tuple[dict, float]:
        """B, and what no B can be below, ½ Σ_j (1/P_jj − λ), which is what the best B has."""
        P = inverse(co_occurrence(self.codes, np.float64), self.ridge)
        bound = 0.5 * float(np.sum(1 / np.diag(P) - self.ridge))
        return {"components": weights(P).astype(self.codes.dtype), "bound": bound}, bound

    def adapt(self, loop: Loop) -> Loop:
        return loop.once()


def users_per_pair(X: sp.csr_array) -> float:
    """How many users the item of a pair has, on average over the pairs: a unit for the ridge, which follows the number
    of users."""
    counts = np.bincount(X.indices, minlength=1).astype(np.float64)
    return float((counts**2).sum() / counts.sum())


class RidgesOfWeights:
    """How well ridges find the pairs held out, by users."""

    def __init__(self, held: HeldOut):
        self.held = held
        self.G = co_occurrence(sp.csr_array(held.train[:, held.items]), np.float32)
        self.codes = ones(held.seen, np.float32)
        self.tried: dict[float, NDArray] = {}

    @property
    def path(self) -> dict[float, float]:
        """Mean gain of each ridge tried, in order."""
        return {ridge: float(self.tried[ridge].mean()) for ridge in sorted(self.tried)}

    @property
    def best(self) -> float:
        return max(self.path, key=lambda ridge: self.path[ridge])

    def climb(self, begin: float, step: float) -> None:
        """Try the ridge to begin with, and its neighbours at a factor of `step`, until the best lies between two."""
        for _ in range(_MOST_STEPS):
            here = self.best if self.tried else begin
            new = [ridge for ridge in (here, here * step, here / step) if ridge not in self.tried]
            if not new:
                return
            for ridge in new:
                self.judge(ridge)

    def judge(self, ridge: float) -> None:
        """Try one ridge."""
        self.tried[ridge] = self.held.gains(self.codes, weights(inverse(self.G, ridge)))


def choose_strength(held: HeldOut) -> tuple[float, dict[float, float]]:
    """(the ridge that finds the pairs held out best, the gain of every ridge tried)."""
    found = RidgesOfWeights(held)
    found.climb(_BEGIN * users_per_pair(held.train), 4.0)
    found.climb(found.best, 2.0)
    return peak(found.path), found.path
