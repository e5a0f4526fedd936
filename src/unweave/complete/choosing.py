"""The rank and the ridges of a matrix completion, on held-out entries where they are not given.

Biases alone come first, with a ridge of their own. Vectors are of any use only under a ridge below the largest singular
value of what biases leave (each entry divided by the roots of the weights of its row and column), so their row of
ridges falls from there. Where no vectors do clearly better than biases alone, the model is biases alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.counted import CountedAlternate, Strengths
from unweave.complete.features_guided import Guide, GuidedAlternate
from unweave.complete.held_out import SHARE, Errors, best_of, drawn, excess, observed, part, search, walk
from unweave.factorization.settings import generator, number, whole
from unweave.linalg.entries import predict_entries
from unweave.objectives import Objective, Observed
from unweave.select.choose import Choice
from unweave.solve.alternate import Alternate
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import make_plan
from unweave.solve.svd import truncated_svd

FIRST, LAST = 8, 64  # the rank where "auto" begins, and the largest that it looks at
BINS = (1, 2, 4, 8, 16, 32)
CLEARLY = 2.0  # standard errors: on tables of pure noise the best of many ridges is within these of biases alone
_SWEEPS = Loop(max_iter=12, ending="a trial")
_UNSURE = 1.0  # the ridge where there are too few entries to hold any out: that of a prior as wide as the data


def choose(model, objective: Objective, loss) -> tuple[int, float, float]:
    """(rank, ridge, ridge of the biases) for a standardised table; where it searched, paths and ``choice_`` are set."""
    for name in ("choice_", "ridge_path_", "rank_path_"):
        vars(model).pop(name, None)
    auto = model.n_components == "auto"
    rank = min(FIRST, *objective.shape) if auto else whole(model.n_components, "n_components", 1)
    given = given_ridges(model)
    if given is not None and not auto:
        return rank, *given
    trial = Trial.of(model, objective, loss)
    if trial is None:
        return min(rank, *objective.shape), *(given or (_UNSURE, _UNSURE))
    found = _search(trial, rank, auto, given)
    if auto:
        words = ("held-out", "error at held-out entries", "n_components", False)
        model.choice_ = Choice(found[0], dict(model.rank_path_), {}, *words)
    return found


def given_ridges(model) -> tuple[float, float] | None:
    """(ridge, ridge of the biases) that a user gave, None where they are to be found."""
    if isinstance(model.ridge, str):
        if model.ridge != "auto":
            raise ValueError(f"ridge={model.ridge!r} must be a number or 'auto'")
        if model.bias_ridge is not None:
            raise ValueError("bias_ridge goes with a ridge that is a number; ridge='auto' finds both")
        return None
    ridge = number(model.ridge, "ridge")
    biases = ridge if model.bias_ridge is None else number(model.bias_ridge, "bias_ridge")
    if ridge != biases and not (ridge > 0 and biases > 0):
        raise ValueError(f"ridge={ridge:g} and bias_ridge={biases:g}: both must be above 0, or equal; give a small one")
    return ridge, biases


def choose_bins(model, objective: Objective, loss) -> int:
    """Stretches of time of least held-out error, for the rank and the ridges chosen; sets ``bins_path_``."""
    trial = Trial.of(model, objective, loss)
    if trial is None or trial.guide is None:
        return 1
    model.bins_path_ = {}
    for bins in BINS:
        timed = replace(trial, guide=replace(trial.guide, n_bins=bins))
        model.bins_path_[bins] = trial.told(timed.errors(model._rank, model.ridge_, model.bias_ridge_))
    return min(BINS, key=lambda bins: model.bins_path_[bins])


class Found(NamedTuple):
    """Ridges for a rank, and the errors of every ridge of the vectors that was tried."""

    rank: int
    ridge: float
    bias_ridge: float
    tried: dict[float, Errors]

    @property
    def errors(self) -> Errors:
        return self.tried[self.ridge]


def _search(trial: Trial, rank: int, auto: bool, given: tuple[float, float] | None) -> tuple[int, float, float]:
    """Biases alone, then vectors; of "auto" ranks those near the best so far, while that is clearly better.

    Halving a rank needs to gain nothing but the vectors that are saved: an error that is no larger.
    """
    model, alone = trial.model, biases_alone(trial, given)
    model.rank_path_ = {0: trial.told(alone.errors)}
    best = _vectors(trial, rank, alone.bias_ridge, given)
    model.rank_path_[rank] = trial.told(best.errors)
    for step, chance in ((2.0, CLEARLY), (0.5, 0.0)) if auto else ():
        began = best.rank
        while 1 <= (more := int(best.rank * step)) <= min(LAST, *trial.train.shape):
            other = _near(trial, more, best, step**0.5, given)
            model.rank_path_[more] = trial.told(other.errors)
            if excess(best.errors, other.errors) < chance:
                break
            best = other
        if best.rank != began:
            break
    best = best if given is not None else _polished(trial, best)
    model.rank_path_[best.rank] = trial.told(best.errors)
    best = best if excess(alone.errors, best.errors) > CLEARLY else alone
    model.ridge_path_ = {ridge: trial.told(errors) for ridge, errors in best.tried.items()}
    return best.rank, best.ridge, best.bias_ridge


def biases_alone(trial: Trial, given) -> Found:
    """The best ridge of a model without vectors."""
    if given is not None:
        return Found(0, given[1], given[1], {given[1]: trial.errors(0, given[1], given[1])})
    entries = trial.train.X.nnz / max(trial.train.shape)
    half = max(entries, 1.0) ** (1 - trial.model._power())  # where the bias of an average row is shrunk to half
    tried = search(lambda ridge: trial.errors(0, ridge, ridge), half, 4.0)
    return Found(0, best_of(tried), best_of(tried), tried)


def _vectors(trial: Trial, rank: int, bias_ridge: float, given) -> Found:
    """The best ridge of a rank, from the one down above which vectors cannot pay."""
    if given is not None:
        return Found(rank, given[0], given[1], {given[0]: trial.errors(rank, *given)})
    top = trial.largest(bias_ridge)
    most = np.inf if trial.has_features else top
    tried = search(lambda ridge: trial.errors(rank, ridge, bias_ridge), top / 2, 2.0, most)
    return Found(rank, best_of(tried), bias_ridge, tried)


def _near(trial: Trial, rank: int, other: Found, ratio: float, given) -> Found:
    """The best ridge of a rank from that of another on: more vectors want no weaker one, fewer no stronger one."""
    known = trial.errors(rank, other.ridge, other.bias_ridge)
    tried = {other.ridge: known}
    if given is None:
        tried = walk(lambda ridge: trial.errors(rank, ridge, other.bias_ridge), other.ridge, known, ratio)
    return Found(rank, best_of(tried), other.bias_ridge, tried)


def _polished(trial: Trial, found: Found) -> Found:
    """The ridge of the biases beside vectors, which take over some of what biases alone had to say; then the other."""
    rank, ridge, bias_ridge, tried = found
    at_biases = _both_ways(lambda b: trial.errors(rank, ridge, b), {bias_ridge: found.errors}, bias_ridge, 2.0)
    moved = best_of(at_biases)
    tried = tried if moved == bias_ridge else {ridge: at_biases[moved]}
    tried = _both_ways(lambda r: trial.errors(rank, r, moved), tried, ridge, 2**0.5)
    return Found(rank, best_of(tried), moved, tried)


def _both_ways(run, tried: dict[float, Errors], start: float, ratio: float) -> dict[float, Errors]:
    """`tried` with what a walk down finds, or else one up; not where there is an answer already."""
    for step in (1 / ratio, ratio):
        if best_of(tried) == start and not any(np.isclose(strength, start * step) for strength in tried):
            tried = {**tried, **walk(run, start, tried[start], step)}
    return tried


@dataclass(frozen=True)
class Trial:
    """A table split into entries to fit and entries to judge by, with what is known besides them."""

    model: Any
    loss: Any
    train: Observed
    test: Observed
    guide: Guide | None
    test_times: NDArray | None
    rng: np.random.Generator
    starts: dict = field(default_factory=dict)  # of a rank: every fit of it has the same

    @classmethod
    def of(cls, model, objective: Objective, loss) -> Trial | None:
        """None when there are too few entries to spare any."""
        rng = generator(model.random_state if not isinstance(model.random_state, np.random.RandomState) else 0)
        table, guide = observed(objective), model._guide
        out = drawn(table, rng, SHARE)
        if out is None:
            return None
        times = None if guide is None or guide.times is None else guide.times[out]
        guide = None if guide is None else guide.take(~out)
        return cls(model, loss, part(table, ~out), part(table, out), guide, times, rng)

    @property
    def has_features(self) -> bool:
        return self.guide is not None and (self.guide.users is not None or self.guide.items is not None)

    def told(self, errors: Errors) -> float:
        """Root mean square of squared errors, in the units of the data."""
        return float(np.sqrt(errors.mean())) * self.model.spread_

    def errors(self, rank: int, ridge: float, bias_ridge: float) -> Errors:
        """Squared errors at the entries held out, of a fit to the others.

        Every fit of a rank has the same start: one that began where a stronger ridge ended would begin near zeros,
        which least squares leaves slowly, and one that began where a weaker one ended would carry its overfitting.
        """
        scheme, state = self.fitted(rank, ridge, bias_ridge)
        test = self.test
        if isinstance(scheme, GuidedAlternate):
            test = scheme.undrifted(state, test, self.test_times)
        return np.square(_left_over(test, state))

    def fitted(self, rank: int, ridge: float, bias_ridge: float) -> tuple[CountedAlternate, dict]:
        plain, first = self._start(rank)
        strengths = Strengths(ridge, bias_ridge, self.model._power())
        scheme, state = alternating(plain, strengths, self.guide, first)
        state, _ = iterate(scheme.step, state, _SWEEPS, settled=scheme.settled)
        return scheme, state

    def _start(self, rank: int) -> tuple[Alternate, dict]:
        if rank not in self.starts:
            self.model._rank = rank
            problem = self.model._problem(self.loss, self.train.shape, False)
            init = start_of(self.model, rank, self.train.shape[1])
            _, plain, first = make_plan(self.train, problem, "auto", init, self.rng)
            assert isinstance(plain, Alternate)
            self.starts[rank] = plain, first
        return self.starts[rank]

    def largest(self, bias_ridge: float) -> float:
        """The ridge from which on no vector can pay: the largest singular value of what biases leave, weighted."""
        scheme, state = self.fitted(0, bias_ridge, bias_ridge)
        table, power = scheme.objective, self.model._power()
        assert isinstance(table, Observed)
        t, counts = table.by_row, np.diff(table.by_column.indptr)
        rows = np.repeat(np.arange(t.n_rows), np.diff(t.indptr))
        weights = (np.diff(t.indptr)[rows] * counts[t.indices].astype(np.float64)) ** (-power / 2)
        rest = sp.csr_array((_left_over(table, state) * weights, t.indices, t.indptr), shape=table.shape)
        top = truncated_svd(rest, 1, codes=False, rng=0).s
        return max(float(top[0]), 1e-6)  # where biases leave nothing, any ridge is as good


def start_of(model, rank: int, n_items: int):
    """What `make_plan` takes as a start: that of the user, or none where there are no vectors to begin with."""
    return model.init if rank else np.zeros((0, n_items))


def alternating(
    plain: Alternate, strengths: Strengths, guide: Guide | None, first: dict, unit: float = 1.0
) -> tuple[CountedAlternate, dict]:
    """Alternating least squares under the counted ridge, with side information if there is any, and its first state."""
    if guide is None:
        scheme = CountedAlternate(plain, strengths, unit)
    else:
        scheme = GuidedAlternate(plain, strengths, guide, unit)
    return scheme, scheme.begin(first)


def _left_over(table: Observed, state: dict) -> NDArray[np.float64]:
    """What the factors of a state leave of the entries."""
    t = table.by_row
    H, U = np.ascontiguousarray(state["components"].T), np.ascontiguousarray(state["codes"])
    return t.data.astype(np.float64) - predict_entries(t.indptr, t.indices, H, U)
