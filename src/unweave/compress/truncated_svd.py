"""Find the best description of a table by few directions (truncated singular value decomposition)."""

from __future__ import annotations

import numpy as np

from unweave.factorization.base import BaseFactorization
from unweave.penalties import Free, Orthonormal
from unweave.select.auto import chooses
from unweave.solve.problem import Problem


class TruncatedSVD(BaseFactorization):
    """X ≈ U·Z with free codes and orthonormal components, least squares: the k leading singular triplets.

    min ½‖X − U·Z‖² subject to Z·Zᵀ = I. Unlike PCA the table is not centred, so a sparse one stays sparse. For a large
    sparse table singular values come from a block Krylov method, otherwise they are exact.

    Parameters
    ----------
    n_components : int or "auto", default=2
        At most the shorter side of the table. "auto" takes the number with the least error at hidden blocks (with
        missing entries, at hidden entries), see :func:`unweave.select.auto_count`; kept as ``choice_``.
    missing, solver, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`. With missing entries, alternating least squares; then rotated.

    Attributes
    ----------
    components_ : array (k, m)
        Right singular vectors.
    singular_values_ : array (k,)
    codes_ : array (n, k)
        X·Zᵀ.
    explained_variance_, explained_variance_ratio_ : arrays (k,)
        Variance of each code column, and its share of the columns' total variance.

    Examples
    --------
    >>> import unweave
    >>> unweave.TruncatedSVD(2).fit([[3, 2, 2], [2, 3, -2]]).singular_values_.round(6).tolist()
    [5.0, 3.0]

    References
    ----------
    Eckart and Young (1936), The approximation of one matrix by another of lower rank. Musco and Musco (2015),
    Randomized block Krylov methods for stronger and faster approximate singular value decomposition.
    """

    _centred = False  # read by select: what blocks are hidden about

    def __init__(
        self,
        n_components=2,
        *,
        missing=None,
        solver="auto",
        init="auto",
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.missing = missing
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @chooses
    def _fit(self, X, weights=None):
        codes = super()._fit(X, weights)
        self._sums = None
        return codes

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows; a sketch of all rows so far, of twice the rank, is merged with it.

        ``objective_`` is then a bound of the error of all rows from above. With ``missing`` the components are improved
        block by block instead, as in :class:`unweave.Factorization`.
        """
        if self.missing is not None:
            return super().partial_fit(X)
        from unweave.compress.streaming_svd import add_rows

        add_rows(self, X)
        return self

    def _cost_family(self, complete):
        return "axes"

    def _problem(self, loss, shape, mixed):
        k = self._number()
        if k > min(shape):
            raise ValueError(f"n_components={k} must be at most min(n_samples={shape[0]}, n_features={shape[1]})")
        return Problem(k, loss, Free(), Orthonormal())

    def _finish(self, objective, problem, scheme, state):
        codes = super()._finish(objective, problem, scheme, state)
        svd = scheme.svd
        if svd is not None:
            self.singular_values_ = svd.s
        if codes is None:
            return None
        if svd is None:
            self.singular_values_ = np.linalg.svd(codes, compute_uv=False)
        self.explained_variance_ = codes.var(axis=0, dtype=np.float64).astype(codes.dtype)
        self.explained_variance_ratio_ = self.explained_variance_ / max(_total_variance(objective), 1e-300)
        return codes


def _total_variance(objective) -> float:
    """Sum of the variances of the columns (observed entries only)."""
    X = objective.X
    if isinstance(X, np.ndarray) and objective.complete:
        return float(X.var(axis=0, dtype=np.float64).sum())
    if not isinstance(X, np.ndarray) and objective.complete:
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        return float(2 * objective.half_norm / X.shape[0] - mean @ mean)
    t = objective.by_column
    counts = np.maximum(np.diff(t.indptr), 1)
    columns = np.repeat(np.arange(t.n_rows), np.diff(t.indptr))
    first, second = (np.bincount(columns, t.data.astype(np.float64) ** p, t.n_rows) / counts for p in (1, 2))
    return float((second - first**2).sum())
