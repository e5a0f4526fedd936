"""Fill the holes of a table whose columns are of many kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from unweave.complete.imputer.columns import EncodedTable, TableLayout, learn_column, losses_of
from unweave.complete.imputer.fill import Fitted
from unweave.complete.imputer.joint import JointFit
from unweave.complete.imputer.search import ChosenModels, base_of, choose_models
from unweave.data.arguments import generator, whole
from unweave.data.mixed import ReadColumn, as_frame, check_names, kind_of, numbers_like, read_columns, write_columns
from unweave.data.table import refuse_blocks
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.parallel import single_blas
from unweave.solve.plan import Plan
from unweave.solve.progress import warn_user


class TableImputer(Model, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
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

    _takes_cluster = False

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

    def fit(self, X, y=None, *, client=None):
        """Learn how the columns go together.

        Parameters
        ----------
        X : pandas or polars data frame, or array of numbers
            NaN, None, NA and null are holes.
        y : ignored
        client : None
            This model works on all rows in one place, and cannot use a cluster.
        """
        whole(self.n_imputations, "n_imputations", 1)
        with fitting(self, client):
            X = self._checked(X, reset=True)
            read = read_columns(X)
            asked = losses_of(self.loss, [one.name for one in read])
            layout = TableLayout([learn_column(one, loss) for one, loss in zip(read, asked, strict=True)])
            _warn_of_nothing_seen(read)
            self._fit(layout.encode(read), read)
        return self

    def _fit(self, table: EncodedTable, read: list[ReadColumn]) -> None:
        run = Run(self, table.answers, table.seen)
        chosen = choose_models(table, run.rng, self.n_components, self.ridge, run.loop)
        joint = JointFit(chosen.specs, table)
        state = run.through(joint, _plan(table, chosen))
        models = joint.models(state)
        self._fitted = Fitted(table.layout, models, chosen.weights, chosen.residuals, base_of(table))
        self.weights_, self.held_out_ = chosen.weights, chosen.path
        self.codes_, self.components_, self.offset_ = self._fitted.factors(table)
        self.uncertainty_ = self._fitted.uncertainty(table, read)
        run.close(float(run.history.objective[-1]))

    def transform(self, X):
        """Fill every hole by the mean or the most probable level; the kind of table that went in comes back."""
        return self._fill(X, None)

    def imputations(self, X, n=None, random_state=None) -> list:
        """Draw several filled tables: their differences are what the data leave open.

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
        """Say how sure each fill is: standard deviation of a number, probability of the level chosen; NaN if seen."""
        check_is_fitted(self)
        with single_blas():
            X = self._checked(X, reset=False)
            read, table = self._encoded(X)
            return numbers_like(X, self._fitted.uncertainty(table, read))

    def _check_loaded(self, looked_at: bool) -> None:
        """Check what a file may not get wrong, because kernels trust it."""
        self._fitted.check(looked_at)

    def _fill(self, X, rng: np.random.Generator | None):
        check_is_fitted(self)
        with single_blas():
            X = self._checked(X, reset=False)
            read, table = self._encoded(X)
            if not any(one.holes.any() for one in read):
                return X.copy() if kind_of(X) != "polars" else X.clone()
            return write_columns(X, read, self._fitted.fills(table, read, rng))

    def _encoded(self, X) -> tuple[list[ReadColumn], EncodedTable]:
        layout = self._fitted.layout
        read = layout.as_fitted(read_columns(X))
        table = layout.encode(read)
        layout.warn_of_new_levels(read, table)
        return read, table

    def _checked(self, X: Any, *, reset: bool) -> Any:
        refuse_blocks(self, X)
        X = as_frame(X)
        if kind_of(X) == "array":
            dtype = [np.float64, np.float32]
            return validate_data(self, X, reset=reset, dtype=dtype, ensure_all_finite="allow-nan")
        check_names(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _plan(table: EncodedTable, chosen: ChosenModels) -> Plan:
    n, m = table.seen.shape
    told = [f"{spec}: held-out error {chosen.path.get(str(spec), 1.0):.3g} of the means'" for spec in chosen.specs]
    reasons = told or ["too few cells to hold some out: columns keep their mean or most frequent level"]
    return Plan(f"{n}×{m} table with {int((~table.seen).sum())} unknown cells", "em", "", "", "data", reasons)


def _warn_of_nothing_seen(read: list[ReadColumn]) -> None:
    empty = [repr(one.name) for one in read if one.holes.all()]
    if empty:
        warn_user(f"no value was observed in column {', '.join(empty)}: filled with 0 or the first level")
