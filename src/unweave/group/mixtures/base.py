"""Share among mixtures what does not depend on the density: fitting by EM, labels, likelihoods and streaming.

Block by block, mixtures learn by stepwise EM, in which only statistics are kept. Statistics s of all blocks so far are
averaged with those of the new block at the current parameters, s ← (1 − η) s + η s_block, and maximised with. η is the
weight of the block over that of all blocks, where at block t the weight of those before is first multiplied by
t / (t + 1): early blocks, whose statistics stem from poor parameters, are slowly forgotten (with equal blocks η falls
like 2 / t).

Reference: Cappé and Moulines (2009), On-line expectation–maximization algorithm for latent data models.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, DensityMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import generator, number, row_weights, whole
from unweave.data.table import joined_blocks
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.group.mixtures.em import EM, Family, log_likelihoods, mixture_em, most_probable, probabilities
from unweave.group.mixtures.in_blocks import RowsInBlocks, rows_of
from unweave.group.mixtures.rows import SAMPLE, WeightedRows, chosen_rows
from unweave.losses.squared import Squared
from unweave.objectives import Objective
from unweave.objectives.opening import Learned, open_table, reopen_table
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan

_FIRST_BLOCK = 10  # EM steps on the first block of a stream
_PROGRESS = ("bound", "gain", "failures")


class BaseMixture(Model, ClassNamePrefixFeaturesOutMixin, TransformerMixin, DensityMixin, BaseEstimator):
    """Fit p(x) = Σ_c π_c p(x | c) by EM; the codes of a row are the probabilities of the components."""

    # -- what a model says ---------------------------------------------------------------------------------------

    def _family(self, k: int, d: int) -> Family:
        """Describe the densities of k components in d columns."""
        raise NotImplementedError("a mixture names its family of densities")

    def _begin(self, family, rows: WeightedRows, k: int, em: EM, rng: np.random.Generator, trial: int) -> dict:
        """Make the first state of EM for these rows."""
        raise NotImplementedError("a mixture makes its own start")

    def _publish(self, state: dict) -> None:
        """Set the learned parameters."""
        raise NotImplementedError("a mixture names its parameters")

    def _parameters(self) -> dict:
        """Return the learned parameters by name."""
        raise NotImplementedError("a mixture names its parameters")

    def _shapes(self, k: int, d: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of every parameter."""
        return {"weights": (k,), "means": (k, d)}

    def _open(self, objective: Objective, weights=None) -> WeightedRows:
        """Open a table as rows that are read in pieces."""
        return rows_of(objective, weights, _dense_rows)

    def _size(self, n: int) -> int:
        """Return the number of components, at most one per row."""
        k = self._number()
        if k > n:
            raise ValueError(f"n_samples={n} should be >= n_components={k} (rows of weight 0 do not count)")
        return k

    # -- fitting -------------------------------------------------------------------------------------------------

    @chooses
    def fit(self, X, y=None, sample_weight=None, *, client=None):
        """Fit by EM.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
            Blocks are visited once in every step and never held together; ``codes_`` is None then.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows; rows of weight 0 do not matter.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        with fitting(self, client):
            objective, self._learned = open_table(self, X, self.missing, "squared")
            rows = self._open(objective, row_weights(sample_weight, objective.shape[0]))
            run = Run(self, objective, rows.weights)
            em = self._em(rows)
            state = run.through(em, self._plan(rows), self._start(em, rows, run))
            self._keep(state, rows)
            self.converged_ = em.settled(state)
            self._label(rows)
            run.close(-float(state["bound"]))
        return self

    def _em(self, rows: WeightedRows) -> EM:
        """Make the scheme for these rows."""
        k = self._size(_n_weighted(rows))
        family = self._family(k, rows.shape[1])
        first = partial(self._begin, family, rows, k)
        return mixture_em(family, rows, first, number(self.tol, "tol"))

    def _start(self, em: EM, rows: WeightedRows, run: Run) -> dict:
        """Find the first state; several are tried on the rows of a table in memory, or on some that stand for all."""
        many = self._n_starts()
        if many > 1 and isinstance(rows, RowsInBlocks):
            em = self._em(rows.standing(chosen_rows(rows, SAMPLE, run.rng)))
        return best_start(em, many, run.loop, run.rng)

    def _n_starts(self) -> int:
        """Count the starts that are tried: one where the user gives it."""
        return whole(self.n_init, "n_init", 1) if isinstance(self.init, str) else 1

    def _plan(self, rows: WeightedRows) -> Plan:
        """Say in words how the fit is done."""
        start = self.init if isinstance(self.init, str) else "given"
        (n, d), known = rows.shape, "" if rows.complete else " with entries missing"
        told = f"{n}×{d} table{known}, {self._size(_n_weighted(rows))} components"
        form = "responsibilities, then weighted moments"
        return Plan(told, "EM", "", "", start, [f"each step: {form}", *self._reasons()])

    def _keep(self, state: dict, rows: WeightedRows) -> None:
        """Publish what was learned; the statistics are kept for `partial_fit`."""
        self._publish(state)
        self.lower_bound_ = float(state["bound"])
        statistics = {name: value for name, value in state.items() if name not in {*self._parameters(), *_PROGRESS}}
        self._running: dict[str, Any] = {"statistics": statistics, "mass": rows.total, "blocks": 1}
        self._n_features_out = self.n_components_ = len(self.weights_)

    def _reasons(self) -> list[str]:
        """List what else the plan should say."""
        return []

    def _label(self, rows: WeightedRows) -> None:
        """Label the training rows, and keep their codes where the table is in memory."""
        if rows.objective.in_blocks:
            self.labels_, self.codes_ = self._said(rows, most_probable), None
            return
        codes = self._said(rows, probabilities)
        self.labels_, self.codes_ = codes.argmax(axis=1), codes.astype(rows.objective.dtype, copy=False)

    def partial_fit(self, X, y=None, sample_weight=None):
        """Learn from one more block of rows by stepwise EM; the first call starts the model.

        Labels and codes are those of the block. See :mod:`unweave.group.mixtures.base` for the rule by which early
        blocks are slowly forgotten.
        """
        with fitting(self):
            if hasattr(self, "_running"):
                bound = self._add_block(X, sample_weight)
            else:
                bound = self._first_block(X, sample_weight)
            self.history_, self.n_iter_ = History(), self._running["blocks"]
            self.objective_, self.certificate_ = -bound, Certificate.none(-bound)
        return self

    def _first_block(self, X, sample_weight) -> float:
        """Make a start and a few steps on the first block alone; return the bound."""
        objective, self._learned = open_table(self, X, self.missing, "squared")
        rows = self._open(objective, row_weights(sample_weight, objective.shape[0]))
        em, loop = self._em(rows), Loop(max_iter=_FIRST_BLOCK, tol=0.0, ending="the first block")
        state, _ = iterate(em, best_start(em, self._n_starts(), loop, generator(self.random_state)), loop)
        self._keep(state, rows)
        self.plan_, self.converged_ = self._plan(rows), False
        self._label(rows)
        return self.lower_bound_

    def _add_block(self, X, sample_weight) -> float:
        """Average the statistics of one more block with those before; return the bound of the block."""
        objective = reopen_table(self, X, self.missing, self._learned)
        rows = self._open(objective, row_weights(sample_weight, objective.shape[0]))
        k = len(self.weights_)
        family = self._family(k, rows.shape[1])
        parameters, running = self._parameters(), self._running
        new, bound = mixture_em(family, rows, partial(self._begin, family, rows, k)).expect(parameters)
        blocks = running["blocks"] + 1
        mass = rows.total + running["mass"] * blocks / (blocks + 1)
        old = _scaled(running["statistics"], 1 / running["mass"])
        statistics = _scaled(family.blend(old, _scaled(new, 1 / rows.total), rows.total / mass), mass)
        self._publish(family.maximise({**parameters, **statistics}))
        self._running = {"statistics": statistics, "mass": mass, "blocks": blocks}
        self.lower_bound_ = bound
        self._label(rows)
        return bound

    # -- using ---------------------------------------------------------------------------------------------------

    def _said(self, rows: WeightedRows, answer) -> NDArray:
        """Ask something of every row, which the learned parameters answer; blocks are visited once."""
        family = self._family(len(self.weights_), self.n_features_in_)
        return rows.of_rows(answer, (family, self._parameters()))

    def _asked(self, X, answer) -> NDArray:
        """Ask something of every row of a new table."""
        check_is_fitted(self)
        with single_blas():
            return self._said(self._open(reopen_table(self, X, self.missing, self._learned)), answer)

    def fit_predict(self, X, y=None, sample_weight=None):
        """Fit, and return the most probable component of every row."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def predict(self, X):
        """Find the most probable component of every row."""
        return self._asked(X, most_probable)

    def predict_proba(self, X):
        """Compute p(c | x), the probability of every component for every row."""
        return self._asked(X, _codes_as_stored)

    def transform(self, X):
        """Compute codes on the simplex, the same as :meth:`predict_proba`."""
        return self.predict_proba(X)

    def inverse_transform(self, U):
        """Compute the mean of a row whose codes are U: U times the means of the components."""
        check_is_fitted(self)
        U = np.asarray(joined_blocks(U), dtype=np.float64)
        if U.ndim != 2 or U.shape[1] != len(self.weights_):
            raise ValueError(f"U must have {len(self.weights_)} columns, one for each component, got {U.shape}")
        return U @ self.components_

    def score_samples(self, X):
        """Compute log p(x) of every row (of what was seen of it)."""
        return self._asked(X, log_likelihoods)

    def score(self, X, y=None, sample_weight=None) -> float:
        """Average log p(x): higher is better."""
        logs = self.score_samples(X)
        return float(np.average(logs, weights=row_weights(sample_weight, len(logs))))

    def anomaly_score(self, X):
        """Compute −log p(x) of every row: higher is stranger."""
        return -self.score_samples(X)

    def aic(self, X) -> float:
        """Compute −2 log L + 2 · free parameters: lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self.n_parameters_)

    def bic(self, X) -> float:
        """Compute −2 log L + log(n) · free parameters: lower is better."""
        logs = self.score_samples(X)
        return float(-2 * logs.sum() + np.log(len(logs)) * self.n_parameters_)

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
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


def _dense_rows(table: Objective, start: int, stop: int) -> tuple[NDArray, NDArray | None]:
    return table.dense_rows(start, stop)


def _n_weighted(rows: WeightedRows) -> int:
    """Count the rows that have weight."""
    return rows.shape[0] if rows.weights is None else int(np.count_nonzero(rows.weights))


def _codes_as_stored(rows: WeightedRows, state: tuple) -> NDArray:
    """Compute the probabilities of rows in memory, in the type of the rows."""
    return probabilities(rows, state).astype(rows.objective.dtype, copy=False)


def best_start(em: EM, many: int, loop: Loop, rng: np.random.Generator) -> dict:
    """Find the start that ends best, to be run again under the eyes of callback and checkpoint.

    Where a checkpoint is there, that goes on instead.
    """
    best = em.begin(rng)
    if many == 1 or (loop.checkpoint is not None and loop.checkpoint.path.exists()):
        return best
    quiet = replace(em.adapt(loop), callback=None, checkpoint=None, bar=None, ending="a trial")
    highest = iterate(em, best, quiet)[0]["bound"]
    for trial in range(1, many):
        start = em.begin(rng, trial)
        bound = iterate(em, start, quiet)[0]["bound"]
        if bound > highest:
            best, highest = start, bound
    return best


def _scaled(statistics: dict, by: float) -> dict:
    """Multiply sums by a number; the points they are taken about stay."""
    return {name: value if name == "about" else by * value for name, value in statistics.items()}
