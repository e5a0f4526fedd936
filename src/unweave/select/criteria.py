"""What a number of components can be chosen by: each criterion scores one number and picks the best of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_clusterer

from unweave.data.arguments import whole
from unweave.select.bi_cross import BiCrossValidation
from unweave.select.completion import Completion
from unweave.select.elbow import elbow
from unweave.select.groups import Groups
from unweave.select.held_out import HeldOut
from unweave.select.information import aic, bic, icl
from unweave.select.knee import knee
from unweave.select.separation import Separation
from unweave.select.silhouette import silhouette
from unweave.select.stability import Stability
from unweave.select.trial import Trial, fitting, labels_of, n_rows, refuse_pairs, take, within


class Criterion(Protocol):
    """``values`` scores one number of components, a value for each repeat; ``pick``, where there is one, chooses."""

    name: str
    title: str
    larger_is_better: bool

    def values(self, trial: Trial, X, seed: int) -> NDArray: ...


@dataclass(frozen=True)
class Silhouette:
    """Mean silhouette of the clusters; of `sample` rows (each against all) where there are more."""

    sample: int = 2000

    name = "silhouette"
    title = "mean silhouette"
    larger_is_better = True

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        labels = labels_of(trial.fit(X), X)
        return np.array([silhouette(X, labels, whole(self.sample, "sample", 1), random_state=seed)])


@dataclass(frozen=True)
class BIC:
    """The Bayesian information criterion of a fit to the whole table."""

    name = "bic"
    title = "BIC (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([bic(trial.fit(X), X)])


@dataclass(frozen=True)
class AIC:
    """Akaike's information criterion of a fit to the whole table."""

    name = "aic"
    title = "AIC (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([aic(trial.fit(X), X)])


@dataclass(frozen=True)
class ICL:
    """The integrated completed likelihood of a fit to the whole table (:func:`unweave.select.icl`)."""

    name = "icl"
    title = "ICL (less is better)"
    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        return np.array([icl(trial.fit(X), X)])


@dataclass(frozen=True)
class CrossValidation:
    """``score`` of rows that were not in the fit, in `n_folds` parts.

    For densities. The score of a factorisation or of k-means grows with every component on new rows too, because
    their codes are fitted to the very rows: hide entries instead.
    """

    n_folds: int = 5

    name = "cross-validation"
    title = "score of held-out rows"
    larger_is_better = True

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        if not hasattr(trial.estimator, "score"):
            raise TypeError(
                f"{type(trial.estimator).__name__} has no score, so it cannot be cross-validated: choose by "
                f"{fitting(trial.estimator)!r}"
            )
        refuse_pairs(trial.estimator)
        n, folds = n_rows(X), whole(self.n_folds, "n_folds", 2)
        if folds > n:
            raise ValueError(f"n_folds={folds} is more than the {n} rows of X")
        parts = np.array_split(np.random.default_rng(seed).permutation(n), folds)
        scores = []
        for i, out in enumerate(parts):
            kept = np.concatenate(parts[:i] + parts[i + 1 :])
            scores.append(float(trial.fit(take(X, kept)).score(take(X, out))))
        return np.array(scores)


class _Curve:
    """The error of a fit to the whole table: within-cluster squares for clusterings, else the objective."""

    larger_is_better = False

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        model = trial.fit(X)
        if is_clusterer(model) or not hasattr(model, "objective_"):
            return np.array([within(X, labels_of(model, X), getattr(model, "missing", None))[0]])
        return np.array([float(model.objective_)])


@dataclass(frozen=True)
class Elbow(_Curve):
    """Where the curve of errors bends, by two lines (:func:`unweave.select.elbow`)."""

    name = "elbow"
    title = "error of the fit (look for the elbow)"

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        return elbow(ks, scores)


@dataclass(frozen=True)
class Knee(_Curve):
    """Where the curve of errors bends, by Kneedle (:func:`unweave.select.knee`)."""

    sensitivity: float = 1.0

    name = "knee"
    title = "error of the fit (look for the knee)"

    def pick(self, ks: NDArray, scores: NDArray) -> int:
        return knee(ks, scores, sensitivity=self.sensitivity)


_KINDS: tuple[type, ...] = (
    Groups, Stability, Silhouette, Separation, BIC, AIC, ICL, HeldOut, BiCrossValidation, Completion, CrossValidation,
    Elbow, Knee,
)  # fmt: skip
CRITERIA = {kind.name: kind for kind in _KINDS}  # type: ignore[attr-defined]


def find_criterion(by: Any, estimator: Any) -> Criterion:
    """A criterion by its name, or the object itself; "auto" goes by the kind of the estimator.

    >>> from unweave import NMF, KMeans
    >>> find_criterion("auto", NMF()).name, find_criterion("auto", KMeans()).name
    ('held-out', 'groups')
    """
    if isinstance(by, str):
        word = fitting(estimator) if by == "auto" else by
        if word not in CRITERIA:
            raise ValueError(f"by={by!r} is not known; use one of auto, {', '.join(CRITERIA)}, or a criterion")
        return CRITERIA[word]()
    if isinstance(by, type) or not hasattr(by, "values") or not hasattr(by, "larger_is_better"):
        raise TypeError(f"by must be the name of a criterion or one with its options (Stability(...)), got {by!r}")
    return by
