"""How the weights of a network are trained by what its parameters say: the solver, its steps, the rows held out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number, whole
from unweave.factorization.run import Run
from unweave.predict.networks.architecture import Architecture
from unweave.predict.networks.problem import Trained
from unweave.predict.networks.training import Training
from unweave.solve.optimise.minimise import SOLVERS
from unweave.solve.optimise.rules import RULES, Adam, Rule
from unweave.solve.optimise.schedules import SCHEDULES
from unweave.solve.optimise.schemes import QuasiNewton
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme

# Length of Adam's steps unless the user says: Kingma and Ba's own.
_ADAM_STEP = 1e-3


def share(value, name: str) -> float:
    """Check a number from 0 up to but not 1."""
    found = number(value, name)
    if found >= 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {found:g}")
    return found


def train(
    model: Any, torch: Any, architecture: Architecture, arrays: tuple[NDArray, ...], target: NDArray, loss: Callable,
    run: Run, what: str, reasons: list[str], dropout: float,
) -> None:  # fmt: skip
    """Train a model's network, and publish ``weights_``, ``held_out_loss_`` and what every fit publishes.

    The model has these parameters: solver, step, decay, schedule, batch_size, validation, patience, tol.
    """
    by_steps = not (isinstance(model.solver, str) and model.solver == "l-bfgs")
    dtype = np.float32 if by_steps else np.float64
    first = architecture.first_weights(run.rng).astype(dtype)
    held = _held_out(model, len(target), run.rng)

    def problem(rows: NDArray, ridge: float) -> Trained:
        kept = tuple(array[rows] for array in arrays)
        return Trained(torch, architecture, kept, target[rows], loss, ridge, dropout, dtype)

    decay = number(model.decay, "decay")
    trained = problem(~held, 0.0 if by_steps else decay)
    watched = problem(held, 0.0) if held.any() else None
    scheme = _scheme(model, trained, watched, first, decay)
    if watched is not None:
        reasons = [*reasons, f"{int(held.sum())} rows are held out to end by"]
    rule = "L-BFGS" if not by_steps else type(scheme.rule).__name__ if isinstance(scheme, Training) else ""
    steps = f"{rule} on mini-batches" if by_steps else "L-BFGS on all rows"
    plan = Plan(what, steps, "", "", "random weights", [f"{len(first)} weights", *reasons])
    state = run.through(scheme, plan)
    model.weights_ = architecture.named(state["x"])
    model.held_out_loss_ = state.get("held_out", np.empty(0))
    if not all(np.isfinite(weight).all() for weight in model.weights_.values()):
        raise ValueError("the weights are not finite: give a smaller step=, or rescale X")
    run.close(float(model.history_.objective[-1]))


def _scheme(model: Any, trained: Trained, watched: Trained | None, first: NDArray, decay: float) -> Scheme:
    if not isinstance(model.solver, Rule) and (not isinstance(model.solver, str) or model.solver not in SOLVERS):
        raise ValueError(
            f"solver={model.solver!r} is not known; use one of {', '.join(SOLVERS)}, or a rule such as Adam()"
        )
    how = SCHEDULES.get(model.schedule) if isinstance(model.schedule, str) else model.schedule
    if not callable(how):
        raise ValueError(f"schedule={model.schedule!r} is not known; use one of {', '.join(SCHEDULES)}, or a function")
    if model.solver == "l-bfgs":
        drawn = trained.chance.share or getattr(trained.architecture, "noise", 0) or watched is not None
        if drawn or getattr(trained.architecture, "draws", False):
            raise ValueError(
                "solver='l-bfgs' needs one function of all rows: leave out dropout, noise, prior and validation, "
                "or use 'adam'"
            )
        if model.step is not None:
            raise ValueError("step is not for solver='l-bfgs', which finds its steps: leave it out, or use 'adam'")
        return QuasiNewton(trained, first, number(model.tol, "tol"))
    size, patience = whole(model.batch_size, "batch_size", 1), whole(model.patience, "patience", 1)
    return Training(trained, _rule(model, decay), how, size, first, watched, patience)


def _rule(model: Any, decay: float) -> Rule:
    if isinstance(model.solver, Rule):
        return model.solver
    kind = RULES[model.solver]
    step = model.step if model.step is not None else _ADAM_STEP if kind is Adam else None
    given = {} if step is None else {"step": number(step, "step")}
    return kind(decay=decay, **given)


def _held_out(model: Any, n: int, rng) -> NDArray[np.bool_]:
    held = np.zeros(n, dtype=bool)
    part = share(model.validation, "validation")
    if part:
        if int(part * n) < 1 or int(part * n) >= n:
            raise ValueError(f"validation={part:g} of {n} rows leaves none to train on or to watch")
        held[rng.permutation(n)[: int(part * n)]] = True
    return held
