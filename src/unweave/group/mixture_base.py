"""What mixtures share: fitting by EM, labels and probabilities, likelihoods, streaming."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import row_weights
from unweave.factorization.reportable import Reportable
from unweave.factorization.settings import generator, make_loop, number, whole
from unweave.group.em import EM, Family, Rows, mixture_em, posteriors
from unweave.losses.squared import Squared
from unweave.objectives import Objective
from unweave.objectives.opening import Learned, open_table, reopen_table
from unweave.parallel import single_blas
from unweave.select.auto import Counting, chooses
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan

FIRST_BLOCK = 10  # EM steps on the first block of a stream
_PROGRESS = ("bound", "gain", "failures")


class BaseMixture(Counting, Reportable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, BaseEstimator):
    """p(x) = Σ_c π_c p(x | c), fitted by EM; the codes of a row are the probabilities of the components."""

    # -- what a model says ---------------------------------------------------------------------------------------

    def _family(self, k: int, d: int) -> Family:
        raise NotImplementedError("a mixture names its family of densities")

    def _begin(self, family, em: EM, rows: Rows, k: int, rng: np.random.Generator, trial: int) -> dict:
        raise NotImplementedError("a mixture makes its own start")

    def _publish(self, state: dict) -> None:
        raise NotImplementedError("a mixture names its parameters")

    def _parameters(self) -> dict:
        raise NotImplementedError("a mixture names its parameters")

    def _shapes(self, k: int, d: int) -> dict[str, tuple[int, ...]]:
        """The shape of every parameter."""
        return {"weights": (k,), "means": (k, d)}

    def _open(self, objective: Objective, weights=None) -> Rows:
        return Rows(objective, weights, lambda table, start, stop: table.dense_rows(start, stop))

    def _size(self, n: int) -> int:
        """The number of components, at most one a row."""
        k = self._number()
        if k > n:
            raise ValueError(f"n_samples={n} should be >= n_components={k} (rows of weight 0 do not count)")
        return k

    # -- fitting -------------------------------------------------------------------------------------------------

    @chooses
    def fit(self, X, y=None, sample_weight=None):
        """Fit by EM.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
            Blocks are read anew in every step and never held together.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows; rows of weight 0 do not matter.
        """
        with single_blas():
            objective, self._learned = open_table(self, X, self.missing, "squared")
            rows = self._open(objective, row_weights(sample_weight, objective.shape[0]))
            loop = make_loop(self, objective, rows.weights)
            loop = replace(loop, tol=None) if loop.tol else loop
            tol = number(self.tol, "tol")

            def settled(state: dict) -> bool:
                return state["gain"] <= tol

            em, state = self._first(rows, loop, settled)
            state, history = iterate(em.step, state, loop, settled=settled)
            if history.stopped == "nothing changes any more":
                history.stopped = f"the mean log-likelihood of a row rose by no more than tol={tol:g}"
            self._keep(state, history, rows)
            self.converged_ = settled(state)
            self._label(rows, keep_codes=not objective.in_blocks)
            if loop.checkpoint is not None and history.stopped != "interrupted":
                loop.checkpoint.remove()
        return self

    def _first(self, rows: Rows, loop: Loop, settled: Callable[[dict], bool]) -> tuple[EM, dict]:
        """The scheme, and of `n_init` starts that which ends best, to be run again under the eyes of callback and
        checkpoint; where a checkpoint is there, that goes on instead."""
        k, rng = self._size(_heavy(rows)), generator(self.random_state)
        family = self._family(k, rows.shape[1])
        em = mixture_em(family, rows)
        many = whole(self.n_init, "n_init", 1) if isinstance(self.init, str) else 1
        best = self._begin(family, em, rows, k, rng, 0)
        if many == 1 or (loop.checkpoint is not None and loop.checkpoint.path.exists()):
            return em, best
        quiet = replace(loop, callback=None, checkpoint=None, bar=None, ending="a trial")
        highest = iterate(em.step, best, quiet, settled=settled)[0]["bound"]
        for trial in range(1, many):
            start = self._begin(family, em, rows, k, rng, trial)
            bound = iterate(em.step, start, quiet, settled=settled)[0]["bound"]
            if bound > highest:
                best, highest = start, bound
        return em, best

    def _keep(self, state: dict, history: History, rows: Rows) -> None:
        """Publish what was learned; the statistics are kept for `partial_fit`."""
        self._publish(state)
        self.lower_bound_, self.objective_ = float(state["bound"]), -float(state["bound"])
        self.history_, self.n_iter_ = history, len(history)
        self.certificate_ = Certificate("none", float("-inf"), float("inf"), False, self.objective_)
        start = self.init if isinstance(self.init, str) else "given"
        (n, d), k = rows.shape, len(self.weights_)
        known = "" if rows.complete else " with entries missing"
        form = "responsibilities, then weighted moments"
        self.plan_ = Plan(
            f"{n}×{d} table{known}, {k} components", "EM", "", "", start, [f"each step: {form}", *self._reasons()]
        )
        statistics = {name: value for name, value in state.items() if name not in {*self._parameters(), *_PROGRESS}}
        self._running: dict[str, Any] = {"statistics": statistics, "mass": rows.total, "blocks": 1}
        self._n_features_out = self.n_components_ = k

    def _reasons(self) -> list[str]:
        return []

    def _label(self, rows: Rows, keep_codes: bool) -> None:
        """Labels of the training rows, and their codes where the table is in memory."""
        labels = []
        for _, table in rows.tables():
            if table.shape[0]:
                _, codes = self._posteriors(self._open(table))
                labels.append(codes.argmax(axis=1))
        self.labels_ = np.concatenate(labels)
        self.codes_ = codes.astype(rows.objective.dtype, copy=False) if keep_codes else None

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more block of rows by stepwise EM; the first call starts the model.

        See :mod:`unweave.group.mixture_stream` for the rule by which early blocks are slowly forgotten.
        """
        from unweave.group.mixture_stream import add_block

        with single_blas():
            add_block(self, X, sample_weight)
        return self

    # -- using ---------------------------------------------------------------------------------------------------

    def _posteriors(self, rows: Rows) -> tuple[NDArray, NDArray]:
        family = self._family(len(self.weights_), rows.shape[1])
        return posteriors(rows, family.bound_to(rows)(self._parameters()))

    def _asked(self, X) -> tuple[NDArray, NDArray, np.dtype]:
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            return *self._posteriors(self._open(objective)), objective.dtype

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit, and the most probable component of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X):
        """The most probable component of every row."""
        return self._asked(X)[1].argmax(axis=1)

    def predict_proba(self, X):
        """p(c | x): the probability of every component for every row."""
        _, codes, dtype = self._asked(X)
        return codes.astype(dtype, copy=False)

    def transform(self, X):
        """Codes on the simplex: the same as :meth:`predict_proba`."""
        return self.predict_proba(X)

    def inverse_transform(self, U):
        """The mean of a row whose codes are U: U times the means of the components."""
        check_is_fitted(self)
        U = np.asarray(U, dtype=np.float64)
        if U.ndim != 2 or U.shape[1] != len(self.weights_):
            raise ValueError(f"U must have {len(self.weights_)} columns, one for each component, got {U.shape}")
        return U @ self.components_

    def score_samples(self, X):
        """log p(x) of every row (of what was seen of it)."""
        return self._asked(X)[0]

    def score(self, X, y=None, sample_weight=None) -> float:
        """The mean of log p(x): higher is better."""
        logs = self.score_samples(X)
        return float(np.average(logs, weights=row_weights(sample_weight, len(logs))))

    def anomaly_score(self, X):
        """−log p(x) of every row: higher is stranger."""
        return -self.score_samples(X)

    def aic(self, X) -> float:
        """−2 log L + 2 · free parameters: lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self.n_parameters_)

    def bic(self, X) -> float:
        """−2 log L + log(n) · free parameters: lower is better."""
        logs = self.score_samples(X)
        return float(-2 * logs.sum() + np.log(len(logs)) * self.n_parameters_)

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        d, learned = self.n_features_in_, self._learned
        if type(d) is not int or d < 1 or not isinstance(learned, Learned) or not isinstance(learned.loss, Squared):
            raise ValueError("the columns or what was learned of them are missing")
        if not isinstance(self._running, dict) or np.ndim(self.weights_) != 1:
            raise ValueError("the weights or the statistics are missing")
        for name, shape in self._shapes(len(self.weights_), d).items():
            value = self._parameters()[name]
            if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != shape:
                raise ValueError(f"the {name} are not numbers of the shape {shape}")
            if looked_at and not np.isfinite(value).all():
                raise ValueError(f"the {name} are not finite")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _heavy(rows: Rows) -> int:
    """Rows that count."""
    return rows.shape[0] if rows.weights is None else int(np.count_nonzero(rows.weights))
