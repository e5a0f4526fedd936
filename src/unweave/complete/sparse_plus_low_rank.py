"""Sparse plus low rank: what a completed table is between two steps, without its n×m numbers.

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
from unweave.linalg.products import floating, gram, matmul
from unweave.linalg.sparse import csr_matmul
from unweave.objectives import Dense, Objective, Observed, Sparse


class LowRank(NamedTuple):
    """U·diag(s)·Vᵀ with orthonormal columns in U (n × r) and V (m × r); s falls and is float64."""

    U: NDArray
    s: NDArray
    V: NDArray

    @classmethod
    def nothing(cls, shape: tuple[int, int], dtype) -> LowRank:
        return cls(np.zeros((shape[0], 0), dtype), np.zeros(0), np.zeros((shape[1], 0), dtype))

    @classmethod
    def of_factors(cls, F: NDArray, H: NDArray) -> LowRank:
        """The same matrix as F·Hᵀ."""
        (Q, R), (P, S) = np.linalg.qr(F), np.linalg.qr(H)
        left, s, right = np.linalg.svd(R.astype(np.float64) @ S.T.astype(np.float64))
        dtype = F.dtype
        return cls(matmul(Q, left.astype(dtype)), s, matmul(P, np.ascontiguousarray(right.T).astype(dtype)))

    @property
    def rank(self) -> int:
        return len(self.s)

    def cut(self, rank: int) -> LowRank:
        """Its leading part."""
        return LowRank(np.ascontiguousarray(self.U[:, :rank]), self.s[:rank], np.ascontiguousarray(self.V[:, :rank]))

    def padded(self) -> LowRank:
        """The same, with one direction of length 0 if there is none: a model has at least one component."""
        if self.rank:
            return self
        U, V = np.zeros((len(self.U), 1), self.U.dtype), np.zeros((len(self.V), 1), self.V.dtype)
        return LowRank(U, np.zeros(1), V)

    def halves(self) -> tuple[NDArray, NDArray]:
        """Codes U·√s and components √s·Vᵀ: of all factors of this matrix, those of least ½(‖U‖² + ‖Z‖²)."""
        root = np.sqrt(self.s).astype(self.U.dtype)
        return self.U * root, np.ascontiguousarray((self.V * root).T)


class Pattern:
    """Where entries were observed, by row and by column, and their values.

    >>> import numpy as np, scipy.sparse as sp
    >>> entries = Pattern(sp.csr_array(np.array([[0.0, 2.0], [3.0, 1.0]])))
    >>> entries.residual(LowRank(np.eye(2), np.array([1.0, 1.0]), np.eye(2)))
    array([2., 3., 0.])
    >>> entries.dot(entries.values, np.eye(2))
    array([[0., 2.],
           [3., 1.]])
    """

    def __init__(self, X: sp.csr_array):
        self.shape, self.dtype = X.shape, floating(X.dtype)
        self.indptr = np.ascontiguousarray(X.indptr, dtype=np.int64)
        self.indices = np.ascontiguousarray(X.indices, dtype=np.int32)
        self.values = np.ascontiguousarray(X.data, dtype=self.dtype)

    def in_double(self) -> Pattern:
        """The same entries in float64."""
        return self if self.dtype == np.float64 else Pattern(self.matrix(self.values.astype(np.float64)))

    @property
    def nnz(self) -> int:
        return len(self.values)

    @cached_property
    def by_column(self) -> tuple[NDArray, NDArray, NDArray]:
        """(indptr, indices) of the transpose, and where each of its entries stands in the order by rows."""
        order = sp.csr_array((np.arange(self.nnz), self.indices, self.indptr), shape=self.shape).tocsc()
        return order.indptr.astype(np.int64), order.indices.astype(np.int32), order.data

    @cached_property
    def values_by_column(self) -> NDArray:
        return self.values[self.by_column[2]]

    def residual(self, M: LowRank) -> NDArray:
        """X − M at the observed entries."""
        return self.values - self.at_entries(M)

    def at_entries(self, M: LowRank) -> NDArray:
        """M at the observed entries."""
        if not M.rank:
            return np.zeros_like(self.values)
        return predict_entries(self.indptr, self.indices, M.V, M.U * M.s.astype(self.dtype))

    def dot(self, values: NDArray, B: NDArray) -> NDArray:
        """R·B for the matrix R that has `values` at the observed entries and nothing elsewhere."""
        return csr_matmul(self.indptr, self.indices, values, np.ascontiguousarray(B))

    def tdot(self, values: NDArray, B: NDArray) -> NDArray:
        """Rᵀ·B."""
        indptr, indices, order = self.by_column
        return csr_matmul(indptr, indices, values[order], np.ascontiguousarray(B))

    def matrix(self, values: NDArray) -> sp.csr_array:
        """R as SciPy knows it."""
        return sp.csr_array((values, self.indices, self.indptr), shape=self.shape)


def leading(W: NDArray, Q: NDArray, most: int) -> LowRank:
    """The `most` largest singular triplets of A·Q·Qᵀ, from W = A·Q; Q (m × q) has orthonormal columns."""
    P, R = np.linalg.qr(W)
    left, s, right = np.linalg.svd(R.astype(np.float64))
    most, dtype = min(most, len(s)), W.dtype
    V = matmul(Q, np.ascontiguousarray(right[:most].T).astype(dtype))
    return LowRank(matmul(P, np.ascontiguousarray(left[:, :most]).astype(dtype)), s[:most], V)


def shrink(W: NDArray, Q: NDArray, tau: float, most: int) -> LowRank:
    """The M of rank at most `most` that minimises ½‖A − M‖² + τ‖M‖₊ among all whose rows lie in the span of Q.

    W = A·Q is all that is needed of A, and Q (m × q) has orthonormal columns. Singular values below τ vanish.
    """
    M = leading(W, Q, most)
    kept = M.cut(int(np.count_nonzero(M.s > tau)))
    return kept._replace(s=kept.s - tau)


def spectral_norm(W: NDArray) -> float:
    """Largest singular value of a tall W."""
    return float(np.sqrt(max(np.linalg.eigvalsh(gram(W))[-1], 0.0))) if W.shape[1] else 0.0


def observed_entries(objective: Objective) -> Pattern:
    """The observed entries of a table, however it is stored; zeros count where everything is observed."""
    if isinstance(objective, Observed):
        return Pattern(objective.X)
    if isinstance(objective, Sparse):
        objective = Dense(objective.X.toarray(), objective.loss)
    assert isinstance(objective, Dense), "a table in memory"
    t = objective.by_row
    return Pattern(sp.csr_array((t.data, t.indices, t.indptr), shape=objective.shape))
