"""What predictors of this room share: they are saved to a file, and scored by accuracy or by R²."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from unweave.data.table import check_table
from unweave.factorization.keywords import check_keywords


def _gives_classes(model: Predictor) -> bool:
    """Whether a model has probabilities: not if it is for amounts, by its task or by what it was fitted to."""
    amounts = not model._is_classifier and (model.task == "numbers" or hasattr(model, "n_iter_"))
    if amounts:
        raise AttributeError(f"predict_proba is for classes: this {type(model).__name__} is for amounts")
    return True


def dense_table(estimator, X, *, reset: bool) -> NDArray:
    """Read X as an array of finite numbers, float32 or float64; a sparse table is refused with the remedy."""
    values = check_table(estimator, X, None, reset=reset).values
    if not isinstance(values, np.ndarray):
        raise ValueError(f"{type(estimator).__name__} does not take sparse tables: pass X.toarray()")
    return values


class Saved(BaseEstimator):
    """An estimator of this room: unknown arguments are answered in words, and it is saved to a file."""

    def __new__(cls, *args: Any, **keywords: Any):
        # Before __init__, which every class writes out for scikit-learn: the one place that all of them pass.
        check_keywords(cls, keywords)
        return super().__new__(cls)

    def save(self, path: str | os.PathLike) -> Path:
        """Write the fitted model to one file, atomically; :func:`unweave.load` reads it back.

        The file (usually ``*.unweave``) holds arrays and JSON, no pickle. A loaded model gives the same bits.
        """
        from unweave.persist import save

        check_is_fitted(self)
        return save(self, path)


class Predictor(Saved):
    """An estimator that learns a target: classes, or amounts. It is a classifier where it has ``classes_``.

    Subclasses write `fit`, and `_outputs(X)`: for each row the probability of each class, or the amounts.
    """

    classes_: NDArray
    task: str = "classes"

    def predict(self, X) -> NDArray:
        """The class of each row of X, or its amount."""
        check_is_fitted(self)
        found = self._outputs(X)
        return self.classes_[found.argmax(axis=1)] if self._is_classifier else found

    @available_if(_gives_classes)
    def predict_proba(self, X) -> NDArray:
        """The probability of each class, one column a class, in the order of ``classes_``."""
        check_is_fitted(self)
        return self._outputs(X)

    def score(self, X, y, sample_weight=None) -> float:
        """The share of rows whose class is right; for amounts R², the share of the variance of y that is predicted."""
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if self._is_classifier else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _outputs(self, X) -> NDArray:
        raise NotImplementedError

    @property
    def _is_classifier(self) -> bool:
        return hasattr(self, "classes_")

    def _check_loaded(self, looked_at: bool) -> None:
        """Raise ValueError unless what was read from a file fits together."""
        n = self.n_features_in_
        if type(n) is not int or n < 1:
            raise ValueError("n_features_in_ is not a number of columns")
        classes = getattr(self, "classes_", np.empty(1))
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not classes.size:
            raise ValueError("classes_ is no list of classes")

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        learned = vars(self).get("n_iter_") is not None
        if self.task == "classes" or (learned and self._is_classifier):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        elif self.task == "numbers" or learned:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
