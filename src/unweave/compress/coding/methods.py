"""Ways to find the codes of rows on a dictionary: each takes a row model and gives F, and says what it cannot do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.compress.coding.path import lasso_path_of
from unweave.linalg import nnls as exact
from unweave.linalg.lasso import lasso_rows, sweep_rows
from unweave.linalg.pursuit import greedy_rows, pursuit_gram
from unweave.objectives import Objective
from unweave.objectives.models import Entries
from unweave.parallel import chunks
from unweave.updates import Effort, Half, Proximal
from unweave.updates.descent import descend

_ROWS = 1 << 22  # codes that are found together
_MOST_SUBSETS = 200_000
_BLOCK = 8  # atoms that a block step moves together
_HALVINGS = 60  # of the strength that gives a row the size of its ball


@dataclass(frozen=True)
class Limits:
    """How long a method goes on: at most so many sweeps, and until nothing moves by more than `tol`.

    A greedy one stops where the residual has a mean square of at most `floor`.
    """

    sweeps: int
    tol: float
    floor: float = 0.0
    n_columns: int = 0


def active_set(model: Any, half: Half, limits: Limits) -> NDArray:
    """The exact minimiser: an active set for each row."""
    l1, ridge, nonnegative = _terms(half)
    F = np.zeros(model.shape, model.dtype)
    if isinstance(model, Entries):
        t = model.table
        return exact.exact_entries(t.indptr, t.indices, t.data, t.weights, model.H, F, l1, ridge, nonnegative)
    return lasso_rows(model.cross, model.gram_cast, F, l1, nonnegative, ridge)


def coordinate(model: Any, half: Half, limits: Limits) -> NDArray:
    """Cyclic coordinate descent with active sets and gap-safe screening."""
    l1, _, nonnegative = _terms(half)
    F = np.zeros(model.shape, model.dtype)
    return sweep_rows(model.cross, model.gram, model.row_norms(), F, l1, nonnegative, limits.sweeps, limits.tol)


def block_coordinate(model: Any, half: Half, limits: Limits) -> NDArray:
    """Proximal steps on blocks of atoms in turn, each with the curvature of its own block."""
    F, before = np.zeros(model.shape, model.dtype), None
    B = model.gram_cast
    blocks = [slice(a, b) for a, b in chunks(B.shape[0], _BLOCK)]
    bends = [max(float(np.linalg.eigvalsh(B[b, b])[-1]), np.finfo(F.dtype).tiny) for b in blocks]
    for _ in range(limits.sweeps):
        before = F.copy()
        for block, bend in zip(blocks, bends, strict=True):
            step = F.dtype.type(1 / bend)
            moved = F[:, block] + step * (model.cross[:, block] - F @ B[:, block])
            F[:, block] = half.prox(np.ascontiguousarray(moved), step)
        if _still(F, before, limits.tol):
            break
    return F


def fista(model: Any, half: Half, limits: Limits) -> NDArray:
    """Accelerated proximal gradient."""
    effort = Effort(sweeps=limits.sweeps, tol=limits.tol)
    return Proximal()(model, _projected_zero(model, half), half, effort)


def ista(model: Any, half: Half, limits: Limits) -> NDArray:
    """Proximal gradient without momentum: F ← soft(F − η·∇, η·λ)."""
    effort = Effort(sweeps=limits.sweeps, tol=limits.tol)
    F = _projected_zero(model, half)
    return descend(
        model, F, lambda Y, slope, step: half.prox(Y - step * slope, step), effort, tied=False, accelerate=False
    )


def subgradient(model: Any, half: Half, limits: Limits) -> NDArray:
    """Steps along −(∇ + λ·sign F) of length 1/(L·√t), the best F kept: the plain reference, slow and never exact."""
    l1, ridge, nonnegative = _terms(half)
    F = np.zeros(model.shape, model.dtype)
    best, least = F.copy(), model.row_values(F) + half.row_values(F)
    bound = np.asarray(model.lipschitz, dtype=F.dtype) + F.dtype.type(ridge)
    for t in range(1, limits.sweeps + 1):
        slope = model.gradient(F) + F.dtype.type(l1) * np.sign(F) + F.dtype.type(ridge) * F
        F = F - slope / (bound * F.dtype.type(np.sqrt(t)))
        F = np.maximum(F, 0) if nonnegative else F
        value = model.row_values(F) + half.row_values(F)
        better = value < least
        best[better], least[better] = F[better], value[better]
    return best


def lars(model: Any, half: Half, limits: Limits) -> NDArray:
    """The path of every row from the strength at which it enters down to the one asked for."""
    l1, _, nonnegative = _terms(half)
    rows = [lasso_path_of(a.astype(np.float64), model.gram, l1, nonnegative)[1][-1] for a in model.cross]
    return np.array(rows, dtype=model.dtype).reshape(model.shape)


def pursuit(model: Any, half: Half, limits: Limits) -> NDArray:
    """Orthogonal matching pursuit: the atom that lowers the residual most on its own, then least squares."""
    return _greedy(model, half, limits.floor, limits.n_columns, joint=False)


def joint_pursuit(model: Any, half: Half, limits: Limits) -> NDArray:
    """Order-recursive pursuit: the atom that lowers the residual most together with those taken."""
    return _greedy(model, half, limits.floor, limits.n_columns, joint=True)


def _greedy(model: Any, half: Half, floor: float, n_columns: int, joint: bool) -> NDArray:
    s = int(half.penalty.nonzeros)
    if isinstance(model, Entries):
        t = model.table
        return greedy_rows(t.indptr, t.indices, t.data, t.weights, model.H, s, joint, floor)
    return pursuit_gram(model.cross, model.gram_cast, model.row_norms(), s, joint, floor * n_columns)


def enumeration(model: Any, half: Half, limits: Limits) -> NDArray:
    """The best of all supports of s atoms, each solved by least squares."""
    k, s = model.shape[1], min(int(half.penalty.nonzeros), model.shape[1])
    if comb(k, s) > _MOST_SUBSETS:
        raise ValueError(
            f"method='exact' would try {comb(k, s):,} supports of {s} among {k} atoms: at most {_MOST_SUBSETS:,}; use "
            "method='omp', a smaller n_nonzero or fewer atoms"
        )
    A, B = model.cross.astype(np.float64), model.gram
    best, won = np.zeros(len(A)), np.full(len(A), -1)
    subsets = np.array(list(combinations(range(k), s)), dtype=np.int64).reshape(-1, s)
    for place, subset in enumerate(subsets):
        gain = np.einsum(
            "ij,ij->i", A[:, subset], A[:, subset] @ np.linalg.pinv(B[np.ix_(subset, subset)], hermitian=True)
        )
        better = gain > best * (1 + 1e-12)
        best[better], won[better] = gain[better], place
    F = np.zeros(model.shape)
    for place in np.unique(won[won >= 0]):
        rows, subset = np.flatnonzero(won == place), subsets[place]
        F[np.ix_(rows, subset)] = A[np.ix_(rows, subset)] @ np.linalg.pinv(B[np.ix_(subset, subset)], hermitian=True)
    return F.astype(model.dtype)


def ball(model: Any, half: Half, limits: Limits) -> NDArray:
    """‖f‖₁ ≤ radius: the lasso with the strength, of each row, at which its solution has that size.

    The size falls as the strength grows, so the strength is found by halving; each try begins at the last codes.
    """
    penalty: Any = half.penalty
    radius, nonnegative = float(getattr(penalty, "other", penalty).radius), bool(penalty.nonnegative)
    A, B = model.cross.astype(np.float64), model.gram
    low, high = np.zeros(len(A)), np.abs(A).max(axis=1, initial=0.0)
    F = lasso_rows(A, B, np.zeros_like(A), low, nonnegative)
    rows = np.flatnonzero(np.abs(F).sum(axis=1) > radius)
    low, high, part = low[rows], high[rows], np.zeros((len(rows), A.shape[1]))
    for _ in range(_HALVINGS if len(rows) else 0):
        middle = 0.5 * (low + high)
        part = lasso_rows(A[rows], B, part, middle, nonnegative)
        outside = np.abs(part).sum(axis=1) > radius
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
        if (high - low <= 1e-15 * high).all():
            break
    F[rows] = penalty.prox(part, 0.0)
    return F.astype(model.dtype)


def _terms(half: Half) -> tuple[float, float, bool]:
    terms = half.terms
    assert terms is not None, "a lasso has terms on single entries"
    return terms


def _projected_zero(model: Any, half: Half) -> NDArray:
    return half.prox(np.zeros(model.shape, dtype=model.dtype), 0.0)


def _still(new: NDArray, old: NDArray, tol: float) -> bool:
    return bool(np.abs(new - old).max(initial=0) <= tol * max(float(np.abs(new).max(initial=0)), 1e-300))


Method = Callable[[Any, Half, Limits], NDArray]  # of a quadratic model, or one with a Gram for each row
LASSO: dict[str, Method] = {
    "active-set": active_set, "coordinate": coordinate, "block-coordinate": block_coordinate, "fista": fista,
    "ista": ista, "lars": lars, "subgradient": subgradient,
}  # fmt: skip
SPARSE: dict[str, Method] = {"joint-omp": joint_pursuit, "omp": pursuit, "exact": enumeration}
BALL: dict[str, Method] = {"ball": ball, "fista": fista, "ista": ista}
ANY_ENTRIES = ("active-set", "fista", "ista", "subgradient", "omp", "joint-omp")  # that do rows with holes of their own
TITLES = {
    "active-set": "active set (exact lasso)", "coordinate": "coordinate descent, screened by the gap",
    "block-coordinate": "block-coordinate descent", "fista": "accelerated proximal gradient",
    "ista": "proximal gradient", "lars": "path over all strengths", "subgradient": "sub-gradient steps",
    "joint-omp": "order-recursive matching pursuit", "omp": "orthogonal matching pursuit",
    "exact": "enumeration of all supports", "ball": "lasso whose strength meets the ball",
}  # fmt: skip


@dataclass(frozen=True)
class Coder:
    """Codes of rows in memory on one dictionary, some rows at a time; it travels to where the rows are."""

    method: str
    family: dict
    half: Half
    limits: Limits
    components: NDArray

    def __call__(self, rows: Objective) -> NDArray:
        n, k = rows.shape[0], len(self.components)
        out = np.empty((n, k), rows.dtype)
        step = max(256, _ROWS // max(1, k))
        for start, stop in chunks(n, step):
            some = rows if stop - start == n else rows.take(np.arange(start, stop))
            if some is None:
                return self._of(rows)
            out[start:stop] = self._of(some)
        return out

    def _of(self, rows: Objective) -> NDArray:
        return self.family[self.method](rows.rows_given(self.components), self.half, self.limits)
