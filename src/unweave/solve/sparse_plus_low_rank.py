"""Hold a completed table as a sparse matrix plus one of low rank, without writing out its n×m numbers.

With M = U·diag(s)·Vᵀ and R = X − M on the observed entries, the table whose holes are filled by M is R + M: as many
numbers as there are entries, and (n + m)·rank more.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.linalg.entries import predict_entries
from unweave.linalg.products import gram, matmul
from unweave.linalg.sparse import csr_matmul
from unweave.objectives import Objective
from unweave.objectives.models.entries import EntryTable
from unweave.objectives.sparse import entry_table


class LowRankMatrix(NamedTuple):
    """Hold U·diag(s)·Vᵀ with orthonormal columns in U (n × r) and V (m × r); s falls and is float64."""

    U: NDArray
    s: NDArray
    V: NDArray

    @classmethod
    def zero(cls, shape: tuple[int, int], dtype) -> LowRankMatrix:
        """Make the matrix of zeros, of rank 0."""
        return cls(np.zeros((shape[0], 0), dtype), np.zeros(0), np.zeros((shape[1], 0), dtype))

    @classmethod
    def of_state(cls, state: dict) -> LowRankMatrix:
        """Take the matrix that the state of a scheme holds in "U", "s" and "V"."""
        return cls(state["U"], state["s"], state["V"])

    @classmethod
    def of_factors(cls, F: NDArray, H: NDArray) -> LowRankMatrix:
        """Make the same matrix as F·Hᵀ."""
        (Q, R), (P, S) = np.linalg.qr(F), np.linalg.qr(H)
        left, s, right = np.linalg.svd(R.astype(np.float64) @ S.T.astype(np.float64))
        dtype = F.dtype
        return cls(matmul(Q, left.astype(dtype)), s, matmul(P, np.ascontiguousarray(right.T).astype(dtype)))

    @property
    def rank(self) -> int:
        return len(self.s)

    def cut(self, rank: int) -> LowRankMatrix:
        """Keep the `rank` leading directions."""
        U, V = np.ascontiguousarray(self.U[:, :rank]), np.ascontiguousarray(self.V[:, :rank])
        return LowRankMatrix(U, self.s[:rank], V)

    def shrunk(self, tau: float) -> LowRankMatrix:
        """Shrink the singular values by τ, to U·(s − τ)₊·Vᵀ, and drop the directions that vanish.

        >>> LowRankMatrix(np.eye(2), np.array([3.0, 1.0]), np.eye(2)).shrunk(1.5).s
        array([1.5])
        """
        kept = self.cut(int(np.count_nonzero(self.s > tau)))
        return kept._replace(s=kept.s - tau)

    def padded(self, rank: int = 1) -> LowRankMatrix:
        """Add directions of length 0 up to that rank: a model has at least one component."""
        missing = max(0, rank - self.rank)
        if not missing:
            return self
        U, V = (np.hstack([side, np.zeros((len(side), missing), side.dtype)]) for side in (self.U, self.V))
        return LowRankMatrix(U, np.concatenate([self.s, np.zeros(missing)]), V)

    def halves(self, tilt: float = 1.0) -> tuple[NDArray, NDArray]:
        """Split into codes U·√s·tilt and components √s·Vᵀ/tilt, of all factors those whose ridges cost least.

        With ridges λ₁ on the codes and λ₂ on the components, tilt is (λ₂/λ₁)^¼, which is 1 where they are equal.
        """
        root = np.sqrt(self.s)
        left, right = (root * tilt).astype(self.U.dtype), (root / tilt).astype(self.V.dtype)
        return self.U * left, np.ascontiguousarray((self.V * right).T)


class ObservedEntries:
    """Hold the observed entries of a table by row and by column, and multiply by any numbers put in their places.

    >>> import numpy as np, scipy.sparse as sp
    >>> entries = ObservedEntries(entry_table(sp.csr_array(np.array([[0.0, 2.0], [3.0, 1.0]]))))
    >>> entries.residual(LowRankMatrix(np.eye(2), np.array([1.0, 1.0]), np.eye(2)))
    array([2., 3., 0.])
    >>> entries.dot(entries.values, np.eye(2))
    array([[0., 2.],
           [3., 1.]])
    """

    def __init__(self, by_row: EntryTable):
        self.by_row = by_row
        self.shape, self.dtype = (by_row.n_rows, by_row.n_columns), by_row.data.dtype

    @classmethod
    def of(cls, objective: Objective) -> ObservedEntries:
        """Take the entries of an objective, however it is stored; zeros count where everything is observed."""
        return cls(entry_table(objective.entries()))

    def in_double(self) -> ObservedEntries:
        """Turn the entries into float64."""
        return ObservedEntries(self.by_row.with_data(self.values.astype(np.float64, copy=False)))

    @property
    def values(self) -> NDArray:
        """List the entries, row after row."""
        return self.by_row.data

    @property
    def nnz(self) -> int:
        return len(self.values)

    @cached_property
    def _transposed(self) -> tuple[NDArray, NDArray, NDArray]:
        """Find indptr and indices of the transpose, and where each of its entries stands in the order by rows."""
        found = self.matrix(np.arange(self.nnz)).tocsc()
        return found.indptr.astype(np.int64), found.indices.astype(np.int32), found.data

    @cached_property
    def by_column(self) -> EntryTable:
        """Hold the entries of the transpose."""
        indptr, indices, order = self._transposed
        return EntryTable(indptr, indices, self.values[order], self.by_row.weights, self.shape[0])

    def residual(self, M: LowRankMatrix) -> NDArray:
        """Find X − M at the observed entries."""
        return self.values - self.at_entries(M)

    def at_entries(self, M: LowRankMatrix) -> NDArray:
        """Find M at the observed entries."""
        if not M.rank:
            return np.zeros_like(self.values)
        return predict_entries(self.by_row.indptr, self.by_row.indices, M.V, M.U * M.s.astype(self.dtype))

    def dot(self, values: NDArray, B: NDArray) -> NDArray:
        """Multiply R·B for the matrix R that has `values` at the observed entries and nothing elsewhere."""
        return csr_matmul(self.by_row.indptr, self.by_row.indices, values, np.ascontiguousarray(B))

    def tdot(self, values: NDArray, B: NDArray) -> NDArray:
        """Multiply Rᵀ·B."""
        indptr, indices, order = self._transposed
        return csr_matmul(indptr, indices, values[order], np.ascontiguousarray(B))

    def matrix(self, values: NDArray) -> sp.csr_array:
        """Make R a SciPy matrix."""
        return sp.csr_array((values, self.by_row.indices, self.by_row.indptr), shape=self.shape)


def leading(W: NDArray, Q: NDArray, most: int) -> LowRankMatrix:
    """Find the `most` largest singular triplets of A·Q·Qᵀ, from W = A·Q; Q (m × q) has orthonormal columns."""
    P, R = np.linalg.qr(W)
    left, s, right = np.linalg.svd(R.astype(np.float64))
    most, dtype = min(most, len(s)), W.dtype
    V = matmul(Q, np.ascontiguousarray(right[:most].T).astype(dtype))
    return LowRankMatrix(matmul(P, np.ascontiguousarray(left[:, :most]).astype(dtype)), s[:most], V)


def shrink(W: NDArray, Q: NDArray, tau: float, most: int) -> LowRankMatrix:
    """Find the M of rank at most `most` and least ½‖A − M‖² + τ‖M‖₊ among all whose rows lie in the span of Q.

    W = A·Q is all that is needed of A, and Q (m × q) has orthonormal columns. Singular values below τ vanish.
    """
    return leading(W, Q, most).shrunk(tau)


def spectral_norm(W: NDArray) -> float:
    """Find the largest singular value of a tall W."""
    return float(np.sqrt(max(np.linalg.eigvalsh(gram(W))[-1], 0.0))) if W.shape[1] else 0.0
