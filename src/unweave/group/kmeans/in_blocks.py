"""Fit k-means to a table in blocks: one visit for the start, one for each of Lloyd's iterations, one for labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number
from unweave.factorization.run import Run
from unweave.group.kmeans.labels import warn_of_empty
from unweave.group.kmeans.lloyd import Place, far_shift
from unweave.group.kmeans.metrics import metric_of
from unweave.group.kmeans.passes import PassChoice, choose_pass, rows_for_empty
from unweave.group.kmeans.plan import wants_repair
from unweave.group.kmeans.visit import Asked, lloyd_visit, rows_by
from unweave.group.large.standing import Standing, stand_for
from unweave.scale.kept import Kept
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import check_size
from unweave.solve.scheme import Scheme

_STANDING = 1 << 14  # rows that stand for the table while a start is looked for,
_EACH = 128  # as many for each cluster, if that is more,
_NUMBERS = 1 << 24  # and as many numbers at most
_BOUNDS = 1 << 27  # bytes of bounds that may be kept with the rows: beyond, distances are computed afresh
_CANCELLED = 1e-7  # objective against the sum of squares, below which it is summed from differences
_SHRUNK = 16.0  # a cluster this much lighter than it was has its sum made from nothing
_MORE = 8  # rows that a block offers beyond those wanted: a cluster may not be able to spare one


class VisitedLloyd(Scheme):
    """Minimise ½ Σ_i w_i |x_i − c_{label i}|² over a table in blocks by Lloyd's iterations, one visit each.

    A visit labels the rows of every block, keeps labels and bounds with them, and adds up sums and counts of the rows
    that have moved. Centres become means; a cluster without rows is given a far row in the visit after the one that
    found it empty. Sums are made from nothing when a cluster has lost most of its weight.

    Parameters
    ----------
    objective : Blocks
    centres : array (k, m)
        Where to begin.
    standing : Standing
        Rows that stand for all: whether rows are arrays, and where they lie.
    kept : Kept, optional
        The weights of the rows.
    place : callable
        ``(means, former) -> centres`` that the metric allows.
    """

    def __init__(self, objective, centres: NDArray, standing: Standing, kept: Kept | None, place: Place):
        self.objective, self.centres, self.kept, self.place = objective, centres, kept, place
        self.arrays = bool(objective.complete and standing.objective.is_array)
        (n, m), k = objective.shape, len(centres)
        self.shift = far_shift(standing.objective.X) if self.arrays else np.zeros(m, objective.dtype)
        self.choice = _choice(n, m, k) if self.arrays else None
        if not self.arrays:
            self.why = "the table is sparse or has holes: nearest by the entries seen, then their means"
        elif self.choice is None:
            self.why = "bounds of so many rows would not fit in memory: distances are computed afresh in every visit"
        else:
            self.why = self.choice.why

    def begin(self, rng=None) -> dict:
        k, m = self.centres.shape
        centres = np.array(self.centres, dtype=self.objective.dtype, order="C")
        return {
            "centres": centres,
            "sums": np.zeros((k, m)),
            "counts": np.zeros(k if self.arrays else (k, m)),
            "peak": np.zeros(k),
            "total": 0.0,
            "moved": 1,
            "afresh": True,
            "losses": not self.arrays,
            "empty": 0,
            "refused": False,
            "kept": self.kept,
            **self._first_paths(centres),
        }

    def _first_paths(self, centres: NDArray) -> dict:
        if self.choice is None:
            return {}
        none = np.empty((0, centres.shape[1]), centres.dtype)
        state = rows_by(self.choice, none, len(centres), np.empty(0)).start(self._shifted(centres))
        return {name: value for name, value in state.items() if name not in ("upper", "lower")}

    def settled(self, state: dict) -> bool:
        return state["moved"] == 0 and not state["empty"] and not state["afresh"]

    fixed = settled

    def step(self, state: dict) -> tuple[dict, float]:
        centres = self._shifted(state["centres"])
        afresh = bool(state["afresh"]) or not self.arrays
        wanted = state["empty"] + _MORE if state["empty"] else 0
        paths = {name: state[name] for name in ("path", "far", "group", "members", "group_path") if name in state}
        choice = self.choice
        asked = Asked(centres, self.shift, self.arrays, choice, paths, afresh, bool(state["losses"]), wanted)
        found, kept = self.objective.visit(lloyd_visit, asked, state["kept"])
        new = {**state, "kept": kept, "moved": int(found["moved"]), "afresh": False, "empty": 0}
        if afresh:
            new["total"], sums, counts = float(found["total"]), found["sums"], found["counts"]
        else:
            sums, counts = state["sums"] + found["sums"], state["counts"] + found["counts"]
        former, spared = state["centres"], 0.0
        if wanted:
            sums, counts, former, spared = self._refill(found, sums, counts, new)
        new["centres"] = self._means(former, sums, counts)
        value = self._value(found, self._shifted(former), new, sums, counts, spared)
        new.update(sums=sums, counts=counts, **self._moved(state, centres, self._shifted(new["centres"])))
        self._ask_for(new, value)
        return new, value

    def _ask_for(self, new: dict, value: float) -> None:
        """Say what the next visit should bring besides: rows for empty clusters, sums from nothing, losses."""
        mass = new["counts"] if self.arrays else new["counts"].sum(axis=1)
        empty = int(np.count_nonzero(mass <= 0.0))
        new["empty"] = 0 if new["refused"] else empty
        peak = np.maximum(new["peak"], mass)
        shrunk = bool((mass < peak / _SHRUNK).any())
        new["afresh"], new["peak"] = new["afresh"] or (self.arrays and shrunk), mass.copy() if shrunk else peak
        new["losses"] = bool(new["losses"] or 2.0 * value < _CANCELLED * new["total"])

    def _refill(
        self, found: dict, sums: NDArray, counts: NDArray, new: dict
    ) -> tuple[NDArray, NDArray, NDArray, float]:
        """Give each empty cluster a far row; the sums and counts, centres moved to these, and the loss that is spared.

        The rows learn of it in the next visit, whose sums are made from nothing.
        """
        sums, counts, former = sums.copy(), counts.copy(), new["centres"].copy()
        mass = counts if self.arrays else counts.sum(axis=1)
        labels, costs, weights, X, seen = (
            np.concatenate(found[name]) for name in ("far_labels", "far_costs", "far_weights", "far", "far_seen")
        )
        spare = found["apart"] + (found["near"] > 0)
        rows, after = rows_for_empty(np.flatnonzero(mass <= 0.0), labels, costs, spare)
        new["refused"] = not len(rows)  # every row lies on its centre: there is nothing to give
        for row, cluster in zip(rows, after, strict=True):
            given = weights[row] * X[row].astype(np.float64) * seen[row]
            share = weights[row] if self.arrays else weights[row] * seen[row]
            sums[labels[row]] -= given
            counts[labels[row]] -= share
            sums[cluster], counts[cluster] = given, share
            place = X[row].astype(former.dtype) + self.shift
            former[cluster] = np.where(seen[row] > 0, place, former[cluster])
        new["moved"] += len(rows)
        new["afresh"] = bool(len(rows))
        return sums, counts, former, 0.5 * float(costs[rows] @ weights[rows])

    def _shifted(self, centres: NDArray) -> NDArray:
        return np.ascontiguousarray(centres - self.shift) if self.shift.any() else centres

    def _means(self, former: NDArray, sums: NDArray, counts: NDArray) -> NDArray:
        share = counts[:, None] if self.arrays else counts
        filled = share > 0
        means = np.where(filled, sums / np.where(filled, share, 1.0) + self.shift, former)
        return self.place(means, former).astype(former.dtype)

    def _value(self, found: dict, former: NDArray, new: dict, sums: NDArray, counts: NDArray, spared: float) -> float:
        """Compute the objective of the new centres: from sums of squares, or from losses to the former ones."""
        C, share = self._shifted(new["centres"]).astype(np.float64), counts[:, None] if self.arrays else counts
        if "losses" not in found:
            return max(0.0, 0.5 * (new["total"] - 2.0 * float(np.vdot(sums, C)) + float((share * C * C).sum())))
        F = former.astype(np.float64)
        gain = float(((sums - share * F) * (C - F)).sum()) - 0.5 * float((share * (C - F) ** 2).sum())
        return max(0.0, float(found["losses"]) - spared - gain)

    def _moved(self, state: dict, centres: NDArray, placed: NDArray) -> dict:
        """Lengthen the paths of the centres that bounds are kept against."""
        if self.choice is None:
            return {}
        steps = np.sqrt(((placed.astype(np.float64) - centres) ** 2).sum(axis=1)) * (1.0 + 1e-12)
        none = np.empty((0, centres.shape[1]), centres.dtype)
        return rows_by(self.choice, none, len(centres), np.empty(0)).moved(state, steps)


def _choice(n: int, m: int, k: int) -> PassChoice | None:
    """Choose the bounds that are kept with the rows; None where they would take too much."""
    choice = choose_pass(n, m, k)
    return choice if 4 * n * (choice.groups + 1) <= _BOUNDS else None


def fit_blocks(model, objective, learned, weights: NDArray | None, counted: str) -> None:
    """Find the centres of a table in blocks, label its rows, and publish."""
    problem = model._problem(learned.loss, objective.shape, learned.mixed)
    check_size(problem, *objective.shape)
    run, metric = Run(model, objective, weights), metric_of(model.metric)
    k, repair = problem.n_components, wants_repair(model.repair, model.init)
    standing, kept = stand_for(objective, _many(objective, k), weights, run.rng, metric.check)
    centres, start = _start(model, standing, problem, repair, run)
    scheme = VisitedLloyd(objective, centres, standing, kept, metric.place)
    told = f"the start is that of {standing.objective.shape[0]} rows that stand for all, gathered in one visit"
    words = ["one visit to every block an iteration", scheme.why, told]
    plan = Plan(describe(objective, problem), "Lloyd", "nearest component", "means", start, words)
    state = run.through(scheme, plan)
    Z = state["centres"]
    if repair:
        Z = np.ascontiguousarray(Z[np.lexsort(Z.T[::-1])])
    asked = Asked(Z, np.zeros_like(scheme.shift), scheme.arrays, losses=True, labels=True)
    found, _ = objective.visit(lloyd_visit, asked, kept)
    labels, value = np.concatenate(found["labels"]).astype(np.int32), max(0.0, float(found["losses"]))
    model._publish_fit(problem, learned, Z, labels, value)
    model.codes_ = None
    share = found["counts"][:, None] if scheme.arrays else found["counts"]
    means = np.where(share > 0, found["sums"] / np.where(share > 0, share, 1.0), Z)
    gap = np.linalg.norm(metric.place(means, Z).astype(Z.dtype).astype(np.float64) - Z)
    relative = float(gap / max(float(np.linalg.norm(Z)), 1e-30))
    run.close(value, Certificate("kkt", 0.0, relative, True, value))
    warn_of_empty(labels, k, counted)


def _many(objective, k: int) -> int:
    """Choose how many rows stand for the table."""
    return max(4 * k, min(max(_STANDING, _EACH * k), _NUMBERS // objective.shape[1]))


def _start(model, standing: Standing, problem, repair: bool, run: Run) -> tuple[NDArray, str]:
    """Find the centres of the rows that stand for all, as in memory; given ones that need no repair stay."""
    rows, weights = standing
    k, few = problem.n_components, min(problem.n_components, rows.shape[0])
    scheme: Any
    scheme, plan = model._choose(rows, problem, weights, run.rng, few)
    if not isinstance(model.init, str) and not repair:
        return scheme.begin()["centres"], plan.start
    loop = Loop(max_iter=run.loop.max_iter, tol=number(model.tol, "tol"), ending="a start")
    state, history = iterate(scheme, scheme.begin(), scheme.adapt(loop))
    if history.stopped == "interrupted":
        raise KeyboardInterrupt
    centres = state["centres"]
    return np.concatenate([centres, np.repeat(centres[-1:], k - few, axis=0)]), plan.start
