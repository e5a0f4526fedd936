"""The parameters all estimators share, checked in one place."""

from __future__ import annotations

from collections.abc import Iterator

from unweave.data.arguments import generator, number, whole
from unweave.data.fingerprint import fingerprint
from unweave.objectives import Blocks, Objective
from unweave.solve.checkpoint import Checkpoint
from unweave.solve.iterate import Loop

__all__ = ["generator", "make_loop", "number", "whole"]

# Parameters that do not change the path of a fit, only who watches and how far it goes.
_LISTENERS = ("callback", "checkpoint", "verbose")
_LIMITS = ("max_iter", "tol")


def make_loop(estimator, *given) -> Loop:
    """How the one loop is to run for an estimator: limits, callback, progress bar and checkpoint.

    `given` is everything that `fit` was given (objectives, arrays, None where nothing was): a checkpoint belongs to
    these and to the parameters. Where the limits shape the path too (steps of an inner fit, draws that are averaged)
    the estimator says so in `_limits_shape`. Called before the generator is drawn from, whose state counts.
    """
    callback = estimator.callback
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable with one argument (progress), got {callback!r}")
    return Loop(
        max_iter=_limit(estimator),
        tol=number(estimator.tol, "tol"),
        callback=callback,
        checkpoint=_checkpoint(estimator, given),
        bar=type(estimator).__name__ if estimator.verbose else None,
    )


def _limit(estimator) -> int:
    """Most iterations; None leaves the number to the solver."""
    if estimator.max_iter is None and hasattr(estimator, "_default_max_iter"):
        return estimator._default_max_iter()
    return whole(estimator.max_iter, "max_iter", 1)


def _checkpoint(estimator, given: tuple) -> Checkpoint | None:
    if estimator.checkpoint is None:
        return None
    apart = _LISTENERS if getattr(estimator, "_limits_shape", False) else _LISTENERS + _LIMITS
    parameters = {k: v for k, v in estimator.get_params(deep=False).items() if k not in apart}
    parameters["class"] = type(estimator).__name__
    return Checkpoint(estimator.checkpoint, fingerprint(parameters, _tables(given)))


def _tables(given) -> Iterator:
    """The arrays of all that was given."""
    for one in given:
        if isinstance(one, Blocks):
            for _, _, block in one:
                yield from _tables([block])
        elif isinstance(one, Objective):
            yield one.X
            yield getattr(one, "weights", None)
        else:
            yield one
