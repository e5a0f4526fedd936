"""Minimise any smooth function, by name of the method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number, whole
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.optimise.rules import RULES, Rule
from unweave.solve.optimise.schedules import SCHEDULES, Schedule
from unweave.solve.optimise.schemes import Epochs, QuasiNewton, Smooth
from unweave.solve.scheme import Scheme

SOLVERS = ("l-bfgs", *RULES)


class Minimum(NamedTuple):
    """Where a search ended: the point, the value there, and how it went."""

    x: NDArray
    value: float
    history: History


def minimise(
    function: Smooth | Callable,
    x0,
    *,
    solver: str | Rule = "l-bfgs",
    step: float | None = None,
    decay: float | None = None,
    schedule: str | Schedule = "constant",
    batch_size: int = 32,
    n_rows: int | None = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    random_state=0,
    callback: Callable | None = None,
) -> Minimum:
    """Find a minimum of a smooth function near x0.

    Parameters
    ----------
    function : Smooth or callable
        ``function(x)`` gives the value and the gradient (flat, like x); with `n_rows`, ``function(x, rows)``, whose
        second argument is None or the numbers of the rows of a mini-batch. Or an object with these as
        ``value_and_gradient``.
    x0 : array
        Flattened; the answer has its shape.
    solver : {"l-bfgs", "sgd", "momentum", "nesterov", "adagrad", "adam"} or a rule such as ``Adam(step=0.1)``
    step, decay : float, optional
        Length of the first step and weight decay of a solver that was named; not of "l-bfgs".
    schedule : {"constant", "inverse", "exponential", "cosine"} or callable
        How steps shorten with the epochs.
    batch_size, n_rows : int
        Of the mini-batches.
    max_iter : int
        Epochs, or steps of "l-bfgs".
    tol : float
        Largest entry of the gradient at which "l-bfgs" ends.
    random_state : int or generator
    callback : callable, optional
        As of the estimators.

    Returns
    -------
    Minimum
        `x`, `value` and `history`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.solve.optimise import minimise
    >>> def bowl(x):
    ...     return float(((x - [1, 2]) ** 2).sum()), 2 * (x - [1, 2])
    >>> minimise(bowl, [0.0, 0.0]).x.round(6).tolist()
    [1.0, 2.0]
    >>> minimise(bowl, [0.0, 0.0], solver="nesterov", step=0.05, max_iter=300).x.round(4).tolist()
    [1.0, 2.0]

    References
    ----------
    Nocedal and Wright (2006), Numerical optimization. Kingma and Ba (2015), Adam. Duchi, Hazan and Singer (2011),
    Adaptive subgradient methods. Loshchilov and Hutter (2019), Decoupled weight decay regularization.
    """
    start = np.array(x0, dtype=np.float64)
    if not np.isfinite(start).all():
        raise ValueError("x0 must be finite numbers")
    problem = function if isinstance(function, Smooth) else Called(function, start.shape, n_rows)
    first, most = start.ravel(), whole(max_iter, "max_iter", 1)
    scheme = scheme_of(problem, first, solver, step, decay, schedule, batch_size, number(tol, "tol"))
    loop = scheme.adapt(Loop(max_iter=most, tol=tol, callback=callback, ending="all iterations are done"))
    state, history = iterate(scheme, scheme.begin(np.random.default_rng(random_state)), loop)
    return Minimum(state["x"].reshape(start.shape), float(history.objective[-1]), history)


class Called(Smooth):
    """A plain function as a problem."""

    def __init__(self, function: Callable, shape: tuple[int, ...], n_rows: int | None):
        self.function, self.shape = function, shape
        self.n_rows = None if n_rows is None else whole(n_rows, "n_rows", 1)

    def value_and_gradient(self, x, rows=None):
        x = x.reshape(self.shape)
        value, gradient = self.function(x) if self.n_rows is None else self.function(x, rows)
        gradient = np.asarray(gradient, dtype=np.float64)
        if gradient.size != x.size:
            raise ValueError(f"function must give a gradient of {x.size} numbers beside the value, got {gradient.size}")
        return float(value), gradient.ravel()


def scheme_of(
    problem: Smooth,
    first: NDArray,
    solver: Any,
    step: float | None,
    decay: float | None,
    schedule: Any,
    batch_size: int,
    tol: float,
) -> Scheme:
    """The scheme of a solver that was named, or of a rule."""
    if isinstance(solver, str) and solver == "l-bfgs":
        if step is not None or decay is not None:
            raise ValueError("step and decay are not for solver='l-bfgs': it finds its steps; name 'sgd' or 'adam'")
        return QuasiNewton(problem, first, tol)
    rule = solver
    if isinstance(solver, str) and solver in RULES:
        given = {"step": step, "decay": decay}
        rule = RULES[solver](**{name: number(value, name) for name, value in given.items() if value is not None})
    if not isinstance(rule, Rule):
        raise ValueError(f"solver={solver!r} is not known; use one of {', '.join(SOLVERS)}, or a rule such as Adam()")
    how = SCHEDULES.get(schedule) if isinstance(schedule, str) else schedule
    if not callable(how):
        raise ValueError(f"schedule={schedule!r} is not known; use one of {', '.join(SCHEDULES)}, or a function")
    return Epochs(problem, rule, how, whole(batch_size, "batch_size", 1), first)
