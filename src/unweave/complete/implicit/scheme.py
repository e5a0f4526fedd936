"""Fit factors to implicit feedback in sweeps: the objective, three kinds of half-steps, and which of them to take."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.table import check_table
from unweave.linalg.implicit import Basis, Rows, basis_of, descend_rows, slope_rows, solve_rows, subspace_rows
from unweave.losses.squared import Squared
from unweave.objectives import Objective
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme
from unweave.updates import LeastSquares

SOLVERS = ("auto", "cholesky", "cg", "subspace")
BLOCK = 32  # columns that the subspace solver takes together: the panel of the Gram kernel
_STEPS = 20  # conjugate-gradient steps of a half-step at most; rows with even confidences need one to three
_LEFT = 1e-4  # share of its value that a row may still have to fall when it stops
_SMALL = 16  # up to so many components a Cholesky factor costs no more than the steps
_EXACT = 128  # up to so many components the last half-step uses Cholesky factors, beyond them many steps
_UNEVEN = 1e5  # a confidence from which on the steps converge too slowly

_POWER_STEPS = 5  # of the power method, whose matrix is positive: the first singular value stands well apart


def interactions(estimator, X, *, reset: bool) -> sp.csr_array:
    """The stored positive entries of a table as CSR, or an error that names the remedy."""
    if isinstance(X, NamedTable):
        X = X.with_(missing=None)  # what is not stored was not bought: nothing is unknown here
    try:
        values = check_table(estimator, X, None, reset=reset).values
    except ValueError as error:
        if "contains NaN" not in str(error):
            raise
        raise ValueError("Input X contains NaN: drop these entries; what is not stored counts as not bought") from error
    return positive_entries(values, type(estimator).__name__)


def positive_entries(values, name: str) -> sp.csr_array:
    """The stored positive entries of checked values as CSR; `name` is whose they are."""
    table = sp.csr_array(values)
    if table.nnz and table.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {name}: entries are counts or strengths of what "
            "happened, so drop dislikes, or use MatrixCompletion for ratings"
        )
    if table.nnz and not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    return table


class Interactions(Objective):
    """Counts r > 0 with confidence 1 + alpha·r; what is not stored has preference 0 and confidence 1.

    `power` is how the ridge of a row grows with the number of its entries.
    """

    complete = False

    def __init__(self, X: sp.csr_array, alpha: float, ridge: float, power: float):
        self.X, self.alpha, self.ridge, self.power = X, alpha, ridge, power
        self.shape, self.dtype, self.loss = X.shape, X.dtype, Squared()
        if not self.most < (1e12 if X.dtype == np.float32 else 1e100):
            raise ValueError(f"the largest confidence is {self.most:.1e}: rescale X (log1p of counts, say) or alpha")

    @property
    def nnz(self) -> int:
        return self.X.nnz

    @cached_property
    def most(self) -> float:
        """The largest confidence."""
        return 1 + self.alpha * float(self.X.data.max(initial=0))

    @cached_property
    def by_row(self) -> Rows:
        return _rows(self.X)

    @cached_property
    def by_column(self) -> Rows:
        return _rows(self.X.T.tocsr())

    def ridges(self, rows: Rows) -> NDArray | float:
        """The ridge of each row."""
        if not self.power:
            return self.ridge
        return self.ridge * np.maximum(np.diff(rows.indptr), 1).astype(np.float64) ** self.power

    def vanishing_ridge(self) -> float:
        """The ridge from which on zero factors are best: the largest singular value of C∘P with row i divided by
        n_i^(p/2) and column j by n_j^(p/2), from below, by a few steps of the power method."""
        X, p = self.X, -0.5 * self.power
        C = sp.csr_array((1 + X.dtype.type(self.alpha) * X.data, X.indices, X.indptr), shape=X.shape)
        counts = np.diff(X.indptr), np.bincount(X.indices, minlength=X.shape[1])
        left, right = (np.maximum(count, 1).astype(X.dtype) ** p for count in counts)
        v, size = 1 / right, 0.0
        for _ in range(_POWER_STEPS):
            u = left * (C @ (right * (v / np.linalg.norm(v))))
            v = right * (C.T @ (left * (u / np.linalg.norm(u))))
            size = float(np.linalg.norm(v))
        return size

    def cost(self, F: NDArray, rows: Rows) -> float:
        """½ Σ ridge_i ‖f_i‖²."""
        return 0.5 * float(np.sum(np.einsum("ij,ij->i", F, F, dtype=np.float64) * self.ridges(rows)))

    def codes(self, items: NDArray, method: str) -> tuple[NDArray, NDArray]:
        """Exact codes given the items (m × k), row by row, and the values of the rows."""
        rows = self.by_row
        if method == "cholesky":
            return solve_rows(rows, self.alpha, items, self.ridges(rows))
        tol = 1e-22 if items.dtype == np.float64 else 1e-12
        return descend_rows(rows, self.alpha, items, None, self.ridges(rows), 10 * items.shape[1], tol)

    def residual(self, codes: NDArray, items: NDArray) -> float:
        """How far the items still want to move, relative to their size: 0 at a stationary point."""
        step, _ = slope_rows(self.by_column, self.alpha, codes, items, self.ridges(self.by_column))
        return float(np.linalg.norm(step) / max(float(np.linalg.norm(items)), 1e-30))


def _rows(X: sp.csr_array) -> Rows:
    return Rows(
        X.indptr.astype(np.int64), np.ascontiguousarray(X.indices, dtype=np.int32), np.ascontiguousarray(X.data)
    )


def exact_method(most: float, k: int) -> str:
    """How exact codes are found, by the largest confidence: by factors, or by steps until they settle."""
    return "cholesky" if k <= _EXACT or most > _UNEVEN else "cg"


def choose_solver(most: float, k: int, solver: str) -> tuple[str, str]:
    """(solver, why); `most` is the largest confidence."""
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} is not known; use one of {', '.join(SOLVERS)}")
    if solver != "auto":
        return solver, "as asked"
    if k <= _SMALL:
        return "cholesky", f"{k} components: an exact solve of each row costs no more than a few steps"
    if most > _UNEVEN and k <= _EXACT:
        return "cholesky", f"confidences up to {most:.2g}: too uneven for a few steps"
    if most > _UNEVEN:
        return "subspace", f"confidences up to {most:.2g}, {k} components: exact solves block by block"
    bound = f"the condition number is at most the largest confidence, {most:.3g}"
    return "cg", f"steps preconditioned by what all rows share: {bound}"


TITLES = {
    "cholesky": "a Cholesky factor for each row",
    "cg": "conjugate gradients, preconditioned, from where the row stands",
    "subspace": f"exact solves over blocks of {BLOCK} components",
}


class AlternateImplicit(Scheme):
    """Users given items, items given users; the objective comes with the second half-step for nothing.

    It begins with the `items` given, or with random ones.
    """

    def __init__(self, objective: Interactions, solver: str, k: int, items: NDArray | None = None):
        self.objective, self.solver, self.k, self.items = objective, solver, k, items
        self.left = LeastSquares()

    def begin(self, rng=None) -> dict:
        (n, m), k, dtype = self.objective.shape, self.k, self.objective.dtype
        items = rng.standard_normal((m, k), dtype=np.float64) / np.sqrt(k) if self.items is None else self.items
        return {"codes": np.zeros((n, k), dtype), "items": items.astype(dtype, copy=False)}

    def adapt(self, loop: Loop) -> Loop:
        # A recommender is ready long before it has settled, so running out of sweeps is nothing to warn of.
        return replace(loop, ending=f"max_iter={loop.max_iter} sweeps done")

    def step(self, state: dict) -> tuple[dict, float]:
        """One sweep. The product of the factors and both ridges stay the same when both are rotated, so each factor is
        left in the basis in which it was found, and the other follows it there: one copy of each is enough."""
        objective = self.objective
        basis = basis_of(state["items"])
        codes, _ = self.half_step(objective.by_row, basis, state["codes"], back=False)
        items, basis = basis.W, basis_of(codes, overwrite=True)
        items, values = self.half_step(objective.by_column, basis, items, back=False)
        return {"codes": codes, "items": items}, float(values.sum()) + objective.cost(codes, objective.by_row)

    def half_step(self, rows: Rows, basis: Basis, F: NDArray, *, back: bool = True) -> tuple[NDArray, NDArray]:
        """New rows given the other factor, and their values."""
        return half_step(self.solver, rows, self.objective.alpha, basis, F, self.objective.ridges(rows), back=back)

    def finish(self, state: dict) -> dict:
        # The codes are found anew, exactly, so these need not be held meanwhile.
        return {"components": np.ascontiguousarray(state["items"].T)}


def half_step(
    solver: str, rows: Rows, alpha: float, basis: Basis, F: NDArray | None, ridge, *, back: bool = True
) -> tuple[NDArray, NDArray]:
    """New rows by a solver given the other factor, from `F` (None: from zero), and their values."""
    if solver == "cholesky":
        return solve_rows(rows, alpha, basis.W, ridge, basis, back=back)
    if solver == "subspace":
        return subspace_rows(rows, alpha, basis.W, F, ridge, BLOCK, basis, back=back)
    return descend_rows(rows, alpha, basis.W, F, ridge, _STEPS, _LEFT, basis, back=back)
