"""Run a scheme step by step: the one loop of the library.

It knows only :class:`unweave.solve.scheme.Scheme`: ``step(state) -> (state, objective)`` and when to stop. A state is a
flat dict of arrays and scalars, the random generator included, so that checkpoints, the best state so far and saving
come free for every model that runs in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from unweave import compiling
from unweave.scale.visits import listening
from unweave.solve.checkpoint import Checkpoint
from unweave.solve.history import History
from unweave.solve.progress import Bar, Progress, warn_user
from unweave.solve.scheme import Scheme, State


@dataclass(frozen=True)
class Loop:
    """How to run: limits and listeners.

    `tol` is on the relative fall of the objective; 0 stops only at a fixed point that the scheme can see (the labels of
    k-means stay), None asks only whether the scheme has settled.
    `ending` is given where running out of iterations is nothing to warn of, and says what it means.
    """

    max_iter: int = 200
    tol: float | None = 1e-4
    callback: Callable[[Progress], object] | None = None
    checkpoint: Checkpoint | None = None
    bar: str | None = None  # title of a progress bar, or none
    ending: str | None = None

    def once(self) -> Loop:
        """The same for a scheme that is done after one step."""
        return replace(self, max_iter=1, tol=0.0, ending="solved in closed form")


def iterate(scheme: Scheme, state: State, loop: Loop) -> tuple[State, History]:
    """Step until the objective or the scheme settles, the callback says stop, or `max_iter`.

    Parameters
    ----------
    scheme : Scheme
        The method. A step leaves the arrays of the old state as they were (those in ``scheme.reuses`` excepted),
        because the old state is the answer if the step is interrupted.
    state : dict
        Where to begin; replaced by the checkpoint's if there is one. That one is judged first, by the limits of now
        (and the callback is asked about it again): a fit that was killed at its end does not go on.
    loop : Loop
        Limits and listeners.

    Returns
    -------
    state, History
        The last state finished. Ctrl-C ends the loop there with a warning.
    """
    history = History()
    if loop.checkpoint is not None and (saved := loop.checkpoint.load()) is not None:
        state, history = saved
    began = compiling.clock() - (history.seconds[-1] if len(history) else 0.0)
    bar = Bar(loop.bar, loop.max_iter) if loop.bar else None
    try:
        # A state that was loaded is judged as if its iteration had just been done: that fit may have been at its end.
        reason = _reason_to_stop(scheme, state, history, loop) if len(history) else None
        while reason is None and len(history) < loop.max_iter:
            with listening(None if bar is None else bar.show_block):
                state, objective = scheme.step(state)
            _record(history, objective, compiling.clock() - began)
            if loop.checkpoint is not None:
                loop.checkpoint.offer(state, history)
            if bar is not None:
                bar.show(history)
            reason = _reason_to_stop(scheme, state, history, loop)
    except KeyboardInterrupt:
        if not len(history):
            raise
        history.stopped = "interrupted"
        if loop.checkpoint is not None:
            loop.checkpoint.write(state, history)
        warn_user(
            f"interrupted after {len(history)} iterations; the best state so far is kept "
            f"(objective {history.objective[-1]:.6g})",
        )
        return state, history
    finally:
        if bar is not None:
            bar.close()
    history.stopped = reason or loop.ending or f"max_iter={loop.max_iter} iterations done"
    if reason is None and loop.tol != 0 and loop.ending is None:
        _warn_unsettled(history, loop)
    return state, history


def _record(history: History, objective: float, seconds: float) -> None:
    """Note one iteration; a value that is not finite ends the fit with the remedy."""
    objective = float(objective)
    if not math.isfinite(objective):
        raise ValueError(
            f"the objective became {objective} in iteration {len(history) + 1}: the values of X are too large or too "
            "small for its type; rescale X, or pass it as float64"
        )
    change = 1.0
    if len(history):
        before = history.objective[-1]
        # An objective that falls to zero never settles relative to itself: far below the first one counts as zero.
        change = (before - objective) / max(abs(before), 1e-8 * abs(history.objective[0]), 1e-300)
    history.add(objective, change, seconds)


def _reason_to_stop(scheme: Scheme, state: State, history: History, loop: Loop) -> str | None:
    """Why the fit ends after its last iteration, None if it goes on; limits and listeners are those of now."""
    objective, change, seconds = history.objective[-1], history.change[-1], history.seconds[-1]
    if loop.callback is not None:
        answer = loop.callback(Progress(len(history), float(objective), float(change), float(seconds), loop.max_iter))
        if answer is not None and bool(answer):
            return "the callback said stop"
    if loop.tol and len(history) > 1 and abs(change) <= loop.tol:
        return f"the objective fell by less than tol={loop.tol:g} (relative)"
    if scheme.fixed(state) or (loop.tol != 0 and scheme.settled(state)):
        return scheme.ending
    return None


def _warn_unsettled(history: History, loop: Loop) -> None:
    from sklearn.exceptions import ConvergenceWarning

    tol = "" if loop.tol is None else f", tol={loop.tol:g}"
    warn_user(
        f"stopped after max_iter={loop.max_iter} iterations before the fit settled "
        f"(last relative change of the objective {history.change[-1]:.2g}{tol}); raise max_iter or tol",
        ConvergenceWarning,
    )
