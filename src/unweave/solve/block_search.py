"""Leading singular vectors of a wide table in blocks, one visit a step: the Gram of its columns would not fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.operators import as_product, weighted_operator
from unweave.linalg.products import matmul
from unweave.objectives import Objective
from unweave.solve.krylov import BlockKrylov, orthonormalise
from unweave.solve.search import Search, SVDResult

_MORE = 8  # columns beyond k that are multiplied at once: what lies next to the k-th value is then told from it sooner


class BlockTable:
    """A table in blocks, less its `shift`, as something to multiply by: AᵀA·V is one visit.

    Parameters
    ----------
    objective : Objective
        The table.
    centred : bool
        Whether the mean of every column is taken off.
    weights : array, optional
        Of the rows, each of which is times the root of its own.
    """

    def __init__(self, objective: Objective, centred: bool, weights: NDArray | None = None):
        self.objective, self.shape, self.dtype = objective, objective.shape, objective.dtype
        self.kept = objective.kept_weights(weights)
        sums, squares, self.rows = objective.total(_sums_and_squares, None, self.kept)
        self.column_means = sums / self.rows
        self.means = self.column_means if centred else None
        self.total = float(squares) - (0.0 if self.means is None else self.rows * float(self.means @ self.means))

    def normal(self, V: NDArray) -> NDArray:
        """AᵀA·V."""
        found = self.objective.total(_normal_of_block, V, self.kept)
        if self.means is not None:  # (X − 1μᵀ)ᵀ(X − 1μᵀ) = XᵀX − n·μμᵀ
            found = found - self.rows * np.outer(self.means, self.means @ V)
        return found.astype(self.dtype)

    def start_block(self, width: int, rng: np.random.Generator) -> NDArray:
        """Random orthonormal columns."""
        return orthonormalise(rng.standard_normal((self.shape[1], width)).astype(self.dtype))[0]


def _sums_and_squares(block: Objective, state: None, own: dict | None) -> tuple[tuple[NDArray, float, float], None]:
    """Sums of the columns, of the squares, and how many rows there are, each counted by its weight."""
    if own is None:
        return (block.column_sums()[0], block.squares(), float(block.shape[0])), None
    weights = own["weights"]
    sums = np.asarray(weights @ block.X, dtype=np.float64)
    return (sums, float(block.row_norms() @ weights), float(weights.sum())), None


def _normal_of_block(block: Objective, V: NDArray, own: dict | None) -> tuple[NDArray, None]:
    X = weighted_operator(as_product(block.matrix), None, None if own is None else own["weights"])
    return X.tdot(X.dot(V)).astype(np.float64), None


class BlockSearch(Search):
    """:class:`~unweave.solve.search.Search` of a table in blocks: a step is one visit, and the end needs none."""

    wide = False
    method = "krylov"

    def __init__(
        self,
        objective: Objective,
        k: int,
        shift: str | None,
        tol: float | None,
        seed: int,
        weights: NDArray | None = None,
    ):
        table = BlockTable(objective, shift is not None, weights)
        self.k, self.shift, self.total, self.column_means = k, table.means, table.total, table.column_means
        width = min(k + _MORE, objective.shape[1])
        self.scheme = BlockKrylov(table, k, total=self.total, tol=tol or 1e-3, seed=seed, block=width)

    def result(self, state: dict, codes: bool) -> SVDResult:
        """The Ritz vectors as they stand: their values came out of the orthogonalisation."""
        assert isinstance(self.scheme, BlockKrylov)
        ritz = self.scheme.ritz(state)
        s = np.sqrt(np.maximum(ritz.values, 0.0))
        U = None
        if codes:
            U = self.scheme.operator.objective.of_rows(_codes_of_block, (ritz.V, self.shift))
            U = U / np.where(s > 0, s, 1).astype(U.dtype)
        tail = max(self.total - float(s @ s), 0.0)
        ended = ritz.converged
        return SVDResult(U, s, ritz.V.T, tail, False, self.method, self.shift, self.total, ended, self.column_means)


def _codes_of_block(block: Objective, state: tuple, own: None) -> tuple[NDArray, None]:
    V, shift = state
    codes = as_product(block.matrix).dot(V)
    return codes if shift is None else codes - matmul(shift[None].astype(V.dtype), V), None
