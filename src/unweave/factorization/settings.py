"""The parameters all estimators share, checked in one place."""

from __future__ import annotations

from unweave.data.arguments import generator, number, whole
from unweave.data.fingerprint import fingerprint
from unweave.objectives import Blocks, Objective
from unweave.solve.checkpoint import Checkpoint
from unweave.solve.iterate import Loop

__all__ = ["generator", "make_loop", "number", "whole"]

# Parameters that do not change the path of a fit, only how far it goes or who watches.
_WATCHERS = ("callback", "checkpoint", "verbose", "max_iter", "tol")


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
