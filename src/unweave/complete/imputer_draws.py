"""Several imputations: parameters drawn from what the data leave open, residuals drawn as they were on held-out cells.

Each draw perturbs the models (z_j ~ N(ẑ_j, (G_j + ridge I)⁻¹) from the last M-step; the means of groups by what their
counts leave open), predicts, and adds a residual. The residuals of one row go together as the low-rank model says: a
shared u ~ N(ū, V) makes columns that rise together miss together. Reference: Rubin (1987), Multiple imputation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from unweave.complete.imputer_experts import Data, Model
from unweave.complete.imputer_gaussian import Gaussian, by_pattern, condition, flat, inverse
from unweave.complete.imputer_groups import Groups
from unweave.complete.imputer_low_rank import LowRank


def redraw(model: Model, numeric: NDArray, rng: np.random.Generator) -> Model:
    """The model with parameters drawn from their approximate posterior."""
    if isinstance(model, LowRank):
        return _redraw_low_rank(model, rng)
    if isinstance(model, Gaussian):
        return _redraw_gaussian(model, rng)
    means = model.means + np.sqrt(model.spreads / (model.count + 1)) * rng.standard_normal(model.means.shape)
    # Shares of levels: the normal approximation of a Dirichlet, kept above zero.
    share = np.clip(model.means, 1e-6, 1)
    loose = share + np.sqrt(share * (1 - share) / (model.count + 1)) * rng.standard_normal(share.shape)
    means = np.where(numeric, means, np.clip(loose, 1e-6, 1))
    return Groups(model.shares, means, model.spreads, model.count)


def _redraw_low_rank(model: LowRank, rng: np.random.Generator) -> LowRank:
    G = model.gram.copy()
    k = len(model.components)
    G[:, range(k), range(k)] += model.ridge
    G += 1e-6 * np.eye(k + 1)
    # x = L⁻ᵀ e has the covariance G⁻¹ when G = L·Lᵀ.
    L = np.linalg.cholesky(G)
    noise = np.linalg.solve(L.transpose(0, 2, 1), rng.standard_normal((len(G), k + 1, 1)))[:, :, 0]
    seen = G[:, k, k] > 1e-3  # a column nobody saw stays at its offset
    noise[~seen] = 0
    return replace(model, components=model.components + noise[:, :k].T, offset=model.offset + noise[:, k])


def _redraw_gaussian(model: Gaussian, rng: np.random.Generator) -> Gaussian:
    """Mean ~ N(μ, Σ/n) and Σ from a Wishart of n degrees of freedom, by Bartlett's triangle."""
    m = len(model.mean)
    freedom = max(model.rows, m + 2)
    L = np.linalg.cholesky(model.covariance)
    T = np.tril(rng.standard_normal((m, m)), -1)
    T[np.diag_indices(m)] = np.sqrt(rng.chisquare(freedom - np.arange(m)))
    half = L @ T / np.sqrt(freedom)
    covariance = half @ half.T
    mean = model.mean + L @ rng.standard_normal(m) / np.sqrt(max(model.rows, 1))
    return replace(model, mean=mean, covariance=covariance, precision=inverse(covariance))


def common_ranks(model: Model | None, data: Data, rng: np.random.Generator) -> NDArray:
    """Uniform numbers, one a cell, that are dependent in a row as the residuals of the model are."""
    n, m = data.seen.shape
    if isinstance(model, Gaussian):
        return _ranks_gaussian(model, data, rng)
    if not isinstance(model, LowRank):
        return rng.random((n, m))
    found = model.rows(data.layout, data.answers, data.seen)
    L = np.linalg.cholesky(found.covariance)
    shift = np.matmul(L, rng.standard_normal((n, L.shape[1], 1)))[:, :, 0]
    first = [own.start for own in data.layout.outputs]
    part = shift @ model.components[:, first]
    # A logistic output has the noise of a standard logistic, about π²/3.
    logistic = np.array([not column.numeric for column in data.layout.columns])
    noise = np.where(logistic, np.pi**2 / 3, model.noise[first])
    total = np.sqrt(found.variance[:, first] + noise)
    return ndtr((part + np.sqrt(noise) * rng.standard_normal((n, m))) / total)


def _ranks_gaussian(model: Gaussian, data: Data, rng: np.random.Generator) -> NDArray:
    X, seen = flat(data.layout, data.answers, data.seen, model.scores)
    order = by_pattern(seen)
    noise = rng.standard_normal(X.shape)
    _, mean, variance, _, _ = condition(X[order], seen[order], model.mean, model.precision)
    _, drawn, _, _, _ = condition(X[order], seen[order], model.mean, model.precision, noise=noise)
    # A higher rank picks a later level, so levels ask for their last answer.
    last = [own.stop - 1 for own in data.layout.answers]
    ranks = np.empty(data.seen.shape)
    ranks[order] = ndtr((drawn - mean)[:, last] / np.sqrt(variance[:, last] + 1e-12))
    return ranks


def pick_levels(probabilities: NDArray, rank: NDArray) -> NDArray:
    """The level at each rank of the distribution in each row."""
    total = probabilities.cumsum(axis=1)
    return np.minimum((total < (rank * total[:, -1])[:, None]).sum(axis=1), probabilities.shape[1] - 1)
