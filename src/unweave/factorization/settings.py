"""The parameters all estimators share, checked in one place."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

from unweave.data.fingerprint import fingerprint
from unweave.objectives import Blocks, Objective
from unweave.solve.checkpoint import Checkpoint
from unweave.solve.iterate import Loop

# Parameters that do not change the path of a fit, only how far it goes or who watches.
_WATCHERS = ("callback", "checkpoint", "verbose", "max_iter", "tol")


def whole(value, name: str, least: int) -> int:
    """A whole number of at least `least`, or an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def number(value, name: str, least: float = 0.0) -> float:
    """A finite number of at least `least`, or an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value < least:
        raise ValueError(f"{name} must be a finite number of at least {least:g}, got {value}")
    return float(value)


def generator(random_state) -> np.random.Generator:
    """A random generator from what scikit-learn calls ``random_state``; None is seed 0, so that fits repeat."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(f"random_state must be None, a whole number from 0 or a generator, got {random_state!r}")


def make_loop(estimator, objective: Objective) -> Loop:
    """How the one loop is to run for an estimator: limits, callback, progress bar and checkpoint."""
    callback = estimator.callback
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable with one argument (progress), got {callback!r}")
    return Loop(
        max_iter=_limit(estimator),
        tol=number(estimator.tol, "tol"),
        callback=callback,
        checkpoint=_checkpoint(estimator, objective),
        bar=type(estimator).__name__ if estimator.verbose else None,
    )


def _limit(estimator) -> int:
    """Most iterations; None leaves the number to the solver."""
    if estimator.max_iter is None and hasattr(estimator, "_default_max_iter"):
        return estimator._default_max_iter()
    return whole(estimator.max_iter, "max_iter", 1)


def _checkpoint(estimator, objective: Objective) -> Checkpoint | None:
    if estimator.checkpoint is None:
        return None
    parameters = {k: v for k, v in estimator.get_params(deep=False).items() if k not in _WATCHERS}
    parameters["class"] = type(estimator).__name__
    return Checkpoint(estimator.checkpoint, fingerprint(parameters, _tables(objective)))


def _tables(objective: Objective):
    if isinstance(objective, Blocks):
        for _, _, block in objective:
            yield from _tables(block)
    else:
        yield objective.X
        yield getattr(objective, "weights", None)
