"""Learning block by block: what `partial_fit` keeps between calls."""

from __future__ import annotations

import numpy as np

from unweave.factorization.door import open_table, reopen_table
from unweave.factorization.settings import generator
from unweave.factorization.stream_seed import piece_of_residual, takes_new, weakest
from unweave.objectives.models import Quadratic
from unweave.penalties import Fixed
from unweave.solve.alternate import Alternate, half_step, left_half_step, transform_effort
from unweave.solve.history import History
from unweave.solve.problem import check_size, well_posed

_CLEARLY = 2.0  # times what a component explained so far, for a new one to take its place


class Stream:
    """The running summaries of a model that sees its table in blocks."""

    def __init__(self, estimator):
        self.estimator = estimator
        self.blocks, self.cross, self.gram, self.constant = 0, None, None, 0.0

    @classmethod
    def of(cls, estimator) -> Stream:
        if getattr(estimator, "_stream", None) is None:
            estimator._stream = cls(estimator)
        stream = estimator._stream
        stream.estimator = estimator
        stream._remember_fit()
        return stream

    def _remember_fit(self) -> None:
        """After a fit its rows stand as their reconstruction: UᵀU, and (U·Z)ᵀU for XᵀU."""
        est = self.estimator
        if self.blocks or not hasattr(est, "components_") or getattr(est, "codes_", None) is None:
            return
        U, Z = np.asarray(est.codes_, dtype=np.float64), est._full_components.astype(np.float64)
        if U.shape[1] == len(Z):
            self.gram = U.T @ U
            self.cross = Z.T @ self.gram
            self.constant = 0.5 * float(np.vdot(Z @ Z.T, self.gram))

    def __getstate__(self):
        return {**self.__dict__, "estimator": None}

    def take(self, X) -> None:
        est = self.estimator
        if not hasattr(est, "components_"):
            scheme, Z = self._begin(X)
        else:
            objective = reopen_table(est, X, est.missing, est._learned)
            scheme = Alternate(objective, est._sentence, est._left, self._right())
            Z = est._full_components
        problem, objective = scheme.problem, scheme.objective
        if problem.components.name in ("hull", "cone"):
            raise ValueError(f"components={problem.components.name!r} need the whole table; use fit")
        U = left_half_step(objective, problem, scheme.left, Z)
        Z, changed = self._with_news(scheme, U, Z)
        U = left_half_step(objective, problem, scheme.left, Z) if changed else U
        self.blocks += 1
        if not isinstance(problem.components, Fixed):
            Z = self._improve(scheme, U, Z)
        est._full_components = Z
        est._publish(problem, Z)
        est.n_iter_ = self.blocks
        est.objective_ = objective.value(U, Z)
        est.history_ = History()

    def _begin(self, X):
        est = self.estimator
        objective, learned = open_table(est, X, est.missing, est._loss())
        problem = well_posed(est._problem(learned.loss, objective.shape, learned.mixed))
        check_size(problem, *objective.shape)
        from unweave.solve.plan import _alternating

        plan, scheme, state = _alternating(objective, problem, "auto", est.init, generator(est.random_state))
        est._learned, est._sentence, est._left, est.plan_ = learned, problem, scheme.left, plan
        self._right_update = scheme.right
        return scheme, state["components"]

    def _right(self):
        if not hasattr(self, "_right_update"):
            est = self.estimator
            from unweave.updates import UPDATES, Proximal

            self._right_update = next((u for u in UPDATES if u.title == est.plan_.components), Proximal())
        return self._right_update

    def _with_news(self, scheme: Alternate, U, Z):
        """Z with its weakest component at what this block brings that is new, where that is more; whether it is."""
        if self.gram is None or self.cross is None or not takes_new(scheme.problem, scheme.objective.columns_given(U)):
            return Z, False
        place, strength = weakest(self.gram, Z)
        piece, gain = piece_of_residual(scheme.objective, scheme.problem, U, Z)
        if gain <= _CLEARLY * strength:
            return Z, False
        Z = Z.copy()
        Z[place] = piece
        self.gram[place], self.gram[:, place], self.cross[:, place] = 0, 0, 0
        return Z, True

    def _improve(self, scheme: Alternate, U, Z):
        """The right half-step: on all summaries so far, or a damped one on this block."""
        model = scheme.objective.columns_given(U)
        F = np.ascontiguousarray(Z.T)
        effort = transform_effort(F.dtype)
        held = scheme.problem.held_components
        if isinstance(model, Quadratic):
            cross = model.cross.astype(np.float64)
            self.cross = cross if self.cross is None else self.cross + cross
            self.gram = model.gram if self.gram is None else self.gram + model.gram
            self.constant += model.constant
            unseen = np.flatnonzero(np.diag(self.gram) == 0)
            model = Quadratic(self.cross.astype(F.dtype), self.gram, self.constant)
            new = half_step(model, F, scheme.component_half, scheme.right, effort, held)
            new[:, unseen] = F[:, unseen]  # a component that no row has used yet stays where it began
            return np.ascontiguousarray(new.T)
        best = half_step(model, F, scheme.component_half, scheme.right, effort, held)
        mixed = F + (best - F) / np.sqrt(self.blocks).astype(F.dtype)
        return np.ascontiguousarray(scheme.component_half.prox(mixed, 0.0).T)
