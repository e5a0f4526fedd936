"""New structure in a stream: a component that hardly matters is given to what a block leaves unexplained.

Rows that have nothing in common with the components get codes of zero, and would never move them. So the best rank-one
piece v·c of a block's residual R = X − U·Z, both sides under their constraints, is found by a few alternations

    c ← prox(Rᵀv),   v ← prox(R c / ‖c‖²)

and takes the place of the component with the least ‖u_t‖²‖z_t‖² over all blocks, if it explains more than that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.objectives.models import Quadratic
from unweave.solve.problem import Problem

_TURNS = 4


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
