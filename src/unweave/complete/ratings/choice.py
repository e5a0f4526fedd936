"""Choose the rank, the ridges and the bins of time of a matrix completion on held-out entries.

Biases alone come first, with a ridge of their own. Vectors are of any use only under a ridge below the largest singular
value of what biases leave (each entry divided by the roots of the weights of its row and column), so their row of
ridges falls from there. Where no vectors do clearly better than biases alone, the model is biases alone.

No number here was set on data: a row of strengths begins where a law says that it matters, falls by a fixed ratio, and
ends when the errors have risen by more than chance, as the held-out entries themselves tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.ratings.gibbs import DrawnMap, JudgedGibbs, remove_drift
from unweave.complete.ratings.least_squares import (
    CountedAlternate,
    InformedAlternate,
    Strengths,
    Task,
    alternating,
    left_over,
)
from unweave.complete.ratings.side_information import SideInformation
from unweave.data.arguments import generator, number, whole
from unweave.data.hold_out import draw_out, part
from unweave.objectives import Observed
from unweave.objectives.observed import observed
from unweave.select.choose import Choice
from unweave.solve.alternate import Alternate
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import State
from unweave.solve.svd import truncated_svd

FIRST, LAST = 8, 64  # the rank where "auto" begins, and the largest that it looks at
SAMPLED = 16  # the rank of a sampler where none is given
BINS = (1, 2, 4, 8, 16, 32)
CLEARLY = 2.0  # standard errors: on tables of pure noise the best of many ridges is within these of biases alone
_SHARE = 0.1  # of the entries is held out
_LONGEST = 12  # steps of a row of strengths to either side
_SWEEPS = Loop(max_iter=12, ending="a trial")
_UNSURE = 1.0  # the ridge where there are too few entries to hold any out: that of a prior as wide as the data

Errors = NDArray[np.float64]  # squared, one for each entry that is held out


@dataclass(frozen=True)
class Chosen:
    """Hold the rank and the ridges to fit with, and the held-out errors by which they were chosen (empty: given)."""

    rank: int
    ridge: float
    bias_ridge: float
    ridge_path: dict[float, float] = field(default_factory=dict)
    rank_path: dict[int, float] = field(default_factory=dict)
    bins_path: dict[int, float] = field(default_factory=dict)
    choice: Choice | None = None

    def published(self) -> dict:
        """List the attributes of an estimator that say how it was chosen."""
        paths = {"ridge_path_": self.ridge_path, "rank_path_": self.rank_path, "bins_path_": self.bins_path}
        told = {name: path for name, path in paths.items() if path}
        return told if self.choice is None else {**told, "choice_": self.choice}


def choose(task: Task, n_components, given: tuple[float, float] | None) -> Chosen:
    """Choose rank and ridges for a task; `given` are the ridges of vectors and of biases, None where to be found."""
    auto, shape = n_components == "auto", task.table.shape
    rank = min(FIRST, *shape) if auto else whole(n_components, "n_components", 1)
    if given is not None and not auto:
        return Chosen(rank, *given)
    trial = Trial.of(task)
    if trial is None:
        return Chosen(min(rank, *shape), *(given or (_UNSURE, _UNSURE)))
    found, rank_path = _search(trial, rank, auto, given)
    ridge_path = {ridge: trial.told(errors) for ridge, errors in found.tried.items()}
    words = ("held-out", "error at held-out entries", "n_components", False)
    choice = Choice(found.rank, dict(rank_path), {}, *words) if auto else None
    return Chosen(found.rank, found.ridge, found.bias_ridge, ridge_path, rank_path, choice=choice)


def given_ridges(ridge, bias_ridge) -> tuple[float, float] | None:
    """Check (ridge, ridge of the biases) that a user gave; None where they are to be found."""
    if isinstance(ridge, str):
        if ridge != "auto":
            raise ValueError(f"ridge={ridge!r} must be a number or 'auto'")
        if bias_ridge is not None:
            raise ValueError("bias_ridge goes with a ridge that is a number; ridge='auto' finds both")
        return None
    ridge = number(ridge, "ridge")
    biases = ridge if bias_ridge is None else number(bias_ridge, "bias_ridge")
    if ridge != biases and not (ridge > 0 and biases > 0):
        raise ValueError(f"ridge={ridge:g} and bias_ridge={biases:g}: both must be above 0, or equal; give a small one")
    return ridge, biases


def with_bins(task: Task, chosen: Chosen, time_bins) -> tuple[Task, Chosen]:
    """Find the stretches of time of least held-out error, where ``time_bins="auto"`` asks for it."""
    if task.side.times is None or time_bins != "auto":
        return task, chosen
    trial, path = Trial.of(task, chosen.ridge), {}
    if trial is None:
        return replace(task, side=replace(task.side, n_bins=1)), chosen
    for bins in BINS:
        timed = replace(trial, side=replace(trial.side, n_bins=bins))
        path[bins] = trial.told(timed.errors(chosen.rank, chosen.ridge, chosen.bias_ridge))
    best = min(path, key=lambda bins: path[bins])
    return replace(task, side=replace(task.side, n_bins=best)), replace(chosen, bins_path=path)


# -- for a sampler -------------------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """Hold what a sampler works on: the task less its drift, the rank, the maps to draw, and the drift (or None)."""

    task: Task
    chosen: Chosen
    maps: dict[str, DrawnMap]
    drift: dict | None


def prepare_sampler(task: Task, n_components, ridge, time_bins) -> Prepared:
    """Take the drift off the ratings, and choose the rank: 0 where vectors do not pay, unless a ridge was given."""
    sides = {"users": task.side.users, "items": task.side.items}
    maps = {name: DrawnMap(side) for name, side in sides.items() if side is not None}
    drift, bins_path = None, {}
    if task.side.times is not None:
        level = _level_ridge(task)
        task, timed = with_bins(task, Chosen(0, level, level), time_bins)
        bins_path = timed.bins_path
        table, drift = remove_drift(task, level)
        task = replace(task, table=table)
    rank = SAMPLED if n_components == "auto" else whole(n_components, "n_components", 1)
    pays, rank_path = _vectors_pay(task, rank, maps) if ridge == "auto" else (True, {})
    return Prepared(task, Chosen(rank if pays else 0, 0.0, 0.0, {}, rank_path, bins_path), maps, drift)


def _level_ridge(task: Task) -> float:
    """Find the ridge of biases that drift and stand alone, on held-out entries."""
    trial = Trial.of(task)
    return 1.0 if trial is None else biases_alone(replace(trial, side=trial.side.times_alone()), None).bias_ridge


def _vectors_pay(task: Task, rank: int, maps: dict[str, DrawnMap]) -> tuple[bool, dict[int, float]]:
    """Tell whether draws of this rank predict held-out entries clearly better than biases alone, and both errors."""
    trial = Trial.of(task)
    if trial is None:
        return True, {}
    alone, vectors = (JudgedGibbs(trial.train, trial.test, k, maps).errors() for k in (0, rank))
    return excess(alone, vectors) > CLEARLY, {0: trial.told(alone), rank: trial.told(vectors)}


# -- the search ----------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """Hold the ridges for a rank, and the errors of every ridge of the vectors that was tried."""

    rank: int
    ridge: float
    bias_ridge: float
    tried: dict[float, Errors]

    @property
    def errors(self) -> Errors:
        return self.tried[self.ridge]


def _search(trial: Trial, rank: int, auto: bool, given: tuple[float, float] | None) -> tuple[Found, dict[int, float]]:
    """Try biases alone, then vectors; of "auto" ranks those near the best so far, while that is clearly better.

    Halving a rank needs to gain nothing but the vectors that are saved: an error that is no larger.
    """
    alone = biases_alone(trial, given)
    path = {0: trial.told(alone.errors)}
    best = _vectors(trial, rank, alone.bias_ridge, given)
    path[rank] = trial.told(best.errors)
    for step, chance in ((2.0, CLEARLY), (0.5, 0.0)) if auto else ():
        began = best.rank
        while 1 <= (more := int(best.rank * step)) <= min(LAST, *trial.train.shape):
            other = _near(trial, more, best, step**0.5, given)
            path[more] = trial.told(other.errors)
            if excess(best.errors, other.errors) < chance:
                break
            best = other
        if best.rank != began:
            break
    best = best if given is not None else _polished(trial, best)
    path[best.rank] = trial.told(best.errors)
    return (best if excess(alone.errors, best.errors) > CLEARLY else alone), path


def biases_alone(trial: Trial, given) -> Found:
    """Find the best ridge of a model without vectors."""
    if given is not None:
        return Found(0, given[1], given[1], {given[1]: trial.errors(0, given[1], given[1])})
    entries = trial.train.X.nnz / max(trial.train.shape)
    half = max(entries, 1.0) ** (1 - trial.task.power)  # where the bias of an average row is shrunk to half
    tried = search(lambda ridge: trial.errors(0, ridge, ridge), half, 4.0)
    return Found(0, best_of(tried), best_of(tried), tried)


def _vectors(trial: Trial, rank: int, bias_ridge: float, given) -> Found:
    """Find the best ridge of a rank, from the one down above which vectors cannot pay."""
    if given is not None:
        return Found(rank, given[0], given[1], {given[0]: trial.errors(rank, *given)})
    top = trial.largest(bias_ridge)
    most = np.inf if trial.side.has_features else top
    tried = search(lambda ridge: trial.errors(rank, ridge, bias_ridge), top / 2, 2.0, most)
    return Found(rank, best_of(tried), bias_ridge, tried)


def _near(trial: Trial, rank: int, other: Found, ratio: float, given) -> Found:
    """Find the best ridge of a rank from that of another: more vectors want no weaker one, fewer no stronger one."""
    known = trial.errors(rank, other.ridge, other.bias_ridge)
    tried = {other.ridge: known}
    if given is None:
        tried = walk(lambda ridge: trial.errors(rank, ridge, other.bias_ridge), other.ridge, known, ratio)
    return Found(rank, best_of(tried), other.bias_ridge, tried)


def _polished(trial: Trial, found: Found) -> Found:
    """Find the ridge of the biases anew, as vectors take over some of what they had to say; then the other."""
    rank, ridge, bias_ridge, tried = found
    at_biases = _both_ways(lambda b: trial.errors(rank, ridge, b), {bias_ridge: found.errors}, bias_ridge, 2.0)
    moved = best_of(at_biases)
    tried = tried if moved == bias_ridge else {ridge: at_biases[moved]}
    tried = _both_ways(lambda r: trial.errors(rank, r, moved), tried, ridge, 2**0.5)
    return Found(rank, best_of(tried), moved, tried)


def _both_ways(run, tried: dict[float, Errors], start: float, ratio: float) -> dict[float, Errors]:
    """Add to `tried` what a walk down finds, or else one up; not where there is an answer already."""
    for step in (1 / ratio, ratio):
        if best_of(tried) == start and not any(np.isclose(strength, start * step) for strength in tried):
            tried = {**tried, **walk(run, start, tried[start], step)}
    return tried


@dataclass(frozen=True)
class Trial:
    """Split a table into entries to fit and entries to judge by, with what is known besides them.

    `planned` is the ridge of the problem that starts are planned for; every fit of a rank has the same start.
    """

    task: Task
    train: Observed
    test: Observed
    side: SideInformation
    test_times: NDArray | None
    rng: np.random.Generator
    planned: float = 0.0
    starts: dict[int, tuple[Alternate, State]] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task, planned: float = 0.0) -> Trial | None:
        """Hold entries of a task out; None when there are too few to spare any."""
        state = task.random_state
        rng = generator(0 if isinstance(state, np.random.RandomState) else state)
        table, side = observed(task.table), task.side
        out = draw_out(table.X.nnz, rng, _SHARE)
        if out is None:
            return None
        times = None if side.times is None else side.times[out]
        train, test = (Observed(part(table.X, pick), table.loss) for pick in (~out, out))
        return cls(task, train, test, side.take(~out), times, rng, planned)

    def told(self, errors: Errors) -> float:
        """Compute the root mean square of squared errors, in the units of the data."""
        return float(np.sqrt(errors.mean())) * self.task.units.spread

    def errors(self, rank: int, ridge: float, bias_ridge: float) -> Errors:
        """Compute squared errors at the entries held out, of a fit to the others.

        Every fit of a rank has the same start: one that began where a stronger ridge ended would begin near zeros,
        which least squares leaves slowly, and one that began where a weaker one ended would carry its overfitting.
        """
        scheme, state = self.fitted(rank, ridge, bias_ridge)
        test = scheme.undrifted(state, self.test, self.test_times)
        return np.square(left_over(test, state["codes"], state["components"]))

    def fitted(self, rank: int, ridge: float, bias_ridge: float) -> tuple[CountedAlternate | InformedAlternate, State]:
        """Fit the other entries in a few sweeps."""
        scheme = alternating(*self._start(rank), Strengths(ridge, bias_ridge, self.task.power), self.side)
        state, _ = iterate(scheme, scheme.begin(), _SWEEPS)
        return scheme, state

    def _start(self, rank: int) -> tuple[Alternate, State]:
        if rank not in self.starts:
            problem = self.task.problem(rank, self.planned)
            _, plain, first = self.task.plan(self.train, problem, self.rng)
            self.starts[rank] = plain, first
        return self.starts[rank]

    def largest(self, bias_ridge: float) -> float:
        """Find the ridge from which on no vector can pay: the largest singular value of what biases leave, weighted."""
        scheme, state = self.fitted(0, bias_ridge, bias_ridge)
        table = observed(scheme.at(state).objective)
        t, counts = table.by_row, np.diff(table.by_column.indptr)
        weights = (np.diff(t.indptr)[t.rows] * counts[t.indices].astype(np.float64)) ** (-self.task.power / 2)
        rest = left_over(table, state["codes"], state["components"]) * weights
        top = truncated_svd(sp.csr_array((rest, t.indices, t.indptr), shape=table.shape), 1, codes=False, rng=0).s
        return max(float(top[0]), 1e-6)  # where biases leave nothing, any ridge is as good


# -- rows of strengths ---------------------------------------------------------------------------------------------


def excess(errors: Errors, least: Errors) -> float:
    """Tell by how many standard errors the mean of some errors is above that of others, entry by entry.

    >>> import numpy as np
    >>> excess(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])), excess(np.ones(3), np.ones(3))
    (inf, 0.0)
    """
    off = errors - least
    mean, chance = float(off.mean()), float(off.std() / np.sqrt(len(off)))
    return mean / chance if chance > 0 else (0.0 if mean == 0 else float(np.copysign(np.inf, mean)))


def search(run: Callable[[float], Errors], start: float, ratio: float, most: float = np.inf) -> dict[float, Errors]:
    """Try ``run(strength)`` for a falling row of strengths, and for a rising one where the first is best: their errors.

    The row ends when the errors are clearly above the least (by two standard errors), or have risen twice running. Then
    the strengths half-way to both neighbours of the best are tried; all are below `most`.

    >>> import numpy as np
    >>> tried = search(lambda s: np.array([(np.log2(s) + 3.0) ** 2, 1.0]), 1.0, 4.0)
    >>> [round(s, 4) for s in tried], round(best_of(tried), 4)
    ([1.0, 0.25, 0.0625, 0.0156, 0.5, 0.125], 0.125)
    """
    tried, rises, strength = {start: run(start)}, 0, start
    for _ in range(_LONGEST):
        before = tried[strength].mean()
        strength /= ratio
        tried[strength] = run(strength)
        rises = rises + 1 if tried[strength].mean() >= before else 0
        if rises == 2 or excess(tried[strength], tried[best_of(tried)]) > 2:
            break
    strength = start
    while best_of(tried) == strength and strength * ratio < most and strength < start * ratio**_LONGEST:
        strength *= ratio
        tried[strength] = run(strength)
    best, step = best_of(tried), ratio**0.5
    for near in (best * step, best / step):
        if near < most:
            tried[near] = run(near)
    return tried


def walk(run: Callable[[float], Errors], start: float, known: Errors, ratio: float) -> dict[float, Errors]:
    """Try strengths from one that is nearly right onwards, each `ratio` times the last, while that is better."""
    tried, strength = {start: known}, start
    while best_of(tried) == strength and len(tried) < _LONGEST:
        strength *= ratio
        tried[strength] = run(strength)
    return tried


def best_of(tried: dict[float, Errors]) -> float:
    """Find the strength of the least mean error."""
    return min(tried, key=lambda strength: tried[strength].mean())
