"""Find the axes along which a table varies most (principal component analysis)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.compress.how_many import Rule, rule_of, to_be_fitted
from unweave.compress.quality import certify_weighted, open_weighted, r2, r2_of
from unweave.data.arguments import number
from unweave.data.table import refuse_blocks
from unweave.factorization.base import BaseFactorization, Coder
from unweave.factorization.run import fitting
from unweave.linalg.products import matmul
from unweave.objectives import Objective
from unweave.parallel import run
from unweave.penalties import Free
from unweave.select.auto import chooses
from unweave.solve.certificate import Certificate, of_spectrum
from unweave.solve.closed import CentredSVD
from unweave.solve.plan import Plan, describe, make_plan, spectral_words
from unweave.solve.problem import Problem


class PCA(BaseFactorization):
    """X ≈ mean + U·Z with free codes and orthonormal components, least squares.

    min ½‖X − 1·mean − U·Z‖² with Z·Zᵀ = I. The components are the leading eigenvectors of the covariance; the objective
    is half the sum of squares they leave. Sparse tables are not densified, tables in blocks need two passes, and with
    ``missing="nan"`` the fit is over the observed entries only.

    Parameters
    ----------
    n_components : int, float, "knee", "auto" or None, default=None
        How many; a number between 0 and 1 is the share of the variance to reach; None is all. "knee" keeps what lies
        before the bend of the spectrum: where the variances are farthest below the line through their ends (of a table
        too large to be decomposed at once, among the 100 largest). "auto" takes the number with the least error at
        hidden blocks (with missing entries, at hidden entries), see :func:`unweave.select.auto_count`; kept as
        ``choice_``. The plan says what came of it.
    whiten : bool, default=False
        Scale codes to unit variance.
    missing, solver, init, max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; solver is "auto" or "power".

    Attributes
    ----------
    components_ : array (k, m)
    mean_ : array (m,)
    explained_variance_, explained_variance_ratio_, singular_values_ : arrays (k,)
        Variances have divisor n − 1, n being the sum of the weights where rows have some (at least 1).
    r2_ : float
        Share of the variance that all components keep together, exactly.
    noise_variance_ : float
        Mean variance of the directions left out.
    codes_ : None
        Codes are not kept; ``transform`` gives them.

    Examples
    --------
    >>> import unweave
    >>> X = [[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]]
    >>> X += [[2.3, 2.7], [2, 1.6], [1, 1.1], [1.5, 1.6], [1.1, 0.9]]
    >>> unweave.PCA().fit(X).explained_variance_.round(8).tolist()
    [1.28402771, 0.0490834]

    References
    ----------
    Pearson (1901), On lines and planes of closest fit. Jolliffe (2002), Principal component analysis.
    """

    _centred = True  # read by select: what blocks are hidden about

    def __init__(
        self,
        n_components=None,
        *,
        whiten=False,
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
        self.whiten = whiten
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
        """Find the axes.

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
        return self.fit(X, sample_weight=sample_weight, client=client).transform(X)

    @chooses
    def _fit(self, X, weights=None):
        codes = self._fit_objective(*open_weighted(self, X, weights))
        self._sums = None
        return codes

    def _cost_family(self, complete):
        return "axes"

    def _problem(self, loss, shape, mixed):
        most = min(shape)
        if self.n_components is None or self._rule() is not None:
            k = most
        else:
            k = self._number()
        if k > most:
            raise ValueError(f"n_components={k} must be at most min(n_samples={shape[0]}, n_features={shape[1]})")
        return Problem(k, loss, Free(), Free(), offset=True)

    def _rule(self) -> Rule | None:
        """The rule that n_components is, where it is none of a number, None and "auto"."""
        return rule_of(self.n_components, lead=0)

    def _plan(self, objective, problem, rng, weights=None):
        rule = self._rule()
        if rule is not None:
            problem = replace(problem, n_components=to_be_fitted(rule, objective, "mean", weights))
        if not objective.complete:
            if objective.in_blocks:
                raise ValueError(
                    "PCA with holes needs X as one table in memory, not as a sequence of blocks: stack them "
                    "(numpy.vstack), or use Factorization(missing='nan')"
                )
            return make_plan(objective, problem, self.solver, self.init, rng)
        if self.solver not in ("auto", "svd", "power"):
            raise ValueError(f"solver={self.solver!r} cannot do PCA of a complete table; use 'auto', 'svd' or 'power'")
        method = "power" if self.solver == "power" else "auto"
        scheme = CentredSVD(objective, problem, method, rng, number(self.tol, "tol"), weights)
        why = "squared loss, everything observed: the leading eigenvectors of the covariance are the answer"
        title, why = spectral_words(scheme, "closed form (centred SVD)", why)
        plan = Plan(describe(objective, problem), title, "", "", "none needed", [why])
        return plan, scheme, scheme.begin()

    def _finish(self, objective, problem, scheme, state):
        Z, weights = state["components"], scheme.weights
        svd = scheme.svd
        if svd is None:
            Z, s, total = self._rotated(objective, state)
            value = self.history_.objective[-1]
        else:
            s, total, value = svd.s.astype(np.float64), svd.total, 0.5 * svd.tail
        k = self._enough(s, total, objective.shape, self.plan_.reasons)
        problem = Problem(k, problem.loss, Free(), Free(), offset=True)
        self._sentence, self._full_components = problem, np.ascontiguousarray(np.vstack([Z[:k], Z[-1:]]))
        self._publish(problem, self._full_components)
        self.n_samples_ = n = objective.shape[0]
        self._counted = n if weights is None else float(weights.sum())
        rows = n if weights is None else max(np.count_nonzero(weights), int(self._counted))
        self._set_variances(objective.dtype, s[:k], total, min(rows, objective.shape[1]) - k)
        self.objective_ = float(value if k == len(s) else value + 0.5 * np.square(s[k:]).sum())
        self.reconstruction_err_ = float(np.sqrt(2 * self.objective_))
        self.r2_ = r2_of(2 * self.objective_, total)
        if svd is None:
            self.certificate_ = self._certificate(objective, problem, scheme, state["codes"], state["components"], None)
        else:
            kept = svd._replace(tail=2 * self.objective_)
            self.certificate_ = of_spectrum(kept, objective, self.objective_)
        self.codes_ = None
        return None

    def _set_variances(self, dtype, s, total: float, left: int) -> None:
        """Variances from singular values, their squares' `total`, and how many directions are `left` out."""
        free = max(1, self._counted - 1)
        self.singular_values_, self.explained_variance_ = s.astype(dtype), (s**2 / free).astype(dtype)
        self.explained_variance_ratio_ = (s**2 / total if total > 0 else np.zeros(len(s))).astype(dtype)
        self.noise_variance_ = float(max(0.0, total - float((s**2).sum())) / free / left) if left > 0 else 0.0

    def _enough(self, s, total: float, shape: tuple[int, int], reasons: list[str]) -> int:
        """How many components a rule needs; the plan is told."""
        rule = self._rule()
        if rule is None:
            return len(s)
        k = rule.enough(s, total, shape)
        reasons.append(rule.reason(s, k, total))
        return k

    def _rotated(self, objective, state):
        """The factors of a fit with holes, turned so that components are orthonormal and codes uncorrelated."""
        U, Z = state["codes"][:, :-1].astype(np.float64), state["components"].astype(np.float64)
        mean = U.mean(axis=0) @ Z[:-1] + Z[-1]
        Q, R = np.linalg.qr(Z[:-1].T)
        _, s, Wt = np.linalg.svd((U - U.mean(axis=0)) @ R.T, full_matrices=False)
        Vt = Wt @ Q.T
        Vt *= np.sign(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)])[:, None]
        left = 2 * float(self.history_.objective[-1]) * objective.shape[0] * objective.shape[1] / objective.n_observed
        return np.vstack([Vt, mean]).astype(objective.dtype), s, float((s**2).sum()) + left

    def _publish(self, problem, Z):
        super()._publish(problem, Z)
        self.mean_ = self.offset_

    def _coder(self):
        return Projected(self.components_, self.mean_, super()._coder())

    def _codes_out(self, U):
        U = U[:, : self.n_components_]
        return U / self._scale() if self.whiten else np.ascontiguousarray(U)

    def _scale(self):
        return np.maximum(np.sqrt(self.explained_variance_), np.finfo(self.components_.dtype).eps)

    def _linear(self, U):
        U = U * self._scale() if self.whiten else U
        return matmul(np.ascontiguousarray(U, dtype=self.components_.dtype), self.components_) + self.mean_

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more block of rows: mean and covariance of all blocks so far, so nothing is forgotten.

        After `fit` it goes on from the covariance of the fitted model: the components, and equal noise elsewhere.
        """
        from unweave.compress.streaming import add_block

        add_block(self, X, sample_weight)
        return self

    def forget(self, X, sample_weight=None):
        """Take rows out again that were learned before (with the same weights): the reverse of :meth:`partial_fit`.

        For windows that move along a stream, and for rows that must be deleted. Mean and covariance are, but for
        rounding, what they would be had the rows never come. At least one row has to stay, and rows that can never have
        been there (their removal would leave a negative variance) are refused; the model then stays as it was. After a
        `fit` with fewer components than columns, which stands for its rows by an approximation, so do the rest.
        """
        from unweave.compress.streaming import take_block_out

        check_is_fitted(self)
        refuse_blocks(self, X, new=True)
        take_block_out(self, X, sample_weight)
        return self

    def r2(self, X, sample_weight=None) -> float:
        """The share of the squared distances of rows from ``mean_`` that the components keep; at most 1.

        On the table of the fit it is ``r2_``. On other rows it says how well the axes fit them.
        """
        return r2(self, X, sample_weight)

    def certify(self, X, *, sample_weight=None) -> Certificate:
        """The best certificate there is on the table of the fit, whose weights are given again where it had some."""
        if sample_weight is None:
            check_is_fitted(self)
            self._learned.need_weights(None, "sample_weight")
            return super().certify(X)
        self.certificate_ = certify_weighted(self, X, sample_weight, "mean")
        return self.certificate_

    def get_covariance(self):
        """Covariance of the fitted model: that of the components, and the noise variance in every other direction."""
        Z, noise = self.components_, self.noise_variance_
        excess = np.maximum(self.explained_variance_ - noise, 0)
        return (Z.T * excess) @ Z + noise * np.eye(Z.shape[1], dtype=Z.dtype)


@dataclass(frozen=True)
class Projected:
    """Codes of rows in memory: (X − mean)·Zᵀ with a column of ones behind it, by `holes` where something is missing."""

    components: NDArray
    mean: NDArray
    holes: Coder

    def __call__(self, rows: Objective) -> NDArray:
        if not rows.complete:
            return self.holes(rows)
        n, k = rows.shape[0], len(self.components)
        dtype = np.result_type(rows.dtype, self.components.dtype)
        U = np.ones((n, k + 1), dtype=dtype)
        back = np.ascontiguousarray(self.components.T, dtype=dtype)
        if rows.is_sparse:
            U[:, :k] = rows.matrix.dot(np.ascontiguousarray(back, dtype=rows.dtype)) - self.mean @ back
            return U

        def task(start, stop):
            U[start:stop, :k] = (rows.X[start:stop] - self.mean) @ back  # centred first, for accuracy

        run(task, n, 1024)
        return U
