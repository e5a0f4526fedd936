"""What the classifier and the regressor of raw tables share: the choice, the answers, the page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data
from threadpoolctl import threadpool_limits

from unweave.data.arguments import generator
from unweave.data.mixed import as_frame, check_names, kind_of
from unweave.data.named import NamedTable
from unweave.data.table import refuse_blocks
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.parallel import single_blas
from unweave.predict.learned.columns import as_table, choose_columns, rows_of
from unweave.predict.learned.pipe import REPRESENTATIONS, USUAL, Candidate, Pipe, fit_pipe, prepare_rows
from unweave.predict.learned.predictors import PREDICTORS
from unweave.predict.learned.reliance import reliance
from unweave.predict.learned.search import Task, Trials, affordable
from unweave.predict.learned.target import known_rows, parted
from unweave.solve.plan import Plan


@dataclass
class HeldOut:
    """Answers for rows by models that had not seen them, nor chosen by them.

    Attributes
    ----------
    rows : array
        Positions of the rows in the table of the fit: all, or up to 10,000 that were drawn.
    truth, answers : arrays
        Their target (places of classes, or numbers), and what was predicted (shares of the classes, or numbers).
    baseline : array
        What is predicted without looking at any column: the shares of the classes, or the mean.
    fold : array
        The fold that each row was judged in.
    """

    rows: NDArray
    truth: NDArray
    answers: NDArray
    baseline: NDArray
    fold: NDArray


class Representing(Model):
    """What the classifier and the regressor share: the choice, the answers, the page."""

    _kind = ""
    representation: Any
    predictor: Any
    kinds: Any
    ignore: Any
    random_state: Any
    n_features_in_: int

    def fit(self, X, y=None):
        """Choose a representation and a predictor on held-out rows, and fit them to all rows.

        Parameters
        ----------
        X : pandas or polars data frame, table of :func:`unweave.read`, array or sparse array
            Raw: numbers, words, dates, and holes (NaN, None). Ids, free text and constant columns are left out.
        y : array, or the name of a column of X
            Rows whose target is unknown (NaN, None) are left out, with a warning.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: fit(X, y)")
        with fitting(self), threadpool_limits(1, user_api="openmp"):
            X, y = parted(X, y)
            table = self._checked(X, reset=True)
            check_consistent_length(table.X, y)
            self._fit(table, column_or_1d(y, warn=True))
        return self

    def _fit(self, table: NamedTable, y: NDArray) -> None:
        known = known_rows(y)
        if len(known) < len(y):
            table, y = rows_of(table, known), y[known]
        if len(y) < 2:
            raise ValueError("n_samples=1: at least two rows with a known target are needed")
        y, n_classes = self._learn_target(y)
        columns = choose_columns(table, self.kinds, self.ignore)
        seed = int(generator(self.random_state).integers(1 << 31))
        task = Task(table, columns, y, n_classes, seed)
        every = prepare_rows(columns, table, y, n_classes)
        _need_variety(every.numbers, table)
        run = Run(self, every.numbers, y)
        scheme = Trials(task, *self._candidates(task, every.numbers))
        found = run.through(scheme, _plan(task, every.numbers, scheme))
        self._pipe = fit_pipe(found["candidate"], every, seed)
        self._rate(task, every.numbers, found, known)
        chosen = found["candidate"]
        self.representation_, self.predictor_ = chosen.representation, chosen.predictor
        self.strength_ = float(chosen.strength)
        self.chosen_, self.tried_, self.notes_ = found["candidate"].title, found["tried"], columns.notes
        run.close(found["objective"])

    def _candidates(self, task: Task, numbers: Any) -> tuple[list[Candidate], list[Any]]:
        """List what is tried: predictors on the columns themselves, then representations with the best of them."""
        predictors = _named(self.predictor, "predictor", PREDICTORS, tuple(PREDICTORS))
        asked = _named(self.representation, "representation", REPRESENTATIONS, USUAL, models=True)
        first = affordable(task, predictors, numbers)
        auto = isinstance(self.representation, str) and self.representation == "auto"
        further = [one for one in asked if not (isinstance(one, str) and one == "none")]
        if auto:
            further = [one for one in further if REPRESENTATIONS[one].fits(numbers)]
        bare = [one for one in asked if isinstance(one, str) and one == "none"]
        more = [] if isinstance(numbers, np.ndarray) else [
            Candidate(one, name, PREDICTORS[name].strengths[0])
            for one in further for name in predictors if not PREDICTORS[name].takes_sparse
        ]  # fmt: skip
        if not first and not more:
            raise ValueError(
                f"predictor={self.predictor!r} cannot take a sparse table as it is: give representation='svd', or "
                "predictor='linear'"
            )
        if bare:
            return (first, [*further, *more]) if first else (more, [])
        # A representation was asked for, so nothing is tried without one.
        named = [Candidate(one, c.predictor, c.strength) for one in further for c in first]
        return [*named, *more], []

    def _rate(self, task: Task, numbers: Any, found: dict, known: NDArray) -> None:
        """Say how good the choice is on held-out rows, and what it relies on."""
        rows, fold, truth = found["rows"], found["fold"], task.y[found["rows"]]
        width = max(1, task.n_classes)
        baseline, plain = np.zeros(width), np.zeros((len(rows), width))
        for one in np.unique(fold):
            plain[fold == one] = _usual(task, np.delete(task.y, rows[fold == one]))
        baseline[:] = _usual(task, task.y)
        self.held_out_ = HeldOut(known[rows], truth, found["answers"], baseline, fold)
        for name, answers in (("error_", found["answers"]), ("baseline_error_", plain)):
            error = float(task.errors(answers, truth).mean())
            setattr(self, name, error if task.n_classes else error**0.5)
        apart = fold == 0
        train = prepare_rows(task.columns, rows_of(task.table, rows[~apart]), truth[~apart], task.n_classes)
        pipe = fit_pipe(found["candidate"], train, task.seed)
        test = pipe.numbers(rows_of(task.table, rows[apart]))
        self.importances_ = np.zeros(self.n_features_in_)
        where = {name: j for j, name in enumerate(self._names(task.columns.names))}
        rises = reliance(pipe, task, test, truth[apart])
        for name, rise in zip(task.columns.used_names, rises, strict=True):
            self.importances_[where[name]] = rise

    def _names(self, names: Sequence[str]) -> list[str]:
        return [str(name) for name in getattr(self, "feature_names_in_", names)]

    def _answers(self, X) -> NDArray:
        check_is_fitted(self)
        with single_blas():
            table = self._checked(X, reset=False)
            self._pipe.reader.warn_of_strangers(table)
            return self._pipe.answers(self._pipe.numbers(table))

    def _checked(self, X: Any, *, reset: bool) -> NamedTable:
        """Check a table as scikit-learn does; one that was read from a file brings its own names."""
        refuse_blocks(self, X)
        if isinstance(X, NamedTable):
            X.need_two_sides()
            if reset:
                self.n_features_in_ = X.shape[1]
                if X.columns is not None:
                    self.feature_names_in_ = np.asarray(X.columns, dtype=object)
            return X
        X = as_frame(X)
        if kind_of(X) == "array":
            return NamedTable(validate_data(self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32],
                                            ensure_all_finite="allow-nan"))  # fmt: skip
        check_names(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return as_table(X)

    def importance(self, most: int = 10) -> list[tuple[str, float]]:
        """List the columns that the model relies on most: how much the held-out error rises when one is shuffled."""
        check_is_fitted(self)
        names = self._names([f"column {j + 1}" for j in range(self.n_features_in_)])
        order = np.argsort(-self.importances_, kind="stable")[:most]
        return [(names[j], float(self.importances_[j])) for j in order]

    def again(self) -> Again:
        """Return an unfitted estimator that does what was chosen, without a search: for learning curves, say."""
        check_is_fitted(self)
        candidate = Candidate(self.representation_, self.predictor_, self.strength_)
        return Again(candidate, self._kind, self.kinds, self.ignore)

    def report(self, path: str | os.PathLike, X=None, *, recipe=None) -> Path:
        """Write one self-contained HTML page: the error against baselines, what is mistaken, what it relies on.

        `X` and `recipe` are not needed: all that is shown was kept by the fit.
        """
        from unweave.data.atomic import replace_file
        from unweave.predict.learned.facts import prediction_facts
        from unweave.report.prediction_page import render_prediction

        check_is_fitted(self)
        page = render_prediction(prediction_facts(self))
        return replace_file(Path(path), lambda name: Path(name).write_text(page, encoding="utf-8"))

    def plot(self, X=None):
        """A matplotlib figure: what is mistaken for what, or predictions against the truth."""
        from unweave.predict.evaluation.figures import plot_held_out

        check_is_fitted(self)
        return plot_held_out(self)

    def _repr_html_(self) -> str:
        from unweave.report.markup import tag

        said = str(self) if not hasattr(self, "_pipe") else f"{type(self).__name__}: {self.verdict()}"
        return str(tag("p", said))

    def verdict(self) -> str:
        """Say in a sentence what was chosen, and how good it is on rows that it had not seen."""
        raise NotImplementedError

    def _learn_target(self, y: NDArray) -> tuple[NDArray, int]:
        raise NotImplementedError

    def _default_max_iter(self) -> int:
        return 1000

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong."""
        from unweave.persist.check import check_loaded

        if not isinstance(self._pipe, Pipe) or type(self.n_features_in_) is not int:
            raise ValueError("the fitted pipeline is missing")
        self._pipe.check()
        if self._pipe.codes is not None:
            check_loaded(self._pipe.codes.model, looked_at)
        classes = getattr(self, "classes_", np.zeros(1))
        if np.ndim(classes) != 1 or len(classes) != self._pipe.n_outputs:
            raise ValueError("the classes do not fit the predictor")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the mixins of the subclasses
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = False
        return tags


class Again(BaseEstimator):
    """Fit one candidate without a search; made by ``model.again()``."""

    def __init__(self, candidate=None, kind="classes", kinds=None, ignore=None):
        self.candidate = candidate
        self.kind = kind
        self.kinds = kinds
        self.ignore = ignore

    def fit(self, X, y):
        """Fit the candidate to a table and its target."""
        table, y = as_table(X), np.asarray(y)
        classes = self.kind == "classes"
        if classes:
            self.classes_, y = np.unique(y, return_inverse=True)
        columns = choose_columns(table, self.kinds, self.ignore)
        with single_blas(), threadpool_limits(1, user_api="openmp"):
            rows = prepare_rows(columns, table, y, len(self.classes_) if classes else 0)
            self._pipe = fit_pipe(self.candidate, rows, 0)
        return self

    def predict(self, X):
        """Return the class or the number of each row."""
        with single_blas():
            found = self._pipe.answers(self._pipe.numbers(as_table(X)))
        return self.classes_[found.argmax(axis=1)] if self.kind == "classes" else found[:, 0]


def _named(asked: Any, what: str, known: dict, usual: Sequence[str], *, models: bool = False) -> list[Any]:
    """Return the list of what is asked for; ValueError for a name that is not known."""
    if isinstance(asked, str) and asked == "auto":
        return list(usual)
    listed = list(asked) if isinstance(asked, list | tuple) else [asked]
    for one in listed:
        if not (isinstance(one, str) and one in known) and not (models and hasattr(one, "transform")):
            also = " or a model with transform" if models else ""
            raise ValueError(f"{what}={one!r} is not known: use 'auto', {', '.join(map(repr, known))}{also}")
    if not listed:
        raise ValueError(f"{what} is an empty list: leave it at 'auto'")
    return listed


def _usual(task: Task, y: NDArray) -> NDArray:
    """Answer without a look at any column: the shares of the classes, or the mean."""
    return np.bincount(y, minlength=task.n_classes) / len(y) if task.n_classes else np.array([y.mean()])


def _need_variety(numbers: Any, table: NamedTable) -> None:
    """Raise if no column differs between two rows: nothing could be predicted."""
    first = numbers[[0]]
    if isinstance(numbers, np.ndarray):
        same = (numbers == first) | (np.isnan(numbers) & np.isnan(first))
        varies = not same.all()
    else:
        varies = bool((abs(numbers.max(axis=0) - numbers.min(axis=0))).nnz)
    if not varies:
        raise ValueError(f"{table.source or 'X'} has no column that varies: there is nothing to predict from")


def _plan(task: Task, numbers: Any, scheme: Trials) -> Plan:
    n, d = numbers.shape
    what = f"{task.n_classes} classes" if task.n_classes else "a number"
    reasons = [
        f"{len(one.rows):,} rows in {one.n_folds} folds{', for the best few' if i else ''}"
        for i, one in enumerate(scheme.rounds)
    ]
    return Plan(f"{what} from {n}×{d} numbers", "held-out error of each on a short list", "", "", "none", reasons)
