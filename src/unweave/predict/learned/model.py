"""Predict a target from a raw table, by the representation and the predictor that err least on rows held out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from unweave.predict.learned.representing import Representing
from unweave.predict.learned.target import as_amounts, as_classes


class RepresentationClassifier(Representing, ClassifierMixin, BaseEstimator):
    """Say which class each row of a raw table belongs to, and how sure that is, by what errs least on held-out rows.

    A raw table (words, dates and holes among its columns) becomes numbers, these become codes of a representation U
    with X ≈ U·Z, or stay as they are, and a predictor says the class: linear model, support vectors, boosted trees or
    forest. All pairs on a short list are fitted to parts of the rows and judged on the others; nothing that is learned,
    holes and levels included, sees the rows that judge.

    Use it for a first answer on any table with a target, with its error beside that of the most frequent class and what
    it relies on.

    Parameters
    ----------
    representation : str, model with ``transform``, or list of these, default="auto"
        What is tried: "none" (the columns themselves), "pca", "svd", "kmeans" (distances to groups), "nmf", "imputer"
        (holes filled by :class:`TableImputer`). "auto" tries the columns, and principal axes of more than eight.
    predictor : str or list of str, default="auto"
        "linear", "vectors", "boosting", "forest"; "auto" tries all that do not take too long.
    kinds : dict, optional
        Name of a column → what it is, such as ``{"store": "category"}``.
    ignore : list of str, optional
        Names of columns to leave out.
    max_iter : int, optional
        The most pairs that are tried.
    random_state : None, int or generator
        For folds, forests and starts.
    callback, checkpoint, verbose : optional
        As everywhere; one iteration is one pair.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    chosen_, tried_ : str, dict
        What was chosen, and the held-out loss of all that was tried (share of wrong rows plus Brier score).
    error_, baseline_error_ : float
        Share of held-out rows that are wrong, of the choice and of the most frequent class. In every fold the judge is
        what was chosen on the other folds.
    importances_ : array
        For every column, how much the share of wrong rows rises when the column is shuffled.
    held_out_ : HeldOut
        Truth and answers of the rows held out.
    representation_, predictor_, strength_ : what was chosen, by name, and how strongly it follows the rows
    notes_ : list of str
        What was left out, and why.

    Examples
    --------
    >>> import pandas, unweave
    >>> frame = pandas.DataFrame({"town": ["Bern", "Ulm", None, "Bern", "Ulm", "Ulm"] * 9,
    ...                           "kg": [1.0, 7.0, 2.0, None, 8.0, 9.0] * 9})
    >>> heavy = ["no", "yes", "no", "no", "yes", "yes"] * 9
    >>> model = unweave.RepresentationClassifier(predictor="linear", random_state=0).fit(frame, heavy)
    >>> model.error_, round(model.baseline_error_, 1)
    (0.0, 0.5)
    >>> model.predict(frame[:3]).tolist()
    ['no', 'yes', 'no']

    References
    ----------
    T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical Learning, 2009, chapter 7.
    R. J. Tibshirani and R. Tibshirani, A bias correction for the minimum error rate in cross-validation, 2009.
    """

    _kind = "classes"

    def __init__(
        self,
        representation="auto",
        predictor="auto",
        *,
        kinds=None,
        ignore=None,
        max_iter=None,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.representation = representation
        self.predictor = predictor
        self.kinds = kinds
        self.ignore = ignore
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _learn_target(self, y: NDArray) -> tuple[NDArray, int]:
        places, self.classes_ = as_classes(y, type(self).__name__)
        return places, len(self.classes_)

    def predict(self, X) -> NDArray:
        """Return the likeliest class of each row."""
        found = self._answers(X)
        return self.classes_[found.argmax(axis=1)]

    def predict_proba(self, X) -> NDArray:
        """Return the share of each class for each row, in the order of ``classes_``."""
        return self._answers(X)

    def verdict(self) -> str:
        """Say in a sentence what was chosen, and how good it is on rows that it had not seen."""
        return (
            f"{self.chosen_}: {1 - self.error_:.1%} of rows that it had not seen are right, against "
            f"{1 - self.baseline_error_:.1%} for always the most frequent class"
        )


class RepresentationRegressor(Representing, RegressorMixin, BaseEstimator):
    """Say a number for each row of a raw table, by what errs least on held-out rows.

    As :class:`RepresentationClassifier`, for a target that is a number: ridge regression, support vectors, boosted
    trees or a forest, on the columns or on codes of a representation, chosen by the squared error on rows held out.

    Use it for a first answer on any table with a number to predict, with its error beside that of the mean.

    Parameters
    ----------
    representation, predictor, kinds, ignore, max_iter, random_state, callback, checkpoint, verbose
        As of :class:`RepresentationClassifier`.

    Attributes
    ----------
    chosen_, tried_ : str, dict
        What was chosen, and the mean squared error on held-out rows of all that was tried.
    error_, baseline_error_ : float
        Root of the mean squared error on held-out rows, of the choice and of the mean.
    importances_ : array
        For every column, how much that error rises when the column is shuffled.
    held_out_, representation_, predictor_, notes_
        As of :class:`RepresentationClassifier`.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> model = unweave.RepresentationRegressor(predictor="linear", random_state=0).fit(X, 5 * X[:, 0] - X[:, 2])
    >>> model.error_ < 0.01 * model.baseline_error_, model.importances_.argmax()
    (True, np.int64(0))

    References
    ----------
    T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical Learning, 2009, chapter 7.
    """

    _kind = "numbers"

    def __init__(
        self,
        representation="auto",
        predictor="auto",
        *,
        kinds=None,
        ignore=None,
        max_iter=None,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.representation = representation
        self.predictor = predictor
        self.kinds = kinds
        self.ignore = ignore
        self.max_iter = max_iter
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _learn_target(self, y: NDArray) -> tuple[NDArray, int]:
        return as_amounts(y, type(self).__name__), 0

    def predict(self, X) -> NDArray[np.float64]:
        """Return the number of each row."""
        return self._answers(X)[:, 0]

    def verdict(self) -> str:
        """Say in a sentence what was chosen, and how good it is on rows that it had not seen."""
        return (
            f"{self.chosen_}: off by {self.error_:.4g} (root of the mean square) on rows that it had not seen, against "
            f"{self.baseline_error_:.4g} for always the mean"
        )
