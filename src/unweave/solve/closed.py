"""Problems that the singular value decomposition solves: at once, or in a loop of products for large tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.operators import as_product
from unweave.objectives import Objective
from unweave.penalties import Orthonormal
from unweave.penalties.base import Penalty
from unweave.solve.block_search import BlockSearch
from unweave.solve.iterate import Loop, iterate
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.search import Search, SVDResult, seed_of
from unweave.solve.sparse_plus_low_rank import LowRankMatrix
from unweave.solve.svd import choose_method, truncated_svd, with_signs
from unweave.updates import LeastSquares

MOST_BLOCK_COLUMNS = 4096  # of a table in blocks whose Gram (128 MB) is summed; wider ones are only multiplied


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
    if problem.n_components > min(objective.shape):
        return f"the SVD has no more than {min(objective.shape)} components"
    sides = problem.codes, problem.components
    if any(side.is_free for side in sides) and all(side.is_free or isinstance(side, Orthonormal) for side in sides):
        return None
    strengths = ridge_of(problem.codes), ridge_of(problem.components)
    if None not in strengths and all(strengths):
        return None
    return "the SVD needs free or orthonormal sides, or ridge on both"


def decompose(objective: Objective, k: int, shift: str | None = None, weights: NDArray | None = None) -> SVDResult:
    """Leading k singular values and right vectors of an objective's table, less its means if `shift` is "mean".

    With `weights` each row is times the root of its weight, and the means are weighted.
    """
    if objective.in_blocks and objective.shape[1] > MOST_BLOCK_COLUMNS:
        search = BlockSearch(objective, k, shift, None, 0, weights)
        state, _ = iterate(search, search.begin(), search.adapt(Loop()))
        return with_signs(search.result(state, codes=False), objective.dtype)
    if objective.in_blocks:
        return _decompose_blocks(objective, k, shift is not None, weights)
    return truncated_svd(objective.matrix, k, shift=shift, codes=False, weights=weights)


def decomposes_at_once(objective: Objective, k: int) -> bool:
    """Whether k triplets come with the whole spectrum, instead of by a search that grows with k."""
    if objective.in_blocks:
        return objective.shape[1] <= MOST_BLOCK_COLUMNS
    return choose_method(as_product(objective.matrix), k) in ("gram", "full")


def _search(objective, k: int, method: str, rng, shift: str | None, tol: float | None, weights) -> Search | None:
    """The search for the triplets of a table that is too large to decompose at once, or None.

    `tol` is on the objective, relative. Its error is quadratic in that of the vectors, hence the root.
    """
    if objective.in_blocks:
        wide = objective.shape[1] > MOST_BLOCK_COLUMNS
        accuracy = None if tol is None else max(np.sqrt(tol) / 3, 1e-6)
        return BlockSearch(objective, k, shift, accuracy, seed_of(rng), weights) if wide else None
    product = as_product(objective.matrix)
    method = choose_method(product, k) if method == "auto" else method
    if method not in ("krylov", "power"):
        return None
    accuracy = None if tol is None or method == "power" else max(np.sqrt(tol) / 3, 1e-6)
    return Search(product, k, shift, method, accuracy, seed_of(rng), weights)


def _decompose_blocks(objective: Objective, k: int, centred: bool, weights: NDArray | None) -> SVDResult:
    """Summaries add: the Gram of the columns is a sum over blocks, and its eigenvectors are all that is needed."""
    shift, gram = centred_gram(objective, weights) if centred else (None, objective.column_gram(None, weights))
    values, vectors = np.linalg.eigh(gram)
    values, Vt = np.maximum(values[::-1], 0), vectors[:, ::-1].T
    Vt = Vt[:k] * np.sign(Vt[np.arange(k), np.abs(Vt[:k]).argmax(axis=1)])[:, None]
    return SVDResult(
        U=None, s=np.sqrt(values[:k]), Vt=np.ascontiguousarray(Vt, dtype=objective.dtype), tail=float(values[k:].sum()),
        exact=True, method="gram", shift=shift, total=float(values.sum()),
    )  # fmt: skip


def centred_gram(objective: Objective, weights: NDArray | None) -> tuple[NDArray, NDArray]:
    """The means of the columns and the Gram about them, in one visit.

    Every block hands back its own means and its Gram about these, so nothing large cancels; what the means of blocks
    differ by is added here.
    """
    found = objective.total(_about_its_means, None, objective.kept_weights(weights))
    means, rows = np.array(found["means"]), np.array(found["rows"])
    middle = means[0] + rows @ (means - means[0]) / rows.sum()
    apart = np.sqrt(rows)[:, None] * (means - middle)
    return middle, found["gram"] + apart.T @ apart


def _about_its_means(block: Objective, state, own) -> tuple[dict, None]:
    if own is None:
        means, rows = block.column_means(), float(block.shape[0])
        return {"means": [means], "rows": [rows], "gram": block.column_gram(means)}, None
    weights = own["weights"]
    rows = float(weights.sum())
    means = as_product(block.matrix).column_means(weights) if rows > 0 else np.zeros(block.shape[1])
    return {"means": [means], "rows": [rows], "gram": block.column_gram(means, weights)}, None


class Spectral(FactorScheme):
    """A scheme whose answer follows from the k leading singular triplets of the table, less its `shift`."""

    shift: str | None = None

    def __init__(
        self,
        objective: Objective,
        problem: Problem,
        method: str,
        rng,
        tol: float | None = None,
        weights: NDArray | None = None,
    ):
        self.objective, self.problem, self.weights = objective, problem, weights
        self.search = _search(objective, problem.n_components, method, rng, self.shift, tol, weights)
        self.left = LeastSquares()

    def adapt(self, loop: Loop) -> Loop:
        return loop.once() if self.search is None else self.search.adapt(loop)

    def begin(self, rng=None) -> dict:
        return {} if self.search is None else self.search.begin()

    def step(self, state: dict) -> tuple[dict, float]:
        if self.search is not None:
            state, _ = self.search.step(state)
            return state, self._cost(np.sqrt(self.search.values(state)), self.search.total)
        svd = decompose(self.objective, self.problem.n_components, self.shift, self.weights)
        numbers = {"tail": float(svd.tail), "total": float(svd.total), "exact": svd.exact, "method": svd.method}
        shift = {} if svd.shift is None else {"shift": np.asarray(svd.shift)}
        return {"s": svd.s, "Vt": svd.Vt, **numbers, **shift}, self._cost(svd.s, svd.total)

    def settled(self, state: dict) -> bool:
        return self.search is not None and self.search.settled(state)

    def finish(self, state: dict) -> dict:
        """The factors that a state stands for."""
        if self.search is not None:
            self.svd = with_signs(self.search.result(state, codes=False), self.objective.dtype)
        else:
            self.svd = SVDResult(U=None, shift=state.get("shift"), **{k: v for k, v in state.items() if k != "shift"})
        return self._factors(self.svd)

    def _cost(self, s: NDArray, total: float) -> float:
        """The objective of the factors that singular values s give."""
        return 0.5 * max(total - float(np.square(s, dtype=np.float64).sum()), 0.0)

    def _factors(self, svd: SVDResult) -> dict:
        raise NotImplementedError


class ClosedForm(Spectral):
    """X ≈ U·Z by the k leading singular triplets, shrunk by √(λ₁λ₂) when both sides carry a ridge.

    ½λ₁‖U‖² + ½λ₂‖Z‖² is least √(λ₁λ₂) times the nuclear norm of U·Z, whose proximal step is singular-value shrinkage.
    """

    def _ridges(self) -> tuple[float, float]:
        strengths = ridge_of(self.problem.codes), ridge_of(self.problem.components)
        return strengths[0] or 0.0, strengths[1] or 0.0

    def _cost(self, s: NDArray, total: float) -> float:
        one, two = self._ridges()
        tau = np.sqrt(one * two)
        kept = np.maximum(s.astype(np.float64) - tau, 0)
        shrunk = 0.5 * float(np.square(s - kept).sum()) + tau * float(kept.sum())
        return super()._cost(s, total) + (shrunk if one else 0.0)

    def _factors(self, svd: SVDResult) -> dict:
        one, two = self._ridges()
        if not isinstance(self.problem.codes, Orthonormal) and not one:
            return {"components": svd.Vt}
        # Codes that do not tie rows together are found again at the end: of a table in blocks none are gathered.
        of_rows = self.objective.in_blocks and self.problem.codes.separable
        scaled = svd.Vt[:, :0].T if of_rows else self.objective.rows_given(svd.Vt).cross  # U·s
        U = scaled / np.where(svd.s > 0, svd.s, 1).astype(scaled.dtype)
        if isinstance(self.problem.codes, Orthonormal):
            return {"codes": U, "components": svd.s[:, None].astype(U.dtype) * svd.Vt}
        M = LowRankMatrix(U, svd.s, np.ascontiguousarray(svd.Vt.T)).shrunk(np.sqrt(one * two))
        codes, components = M.padded(len(svd.s)).halves((two / one) ** 0.25)
        return {"codes": codes, "components": components}


class CentredSVD(Spectral):
    """PCA: the mean, then the leading right singular vectors of what is left."""

    shift = "mean"

    def _factors(self, svd: SVDResult) -> dict:
        return {"components": np.vstack([svd.Vt, np.asarray(svd.shift, dtype=self.objective.dtype)])}
