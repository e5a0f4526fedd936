"""From fitted models to filled cells: choosing, combining, doubting and drawing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unweave.complete.imputer_choose import GROUPS, RANKS, RIDGES, Choice, Search, Tried, base_of
from unweave.complete.imputer_columns import MOST_LEVELS, Column, Raw
from unweave.complete.imputer_draws import common_ranks, pick_levels, redraw
from unweave.complete.imputer_experts import Data, Model, Spec, predict
from unweave.complete.imputer_gaussian import Gaussian
from unweave.complete.imputer_groups import Groups
from unweave.complete.imputer_layout import Layout
from unweave.complete.imputer_low_rank import LowRank
from unweave.factorization.settings import number, whole
from unweave.solve.iterate import Loop
from unweave.solve.progress import warn_user

_FEW = 20  # cells below which nothing is held out and no model is fitted
_WIDE = 256  # answers above which a full covariance is not asked for
_SEARCH_ROWS = 8192  # rows on which sizes are compared
_SEARCH_STEPS = 30
_QUANTILES = np.linspace(0, 1, 101)


@dataclass
class Fitted:
    """All that filling needs."""

    layout: Layout
    models: list[Model]
    weights: NDArray
    residuals: NDArray
    base: NDArray


def choose(data: Data, rng: np.random.Generator, rank, ridge, loop: Loop) -> tuple[Choice, NDArray]:
    """The models and the trust of each column in them, and the columns' means and shares."""
    rank = rank if isinstance(rank, str) else whole(rank, "n_components", 1)
    if rank != "auto" and isinstance(rank, str):
        raise ValueError(f"n_components={rank!r} must be a whole number or 'auto'")
    if isinstance(ridge, str) and ridge != "auto":
        raise ValueError(f"ridge={ridge!r} must be a number or 'auto'")
    ridges = list(RIDGES) if ridge == "auto" else [max(number(ridge, "ridge"), 1e-6)]
    n, m = data.seen.shape
    outputs = data.layout.outputs[-1].stop
    if rank != "auto" and rank > outputs:
        raise ValueError(f"n_components={rank} is more than the {outputs} columns (levels counted one by one) of X")
    base = base_of(data)
    if int(data.seen.sum()) < _FEW or n < 4:
        return Choice([], np.zeros((m, 0)), np.zeros((m, len(_QUANTILES)))), base
    part = data
    if n > _SEARCH_ROWS:
        rows = np.sort(rng.choice(n, _SEARCH_ROWS, replace=False))
        part = Data(data.layout, data.answers[rows], data.seen[rows])
    search = Search(part, rng, min(loop.max_iter, _SEARCH_STEPS), loop.tol or 0.0)
    tried = _linear(search, data.layout, rank, ridges, outputs)
    sizes = [size for size in GROUPS if 5 * size <= len(part.answers)]
    if sizes:
        tried.append(search.best([Spec("groups", size) for size in sizes], least=3))  # few groups may see nothing yet
    return search.stack(tried), base


def _linear(search: Search, layout: Layout, rank, ridges: list[float], outputs: int) -> list[Tried]:
    """The best linear model, and the same with skewed columns as normal scores where there are any."""
    robust = any(column.loss == "huber" for column in layout.columns)
    if rank == "auto" and not robust and len(layout.owner) <= _WIDE:
        best = search.best([Spec("gaussian", outputs, ridge) for ridge in ridges])
    else:
        ranks = [r for r in RANKS if r < outputs] or [1]
        if rank == "auto":
            rank = search.best([Spec("low-rank", r, ridges[0]) for r in ranks]).spec.size
        best = search.best([Spec("low-rank", rank, ridge) for ridge in ridges])
    if all(column.knots is None for column in layout.columns):
        return [best]
    return [best, search.attempt(replace(best.spec, scores=True))]


def combined(fitted: Fitted, data: Data, rng: np.random.Generator | None = None) -> tuple[NDArray, NDArray]:
    """Mean and variance of every answer under the trust of its column; with `rng` for a draw of the models."""
    owner, numeric = data.layout.owner, data.layout.numeric
    trust = fitted.weights[owner]
    mean = np.tile(fitted.base, (len(data.answers), 1))
    variance = np.tile(np.maximum(1 - trust.sum(axis=1), 0) + 1e-12, (len(mean), 1))
    for e, model in enumerate(fitted.models):
        one = model if rng is None else redraw(model, numeric, rng)
        found, doubt = predict(one, data)
        mean += trust[:, e] * (found - fitted.base)
        variance += trust[:, e] * doubt
    for column, own in zip(data.layout.columns, data.layout.answers):
        if not column.numeric:
            shares = np.maximum(mean[:, own], 1e-9)
            mean[:, own] = shares / shares.sum(axis=1, keepdims=True)
    return mean, variance


def doubts(fitted: Fitted, answer: tuple[NDArray, NDArray], raws: list[Raw]) -> NDArray:
    """Standard deviation or probability of the level chosen for every hole, NaN elsewhere."""
    mean, variance = answer
    out = np.full((len(mean), len(raws)), np.nan)
    for j, (column, own, raw) in enumerate(zip(fitted.layout.columns, fitted.layout.answers, raws)):
        if column.numeric:
            # Held-out residuals say by how much the models are too sure or too modest.
            wide = float(np.sqrt(np.mean(fitted.residuals[j] ** 2))) or 1.0
            found = wide * np.sqrt(variance[:, own.start]) * (column.scale if column.high > column.low else 0.0)
        else:
            found = mean[:, own].max(axis=1)
        out[raw.holes, j] = found[raw.holes]
    return out


def fills(fitted: Fitted, data: Data, raws: list[Raw], rng: np.random.Generator | None) -> dict[int, list | NDArray]:
    """What goes into the holes of each column: the best guess, or a draw."""
    rows = np.flatnonzero(np.column_stack([raw.holes for raw in raws]).any(axis=1))
    part = Data(data.layout, data.answers[rows], data.seen[rows])
    mean, variance = combined(fitted, part, rng)
    ranks = None if rng is None else common_ranks(fitted.models[0] if fitted.models else None, part, rng)
    out: dict[int, list | NDArray] = {}
    for j, (column, own, raw) in enumerate(zip(data.layout.columns, data.layout.answers, raws)):
        holes = raw.holes[rows]
        if not holes.any():
            continue
        answer = mean[holes][:, own]
        if ranks is not None and column.numeric:
            residual = np.interp(ranks[holes, j], _QUANTILES, fitted.residuals[j])
            answer = answer + (residual * np.sqrt(variance[holes, own.start]))[:, None]
        if column.numeric:
            out[j] = column.value(answer)
        else:
            picked = column.value(answer) if ranks is None else pick_levels(answer, ranks[holes, j])
            out[j] = [column.levels[i] for i in picked]
    return out


def factors(fitted: Fitted, data: Data) -> tuple[NDArray, NDArray, NDArray]:
    """(codes, components, offset) of the linear model; for a Gaussian the principal axes of its covariance."""
    model = fitted.models[0] if fitted.models else None
    if isinstance(model, LowRank):
        return model.rows(data.layout, data.answers, data.seen).codes, model.components, model.offset
    if not isinstance(model, Gaussian):
        return np.zeros((len(data.answers), 0)), np.zeros((0, len(fitted.base))), fitted.base
    power, axes = np.linalg.eigh(model.covariance)
    keep = np.flatnonzero(power > 1e-6 * power[-1])[::-1]
    root = np.sqrt(power[keep])
    filled, _ = predict(model, data)
    return (filled - model.mean) @ axes[:, keep] / root, (axes[:, keep] * root).T, model.mean


def check_fitted(fitted: Fitted, layout: Layout, looked_at: bool) -> None:
    """ValueError unless the parts of models from a file fit together; `looked_at` means that arrays may be read."""
    q, m = len(layout.owner), len(layout.columns)
    outputs = layout.outputs[-1].stop
    shapes = [(fitted.base, (q,)), (fitted.weights, (m, len(fitted.models))), (fitted.residuals, (m, 101))]
    for model in fitted.models:
        if isinstance(model, Gaussian):
            shapes += [(model.mean, (q,)), (model.covariance, (q, q)), (model.precision, (q, q))]
        elif isinstance(model, Groups):
            k = len(model.shares)
            shapes += [(part, (k, q)) for part in (model.means, model.spreads, model.count)]
        else:
            k = len(model.components)
            shapes += [(model.components, (k, outputs)), (model.gram, (outputs, k + 1, k + 1))]
            shapes += [(part, (outputs,)) for part in (model.offset, model.noise)]
    for array, shape in shapes:
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
            raise ValueError(f"an array of the imputer should hold numbers in the shape {shape}")
        if looked_at and not np.isfinite(array).all():
            raise ValueError("the arrays of the imputer must be finite")


def expected(raw: Raw, column: Column) -> Raw:
    """A new column as the kind that was fitted, or an error that says what is wrong with it."""
    if raw.holes.all():
        if column.numeric:
            return Raw(raw.name, "number", np.full(len(raw.holes), np.nan), raw.holes, whole=column.whole)
        return raw
    if column.numeric and raw.kind != "number":
        raise ValueError(f"column {raw.name!r} was numeric in fit and is not now: convert it to numbers")
    return raw


def warn_of_new_levels(column: Column, raw: Raw, known: NDArray) -> None:
    new = int((~known & ~raw.holes).sum())
    if new and len(column.levels) < MOST_LEVELS:
        warn_user(
            f"column {raw.name!r} has {new} entries with levels that were not there in fit: they are left as they are "
            "and tell nothing about the rest of their rows"
        )
