"""Where a fit of CP begins: the best of several random starts, found where rounds cost little."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unweave.compress.tensors.scheme import Sides, factors_of, plan_updates
from unweave.data.arguments import numbers
from unweave.objectives.tensors import Holes, Whole, in_small
from unweave.solve.iterate import Loop, iterate
from unweave.updates import Half

# Rounds after which starts are compared on the compressed tensor, and that the best may go on there, where hundreds
# cost what one costs on the tensor itself; rounds after which they are compared on the tensor itself. Refills of holes
# from the model before entries are asked one by one.
_SMALL_ROUNDS, _SMALL_MOST, _ROUNDS, _REFILLS = 30, 500, 8, 3
_MORE = 10  # sides of the compressed tensor are so much longer than there are components
_WORTH = 4  # compressing costs a few rounds: a tensor must be so many times as large as its core


def random_start(objective: Whole, halves: Sequence[Half], k: int, rng: np.random.Generator) -> list[NDArray]:
    """Allowed factors drawn at random, at the scale of the tensor."""
    size = (2 * objective.half_norm / max(1.0, objective.n_observed * k)) ** (0.5 / len(objective.shape))
    factors = []
    for side, half in zip(objective.shape, halves, strict=True):
        F = rng.random((side, k)) if half.penalty.nonnegative else rng.standard_normal((side, k))
        factors.append(half.prox((size * F).astype(objective.dtype), 0.0))
    return factors


def given_start(objective: Whole, init, k: int) -> list[NDArray]:
    """Factors that the user gave, checked."""
    if not isinstance(init, list | tuple) or len(init) != len(objective.shape):
        raise ValueError(
            f"init must be 'auto', 'random' or a list of {len(objective.shape)} arrays, one for each side of X"
        )
    shapes = [(side, k) for side in objective.shape]
    return [numbers(F, f"init[{d}]", shape, objective.dtype) for d, (F, shape) in enumerate(zip(init, shapes))]


def best_start(
    objective: Whole, halves: Sequence[Half], k: int, rng: np.random.Generator, n_starts: int, solver: str
) -> tuple[list[NDArray], str]:
    """The best of several random starts after some rounds, and where these were made, in words."""
    small = _small(objective, k, rng) if _compresses(objective, k) else None
    if small is None:
        found = _best(objective, halves, k, rng, n_starts, _ROUNDS, solver)
        return found, f"the best of {n_starts} random starts after {_ROUNDS} rounds"
    found = _best(small, halves, k, rng, n_starts, _SMALL_ROUNDS, solver)
    found = some_rounds(small, halves, found, _SMALL_MOST, solver)[0]
    if isinstance(objective, Holes):
        for _ in range(_REFILLS):
            small = in_small(objective, k + _MORE, rng, found)
            assert small is not None
            found = some_rounds(small, halves, found, _SMALL_ROUNDS, solver)[0]
    size = "×".join(map(str, small.products.core.shape))  # type: ignore[attr-defined]
    return found, f"the best of {n_starts} random starts on the tensor compressed to {size}"


def _compresses(objective: Whole, k: int) -> bool:
    core = float(np.prod([min(k + _MORE, side) for side in objective.shape], dtype=np.float64))
    return float(np.prod([float(s) for s in objective.shape])) > _WORTH * core


def _small(objective: Whole, k: int, rng: np.random.Generator) -> Whole | None:
    return in_small(objective, k + _MORE, rng)


def _best(objective, halves, k: int, rng, n_starts: int, rounds: int, solver: str) -> list[NDArray]:
    starts = [random_start(objective, halves, k, rng) for _ in range(n_starts)]
    if n_starts == 1 and rounds == _ROUNDS:
        return starts[0]
    tried = [some_rounds(objective, halves, first, rounds, solver) for first in starts]
    return min(tried, key=lambda found: found[1])[0]


def some_rounds(
    objective: Whole, halves, first: list[NDArray], rounds: int, solver: str
) -> tuple[list[NDArray], float]:
    """Some rounds from a start: (factors, objective)."""
    scheme = Sides(objective, halves, first, plan_updates(objective, halves, first, solver))
    state, history = iterate(scheme, scheme.begin(), Loop(max_iter=rounds, tol=1e-6, ending="a start"))
    if history.stopped == "interrupted":  # before the fit itself there is nothing to keep
        raise KeyboardInterrupt
    return factors_of(state), history.objective[-1]
