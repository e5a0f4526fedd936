"""Answer what a fitted model of ratings is asked: codes of rows, newcomers, other times, and reasons.

An object of :class:`Answers` is made of what an estimator has learned and holds nothing else. :class:`Factors` answers
after least squares; :class:`unweave.complete.ratings.posterior.Posterior` after sampling.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unweave.complete.ratings.drift import Calendar, Drift, drift_at, entry_times, pair_times
from unweave.complete.ratings.features import ids_of, rows_for, same_width, table_of
from unweave.complete.ratings.least_squares import PulledUpdate, Strengths, counted_half, left_over
from unweave.complete.ratings.side_information import SideRecords, from_features
from unweave.complete.ratings.units import Units
from unweave.complete.recommending.answers import paired
from unweave.complete.recommending.asked import NewUser, as_list, is_table
from unweave.complete.recommending.ids import find, refuse_unknown
from unweave.complete.recommending.ridge import ridge_code
from unweave.linalg.scores import pair_scores
from unweave.losses.base import Loss
from unweave.objectives import Objective, Observed
from unweave.objectives.observed import observed
from unweave.solve.alternate import left_half_step
from unweave.solve.problem import Problem
from unweave.updates import Update


@dataclass(frozen=True)
class Answers(ABC):
    """Answer questions about rows of ratings from what was learned.

    Parameters
    ----------
    units : Units
    components : array
        As published, in units of the data.
    problem : Problem
        Which entries of codes and components are held.
    loss : Loss
    records : SideRecords
        What was learned of features and drift.
    strengths : Strengths
    """

    units: Units
    components: NDArray
    problem: Problem
    loss: Loss
    records: SideRecords
    strengths: Strengths

    # -- what differs between point estimates and draws ------------------------------------------------------------

    @abstractmethod
    def codes(self, table: Objective, pull: NDArray | None = None) -> NDArray:
        """Find the codes of the rows of a standardised table, in units of the data; `pull` is that of :meth:`pull`."""

    @abstractmethod
    def pull(self, features: NDArray | None, n_rows: int, dtype) -> NDArray | None:
        """Compute what the codes of rows with these features are pulled towards, as :meth:`codes` takes it."""

    @abstractmethod
    def code_about(self, prior: NDArray, items: NDArray, values: NDArray) -> NDArray:
        """Find the code of one row with these entries (at least one), pulled towards the code `prior`."""

    @abstractmethod
    def bare(self, what: str) -> NDArray:
        """Return the code of a "user" (the components of an "item") of whom nothing is known, features left out."""

    @abstractmethod
    def vector_entries(self) -> NDArray | slice:
        """Tell the entries of a code that are its vector, not biases."""

    @abstractmethod
    def unexplained(self, table: Observed, pull: NDArray | None) -> Callable[[NDArray], NDArray]:
        """Return ``residual(drift)``: what the best codes leave of the entries less their drift."""

    # -- what both share -------------------------------------------------------------------------------------------

    def free(self, what: str) -> NDArray:
        """List the entries of a code (of a component) that are not held."""
        held = self.problem.held_codes if what == "user" else self.problem.held_components
        return np.setdiff1d(np.arange(self.problem.width), held)

    def prior(self, what: str, features: NDArray | None = None) -> NDArray[np.float64]:
        """Compute the code, or the components, that features alone suggest; None: those of the average."""
        out = self.bare(what).astype(np.float64)
        record = self.records.users if what == "user" else self.records.items
        if record is not None or features is not None:
            rows = None if features is None else features[None, :]
            out[self.free(what)] += from_features(self.records.features(what), rows)[0]
        return out

    def blank(self, what: str) -> NDArray:
        """Return the code (the components) of somebody (something) of whom nothing is known."""
        return self.prior(what).astype(self.components.dtype)

    def new_code(self, items: NDArray, values: NDArray, features: NDArray | None = None) -> NDArray:
        """Find the code of somebody new, from ratings and features."""
        prior = self.prior("user", features)
        return prior.astype(self.components.dtype) if not len(items) else self.code_about(prior, items, values)

    def informed_codes(self, X, table: Observed, timestamps, features) -> NDArray:
        """Find the codes of the rows of a table, given as X, with times of its entries and features of its rows."""
        rows, n = None, table.shape[0]
        if features is not None:
            rows = table_of(features, n, ids_of(X, "user"), "user")[0]
            rows = same_width(rows, self.records.features("user"), "user")
        pull, standard = self.pull(rows, n, table.dtype), observed(self.units.inward(table))
        if timestamps is not None:
            self.records.timed()
            standard = self.undrifted(standard, entry_times(X, timestamps, table.X)[0], pull)
        return self.codes(standard, pull)

    def undrifted(self, table: Observed, times: NDArray, pull: NDArray | None) -> Observed:
        """Take their drift off the entries of a standardised table, the slopes of its rows found from these entries."""
        drift = self.records.timed()
        mine = Drift.of(table, times, Calendar.again(drift), drift["ridge"], drift["scale"])
        parts = mine.settle(drift["bins"] / self.units.spread, self.unexplained(table, pull))
        return table.less(mine.at_entries(parts))

    def expected(self, place: int, items: NDArray, indptr: NDArray) -> tuple[NDArray, NDArray]:
        """Compute (what features add to the code of a user, what features and drift add to the user's ratings).

        The user is at `place` of the fit (-1: an average one), and `indptr` says where the user's ratings are there.
        """
        prior, record, drift = np.zeros(len(self.components)), self.records.users, self.records.drift
        if record is not None:
            known = record["table"][place] @ record["map"] if place >= 0 else from_features(record, None)[0]
            prior[self.free("user")] = known
        off = prior @ self.components[:, items]
        if drift is not None and place >= 0:
            times = drift["times"][indptr[place] : indptr[place + 1]]
            off = off + drift_at(drift, np.full(len(items), place), items, times)
        return prior, off

    def row_ridge(self, n_ratings: int) -> NDArray[np.float64]:
        """Compute, in units of the data, the ridge of each entry of a vector, and last that of the bias."""
        strength = self.strengths.ridge * max(n_ratings, 1) ** self.strengths.power
        return strength * self.units.of_ridge(self.problem.width)


@dataclass(frozen=True)
class Factors(Answers):
    """Answer from one pair of factors, found by least squares: codes are (u, a, 1), components (z, 1, mean + b)."""

    left: Update

    def codes(self, table, pull=None):
        return self.units.codes_out(self._solved(table, pull))

    def pull(self, features, n_rows, dtype):
        if features is None and self.records.users is None:
            return None
        pull = from_features(self.records.features("user"), features) / self.units.of_free(self.problem.width)
        return np.ascontiguousarray(np.broadcast_to(pull, (n_rows, pull.shape[1])), dtype=dtype)

    def code_about(self, prior, items, values):
        Z, free, pulled = self.components[:, items], self.free("user"), np.zeros_like(prior)
        pulled[free] = prior[free]
        off = pulled @ Z.astype(np.float64)
        code = ridge_code(Z, values - off, self.row_ridge(len(items)), self.problem.held_codes)
        return (code.astype(Z.dtype) + pulled).astype(Z.dtype)

    def bare(self, what):
        out = np.zeros(len(self.components), self.components.dtype)
        if what == "user":
            out[self.problem.held_codes] = 1
        else:
            out[self.problem.held_components], out[self.problem.held_codes] = 1, self.units.mean
        return out

    def vector_entries(self):
        return slice(self.problem.n_components)

    def unexplained(self, table, pull):
        Z = self._components_in()

        def residual(drift: NDArray) -> NDArray:
            rest = table.less(drift)
            return left_over(rest, self._solved(rest, pull), Z)

        return residual

    def _components_in(self) -> NDArray:
        """Bring the components to the units of the standardised table, for codes that end in a one."""
        return self.units.offsets_in(self.components)

    def _solved(self, table: Objective, pull: NDArray | None) -> NDArray:
        half, left = counted_half(table, self.strengths.ridge, self.strengths.power, transposed=False), self.left
        if pull is not None:
            half, left = replace(half, towards=pull), PulledUpdate(left)
        return left_half_step(table, self.problem, left, self._components_in(), half=half)


# -- pairs at times, and whoever is known by features alone --------------------------------------------------------


def timed_scores(model, answers: Answers, scores, users, items, timestamps, rows: bool):
    """Add the drift of pairs at their times to their scores."""
    drift = answers.records.timed()
    user_at, one_user = _places(model, users, "user", rows)
    item_at, one_item = _places(model, items, "item", rows)
    user_at, item_at = paired(user_at, item_at, one_user, one_item)
    times = pair_times(timestamps, len(user_at), drift["dates"])
    timed = np.reshape(scores, -1) + drift_at(drift, user_at, item_at, times)
    return float(timed[0]) if one_user and one_item and np.ndim(timestamps) == 0 else timed


def featured_scores(model, answers: Answers, users, items, features: dict, rows: bool):
    """Predict pairs where whoever is unknown is predicted from `features` (of "user" and "item")."""
    vectors, ones, at = [], [], []
    for wanted, what in ((users, "user"), (items, "item")):
        listed, one = as_list(wanted, None if rows else getattr(model, f"{what}_ids_"), what)
        found, _ = _places(model, wanted, what, rows)
        vectors.append(_vectors(model, answers, listed, found, what, features[what]))
        ones.append(one)
        at.append(np.arange(len(found)))
    user_at, item_at = paired(at[0], at[1], *ones)
    Z = np.ascontiguousarray(vectors[1].T)
    scores = pair_scores(vectors[0], Z, user_at, item_at, Z[:, 0])
    return scores[0] if all(ones) else scores


def _places(model, wanted, what: str, rows: bool) -> tuple[NDArray, bool]:
    """Find (positions, -1 for the unknown and for new users; whether one was asked for)."""
    if isinstance(wanted, NewUser):
        return np.array([-1]), True
    if is_table(wanted) or (isinstance(wanted, list | tuple) and any(isinstance(w, NewUser) for w in wanted)):
        return np.full(wanted.shape[0] if is_table(wanted) else len(wanted), -1), False
    ids = None if rows else getattr(model, f"{what}_ids_")
    listed, one = as_list(wanted, ids, what)
    return find(listed, ids, model.seen_.shape[0 if what == "user" else 1], what), one


def _vectors(model, answers: Answers, listed, found: NDArray, what: str, given) -> NDArray:
    """Gather codes (components) of who is known, and those that features suggest of who is not."""
    known = found[found >= 0]
    out = np.tile(answers.blank(what), (len(found), 1))
    out[found >= 0] = model._codes_at(known) if what == "user" else answers.components[:, known].T
    strangers = np.flatnonzero(found < 0)
    if given is None or not len(strangers):
        refuse_unknown(listed, found, what, f"give {what}_features for it")
        return out
    record = answers.records.features(what)
    for at, row in zip(strangers, rows_for(given, listed, strangers, record, what), strict=True):
        out[at] = answers.prior(what, row)
    return out


@dataclass(frozen=True)
class InUnits:
    """Codes of rows in memory, found on their standardised ratings."""

    answers: Answers

    def __call__(self, rows: Objective) -> NDArray:
        return self.answers.codes(self.answers.units.inward(rows))
