"""One fit of an estimator, from its parameters to its published attributes: what every `fit` does around a scheme."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from unweave.data.arguments import generator, number, whole
from unweave.data.fingerprint import fingerprint
from unweave.objectives import Objective
from unweave.parallel import single_blas
from unweave.scale.visits import visiting
from unweave.solve.certificate import Certificate
from unweave.solve.checkpoint import Checkpoint
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan
from unweave.solve.progress import warn_user
from unweave.solve.scheme import Scheme, State

# Parameters that do not change the path of a fit, only who watches and how far it goes.
_LISTENERS = ("callback", "checkpoint", "verbose")
_LIMITS = ("max_iter", "tol")


@contextmanager
def fitting(estimator, client=None) -> Iterator[None]:
    """Every `fit` runs in this: BLAS on one thread, and an estimator whose fit raises is as it was before.

    Tables in blocks that are opened meanwhile are visited by the workers of `client`, where one is given.
    """
    before = dict(vars(estimator))
    try:
        with single_blas(), _on_cluster(estimator, client):
            yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


@contextmanager
def _on_cluster(estimator, client) -> Iterator[None]:
    if client is None:
        yield
        return
    refuse_cluster(estimator, client)
    from unweave.scale.cluster import on_cluster  # Dask is an extra, and takes a while to import

    with on_cluster(client) as visits, visiting(visits):
        before = visits.passes
        yield
        if visits.passes == before:
            warn_user("client= had nothing to do: X is one table in memory; give it as blocks, a list of tables")


def refuse_cluster(estimator, client) -> None:
    """Raise if a cluster is given to a model that cannot use one."""
    able = getattr(estimator, "_takes_cluster", getattr(estimator, "_takes_blocks", True))
    if client is not None and not able:
        raise ValueError(
            f"{type(estimator).__name__} cannot use a cluster, because it works on all rows in one place: leave out "
            "client"
        )


class Run:
    """The run of a scheme for an estimator: limits, listeners, checkpoint, history, plan and certificate.

    A `fit` makes one before it draws random numbers, lets it go through the loop, publishes what the last state holds,
    and closes it::

        with fitting(self):
            run = Run(self, X)
            scheme = ...
            state = run.through(scheme, plan)
            self.components_ = state["components"]
            run.close(objective)

    Parameters
    ----------
    estimator : estimator
        Has the parameters `max_iter`, `tol`, `callback`, `checkpoint` and `verbose`; `random_state` if it has one.
    *given
        Everything that `fit` was given (objectives, arrays, None where nothing was): a checkpoint belongs to these and
        to the parameters. Where the limits shape the path too (draws that are averaged), the estimator says so in
        `_limits_shape`.
    max_iter : int, optional
        Most iterations where the estimator has no such parameter, or where it means something else.

    Attributes
    ----------
    loop : Loop
        Limits and listeners.
    rng : Generator
        That of the estimator's `random_state`.
    history : History
        What happened; empty before `through`.
    """

    def __init__(self, estimator, *given, max_iter: int | None = None):
        self.estimator = estimator
        self.loop = make_loop(estimator, *given, max_iter=max_iter)
        self.rng = generator(getattr(estimator, "random_state", None))
        self.history = History()

    def through(self, scheme: Scheme, plan: Plan | None = None, state: State | None = None) -> State:
        """Run the scheme to its end, from `state` or its own beginning; the state to publish.

        Sets `history_`, `n_iter_` and, where given, `plan_` of the estimator.
        """
        estimator = self.estimator
        loop = scheme.adapt(self.loop)  # first: how a scheme begins may depend on the limits
        first = scheme.begin(self.rng) if state is None else state
        last, self.history = iterate(scheme, first, loop)
        estimator.history_, estimator.n_iter_ = self.history, len(self.history)
        if plan is not None:
            estimator.plan_ = plan
        return scheme.finish(last)

    def close(self, objective: float, certificate: Certificate | None = None, *, done: bool = True) -> None:
        """Publish objective and certificate; remove the checkpoint unless the fit was interrupted or is not `done`."""
        self.estimator.objective_ = objective
        self.estimator.certificate_ = Certificate.none(objective) if certificate is None else certificate
        if self.loop.checkpoint is not None and done and self.history.stopped != "interrupted":
            self.loop.checkpoint.remove()


def make_loop(estimator, *given, max_iter: int | None = None) -> Loop:
    """Limits, callback, progress bar and checkpoint of an estimator, for the one loop; see :class:`Run`."""
    callback = estimator.callback
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable with one argument (progress), got {callback!r}")
    return Loop(
        max_iter=_limit(estimator) if max_iter is None else max_iter,
        tol=number(estimator.tol, "tol") if hasattr(estimator, "tol") else 0.0,
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
        if isinstance(one, Objective) and one.in_blocks:
            yield one.total(_digest)  # where the rows are: this process need not see them
        elif isinstance(one, Objective):
            yield one.X
            yield getattr(one, "weights", None)
        else:
            yield one


def _digest(block: Objective, state, own) -> tuple[list[str], None]:
    return [fingerprint({}, [block.X, getattr(block, "weights", None)])], None
