"""Choose between models of the same table: k-means, a mixture, a linkage or a graph?"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from unweave.data.arguments import generator, whole
from unweave.select.criteria import Criterion, find_criterion
from unweave.select.separation import GaussianGap, Separation
from unweave.select.trial import Trial, count_name, labels_of, unnamed
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import Scheme

# Nats per row. On 100 made tables the mean Rand index is 0.869 to 0.874 for all limits from −0.5 to −0.1.
_NEAR_GAUSSIAN = -0.2
_OWN: dict[str, type] = {kind.name: kind for kind in (Separation, GaussianGap)}
_OF_NUMBERS = ("elbow", "knee", "held-out")


@dataclass
class ModelChoice:
    """Hold the score of every model that was tried, and the best of them.

    Attributes
    ----------
    best : str
        The name of the model chosen.
    scores : dict of str to float
        The score of each model by the criterion `by`; `title` says what it is, `larger_is_better` how to read it.
    measured : dict of str to dict
        All that was measured: for ``by="auto"`` both "gaussian" and "separation", of which one decided.
    skipped : dict of str to str
        Models that could not be fitted, and why.
    best_estimator : estimator or None
        Fitted to the whole table; None if the search was ended before its end.
    history : History
    """

    best: str
    scores: dict[str, float]
    by: str
    title: str
    larger_is_better: bool
    measured: dict[str, dict[str, float]]
    skipped: dict[str, str] = field(default_factory=dict)
    best_estimator: Any = None
    history: History = field(default_factory=History)

    @property
    def reason(self) -> str:
        """Say the choice in a sentence."""
        title = self.title.split(" (")[0]
        return f"{self.best} by {self.by} ({title} {self.scores[self.best]:.4g}), of {len(self.scores)} models"

    def table(self) -> dict[str, list]:
        """List the models, their scores and which is the best, as columns."""
        names = list(self.scores)
        return {
            "model": names,
            "score": [self.scores[name] for name in names],
            "best": [name == self.best for name in names],
        }

    def __str__(self) -> str:
        lines = [self.reason]
        for name, score in self.scores.items():
            lines.append(f"{score:>12.6g}  {name}{'  ← best' if name == self.best else ''}")
        lines += [f"{'not scored':>12}  {name}: {why}" for name, why in self.skipped.items()]
        return "\n".join(lines)


def best_model(
    models: Iterable[Any] | Mapping[str, Any],
    X,
    n_components: int | None = None,
    by: Any = "auto",
    *,
    callback=None,
    verbose: bool = False,
    random_state=None,
) -> ModelChoice:
    """Fit several clusterings with the same number of clusters and take the one whose clusters are most surely there.

    The silhouette takes every model that finds balls, stability every model that repeats itself. "auto" asks first
    whether some model's clusters are Gaussians: if the best :class:`GaussianGap` is above −0.2 nats per row it decides,
    because then shapes and overlaps are known. Otherwise :class:`Separation` does, the normalised cut of the graph of
    neighbours: chains, rings and moons are as good as balls there, and a few outliers as clusters are worth nothing.

    Parameters
    ----------
    models : list of estimators, or dict of names to estimators
        Left as they are. Anything with `fit` and `labels_` or `predict`, scikit-learn's too.
    X : table
    n_components : int, optional
        The number of clusters that all are asked for; each model's own if not given.
    by : str or criterion, default="auto"
        "auto", "separation", "gaussian", "silhouette", "stability", "bic", "aic", "icl", or a criterion with options.
    callback : callable, optional
        Called after each model; a true value ends the search. So does Ctrl-C, and what was scored is kept.
    verbose : bool, default=False
        Show a progress bar.
    random_state : None, int or generator
        For what is drawn by the criterion.

    Returns
    -------
    ModelChoice
        ``best``, ``best_estimator``, ``scores``, ``table()``.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import Agglomerative, KMeans
    >>> turn = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> choice = best_model([KMeans(), Agglomerative(linkage="single")], np.vstack([ring, 4 * ring]), 2)
    >>> choice.best, choice.by, choice.scores[choice.best]
    ("Agglomerative(linkage='single')", 'separation', 1.0)

    References
    ----------
    Shi and Malik (2000), Normalized cuts and image segmentation. Kozachenko and Leonenko (1987), Sample estimate of the
    entropy of a random vector.
    """
    named = _named(models)
    k = None if n_components is None else whole(n_components, "n_components", 1)
    criteria = _criteria(by, next(iter(named.values())))
    tried = {name: _trial(estimator, X, k) for name, estimator in named.items()}
    measured, skipped, history = _measure(tried, criteria, callback, verbose, random_state)
    chosen = _decisive(criteria, measured)
    scores = {name: values[chosen.name] for name, values in measured.items()}
    sign = 1.0 if chosen.larger_is_better else -1.0
    best = max(scores, key=lambda name: sign * scores[name])
    choice = ModelChoice(
        best, scores, chosen.name, chosen.title, chosen.larger_is_better, measured, skipped, history=history
    )
    if len(history) == len(named) and history.stopped != "interrupted":
        trial, table = tried[best]
        choice.best_estimator = clone(trial.estimator).set_params(**{trial.name: trial.count}).fit(table)
    return choice


def _named(models) -> dict[str, Any]:
    """Name the estimators: by the name given, or by how they print."""
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    elif isinstance(models, Iterable) and not isinstance(models, str | bytes):
        named = {}
        for model in models:
            name = " ".join(str(model).split())
            alike = sum(other.split(" #")[0] == name for other in named)
            named[f"{name} #{alike + 1}" if alike else name] = model
    else:
        raise TypeError(f"models must be a list of estimators or a dict of them by name, got {models!r}")
    if not named:
        raise ValueError("models must hold at least one estimator")
    return named


def _trial(estimator, X, k: int | None) -> tuple[Trial, Any]:
    name = count_name(estimator)
    estimator, table = unnamed(estimator, X)
    return Trial(estimator, name, estimator.get_params(deep=False)[name] if k is None else k), table


def _criteria(by, estimator) -> list[Criterion]:
    if not isinstance(by, str):
        return [find_criterion(by, estimator)]
    if by == "auto":
        return [GaussianGap(), Separation()]
    if by in _OF_NUMBERS:
        raise ValueError(f"by={by!r} compares numbers of components, not models; use by='auto' or by='separation'")
    return [_OWN[by]()] if by in _OWN else [find_criterion(by, estimator)]


def _decisive(criteria: list[Criterion], measured: dict[str, dict[str, float]]) -> Criterion:
    """Take the first of two criteria if some model satisfies it, else the last."""
    first = criteria[0]
    if len(criteria) > 1 and max(values[first.name] for values in measured.values()) < _NEAR_GAUSSIAN:
        return criteria[1]
    return first


def _measure(tried: dict[str, tuple[Trial, Any]], criteria: list[Criterion], callback, verbose, random_state):
    """Take every criterion for every model; each step of the loop is one model."""
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable with one argument (progress), got {callback!r}")
    seed = int(generator(random_state).integers(2**31))
    comparing = Comparing(tried, criteria, seed)
    loop = Loop(
        max_iter=len(tried), tol=0, callback=callback, bar="choosing a model" if verbose else None,
        ending="every model was tried",
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the scores tell enough
        _, history = iterate(comparing, comparing.begin(), loop)
    if not comparing.measured:
        raise comparing.failures[0]
    return comparing.measured, comparing.skipped, history


class Comparing(Scheme):
    """Measure one model per step; `measured`, `skipped` and `failures` hold what came out."""

    rises = True  # models come in the order given, not from worse to better

    def __init__(self, tried: dict[str, tuple[Trial, Any]], criteria: list[Criterion], seed: int):
        self.tried, self.names, self.criteria, self.seed = tried, list(tried), criteria, seed
        self.measured: dict[str, dict[str, float]] = {}
        self.skipped: dict[str, str] = {}
        self.failures: list[ValueError] = []

    def begin(self, rng=None) -> dict:
        return {"done": 0}

    def step(self, state: dict) -> tuple[dict, float]:
        """Measure the next model; one that cannot be fitted is noted and counts as 0."""
        name, last = self.names[state["done"]], self.criteria[-1]
        try:
            self.measured[name] = _values(*self.tried[name], self.criteria, self.seed)
        except ValueError as error:
            self.failures.append(error)
            self.skipped[name] = str(error)
        found = self.measured.get(name, {}).get(last.name, 0.0)
        here = found if math.isfinite(found) else 0.0
        return {"done": state["done"] + 1}, -here if last.larger_is_better else here


def _values(trial: Trial, X, criteria: list[Criterion], seed: int) -> dict[str, float]:
    """Average each criterion over its repeats; those that judge labels share one fit."""
    if not all(isinstance(criterion, Separation | GaussianGap) for criterion in criteria):
        return {criterion.name: float(np.mean(criterion.values(trial, X, seed))) for criterion in criteria}
    labels = labels_of(trial.fit(X), X)
    count = trial.count if isinstance(trial.count, int) else None
    return {criterion.name: criterion.score(X, labels, count) for criterion in criteria}  # type: ignore[attr-defined]
