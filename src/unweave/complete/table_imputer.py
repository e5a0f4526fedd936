"""Filling the holes of a table whose columns are of many kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unweave.complete import imputer_fill as fill
from unweave.complete.imputer_columns import Raw, learn_column
from unweave.complete.imputer_experts import Data, Together
from unweave.complete.imputer_frame import as_frame, check_names, kind_of, numbers_like, read_columns, write_columns
from unweave.complete.imputer_layout import Layout, losses_of
from unweave.data.table import refuse_blocks
from unweave.factorization.reportable import Reportable
from unweave.factorization.settings import generator, make_loop, whole
from unweave.parallel import single_blas
from unweave.solve.certificate import Certificate
from unweave.solve.history import History
from unweave.solve.iterate import iterate
from unweave.solve.plan import Plan
from unweave.solve.progress import warn_user


class TableImputer(Reportable, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill the holes of a table of numeric, Boolean, ordinal and categorical columns; the same kind comes back.

    Two models of the table are fitted to its observed cells, x_ij ≈ b_j + u_i·z_j with u_i ~ N(0, I) and a mixture
    x_ij ≈ Σ_c r_ic μ_cj of groups, and each column takes the combination b + Σ_e w_e (prediction_e − b) that is best on
    cells held out of the fit. A column that neither predicts better than its mean (or most frequent level) keeps that.

    Use it for tables with holes of any kind, in a pipeline or alone. Missing are NaN, None, NA and null. Observed cells
    are never changed, and types stay: whole numbers are rounded, fills lie in the range that was observed, levels are
    levels. A level that `fit` did not see (or that is not among the 64 most frequent of its column) stays as it is and
    tells nothing about the rest of its row; `transform` warns of it. A numeric column without any value is filled with
    0 and a warning; a column of text without any value raises.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Rank of the linear model. A number fits the factor model in which each column has its own loss. "auto" takes the
        full rank (one Gaussian, levels as 0/1), as accurate on the tables measured and several times as fast; but the
        best rank on held-out cells where a column has the loss "huber" or there are more than 256 outputs.
    ridge : float or "auto", default="auto"
        How strongly the linear model is drawn to independent columns: in rows (full rank) or as ½ ridge ‖Z‖².
        "auto" takes the best of 1, 10 and 50 on held-out cells.
    loss : "auto" or dict, default="auto"
        A dict gives columns (by name) a loss of their own: "squared" or "huber" for numbers, "logistic" for two levels,
        "ordinal", "categorical". "auto" goes by the type: numbers squared, Booleans and numbers that are all 0 or 1
        logistic, ordered categories (pandas ordered, polars Enum) ordinal, other categories and text categorical.
    n_imputations : int, default=5
        How many tables :meth:`imputations` draws when it is not told.
    max_iter : int, default=100
    tol : float, default=1e-4
        Stop when an iteration lowers the objective (minus the log-likelihood) by less than this fraction.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`; they attend the last fit, not the search on held-out cells before it.

    Attributes
    ----------
    weights_ : array (columns, models)
        How far each column trusts each model; the rest of the trust goes to its mean or shares of levels.
    held_out_ : dict
        Held-out error of every model tried, in units of the error of column means (0 is perfect, 1 is no better).
    uncertainty_ : array (rows, columns)
        Of the cells filled in the training table, as :meth:`uncertainty` gives it.
    components_, codes_, offset_ : arrays
        Z, U and b of the linear model, in standardised units.
    objective_, n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np, unweave
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) @ [[1.0, 2.0, -1.0]] + 0.1 * rng.normal(size=(200, 3))
    >>> X[0, 1] = np.nan
    >>> imputer = unweave.TableImputer().fit(X)
    >>> bool(abs(imputer.transform(X)[0, 1] - 2 * X[0, 0]) < 0.5)
    True
    >>> imputer.uncertainty(X)[0].round(1)
    array([nan, 0.2, nan])

    References
    ----------
    Udell, Horn, Zadeh and Boyd (2016), Generalized low rank models. Little and Rubin (2002), Statistical analysis with
    missing data. Breiman (1996), Stacked regressions.
    """

    _limits_shape = True  # max_iter and tol are limits of the fits of the search

    def __init__(
        self,
        n_components="auto",
        *,
        ridge="auto",
        loss="auto",
        n_imputations=5,
        max_iter=100,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.loss = loss
        self.n_imputations = n_imputations
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None):
        """Learn how the columns go together.

        Parameters
        ----------
        X : pandas or polars data frame, or array of numbers
            NaN, None, NA and null are holes.
        y : ignored
        """
        whole(self.n_imputations, "n_imputations", 1)
        with single_blas():
            X = self._checked(X, reset=True)
            raws = read_columns(X)
            names = [raw.name for raw in raws]
            asked = losses_of(self.loss, [str(n) for n in getattr(X, "columns", names)])
            self._layout = Layout([learn_column(raw, loss) for raw, loss in zip(raws, asked)])
            self._warn_of_nothing_seen(raws)
            data = Data(self._layout, *self._layout.encode(raws))
            self._fit(data)
            self.uncertainty_ = fill.doubts(self._fitted, fill.combined(self._fitted, data), raws)
        return self

    def _fit(self, data: Data) -> None:
        rng = generator(self.random_state)
        loop = make_loop(self, data.answers, data.seen)
        choice, base = fill.choose(data, rng, self.n_components, self.ridge, loop)
        joint = Together(choice.specs, data)
        history, state = History(), dict[str, Any]()
        if choice.specs:
            state, history = iterate(joint.step, joint.begin(rng), loop)
        self._fitted = fill.Fitted(self._layout, joint.models(state), choice.weights, choice.residuals, base)
        self.weights_, self.held_out_ = choice.weights, choice.path
        self.history_, self.n_iter_ = history, max(1, len(history))
        self.objective_ = float(history.objective[-1]) if len(history) else 0.0
        self.certificate_ = Certificate("none", float("-inf"), float("inf"), False, self.objective_)
        self.plan_ = self._plan(data, choice)
        self.codes_, self.components_, self.offset_ = fill.factors(self._fitted, data)
        if loop.checkpoint is not None and history.stopped != "interrupted":
            loop.checkpoint.remove()

    def _plan(self, data: Data, choice) -> Plan:
        n, m = data.seen.shape
        told = [f"{spec}: held-out error {choice.path.get(str(spec), 1.0):.3g} of the means'" for spec in choice.specs]
        reasons = told or ["too few cells to hold some out: columns keep their mean or most frequent level"]
        return Plan(f"{n}×{m} table with {int((~data.seen).sum())} unknown cells", "em", "", "", "data", reasons)

    def transform(self, X):
        """X with every hole filled by the mean or the most probable level; the kind of table that went in."""
        return self._fill(X, None)

    def imputations(self, X, n=None, random_state=None) -> list:
        """Several filled tables, each a draw: their differences are what the data leave open.

        Analyse each and pool the answers (Rubin's rules); a single filled table makes standard errors too small.

        Parameters
        ----------
        X : table as in `fit`
        n : int, optional
            How many; ``n_imputations`` if not given.
        random_state : None, int or generator
        """
        n = whole(self.n_imputations if n is None else n, "n", 1)
        rng = generator(random_state)
        return [self._fill(X, rng) for _ in range(n)]

    def uncertainty(self, X):
        """How sure each fill is: standard deviation of a number, probability of the level chosen; NaN if seen."""
        check_is_fitted(self)
        with single_blas():
            X = self._checked(X, reset=False)
            raws, data = self._encoded(X)
            return numbers_like(X, fill.doubts(self._fitted, fill.combined(self._fitted, data), raws))

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        fill.check_fitted(self._fitted, self._layout, looked_at)

    def _fill(self, X, rng: np.random.Generator | None):
        check_is_fitted(self)
        with single_blas():
            X = self._checked(X, reset=False)
            raws, data = self._encoded(X)
            if not any(raw.holes.any() for raw in raws):
                return X.copy() if kind_of(X) != "polars" else X.clone()
            return write_columns(X, raws, fill.fills(self._fitted, data, raws, rng))

    def _encoded(self, X) -> tuple[list[Raw], Data]:
        raws = [fill.expected(raw, column) for raw, column in zip(read_columns(X), self._layout.columns)]
        answers, seen = self._layout.encode(raws)
        for column, raw, known in zip(self._layout.columns, raws, seen.T):
            fill.warn_of_new_levels(column, raw, known)
        return raws, Data(self._layout, answers, seen)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        refuse_blocks(self, X)
        X = as_frame(X)
        if kind_of(X) == "array":
            dtype = [np.float64, np.float32]
            return validate_data(self, X, reset=reset, dtype=dtype, ensure_all_finite="allow-nan")
        check_names(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _warn_of_nothing_seen(self, raws: list[Raw]) -> None:
        empty: list[NDArray | str] = [repr(raw.name) for raw in raws if raw.holes.all()]
        if empty:
            warn_user(f"no value was observed in column {', '.join(map(str, empty))}: filled with 0 or the first level")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
