"""Fit a mixture of groups to a table of mixed columns with holes; codes are probabilities of groups.

Row i belongs to group c with probability π_c; inside a group the columns are independent, numbers N(μ_cj, v_cj) and
levels drawn with probabilities θ_cj. EM needs matrix products alone, and holes are left out of the sums:

    r_ic ∝ π_c Π_{j seen} p(x_ij | c),      prediction of a cell: Σ_c r_ic μ_cj.

It says what a low-rank model cannot: clusters, bends, one column deciding how two others go together.
Reference: McLachlan and Peel (2000), Finite mixture models.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.complete.imputer.columns import EncodedTable, TableLayout
from unweave.complete.imputer.model import FittedModel, predict_in_blocks
from unweave.solve.scheme import Scheme
from unweave.solve.start import far_apart

_WEIGHT = 2.0  # entries' worth of the whole table in the spread of each group
_ROWS = 4096  # rows from which the start is drawn
_BLOCK = 512  # rows in a block: probabilities of 64 groups stay in the cache


class GroupsScheme(Scheme):
    """Fit shares, means and spreads of groups by EM; a step finds them for the sums at hand, then new sums."""

    rises = True  # by a hair: the objective leaves out the priors that keep groups from collapsing

    def __init__(self, table: EncodedTable, size: int) -> None:
        self.layout, self.size = table.layout, size
        self.seen = table.answers_seen.astype(np.float64)
        self.values = table.answers * self.seen
        count = np.maximum(self.seen.sum(axis=0), 1)
        self.mean = self.values.sum(axis=0) / count
        self.variance = np.maximum((self.seen * (table.answers - self.mean) ** 2).sum(axis=0) / count, 1e-12)

    def begin(self, rng=None) -> dict:
        """Begin with groups around rows that lie far apart: greedy k-means++ over the cells that both rows have."""
        rng = np.random.default_rng(rng)
        rows = rng.permutation(len(self.values))[:_ROWS]
        seen, values = self.seen[rows], self.values[rows]
        label = self._far_apart(seen, values, rng)
        R = np.full((len(rows), self.size), 0.1 / self.size)
        R[np.arange(len(rows)), label] += 0.9
        sums = {"size": R.sum(axis=0), "count": R.T @ seen, "first": R.T @ values, "second": R.T @ values**2}
        return self._expect(self._maximise(sums))[0]

    def _far_apart(self, seen: NDArray, values: NDArray, rng: np.random.Generator) -> NDArray:
        # Every column counts the same: its answers are divided by the square root of their variances' sum.
        owner = self.layout.owner
        unit = np.sqrt(np.bincount(owner, self.variance))[owner]
        C = seen * (values - self.mean) / unit
        known = seen / np.maximum(seen.mean(axis=1, keepdims=True), 1e-12)
        square, tries = (known * C**2).sum(axis=1), 2 + int(np.log(self.size))
        # Centres are whole rows where there are enough of them.
        filled = seen.sum(axis=1)
        able = np.flatnonzero(filled >= np.sort(filled)[-min(len(filled), 4 * self.size)])

        def squares(rows: NDArray) -> NDArray:
            return square - 2 * C[rows] @ (known * C).T + C[rows] ** 2 @ known.T

        return far_apart(len(C), self.size, rng, squares, tries, able)[1]

    def step(self, state: dict) -> tuple[dict, float]:
        return self._expect(self._maximise(state))

    def model(self, state: dict) -> Groups:
        """Make the fitted model of a state."""
        return Groups(state["shares"], state["means"], state["spreads"], state["count"])

    def _maximise(self, sums: dict) -> dict:
        K, N, first = self.size, sums["count"], sums["first"]
        means = (first + _WEIGHT / K * self.mean) / (N + _WEIGHT / K)
        inner = sums["second"] - 2 * means * first + means**2 * N
        spreads = np.maximum((inner + _WEIGHT / K * self.variance) / (N + _WEIGHT), 1e-4 * self.variance)
        shares = (sums["size"] + 1) / (sums["size"].sum() + K)
        return {"shares": shares, "means": means, "spreads": spreads}

    def _expect(self, state: dict) -> tuple[dict, float]:
        model = Groups(state["shares"], state["means"], state["spreads"], np.empty((0, 0)))

        def block(start: int, stop: int):
            values, seen = self.values[start:stop], self.seen[start:stop]
            R, value = model.belong(self.layout.numeric, values, seen)
            return R.sum(axis=0), R.T @ seen, R.T @ values, R.T @ values**2, value

        parts = parallel.run(block, len(self.values), _BLOCK)
        size, count, first, second, value = (sum(part[i] for part in parts) for i in range(5))
        return {**state, "size": size, "count": count, "first": first, "second": second}, -float(value)


@dataclass
class Groups(FittedModel):
    """Predict cells by a fitted mixture."""

    shares: NDArray
    means: NDArray
    spreads: NDArray
    count: NDArray  # entries that each mean rests on

    def belong(self, numeric: NDArray, values: NDArray, seen: NDArray) -> tuple[NDArray, float]:
        """Find the probabilities of the groups for each row, and the log-likelihood of the rows."""
        x, known = values[:, numeric], seen[:, numeric]
        mean, precision = self.means[:, numeric], 1 / self.spreads[:, numeric]
        log = np.log(self.shares) + values[:, ~numeric] @ np.log(np.maximum(self.means[:, ~numeric], 1e-9)).T
        log -= 0.5 * ((x * x) @ precision.T - 2 * x @ (mean * precision).T)
        log -= 0.5 * (known @ (mean**2 * precision - np.log(precision) + np.log(2 * np.pi)).T)
        top = log.max(axis=1, keepdims=True)
        R = np.exp(log - top)
        total = R.sum(axis=1, keepdims=True)
        return R / total, float((top + np.log(total)).sum())

    def predict(self, table: EncodedTable) -> tuple[NDArray, NDArray]:
        """Give mean and variance of every answer."""
        return predict_in_blocks(self._predict_rows, table, 1)

    def _predict_rows(self, table: EncodedTable) -> tuple[NDArray, NDArray]:
        known = table.answers_seen.astype(np.float64)
        R, _ = self.belong(table.layout.numeric, table.answers * known, known)
        mean = R @ self.means
        return mean, np.maximum(R @ (self.spreads + self.means**2) - mean**2, 1e-12)

    def redraw(self, layout: TableLayout, rng: np.random.Generator) -> Groups:
        """Draw the means from what the entries they rest on leave open."""
        means = self.means + np.sqrt(self.spreads / (self.count + 1)) * rng.standard_normal(self.means.shape)
        # Shares of levels: the normal approximation of a Dirichlet, kept above zero.
        share = np.clip(self.means, 1e-6, 1)
        loose = share + np.sqrt(share * (1 - share) / (self.count + 1)) * rng.standard_normal(share.shape)
        return replace(self, means=np.where(layout.numeric, means, np.clip(loose, 1e-6, 1)))

    def arrays(self, layout: TableLayout) -> list[tuple[NDArray, tuple[int, ...]]]:
        shape = (len(self.shares), len(layout.owner))
        return [(self.means, shape), (self.spreads, shape), (self.count, shape)]
