"""Bringing dead components back to life: the one helper for empty clusters and vanished parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.solve.problem import IN_DATA_UNITS, Problem


def reseed(objective: Objective, problem: Problem, U: NDArray, Z: NDArray) -> NDArray:
    """Z with every component that no row uses moved to a row that is fitted badly.

    A component whose codes are all zero adds nothing to the prediction, so moving it changes nothing now and gives the
    next half-step something to use. Penalised sides are left alone: there a component may vanish on purpose.
    """
    if problem.codes.is_penalty or problem.components.is_penalty or problem.loss.name not in IN_DATA_UNITS:
        return Z
    if objective.in_blocks or problem.components.name in ("fixed", "hull", "cone", "orthonormal"):
        return Z
    dead = [t for t in range(problem.n_components) if not U[:, t].any()]
    if not dead:
        return Z
    Z = Z.copy()
    worst = np.argsort(-objective.row_values(U, Z), kind="stable")[: len(dead)]
    for t, i in zip(dead, worst, strict=False):
        row, seen = objective.dense_rows(int(i), int(i) + 1)
        target = row[0] - (0 if problem.codes.name == "one-hot" else U[i] @ Z)
        target = target if seen is None else np.where(seen[0] != 0, target, Z[t])
        Z[t] = problem.components.prox(np.ascontiguousarray(target[None], dtype=Z.dtype), 0.0)[0]
    return Z
