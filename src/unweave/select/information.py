"""Score any fitted model by −2 log L plus a price for each parameter: AIC, BIC and ICL."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_clusterer

from unweave.data.storage import stored
from unweave.data.table import Table, check_table
from unweave.select.trial import Trial, labels_of, suitable, within

_FLOOR = float(np.finfo(np.float64).eps)  # a fit without any error would have infinite likelihood


@dataclass(frozen=True)
class Likelihood:
    """Hold −2 log L at the fitted parameters, how many of them are free, and how many observations there are."""

    deviance: float
    parameters: float
    observations: int


def aic(model: Any, X) -> float:
    """Compute Akaike's information criterion, −2 log L + 2 p: less is better.

    Use it to choose the number of components for prediction; it tends to choose more than :func:`bic`. What L and p
    are is said in :func:`likelihood`. A model with its own ``aic`` is asked.

    >>> from unweave import KMeans
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> aic(KMeans(2).fit(X), X) < aic(KMeans(1).fit(X), X)
    True

    References
    ----------
    Akaike (1974), A new look at the statistical model identification.
    """
    if hasattr(model, "aic"):
        return float(model.aic(X))
    found = likelihood(model, X)
    return found.deviance + 2 * found.parameters


def bic(model: Any, X) -> float:
    """Compute the Bayesian information criterion, −2 log L + p log n: less is better.

    Use it for the number of components of mixtures, and of clusters that are round and of one size. What L, p and n
    are is said in :func:`likelihood`. A model with its own ``bic`` is asked.

    >>> from unweave import KMeans
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> bic(KMeans(2).fit(X), X) < bic(KMeans(1).fit(X), X)
    True

    References
    ----------
    Schwarz (1978), Estimating the dimension of a model. Pelleg and Moore (2000), X-means.
    """
    if hasattr(model, "bic"):
        return float(model.bic(X))
    found = likelihood(model, X)
    return found.deviance + found.parameters * math.log(found.observations)


def icl(model: Any, X) -> float:
    """Compute the integrated completed likelihood of a mixture, BIC − 2 Σ_i Σ_k p_ik log p_ik: less is better.

    The second term is the doubt about whose row is whose (p_ik from ``predict_proba``). BIC counts what a density
    needs, and describes one cluster that is not Gaussian by several components; ICL counts groups that can be told
    apart. A model without ``predict_proba`` has no doubt, and its BIC is returned.

    >>> from sklearn.mixture import GaussianMixture
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> icl(GaussianMixture(2, random_state=0).fit(X), X) < icl(GaussianMixture(1).fit(X), X)
    True

    References
    ----------
    Biernacki, Celeux and Govaert (2000), Assessing a mixture model for clustering with the integrated completed
    likelihood.
    """
    if not hasattr(model, "predict_proba"):
        return bic(model, X)
    from scipy.special import xlogy

    shares = np.asarray(model.predict_proba(X), dtype=np.float64)
    return bic(model, X) - 2 * float(xlogy(shares, shares).sum())


def likelihood(model: Any, X) -> Likelihood:
    """Compute −2 log L of a table under a fitted model, by the kind of the model.

    - A density (``score_samples``, ``n_parameters_``): L = Π p(x_i); n rows.
    - A clustering: row i is drawn from its own cluster, a Gaussian of one variance for all clusters and directions
      (the most likely one), chosen with the cluster's share; p = k·m + (k − 1) + 1; n rows. Clusterings without
      ``cluster_centers_`` are given the means of their clusters.
    - A factorisation: each observed entry has independent noise about U·Z, Gaussian for the squared loss and Laplace
      for the absolute one (their scale is one more parameter), Poisson for KL, Bernoulli for logistic, multinomial for
      categorical; p = k(n + m − k), and m for an offset; the observations are the entries. Penalties and constraints
      do not lower p. With that many parameters the criteria are rough; :func:`held_out_entries` is to be preferred.

    A variance below (machine epsilon)² of the mean square of X counts as that.
    """
    if hasattr(model, "score_samples") and hasattr(model, "n_parameters_"):
        logs = np.asarray(model.score_samples(X), dtype=np.float64)
        return Likelihood(-2 * float(logs.sum()), float(model.n_parameters_), len(logs))
    if is_clusterer(model) or (hasattr(model, "labels_") and not hasattr(model, "components_")):
        return _clustering(model, X)
    if hasattr(model, "components_") and hasattr(model, "score") and hasattr(model, "_learned"):
        return _factorisation(model, X)
    raise TypeError(f"{type(model).__name__} has no likelihood: choose by {suitable(model)!r} or another criterion")


def _clustering(model: Any, X) -> Likelihood:
    labels = labels_of(model, X)
    centres = getattr(model, "cluster_centers_", None) if labels.min() >= 0 else None
    sizes = np.unique(labels, return_counts=True)[1]
    k = len(sizes) if centres is None else len(centres)
    spread, size, entries = within(X, labels, getattr(model, "missing", None), centres)
    n, m = len(labels), _columns(X)
    shares = float(sizes @ np.log(sizes / n))
    return Likelihood(_gaussian(spread, size, entries) - 2 * shares, k * m + k, n)


def _gaussian(squares: float, size: float, entries: int) -> float:
    variance = max(squares, _FLOOR**2 * size, 1e-300) / entries
    return entries * (math.log(2 * math.pi * variance) + 1)


def _factorisation(model: Any, X) -> Likelihood:
    table = check_table(BaseEstimator(), X, model.missing, reset=True)
    x, entries = _observed(table)
    loss, noise = -float(model.score(X)) * entries, model._learned.loss.noise
    k, m = model.components_.shape
    p = float(k * max(table.shape[0] + m - k, 1) + (m if hasattr(model, "offset_") else 0))
    if noise == "gaussian":
        return Likelihood(_gaussian(2 * loss, float(np.square(x).sum(dtype=np.float64)), entries), p + 1, entries)
    if noise == "laplace":
        scale = max(loss, _FLOOR * float(np.abs(x).sum(dtype=np.float64)), 1e-300) / entries
        return Likelihood(2 * entries * (math.log(2 * scale) + 1), p + 1, entries)
    if noise == "poisson":
        return Likelihood(2 * (loss - _poisson_constant(x)), p, entries)
    if noise == "discrete":
        return Likelihood(2 * loss, p, entries)
    name = model._learned.loss.name
    raise ValueError(f"there is no likelihood for loss={name!r}: choose the number by 'held-out' instead")


def _observed(table: Table) -> tuple[NDArray, int]:
    """Take the observed entries (a sparse table has its zeros left out, which add nothing here) and count them all."""
    if isinstance(table.seen, np.ndarray):
        x = table.values[table.seen]
        return x, x.size
    x = stored(table.values).reshape(-1)
    return x, x.size if table.seen is not None else int(np.prod(table.shape))


def _poisson_constant(x: NDArray) -> float:
    """Sum x log x − x − log x!, what the KL divergence leaves out of the log-likelihood; 0 where x is 0."""
    from scipy.special import gammaln, xlogy

    x = x.astype(np.float64)
    return float((xlogy(x, x) - x - gammaln(x + 1)).sum())


def _columns(X) -> int:
    return X.shape[1] if hasattr(X, "shape") else len(X[0])


@dataclass(frozen=True)
class BIC:
    """Score by the Bayesian information criterion of a fit to the whole table."""

    name = "bic"
    title = "BIC (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([bic(trial.fit(X), X)])


@dataclass(frozen=True)
class AIC:
    """Score by Akaike's information criterion of a fit to the whole table."""

    name = "aic"
    title = "AIC (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([aic(trial.fit(X), X)])


@dataclass(frozen=True)
class ICL:
    """Score by the integrated completed likelihood of a fit to the whole table (:func:`unweave.select.icl`)."""

    name = "icl"
    title = "ICL (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([icl(trial.fit(X), X)])
