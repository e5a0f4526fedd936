"""Choose which models to fit, how large, and how far each column trusts them, on cells held out of the fit.

A few folds of observed cells are hidden in turn. Sizes rise until the held-out error does. Then, column by column, the
predictions d_e (less the column's mean or shares) are combined by weights w ≥ 0, Σ w ≤ 1, of least held-out squared
error (Brier's score for levels), drawn towards the weights that serve all columns together. A column that no model
predicts better than its mean or mode keeps w = 0. Reference: Breiman (1996), Stacked regressions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from unweave.complete.imputer.columns import EncodedTable, TableLayout
from unweave.complete.imputer.joint import Spec, fit_quietly
from unweave.data.arguments import number, whole
from unweave.solve.iterate import Loop

_RANKS = (1, 2, 3, 5, 8, 12, 20, 32)
_GROUPS = (2, 4, 8, 16, 32, 64)
_RIDGES = (1.0, 10.0, 50.0)
_SHARE = 0.15  # of the cells in a fold
_GAIN = 0.997  # sizes stop rising once the error does not fall below this share of the last
_PULL = 12.0  # cells' worth of drawing a column's weights to those of all columns
_FEW = 20  # cells below which nothing is held out and no model is fitted
_WIDE = 256  # answers above which a full covariance is not asked for
_SEARCH_ROWS = 8192  # rows on which sizes are compared
_SEARCH_STEPS = 30
QUANTILES = np.linspace(0, 1, 101)  # at which residuals on held-out cells are kept


@dataclass
class Fold:
    """Hold cells that are held out, the table without them, and its column means."""

    held: NDArray
    train: EncodedTable
    base: NDArray


@dataclass
class Tried:
    """Hold the predictions of one model at held-out cells, fold by fold, and its error in units of the means'."""

    spec: Spec
    means: list[NDArray]
    variances: list[NDArray]
    error: float


@dataclass
class ChosenModels:
    """Hold the models to fit, and how far each column trusts them."""

    specs: list[Spec]
    weights: NDArray  # columns × models
    residuals: NDArray  # columns × 101: quantiles of standardised held-out residuals
    path: dict = field(default_factory=dict)  # held-out errors of all that was tried


def base_of(table: EncodedTable) -> NDArray:
    """Find each column's mean, or the shares of its levels, of the cells seen."""
    seen = table.answers_seen
    count = seen.sum(axis=0)
    return (table.answers * seen).sum(axis=0) / np.maximum(count, 1)


def make_folds(table: EncodedTable, rng: np.random.Generator) -> list[Fold]:
    """Draw disjoint sets of cells; more of them the fewer cells there are."""
    cells = int(table.seen.sum())
    n_folds = 1 if cells > 20_000 else 2 if cells > 4_000 else 4
    # A permutation of the cells seen: uniform draws over the whole table might be those with which a user of the same
    # seed made the holes, and then hold out nothing.
    order, size = rng.permutation(np.flatnonzero(table.seen)), int(np.ceil(_SHARE * cells))
    folds = []
    for f in range(n_folds):
        held = np.zeros(table.seen.shape, bool)
        held.flat[order[f * size : (f + 1) * size]] = True
        held[:, (table.seen & ~held).sum(axis=0) < 2] = False
        train = table.without(held)
        folds.append(Fold(held, train, base_of(train)))
    return folds


class HeldOutSearch:
    """Try models on the folds of a table."""

    def __init__(self, table: EncodedTable, rng: np.random.Generator, max_iter: int, tol: float) -> None:
        self.table, self.rng, self.max_iter, self.tol = table, rng, max_iter, tol
        self.folds = make_folds(table, rng)
        self.path: dict[str, float] = {}
        self.first_folds = (len(self.folds) + 1) // 2  # on which sizes are compared

    def _errors(self, means: list[NDArray]) -> NDArray:
        """Add up squared errors at the held cells of each column, in the folds that `means` has."""
        owner, total = self.table.layout.owner, np.zeros(self.table.seen.shape[1])
        for fold, mean in zip(self.folds, means):
            square = (self.table.answers - mean) ** 2 * fold.held[:, owner]
            total += np.bincount(owner, square.sum(axis=0), len(total))
        return total

    def attempt(self, spec: Spec) -> Tried:
        """Fit and predict the first folds."""
        tried = self._continue(Tried(spec, [], [], 1.0), self.first_folds)
        base = self._errors([fold.base for fold in self.folds[: self.first_folds]])
        told = base > 0
        if told.any():
            tried.error = float((self._errors(tried.means)[told] / base[told]).mean())
        self.path[str(spec)] = tried.error
        return tried

    def _continue(self, tried: Tried, n_folds: int) -> Tried:
        for fold in self.folds[len(tried.means) : n_folds]:
            model = fit_quietly(tried.spec, fold.train, self.rng, self.max_iter, self.tol)
            mean, variance = model.predict(fold.train)
            tried.means.append(mean)
            tried.variances.append(variance)
        return tried

    def best(self, specs: list[Spec], least: int = 1) -> Tried:
        """Find the best of a row of rising sizes, which ends when the error stops falling, after `least` of them."""
        kept = self.attempt(specs[0])
        for count, spec in enumerate(specs[1:], 2):
            tried = self.attempt(spec)
            enough = tried.error > _GAIN * kept.error
            kept = tried if tried.error < kept.error else kept
            if enough and count > least:
                break
        return kept

    def stack(self, tried: list[Tried]) -> ChosenModels:
        """Find weights of the models for each column; the folds that were not needed until now are fitted first."""
        tried = [self._continue(t, len(self.folds)) for t in tried]
        owner, m = self.table.layout.owner, self.table.seen.shape[1]
        systems = [self._system(j, np.flatnonzero(owner == j), tried) for j in range(m)]
        scaled = [(A / s, b / s) for A, b, s in systems if s > 0]
        everywhere = _weights(np.vstack([A for A, _ in scaled]), np.concatenate([b for _, b in scaled]))
        weights = np.zeros((m, len(tried)))
        for j, (A, b, s) in enumerate(systems):
            if s > 0:
                # `s` is the spread of the column: _PULL rows of that size say "as the others do".
                pull = np.sqrt(_PULL) * s * np.eye(len(tried))
                weights[j] = _weights(np.vstack([A, pull]), np.concatenate([b, pull @ everywhere]))
        return ChosenModels([t.spec for t in tried], weights, self._residuals(weights, tried), self.path)

    def _system(self, j: int, own: NDArray, tried: list[Tried]) -> tuple[NDArray, NDArray, float]:
        """Gather what models and truth say beyond the means at the held cells of column j, and its spread."""
        columns, truth = [], []
        for f, fold in enumerate(self.folds):
            rows = fold.held[:, j]
            base = fold.base[own]
            columns.append(np.column_stack([(t.means[f][rows][:, own] - base).ravel() for t in tried]))
            truth.append((self.table.answers[rows][:, own] - base).ravel())
        A, b = np.vstack(columns), np.concatenate(truth)
        return A, b, float(np.sqrt((b**2).sum() * len(own) / len(b))) if len(b) else 0.0

    def _residuals(self, weights: NDArray, tried: list[Tried]) -> NDArray:
        """Find quantiles of (truth − prediction) / predicted deviation of the numeric columns, at the held cells."""
        layout, normal = self.table.layout, np.zeros((self.table.seen.shape[1], len(QUANTILES)))
        for j, (column, own) in enumerate(zip(layout.columns, layout.answers)):
            found = []
            for f, fold in enumerate(self.folds if column.numeric else []):
                rows, at = fold.held[:, j], own.start
                means = np.column_stack([t.means[f][rows, at] for t in tried])
                variances = np.column_stack([t.variances[f][rows, at] for t in tried])
                mean, variance = combine(weights[j], means, variances, fold.base[at], 1.0)
                found.append((self.table.answers[rows, at] - mean) / np.sqrt(variance))
            gathered = np.concatenate(found) if found else np.empty(0)
            # A few draws of a standard normal keep columns with hardly a held cell from claiming certainty.
            normal[j] = np.quantile(np.concatenate([gathered, [-1.5, -0.5, 0.5, 1.5]]), QUANTILES)
        return normal


def combine(w: NDArray, means: NDArray, variances: NDArray, base, base_variance) -> tuple[NDArray, NDArray]:
    """Combine models and baseline into a weighted mean; its variance is that of the parts, without their spread."""
    mean = base + (means - base) @ w
    return mean, variances @ w + max(0.0, 1.0 - float(w.sum())) * base_variance + 1e-12


def _weights(A: NDArray, b: NDArray) -> NDArray:
    w = nnls(A, b)[0]
    return w / max(1.0, float(w.sum()))


# -- what is tried -----------------------------------------------------------------------------------------------------


def choose_models(table: EncodedTable, rng: np.random.Generator, rank, ridge, loop: Loop) -> ChosenModels:
    """Choose the models and the trust of each column in them; `rank` and `ridge` as the user gave them."""
    rank = rank if isinstance(rank, str) else whole(rank, "n_components", 1)
    if rank != "auto" and isinstance(rank, str):
        raise ValueError(f"n_components={rank!r} must be a whole number or 'auto'")
    if isinstance(ridge, str) and ridge != "auto":
        raise ValueError(f"ridge={ridge!r} must be a number or 'auto'")
    ridges = list(_RIDGES) if ridge == "auto" else [max(number(ridge, "ridge"), 1e-6)]
    n, m = table.seen.shape
    outputs = table.layout.n_outputs
    if rank != "auto" and rank > outputs:
        raise ValueError(f"n_components={rank} is more than the {outputs} columns (levels counted one by one) of X")
    if int(table.seen.sum()) < _FEW or n < 4:
        return ChosenModels([], np.zeros((m, 0)), np.zeros((m, len(QUANTILES))))
    part = table
    if n > _SEARCH_ROWS:
        rows = np.sort(rng.choice(n, _SEARCH_ROWS, replace=False))
        part = table.take(rows)
    search = HeldOutSearch(part, rng, min(loop.max_iter, _SEARCH_STEPS), loop.tol or 0.0)
    tried = _linear(search, table.layout, rank, ridges, outputs)
    sizes = [size for size in _GROUPS if 5 * size <= len(part)]
    if sizes:
        tried.append(search.best([Spec("groups", size) for size in sizes], least=3))  # few groups may see nothing yet
    return search.stack(tried)


def _linear(search: HeldOutSearch, layout: TableLayout, rank, ridges: list[float], outputs: int) -> list[Tried]:
    """Find the best linear model, and the same with skewed columns as normal scores where there are any."""
    robust = any(column.robust for column in layout.columns)
    if rank == "auto" and not robust and len(layout.owner) <= _WIDE:
        best = search.best([Spec("gaussian", outputs, ridge) for ridge in ridges])
    else:
        ranks = [r for r in _RANKS if r < outputs] or [1]
        if rank == "auto":
            rank = search.best([Spec("low-rank", r, ridges[0]) for r in ranks]).spec.size
        best = search.best([Spec("low-rank", rank, ridge) for ridge in ridges])
    if all(column.knots is None for column in layout.columns):
        return [best]
    return [best, search.attempt(replace(best.spec, scores=True))]
