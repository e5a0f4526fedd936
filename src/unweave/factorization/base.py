"""Fit a factorisation X ≈ U·Z, and find codes of new rows: what all its estimators share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number
from unweave.data.storage import as_dense
from unweave.data.table import joined_blocks, refuse_blocks
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.factorization.stream import Stream
from unweave.losses import get_loss
from unweave.objectives import Objective
from unweave.objectives.opening import Learned, open_table, reopen_table
from unweave.parallel import single_blas
from unweave.solve import certificate as certify
from unweave.solve.alternate import left_half_step, sides
from unweave.solve.certificate import Certificate
from unweave.solve.in_blocks import last_visit
from unweave.solve.plan import Plan, make_plan
from unweave.solve.problem import Problem, check_size, well_posed
from unweave.solve.scheme import FactorScheme
from unweave.updates import Update


class BaseFactorization(Model, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A scikit-learn estimator that fits X ≈ U·Z. Subclasses say their sentence in :meth:`_problem`."""

    _bounded_by_rank = True  # whether what rank alone must leave (Eckart–Young) tells how good a fit is

    # -- what a model says ---------------------------------------------------------------------------------------

    def _loss(self):
        """The loss, by name or as an object."""
        return "squared"

    def _cost_family(self, complete: bool) -> str:
        """What a fit to blocks sends and keeps: a key of :data:`unweave.scale.families.FAMILIES`."""
        loss = get_loss(self._loss())
        if loss.is_squared:
            return "parts" if complete else "holes"
        if loss.nonnegative:
            return "counts"
        return "holes" if loss.reweights else "gradients"

    def _problem(self, loss, shape: tuple[int, int], mixed: bool) -> Problem:
        """The sentence, for a loss that has seen the table."""
        raise NotImplementedError("a model states its problem in _problem")

    def _plan(self, objective: Objective, problem: Problem, rng, *given) -> tuple[Plan, FactorScheme, dict]:
        """The plan in words, the scheme that carries it out, and its first state; `given` as in _fit_objective."""
        return make_plan(objective, problem, self.solver, self.init, rng, number(self.tol, "tol"))

    # -- fitting -------------------------------------------------------------------------------------------------

    def fit(self, X, y=None, *, client=None):
        """Fit the factorisation.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
            The table, rows are samples.
        y : ignored

        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        Returns
        -------
        self
        """
        with fitting(self, client):
            self._fit(X)
        return self

    def fit_transform(self, X, y=None, *, client=None):
        """Fit, and the codes of X: the same numbers as ``fit(X).transform(X)``; `client` as in :meth:`fit`."""
        with fitting(self, client):
            codes = self._fit(X)
            return self.transform(X) if codes is None else codes

    def _fit(self, X, weights=None) -> NDArray | None:
        objective, learned = open_table(self, X, self.missing, self._loss(), weights=weights)
        return self._fit_objective(objective, learned)

    def _fit_objective(self, objective: Objective, learned: Learned, *given) -> NDArray | None:
        """Fit to a table that is open; `given` is what else `fit` was given, to which a checkpoint belongs too.

        The codes of the table, or None where `transform` has to find them.
        """
        problem = well_posed(self._problem(learned.loss, objective.shape, learned.mixed))
        check_size(problem, *objective.shape)
        run = Run(self, objective, *given)
        plan, scheme, first = self._plan(objective, problem, run.rng, *given)
        state = run.through(scheme, plan, first)
        self._learned, self._sentence, self._left = learned, problem, scheme.left
        self._stream = None
        codes = self._finish(objective, problem, scheme, state)
        run.close(self.objective_, self.certificate_)
        return codes

    def _finish(self, objective: Objective, problem: Problem, scheme: FactorScheme, state: dict) -> NDArray | None:
        """Keep what was learned; every fit ends with the left half-step that `transform` runs."""
        Z = self._full_components = state["components"]
        tied = not problem.codes.separable
        if objective.in_blocks and not tied:
            self._finish_blocks(objective, problem, scheme, Z)
            return None
        rows = objective.rows_given(Z)
        U = state["codes"] if tied else left_half_step(objective, problem, scheme.left, Z, rows)
        self._publish(problem, Z)
        loss = objective.accurate_value(U, Z, rows)
        self.objective_ = loss + penalties(problem, U, Z)
        if loss >= objective.loss.ruin(objective.dtype):
            warn_of_ruin(problem)
        if objective.squared:
            self.reconstruction_err_ = float(np.sqrt(2 * loss))
        self.certificate_ = self._certificate(objective, problem, scheme, U, Z, rows)
        codes = self._codes_out(U)
        self.codes_ = None if objective.in_blocks else codes
        return None if tied or objective.in_blocks else codes

    def _finish_blocks(self, objective: Objective, problem: Problem, scheme: FactorScheme, Z: NDArray) -> None:
        """Keep what was learned from a table in blocks: one more visit; codes are found again by who asks for them."""
        self._publish(problem, Z)
        bound = scheme.svd is None and self._bounded_by_rank and certify.can_sum_gram(objective, problem)
        bound = bound and certify.bound_is_cheap(objective, problem, self.n_iter_)
        loss, self.objective_, self.certificate_ = last_visit(objective, problem, scheme.left, Z, bound)
        if scheme.svd is not None and certify.can_bound(objective, problem):
            self.certificate_ = certify.of_spectrum(scheme.svd, objective, self.objective_)
        if loss >= objective.loss.ruin(objective.dtype):
            warn_of_ruin(problem)
        if objective.squared:
            self.reconstruction_err_ = float(np.sqrt(2 * loss))
        self.codes_ = None

    def _publish(self, problem: Problem, Z: NDArray) -> None:
        """Set the public attributes that follow from the components."""
        if not np.isfinite(Z).all():
            raise ValueError("the components are not finite: the values of X are too large or too small; rescale X")
        self.components_ = Z if problem.biases else Z[: problem.n_components]
        if problem.offset and not problem.biases:
            self.offset_ = Z[-1]
        self.n_components_ = problem.n_components
        self._n_features_out = self.components_.shape[0]

    def _codes_out(self, U: NDArray):
        problem = self._sentence
        U = U if problem.biases else U[:, : problem.n_components]
        return sp.csr_array(U) if problem.codes.picks_one else U

    def _certificate(self, objective, problem: Problem, scheme, U, Z, rows) -> Certificate:
        value = self.objective_
        nuclear = problem.is_nuclear and certify.bound_is_cheap(objective, problem, max(10, self.n_iter_))
        if nuclear or problem.components.is_fixed:
            gap = certify.duality(objective, problem, U, Z, value)
            if gap is not None:
                return gap
        if certify.can_bound(objective, problem) and not problem.components.is_fixed:
            if scheme.svd is not None:
                return certify.of_spectrum(scheme.svd, objective, value)
            if certify.bound_is_cheap(objective, problem, self.n_iter_):
                return certify.eckart_young(objective, problem, value)
        return certify.stationarity(objective, problem, U, Z, value, rows)

    def certify(self, X) -> Certificate:
        """The best certificate there is for the fitted model on the table it was fitted to, at whatever cost.

        Eckart–Young for the squared loss with everything observed, a duality gap for convex problems, otherwise the
        KKT residual. The result is kept as ``certificate_``.
        """
        return self._certify(X)

    def _certify(self, X, weights=None) -> Certificate:
        check_is_fitted(self)
        self._learned.need_weights(weights, "weights")
        if not getattr(self, "_takes_blocks", True):
            refuse_blocks(self, X)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned, weights=weights)
            problem, Z = self._sentence, self._full_components
            by_rank = (
                self._bounded_by_rank and certify.can_bound(objective, problem) and not problem.components.is_fixed
            )
            if objective.in_blocks and problem.codes.separable:
                bound = by_rank and certify.can_sum_gram(objective, problem)
                _, value, self.certificate_ = last_visit(objective, problem, self._left, Z, bound)
                if by_rank and not bound:
                    self.certificate_ = certify.eckart_young(objective, problem, value)
                return self.certificate_
            U = left_half_step(objective, problem, self._left, Z)
            if not problem.codes.separable and self.codes_ is not None and len(self.codes_) == objective.shape[0]:
                U = self.codes_
            value = objective.accurate_value(U, Z) + penalties(problem, U, Z)
            found = certify.duality(objective, problem, U, Z, value)
            if found is None and by_rank:
                found = certify.eckart_young(objective, problem, value)
            self.certificate_ = found or certify.stationarity(objective, problem, U, Z, value)
        return self.certificate_

    # -- using ---------------------------------------------------------------------------------------------------

    def transform(self, X):
        """Codes of X: the left half-step with the components fixed, each row on its own.

        It starts from a fixed point and works until the row settles, so neither the other rows nor their order matter.
        Rows with nothing observed get the code that the penalty likes best (zeros, or a uniform mixture).
        """
        return self._transform(X)

    def _transform(self, X, weights=None):
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned, weights=weights)
            return self._codes_out(self._codes(objective))

    def _codes(self, objective: Objective) -> NDArray:
        return objective.of_rows(_codes_of_rows, self._coder())

    def _coder(self) -> Coder:
        """How rows in memory get their codes; it travels to where the rows are."""
        return HalfStep(self._row_problem(), self._left, self._full_components)

    def _row_problem(self) -> Problem:
        """The problem of new rows: a constraint that ties rows together cannot bind them."""
        problem = self._sentence
        if problem.codes.separable:
            return problem
        from unweave.penalties import Free

        return problem.with_note("", codes=Free())

    def inverse_transform(self, U, *, linear: bool = False):
        """The prediction for codes U, in data units; with ``linear=True`` the plain product U·Z.

        Data units are probabilities for the logistic loss, levels for ordinal and categorical ones.
        """
        check_is_fitted(self)
        prediction = self._linear(self._checked_codes(U))
        if linear:
            return prediction
        values = self._learned.loss.predict(prediction)
        if not self._learned.levels:
            return values
        from unweave.data.mixed import decode_frame

        names = [str(name) for name in self.feature_names_in_]
        return decode_frame(values, self._learned.levels, names, self._frame_kind)

    def _checked_codes(self, U) -> NDArray:
        U = as_dense(joined_blocks(U))
        if U.ndim != 2 or U.shape[1] != self.components_.shape[0]:
            raise ValueError(f"U must have {self.components_.shape[0]} columns, one for each component, got {U.shape}")
        return U

    def _linear(self, U: NDArray) -> NDArray:
        from unweave.linalg.products import matmul

        product = matmul(np.ascontiguousarray(U, dtype=self.components_.dtype), self.components_)
        return product + self.offset_ if hasattr(self, "offset_") else product

    def score(self, X, y=None) -> float:
        """Minus the mean loss of an observed entry, after the best codes for X: higher is better."""
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            loss, seen = objective.total(_loss_of_rows, (self._coder(), self._full_components))
        return -loss / max(1.0, seen)

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows; the first call starts the model.

        Under squared loss with everything observed the summaries X'U and U'U of all blocks so far are kept, so old
        blocks keep their say; under any other loss the components move towards the block's best by 1/√t.
        """
        with fitting(self):
            Stream.of(self).take(X)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


# -- new rows, a block at a time ---------------------------------------------------------------------------------------

Coder = Callable[[Objective], NDArray]


@dataclass(frozen=True)
class HalfStep:
    """Codes of rows in memory given the components: the left half-step."""

    problem: Problem
    left: Update
    components: NDArray

    def __call__(self, rows: Objective) -> NDArray:
        return left_half_step(rows, self.problem, self.left, self.components)


def _codes_of_rows(rows: Objective, coder: Coder, own: None) -> tuple[NDArray, None]:
    return coder(rows), None


def _loss_of_rows(rows: Objective, told: tuple[Coder, NDArray], own: None) -> tuple[tuple[float, int], None]:
    """The loss of rows under their best codes, and how many of their entries were seen."""
    coder, Z = told
    return (rows.value(coder(rows), Z), rows.n_observed), None


# -- details -----------------------------------------------------------------------------------------------------------


def penalties(problem: Problem, U: NDArray, Z: NDArray) -> float:
    """Penalty of codes and components; a constraint costs nothing, and held columns are not asked."""
    code_half, component_half = sides(problem)
    total = code_half.value(np.delete(U, problem.held_codes, axis=1)) if problem.codes.is_penalty else 0.0
    if problem.components.is_penalty:
        total += component_half.value(np.delete(Z, problem.held_components, axis=0).T)
    return total


def warn_of_ruin(problem: Problem) -> None:
    """Say that something seen was predicted as 0, which no finite number is the price of."""
    warnings.warn(
        f"loss={problem.loss.name!r} costs infinitely much where 0 is predicted for something above 0, and this fit "
        f"does so: the objective stands for infinity. Constraints that leave room for numbers above 0 everywhere "
        f"(codes={problem.codes.name!r}, components={problem.components.name!r} may not), more components, or "
        "loss='kl' are ways out",
        UserWarning,
        stacklevel=4,
    )
