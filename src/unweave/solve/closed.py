"""Problems that need no loop: the singular value decomposition solves them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.products import gram, matmul
from unweave.objectives import Blocks, Dense, Objective, Sparse
from unweave.penalties.base import Penalty
from unweave.solve.problem import Problem
from unweave.solve.svd import SVDResult, truncated_svd
from unweave.updates import LeastSquares

_MOST_BLOCK_COLUMNS = 4096


def ridge_of(penalty: Penalty) -> float | None:
    """Strength of a ridge (0 for free), None for anything else."""
    terms = penalty.separable_terms()
    return None if terms is None or terms[0] or terms[2] else terms[1]


def why_not_closed(objective: Objective, problem: Problem) -> str | None:
    """Why the SVD does not solve a problem, in words; None when it does."""
    if not objective.squared or not objective.complete:
        return "the SVD needs the squared loss with every entry observed and equal weights"
    if problem.offset or problem.biases:
        return "the SVD has no place for an offset or biases"
    if isinstance(objective, Blocks) and objective.shape[1] > _MOST_BLOCK_COLUMNS:
        return f"the SVD of blocks needs at most {_MOST_BLOCK_COLUMNS} columns"
    if problem.n_components > min(objective.shape):
        return f"the SVD has no more than {min(objective.shape)} components"
    names = {problem.codes.name, problem.components.name}
    if names in ({"free"}, {"free", "orthonormal"}):
        return None
    strengths = ridge_of(problem.codes), ridge_of(problem.components)
    if None not in strengths and all(strengths):
        return None
    return "the SVD needs free or orthonormal sides, or ridge on both"


def decompose(
    objective: Objective, k: int, method: str, rng, shift: NDArray | str | None = None, tol: float | None = None
) -> SVDResult:
    """Leading k singular values and right vectors of an objective's table; `shift` as in :func:`truncated_svd`.

    `tol` is on the objective, relative. Its error is quadratic in that of the vectors, hence the root; where the
    decomposition is exact it does not matter.
    """
    if isinstance(objective, Blocks):
        return _decompose_blocks(objective, k, block_means(objective) if isinstance(shift, str) else shift)
    assert isinstance(objective, Dense | Sparse)
    X = objective.product if isinstance(objective, Sparse) else objective.X
    accuracy = None if tol is None or method == "power" else max(np.sqrt(tol) / 3, 1e-6)
    return truncated_svd(X, k, method=method, rng=rng, shift=shift, codes=False, tol=accuracy)


def block_means(objective: Blocks) -> NDArray:
    """Column means of a table in blocks: one pass."""
    total = sum(np.asarray(block.X.sum(axis=0, dtype=np.float64)).ravel() for _, _, block in objective)
    return np.asarray(total) / objective.shape[0]


def _decompose_blocks(objective: Blocks, k: int, shift: NDArray | None) -> SVDResult:
    """Summaries add: the Gram of the columns is a sum over blocks, and its eigenvectors are all that is needed."""
    total = np.zeros((objective.shape[1],) * 2)
    for _, _, block in objective:
        total += block_gram(block, shift)
    values, vectors = np.linalg.eigh(total)
    values, Vt = np.maximum(values[::-1], 0), vectors[:, ::-1].T
    Vt = Vt[:k] * np.sign(Vt[np.arange(k), np.abs(Vt[:k]).argmax(axis=1)])[:, None]
    return SVDResult(
        U=None, s=np.sqrt(values[:k]), Vt=np.ascontiguousarray(Vt, dtype=objective.dtype), tail=float(values[k:].sum()),
        exact=True, method="gram", shift=shift, total=float(values.sum()),
    )  # fmt: skip


def block_gram(block: Objective, shift: NDArray | None) -> NDArray:
    """(X − shift)ᵀ(X − shift) of one block, in float64."""
    if isinstance(block, Dense):
        return gram(block.X, shift=shift)
    X = block.X.astype(np.float64)
    total = np.asarray((X.T @ X).todense())
    if shift is not None:
        sums = np.asarray(X.sum(axis=0)).ravel()
        total += X.shape[0] * np.outer(shift, shift) - np.outer(sums, shift) - np.outer(shift, sums)
    return total


class ClosedForm:
    """X ≈ U·Z by the k leading singular triplets, shrunk by √(λ₁λ₂) when both sides carry a ridge.

    ½λ₁‖U‖² + ½λ₂‖Z‖² is least √(λ₁λ₂) times the nuclear norm of U·Z, whose proximal step is singular-value shrinkage.
    """

    one_shot = True

    def __init__(self, objective: Objective, problem: Problem, method: str, rng, tol: float | None = None):
        self.objective, self.problem, self.method, self.rng, self.tol = objective, problem, method, rng, tol
        self.left = LeastSquares()
        self.svd: SVDResult | None = None

    def begin(self) -> dict:
        return {}

    def step(self, state: dict) -> tuple[dict, float]:
        self.svd = svd = decompose(self.objective, self.problem.n_components, self.method, self.rng, tol=self.tol)
        one, two = ridge_of(self.problem.codes), ridge_of(self.problem.components)
        if self.problem.codes.name != "orthonormal" and not one:
            return {"components": svd.Vt}, 0.5 * svd.tail
        scaled = self.objective.rows_given(svd.Vt).cross  # U·s
        U = scaled / np.where(svd.s > 0, svd.s, 1).astype(scaled.dtype)
        if self.problem.codes.name == "orthonormal":
            return {"codes": U, "components": svd.s[:, None].astype(U.dtype) * svd.Vt}, 0.5 * svd.tail
        assert one and two
        U, Z, cost = split_shrunk(U, svd.s, svd.Vt, one, two)
        kept = np.maximum(svd.s - np.sqrt(one * two), 0)
        return {"codes": U, "components": Z}, 0.5 * (svd.tail + float(np.square(svd.s - kept).sum())) + cost


def split_shrunk(U, s, Vt, one: float, two: float) -> tuple[NDArray, NDArray, float]:
    """Factors of U·(s − τ)₊·Vᵀ, τ = √(λ₁λ₂), that share it out so that both ridges cost the same; and that cost."""
    tau = np.sqrt(one * two)
    kept = np.maximum(s - tau, 0)
    tilt = (two / one) ** 0.25
    root = np.sqrt(kept)
    return U * (root * tilt).astype(U.dtype), (root / tilt)[:, None].astype(Vt.dtype) * Vt, tau * float(kept.sum())


class Shrinkage:
    """Soft-impute: fill the holes with the present prediction, decompose, shrink; again and again.

    Minimises ½‖X − U·Z‖² over the observed entries plus the nuclear norm (ridge on both sides). Every round minimises a
    bound that touches the objective, so it never rises.

    References
    ----------
    Mazumder, Hastie and Tibshirani (2010), Spectral regularization algorithms for learning large incomplete matrices.
    """

    one_shot = False

    def __init__(self, objective: Dense, problem: Problem, rng):
        self.objective, self.problem, self.rng = objective, problem, rng
        self.left = LeastSquares()

    def begin(self) -> dict:
        (n, m), k, dtype = self.objective.shape, self.problem.n_components, self.objective.dtype
        return {"codes": np.zeros((n, k), dtype), "components": np.zeros((k, m), dtype)}

    def step(self, state: dict) -> tuple[dict, float]:
        filled = np.where(self.objective.weights != 0, self.objective.X, matmul(state["codes"], state["components"]))
        svd = truncated_svd(filled, self.problem.n_components, rng=self.rng)
        one, two = ridge_of(self.problem.codes), ridge_of(self.problem.components)
        U, Z, cost = split_shrunk(svd.U, svd.s, svd.Vt, one, two)  # type: ignore[arg-type]
        return {"codes": U, "components": Z}, self.objective.value(U, Z) + cost


def why_not_shrinkage(objective: Objective, problem: Problem) -> str | None:
    """Why soft-impute does not fit a problem, in words; None when it does."""
    if not (isinstance(objective, Dense) and objective.squared):
        return "singular-value shrinkage needs the squared loss on a dense table"
    if objective.weights is None or not np.isin(objective.weights, (0, 1)).all():
        return "singular-value shrinkage is for missing entries without weights"
    if not (ridge_of(problem.codes) and ridge_of(problem.components)):
        return "singular-value shrinkage needs the nuclear norm (or ridge on both sides)"
    if problem.offset or problem.biases:
        return "singular-value shrinkage has no place for an offset or biases"
    if problem.n_components > min(objective.shape):
        return f"singular-value shrinkage has no more than {min(objective.shape)} components"
    return None


class CentredSVD:
    """PCA: the mean, then the leading right singular vectors of what is left."""

    one_shot = True

    def __init__(self, objective: Objective, problem: Problem, method: str, rng, tol: float | None = None):
        self.objective, self.problem, self.method, self.rng, self.tol = objective, problem, method, rng, tol
        self.left = LeastSquares()
        self.svd: SVDResult | None = None

    def begin(self) -> dict:
        return {}

    def step(self, state: dict) -> tuple[dict, float]:
        self.svd = svd = decompose(self.objective, self.problem.n_components, self.method, self.rng, "mean", self.tol)
        mean = np.asarray(svd.shift, dtype=self.objective.dtype)
        return {"components": np.vstack([svd.Vt, mean])}, 0.5 * svd.tail
