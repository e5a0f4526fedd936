"""Learn from one block of rows after another: what `partial_fit` keeps between calls.

New structure: rows that have nothing in common with the components get codes of zero, and would never move them. So the
best rank-one piece v·c of a block's residual R = X − U·Z, both sides under their constraints, is found by a few
alternations c ← prox(Rᵀv), v ← prox(R c / ‖c‖²), and takes the place of the component with the least ‖u_t‖²‖z_t‖² over
all blocks, if it explains more than that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import generator
from unweave.objectives import Objective
from unweave.objectives.models import Quadratic
from unweave.objectives.opening import open_table, reopen_table
from unweave.solve.alternate import Alternate, half_step, left_half_step, transform_effort
from unweave.solve.history import History
from unweave.solve.plan import alternating
from unweave.solve.problem import Problem, check_size, well_posed

_TURNS = 4  # alternations that find a new piece
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
        if problem.components.mixes_rows:
            raise ValueError(f"components={problem.components.name!r} need the whole table; use fit")
        U = left_half_step(objective, problem, scheme.left, Z)
        Z, changed = self._with_news(scheme, U, Z)
        U = left_half_step(objective, problem, scheme.left, Z) if changed else U
        self.blocks += 1
        if not problem.components.is_fixed:
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
        plan, scheme, state = alternating(objective, problem, "auto", est.init, generator(est.random_state))
        assert isinstance(scheme, Alternate), "a block of a stream is one table"
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


def takes_new(problem: Problem, model) -> bool:
    """Whether codes and components may be anything, or anything non-negative, under squared loss."""
    both = (problem.codes.separable_terms(), problem.components.separable_terms())
    return isinstance(model, Quadratic) and None not in both and problem.width == problem.n_components


def weakest(gram: NDArray, Z: NDArray) -> tuple[int, float]:
    """The component that explained least so far, and how much: ‖u_t‖²‖z_t‖²."""
    sizes = np.diag(gram) * np.einsum("tj,tj->t", Z, Z, dtype=np.float64)
    return int(sizes.argmin()), float(sizes.min())


def piece_of_residual(objective: Objective, problem: Problem, U: NDArray, Z: NDArray) -> tuple[NDArray, float]:
    """A component (of length one) for what U·Z leaves, and how much of ‖R‖² it explains."""
    v = np.sqrt(np.maximum(objective.row_values(U, Z), 0)).astype(Z.dtype)
    c, gain = np.zeros(Z.shape[1], Z.dtype), 0.0
    for _ in range(_TURNS):
        back = objective.columns_given(np.ascontiguousarray(v[:, None])).cross[:, 0] - Z.T @ (U.T @ v)
        c = problem.components.prox(np.ascontiguousarray(back[None], dtype=Z.dtype), 0.0)[0]
        length = float(np.linalg.norm(c))
        if length == 0:
            return c, 0.0
        c = c / np.asarray(length, c.dtype)
        ahead = objective.rows_given(np.ascontiguousarray(c[None])).cross[:, 0] - U @ (Z @ c)
        v = problem.codes.prox(np.ascontiguousarray(ahead[:, None], dtype=Z.dtype), 0.0)[:, 0]
        gain = float(np.vdot(v, v))
    return c, gain
