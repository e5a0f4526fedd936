"""Find the best description of a table by few directions (truncated singular value decomposition)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.compress.how_many import Rule, rule_of, to_be_fitted
from unweave.compress.quality import certify_weighted, open_weighted, r2, r2_of
from unweave.data.arguments import number
from unweave.factorization.base import BaseFactorization
from unweave.factorization.run import fitting
from unweave.linalg.operators import as_product
from unweave.penalties import Free, Orthonormal
from unweave.select.auto import chooses
from unweave.solve.certificate import Certificate, of_spectrum
from unweave.solve.closed import ClosedForm
from unweave.solve.plan import Plan, describe, spectral_words
from unweave.solve.problem import Problem


class TruncatedSVD(BaseFactorization):
    """X ≈ U·Z with free codes and orthonormal components, least squares: the k leading singular triplets.

    min ½‖X − U·Z‖² subject to Z·Zᵀ = I. Unlike PCA the table is not centred, so a sparse one stays sparse. For a large
    sparse table singular values come from a block Krylov method, otherwise they are exact.

    Parameters
    ----------
    n_components : int, float, "knee" or "auto", default=2
        At most the shorter side of the table. A number between 0 and 1 is the share of the sum of squares to keep;
        "knee" keeps what lies before the bend of the spectrum, as in :class:`PCA`. "auto" takes the number with the
        least error at hidden blocks (with missing entries, at hidden entries), see
        :func:`unweave.select.auto_count`; kept as ``choice_``. The plan says what came of it.
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
    r2_ : float
        Share of the sum of squares of X that the components keep, exactly.

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

    def fit(self, X, y=None, sample_weight=None, *, client=None):
        """Find the directions.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
            The table, rows are samples.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows: one of weight 2 counts as if it were there twice. Every entry must be observed.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        with fitting(self, client):
            self._fit(X, weights=sample_weight)
        return self

    def fit_transform(self, X, y=None, sample_weight=None, *, client=None):
        """Fit, and the codes of X: the same numbers as ``fit(X).transform(X)``; arguments as in :meth:`fit`."""
        with fitting(self, client):
            codes = self._fit(X, weights=sample_weight)
            return self.transform(X) if codes is None else codes

    @chooses
    def _fit(self, X, weights=None):
        codes = self._fit_objective(*open_weighted(self, X, weights))
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

    def _rule(self) -> Rule | None:
        """The rule that n_components is, where it is neither a number nor "auto"."""
        return rule_of(self.n_components, lead=1)

    def _problem(self, loss, shape, mixed):
        k = self._number() if self._rule() is None else min(shape)
        if k > min(shape):
            raise ValueError(f"n_components={k} must be at most min(n_samples={shape[0]}, n_features={shape[1]})")
        return self._problem_of(loss, k)

    @staticmethod
    def _problem_of(loss, k: int) -> Problem:
        return Problem(k, loss, Free(), Orthonormal())

    def _plan(self, objective, problem, rng, weights=None):
        rule = self._rule()
        if rule is not None:
            problem = replace(problem, n_components=to_be_fitted(rule, objective, None, weights))
        if weights is None:
            return super()._plan(objective, problem, rng)
        if self.solver not in ("auto", "svd", "power"):
            raise ValueError(f"solver={self.solver!r} cannot weigh rows; use 'auto', 'svd' or 'power'")
        method = "power" if self.solver == "power" else "auto"
        scheme = ClosedForm(objective, problem, method, rng, number(self.tol, "tol"), weights)
        why = "squared loss of weighted rows: the leading singular vectors of the rows times their roots are the answer"
        title, why = spectral_words(scheme, "closed form (singular value decomposition)", why)
        return Plan(describe(objective, problem), title, "", "", "none needed", [why]), scheme, scheme.begin()

    def _finish(self, objective, problem, scheme, state):
        svd, rule, weights = scheme.svd, self._rule(), scheme.weights
        if svd is not None and rule is not None:
            k = rule.enough(svd.s, svd.total, objective.shape)
            self.plan_.reasons.append(rule.reason(svd.s, k, svd.total))
            tail = svd.tail + float(np.square(svd.s[k:], dtype=np.float64).sum())
            svd = scheme.svd = svd._replace(s=svd.s[:k], Vt=svd.Vt[:k], tail=tail)
            problem = self._sentence = self._problem_of(problem.loss, k)
            state = {**state, "components": np.ascontiguousarray(state["components"][:k])}
        codes = super()._finish(objective, problem, scheme, state)
        if weights is not None:
            self.objective_ = 0.5 * svd.tail
            self.reconstruction_err_ = float(np.sqrt(svd.tail))
            self.certificate_ = of_spectrum(svd, objective, self.objective_)
        if svd is not None:
            self.singular_values_, self.r2_ = svd.s, r2_of(2 * self.objective_, svd.total)
            self._set_variances(objective, svd, weights, codes)
        elif codes is not None:
            self.singular_values_ = np.linalg.svd(codes, compute_uv=False)
            self.r2_ = r2_of(2 * self.objective_, objective.squares())
            variance = codes.var(axis=0, dtype=np.float64)
            self._publish_variances(variance, _seen_variance(objective), codes.dtype)
        return codes

    def _set_variances(self, objective, svd, weights, codes) -> None:
        """Variances of the codes: of the codes themselves where they are at hand, else s²/n − (mean·z)²."""
        counted = objective.shape[0] if weights is None else float(weights.sum())
        if svd.column_means is not None:
            means = svd.column_means
        elif objective.in_blocks:
            means = objective.total(_sums_of_columns, None, objective.kept_weights(weights)) / counted
        else:
            means = as_product(objective.matrix).column_means(weights)
        if codes is None:
            ahead = svd.Vt.astype(np.float64) @ means
            variance = np.maximum(np.square(svd.s, dtype=np.float64) / counted - ahead**2, 0)
        elif weights is None:
            variance = codes.var(axis=0, dtype=np.float64)
        else:
            variance = weights @ np.square(codes - weights @ codes / counted, dtype=np.float64) / counted
        if objective.in_blocks:
            whole = float(svd.total / counted - means @ means)
        else:  # about the means themselves, so that large ones do not cancel
            squares = objective.row_residuals(np.zeros((0, len(means))), means)[1]
            whole = float(squares.sum() if weights is None else weights @ squares) / counted
        self._publish_variances(variance, whole, objective.dtype)

    def _publish_variances(self, variance, whole: float, dtype) -> None:
        self.explained_variance_ = variance.astype(dtype)
        shares = variance / whole if whole > 0 else np.zeros(len(variance))
        self.explained_variance_ratio_ = shares.astype(dtype)

    def r2(self, X, sample_weight=None) -> float:
        """The share of the sum of squares of X that the components keep; on the table of the fit it is ``r2_``."""
        return r2(self, X, sample_weight)

    def certify(self, X, *, sample_weight=None) -> Certificate:
        """The best certificate there is on the table of the fit, whose weights are given again where it had some."""
        if sample_weight is None:
            check_is_fitted(self)
            self._learned.need_weights(None, "sample_weight")
            return super().certify(X)
        self.certificate_ = certify_weighted(self, X, sample_weight, None)
        return self.certificate_


def _sums_of_columns(block, state, own) -> tuple[NDArray, None]:
    if own is None:
        return block.column_sums()[0], None
    return np.asarray(own["weights"] @ block.X, dtype=np.float64), None


def _seen_variance(objective) -> float:
    """Sum of the variances of the columns, of the entries that were observed."""
    t = objective.by_column
    counts = np.maximum(np.diff(t.indptr), 1)
    columns = np.repeat(np.arange(t.n_rows), np.diff(t.indptr))
    first, second = (np.bincount(columns, t.data.astype(np.float64) ** p, t.n_rows) / counts for p in (1, 2))
    return float((second - first**2).sum())
