"""The fit that all networks share: parameters are checked, a solver is chosen, weights are trained and published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, whole
from unweave.factorization.run import Run, fitting
from unweave.predict.networks.architecture import Architecture, Chance
from unweave.predict.networks.backend import torch_for
from unweave.predict.networks.problem import FOR_CLASSES, FOR_NUMBERS, Trained, answers
from unweave.predict.networks.training import Training
from unweave.predict.predictor import Predictor
from unweave.predict.target import Target, read_target
from unweave.solve.optimise.minimise import SOLVERS
from unweave.solve.optimise.rules import RULES, Adam, Rule
from unweave.solve.optimise.schedules import SCHEDULES
from unweave.solve.optimise.schemes import QuasiNewton
from unweave.solve.plan import Plan
from unweave.solve.scheme import Scheme

# Length of Adam's steps unless the user says: Kingma and Ba's own.
_ADAM_STEP = 1e-3


def sizes(value, name: str) -> tuple[int, ...]:
    """Units of layers, as a tuple: one number is one layer."""
    given = (value,) if isinstance(value, int | np.integer) else value
    try:
        return tuple(whole(one, name, 1) for one in given)
    except TypeError:
        raise ValueError(f"{name} must be whole numbers such as (100,) or (64, 32), got {value!r}") from None


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
    """Train the weights of a model, and set its ``weights_``, ``held_out_loss_`` and what every fit sets.

    Its parameters say how: solver, step, decay, schedule, batch_size, validation, patience, max_iter, tol.
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


class Network(Predictor):
    """A network that predicts classes or amounts. Subclasses read their inputs, and say which network suits them."""

    _limits_shape = True  # steps shorten with the share of epochs that are done

    def fit(self, X, y):
        """Train the network.

        Parameters
        ----------
        X : table, pictures or sequences
            As the class says.
        y : array (n,), or (n, t) for several amounts
        """
        with torch_for(type(self).__name__) as torch, fitting(self):
            self.__dict__.pop("classes_", None)
            arrays = self._inputs(X, reset=True)
            target = read_target(self, y, len(arrays[0]), self.task)
            run = Run(self, *arrays, target.values)
            loss = self._loss(target)
            wanted = self._targets(target)
            n_outputs = len(target.classes) if target.classes is not None else wanted.shape[1]
            architecture, words = self._architecture(n_outputs)
            kind = f"{n_outputs} classes" if target.classes is not None else f"{n_outputs} amounts"
            what = f"{len(arrays[0])} {words} → {kind}"
            train(
                self, torch, architecture, arrays, wanted, loss, run, what, self._reasons(arrays),
                share(self.dropout, "dropout"),
            )  # fmt: skip
            if target.classes is not None:
                self.classes_ = target.classes
            self._single = target.values.ndim == 1
        return self

    def _inputs(self, X, *, reset: bool) -> tuple[NDArray, ...]:
        """Read X as arrays of numbers whose first side are the rows."""
        raise NotImplementedError

    def _architecture(self, n_outputs: int) -> tuple[Architecture, str]:
        """The network, and what it takes in words."""
        raise NotImplementedError

    def _reasons(self, arrays: tuple[NDArray, ...]) -> list[str]:
        """What the plan should say of the inputs."""
        return []

    def _loss(self, target: Target) -> Callable:
        known = FOR_NUMBERS if target.classes is None else FOR_CLASSES
        name = next(iter(known)) if isinstance(self.loss, str) and self.loss == "auto" else self.loss
        if not isinstance(name, str) or name not in known:
            kind = "amounts" if target.classes is None else "classes"
            raise ValueError(f"loss={self.loss!r} is not for {kind}; use 'auto' or one of {', '.join(known)}")
        return known[name]

    def _targets(self, target: Target) -> NDArray:
        """What the outputs are to be: classes as they are, amounts of mean 0 and spread 1."""
        if target.classes is not None:
            self._level = np.array([[0.0], [1.0]])
            return target.values
        amounts = target.values.reshape(len(target.values), -1)
        spread = amounts.std(axis=0)
        self._level = np.stack([amounts.mean(axis=0), np.where(spread > 0, spread, 1.0)])
        return (amounts - self._level[0]) / self._level[1]

    def _outputs(self, X) -> NDArray[np.float64]:
        check_is_fitted(self)
        arrays = self._inputs(X, reset=False)
        n_outputs = len(self.classes_) if self._is_classifier else self._level.shape[1]
        architecture, _ = self._architecture(n_outputs)
        with torch_for(type(self).__name__) as torch:

            def ask(W, batch):
                found = architecture.forward(torch, W, batch, Chance(torch))
                return torch.softmax(found, dim=1) if self._is_classifier else found

            found = answers(torch, self.weights_, arrays, ask)
        if self._is_classifier:
            return found
        amounts = found * self._level[1] + self._level[0]
        return amounts[:, 0] if self._single else amounts

    def _check_loaded(self, looked_at: bool) -> None:
        super()._check_loaded(looked_at)
        if not isinstance(self._level, np.ndarray) or self._level.ndim != 2 or len(self._level) != 2:
            raise ValueError("the level of the outputs is missing")
        check_weights(self, self._architecture(len(self.classes_) if self._is_classifier else self._level.shape[1])[0])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.task == "numbers"
        tags.non_deterministic = False
        return tags


def check_weights(model, architecture: Architecture) -> None:
    """Raise ValueError unless the weights of a model from a file are those of its architecture."""
    wanted = architecture.shapes()
    if not isinstance(model.weights_, dict) or list(model.weights_) != list(wanted):
        raise ValueError("weights_ does not hold the weights of this network")
    for name, shape in wanted.items():
        array = model.weights_[name]
        if not isinstance(array, np.ndarray) or array.dtype not in (np.float32, np.float64) or array.shape != shape:
            raise ValueError(f"weights_[{name!r}] should be an array of the shape {shape}")


def standardised(X: NDArray, mean: NDArray, scale: NDArray) -> NDArray[np.float32]:
    """Columns of mean 0 and spread 1, in single precision."""
    return ((np.asarray(X, dtype=np.float64) - mean) / scale).astype(np.float32)


def level_and_spread(X: NDArray) -> tuple[NDArray, NDArray]:
    """Mean and spread of each column; 1 for one that does not vary, or by no more than rounding of its mean."""
    X = np.asarray(X, dtype=np.float64)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    return mean, np.where(spread > 1e-6 * np.abs(mean), spread, 1.0)
