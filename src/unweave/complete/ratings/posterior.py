"""Predict from the draws of a Gibbs sampler: the mean over draws, and how far they spread.

A draw s gives codes (u, a, 1) and components (z, 1, mean + b). Set side by side, the codes divided by the number of
draws, they are one pair of factors whose product is the mean prediction, so everything that works with codes and
components works here too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.ratings.answers import Answers, Factors
from unweave.complete.ratings.gibbs import DrawnMap, draw_about, draw_rows, residual_of_levels
from unweave.complete.ratings.least_squares import Strengths
from unweave.complete.ratings.side_information import SideInformation, SideRecords, from_features
from unweave.complete.ratings.units import Units
from unweave.complete.recommending.answers import paired
from unweave.complete.recommending.asked import as_list
from unweave.complete.recommending.ids import find, refuse_unknown
from unweave.complete.recommending.ridge import power_of
from unweave.linalg.entries import predict_entries
from unweave.objectives import Observed
from unweave.objectives.observed import observed


def kept(state: dict) -> dict[str, NDArray]:
    """Take the draws of a state, as arrays that are saved with the model."""
    n = max(1, state["n"])
    more = [name for name in ("users_maps", "items_maps", "item_means") if name in state]
    draws = {name: state[name][:n] for name in ("draws", "precisions", "means", "alphas", *more)}
    if not state["n"]:  # stopped before any was kept: the last state stands in
        d = state["items"].shape[1]
        draws |= {"draws": state["items"][None], "precisions": np.eye(d)[None], "means": np.zeros((1, d)),
                 "alphas": np.array([state["alpha"]])}  # fmt: skip
    return {name: np.ascontiguousarray(value) for name, value in draws.items()}


def components(draws: dict[str, NDArray], units: Units, dtype) -> NDArray:
    """Set (z, 1, mean + b) of every draw in units of the data, below each other: S·(k + 2) rows."""
    items = draws["draws"] * units.of_free(draws["draws"].shape[2] + 1)
    S, m, d = items.shape
    Z = np.ones((S, d + 1, m))
    Z[:, : d - 1] = items[:, :, :-1].transpose(0, 2, 1)
    Z[:, d] = units.mean + items[:, :, -1]
    return Z.reshape(S * (d + 1), m).astype(dtype)


def codes(draws: dict[str, NDArray], standard: Observed, units: Units, shift: NDArray | None = None) -> NDArray:
    """Draw codes (u, a, 1)/S of the rows of a table, given each draw of the components, side by side.

    `standard` is the standardised table; the codes are in units of the data. `shift` (rows × S × d) is what features
    add to the prior means of the rows.

    The random numbers are the same for every row and come in pairs of opposite sign: a row's codes depend on nothing
    but its own entries, spread as they should, and their mean is nearly exact.
    """
    table, items = standard.by_row, draws["draws"]
    S, m, d = items.shape
    U = np.ones((table.n_rows, S, d + 1))
    data, normal = table.data.astype(np.float64), np.random.default_rng(0).standard_normal((S, d))
    normal[1::2] = -normal[: S - S % 2 : 2]
    for s in range(S):
        H = np.hstack([items[s][:, :-1], np.ones((m, 1))])
        hyper = {"precision": draws["precisions"][s], "mean": draws["means"][s]}
        rest = data - items[s][table.indices, -1]
        alpha, numbers = float(draws["alphas"][s]), _every_row(normal[s], table)
        if shift is None:
            U[:, s, :d] = draw_rows(table, rest, H, hyper, alpha, numbers)
        else:
            U[:, s, :d] = draw_about(table, rest, H, hyper["mean"] + shift[:, s], hyper["precision"], alpha, numbers)
    U[:, :, :d] *= units.of_free(d + 1)
    return (U / S).reshape(table.n_rows, S * (d + 1)).astype(standard.dtype)


def _every_row(numbers: NDArray, table) -> NDArray:
    return np.broadcast_to(numbers, (table.n_rows, len(numbers))).copy()


def side_records(draws: dict[str, NDArray], maps: dict[str, DrawnMap], side: SideInformation, units: Units):
    """Take the maps of features out of the draws: (what newcomers need, what features add to users' prior means)."""
    users = items = shift = None
    if "users" in maps:
        found = draws.pop("users_maps")
        users = user_record(maps["users"], found, units, side.columns[0])
        S, p, d = found.shape
        shift = maps["users"].means(found.transpose(1, 0, 2).reshape(p, -1)).reshape(-1, S, d)
    if "items" in maps:
        means = draws.pop("item_means")
        items = item_record(maps["items"], draws.pop("items_maps"), means, units, side.columns[1])
    return SideRecords(users, items), shift


def user_record(side: DrawnMap, maps: NDArray, units: Units, columns) -> dict:
    """Tell what new users need: the maps of all draws side by side, as their codes are."""
    S, p, d = maps.shape
    full = np.zeros((p + 1, S, d + 1))
    full[:p, :, :d] = maps.transpose(1, 0, 2) * units.of_free(d + 1) / S
    return side.side.published(full.reshape(p + 1, -1), columns)


def item_record(side: DrawnMap, maps: NDArray, means: NDArray, units: Units, columns) -> dict:
    """Tell the same for items, whose average is not zero: components (z, 1, mean + b) of every draw."""
    S, p, d = maps.shape
    both = np.concatenate([maps.transpose(1, 0, 2), means[None]]) * units.of_free(d + 1)
    full = np.zeros((p + 1, S, d + 1))
    full[:, :, : d - 1], full[:, :, d] = both[:, :, :-1], both[:, :, -1]
    return side.side.published(full.reshape(p + 1, -1), columns)


def shifts(from_map: NDArray, S: int, units: Units) -> NDArray:
    """Compute prior means of rows in each draw (rows × S × d, standardised), from what a record says of them."""
    full = from_map.reshape(len(from_map), S, -1)[:, :, :-1]
    return full * S / units.of_free(full.shape[2] + 1)


@dataclass(frozen=True)
class Posterior(Answers):
    """Answer from the draws of a sampler: codes and components of all draws side by side.

    Parameters
    ----------
    draws : dict of arrays
        As published in ``draws_``.
    noise : float
        Standard deviation of a single rating.
    """

    draws: dict[str, NDArray]
    noise: float

    @property
    def _shape(self) -> tuple[int, int]:
        """Tell the number of draws, and of free entries of a code."""
        S, _, d = self.draws["draws"].shape
        return S, d

    def codes(self, table, pull=None):
        return codes(self.draws, observed(table), self.units, pull)

    def pull(self, features, n_rows, dtype):
        if features is None:
            return None
        return shifts(from_features(self.records.features("user"), features), self._shape[0], self.units)

    def code_about(self, prior, items, values):
        width, dtype = self.components.shape[1], self.components.dtype
        row = sp.csr_array((values, items, np.array([0, len(items)])), shape=(1, width)).astype(dtype)
        off = (prior - self.bare("user"))[None, :]
        shift = shifts(off, self._shape[0], self.units) if off.any() else None
        return self.codes(self.units.inward(Observed(row, self.loss)), shift)[0]

    def bare(self, what):
        S, d = self._shape
        out = np.zeros((S, d + 1))
        if what == "user":
            out[:, :d], out[:, d] = self.draws["means"] * self.units.of_free(d + 1), 1
            out /= S
        else:
            out[:, d - 1], out[:, d] = 1, self.units.mean
        return out.reshape(-1).astype(self.components.dtype)

    def vector_entries(self):
        S, d = self._shape
        return np.flatnonzero(np.tile(np.arange(d + 1) < d - 1, S))

    def unexplained(self, table, pull):
        drift = self.records.timed()
        return residual_of_levels(
            table, drift["levels"] / self.units.spread, drift["level_ridge"], self.strengths.power
        )

    def mean_loss(self, table: Observed, U: NDArray) -> float:
        """Compute ½ Σ (x − mean prediction)² over the entries of the standardised table, for codes U of its rows."""
        t = table.by_row
        predicted = predict_entries(t.indptr, t.indices, np.ascontiguousarray(self.components.T), U)
        off = t.data - (predicted.astype(np.float64) - self.units.mean) / self.units.spread
        return 0.5 * float(off @ off)

    def spread(self, U: NDArray, Z: NDArray) -> NDArray[np.float64]:
        """Compute standard deviations of ratings with codes U and components Z (one pair per row): draws and noise."""
        S = self._shape[0]
        each = (U.astype(np.float64) * Z).reshape(len(U), S, -1).sum(axis=2) * S
        return np.sqrt(each.var(axis=1) + self.noise**2)


def answers_of(model) -> Answers:
    """Make what answers questions about a fitted model out of its attributes: of its draws, or of its factors."""
    biases = model.ridge_ if model.bias_ridge_ is None else model.bias_ridge_
    strengths = Strengths(model.ridge_, biases, power_of(model.weighting))
    units = Units(model.mean_, model.spread_, strengths.held)
    records = SideRecords(*(getattr(model, name, None) for name in ("user_features_", "item_features_", "drift_")))
    learned = (units, model.components_, model._sentence, model._learned.loss, records, strengths)
    if hasattr(model, "draws_"):
        return Posterior(*learned, model.draws_, model.noise_)
    return Factors(*learned, model._left)


def pair_spread(model, users, items, rows: bool) -> NDArray | float:
    """Compute the standard deviation of the ratings of pairs, for a model with draws."""
    answers = answers_of(model)
    if not isinstance(answers, Posterior):
        raise ValueError("only solver='gibbs' gives standard deviations: fit with it")
    codes, user_at, one_user = model._pair_users(users, rows, "error")
    ids = None if rows else model.item_ids_
    listed, one_item = as_list(items, ids, "item")
    item_at = find(listed, ids, answers.components.shape[1], "item")
    refuse_unknown(listed, item_at, "item", "it has no draws")
    user_at, item_at = paired(user_at, item_at, one_user, one_item)
    out = np.empty(len(user_at))
    for start in range(0, len(out), 4096):
        part = slice(start, start + 4096)
        out[part] = answers.spread(codes[user_at[part]], answers.components[:, item_at[part]].T)
    return float(out[0]) if one_user and one_item else out
