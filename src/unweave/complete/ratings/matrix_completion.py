"""Fill in a table of ratings of which little is known: the estimator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from unweave.complete.ratings.answers import Answers, InUnits, featured_scores, timed_scores
from unweave.complete.ratings.features import joined, row_of
from unweave.complete.ratings.fit import minimise, sample, set_task, sweep_again
from unweave.complete.ratings.growth import more_ratings
from unweave.complete.ratings.in_blocks import (
    codes_of_blocks,
    explained,
    learned_of,
    open_ratings,
    prepare,
    refuse_more,
)
from unweave.complete.ratings.posterior import answers_of, pair_spread
from unweave.complete.ratings.sgd import how_to_descend
from unweave.complete.ratings.table import refuse_triples
from unweave.complete.recommending.answers import Recommends
from unweave.complete.recommending.asked import NewUser, aligned, is_table, named, read_ratings
from unweave.complete.recommending.ids import objects
from unweave.complete.recommending.ridge import power_of
from unweave.data.atomic import need_place
from unweave.data.table import is_blocks
from unweave.factorization.base import BaseFactorization
from unweave.factorization.run import Run, fitting
from unweave.judge.matching import matched
from unweave.losses import get_loss
from unweave.objectives.observed import observed
from unweave.objectives.opening import Learned, open_table, reopen_table
from unweave.parallel import single_blas
from unweave.scale.door import as_blocks
from unweave.solve.progress import warn_user

_SWEEPS, _PASSES, _DRAWS = 50, 200, 300  # most iterations of least squares, of descent, of a sampler
_OPTIONAL = (
    "drift_", "user_features_", "item_features_", "bins_path_", "choice_", "ridge_path_", "rank_path_", "draws_",
    "noise_", "_range",
)  # fmt: skip


class MatrixCompletion(Recommends, BaseFactorization):
    """Complete ratings: x_ij ≈ mean + a_i + b_j + u_i·z_j over the observed entries, with ridge.

    Minimises ½ Σ (x_ij − prediction)² + ½ Σ_i λ·n_i^p (σ‖u_i‖² + a_i²) + ½ Σ_j λ·n_j^p (σ‖z_j‖² + b_j²), where n counts
    the ratings of a user or an item and σ is the standard deviation of all of them. So λ is a pure number: the fit
    works on ratings brought to mean 0 and spread 1, and ``fit(a·X + b)`` predicts ``a·p + b`` whatever the solver.
    Each half-step solves one small least-squares problem per row, exactly.
    Sparse means unobserved here: stored entries are ratings, the rest is unknown (``missing="auto"``), and so is NaN
    in a dense table.

    Biases ride as extra code columns: a code is (u, a, 1) and its components are (z, 1, mean + b), so the prediction is
    ``inverse_transform(transform(X))``.

    Parameters
    ----------
    n_components : int or "auto", default=10
        "auto" doubles a rank of 8 while held-out entries are predicted clearly better, or else halves it while they
        are predicted no worse.
    ridge : float or "auto", default="auto"
        λ, for ratings of spread 1 (one λ means the same for stars and for percents); "auto" takes what does
        best on a tenth of the entries that is held out, then fits on all: a ridge of the biases first, then a falling
        row from where vectors begin to matter. Where vectors do not do clearly better than biases alone, the model is
        biases alone (``n_components_`` is 0, and ``plan_`` says so).
    bias_ridge : float, optional
        λ of the biases a and b; None takes `ridge`, or finds one of their own when ridge="auto".
    weighting : "root", "plain" or "count", default="root"
        How the ridge of a user or an item grows with the number n of its ratings: λ√n, λ, or λn.
    time_bins : int or "auto", default="auto"
        Stretches of time, with equally many ratings, in which the bias of an item is constant, for a fit with
        timestamps; "auto" takes the number of least error on held-out entries.
    time_ridge : float, default=20
        An item's bias in a stretch, or the drift of a user, with so many ratings is shrunk to half.
    solver : "auto", "gibbs", "sgd", an :class:`SGD`, or the name of an update, default="auto"
        "gibbs" samples the Bayesian form of the model instead of minimising: more accurate, slower, and
        :meth:`predict_std` says how sure it is. `ridge` then plays no part
        (but where it is a number, vectors are not asked whether they pay). Its codes and components are those of the
        draws side by side (100 at most), so that their product is the mean prediction. Features move the prior means
        of the vectors; drift is found first, beside biases alone, and taken off the ratings. "sgd" is
        stochastic gradient descent, with early stopping; an :class:`SGD` object sets its rate, momentum and schedule.
    max_iter : int, default=None
        Most sweeps; None is 50, 200 for "sgd", and 300 for "gibbs", which makes them all.
    missing, init, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`, and ``missing="auto"``.

    Attributes
    ----------
    components_ : array (k + 2, m)
    codes_ : array (n, k + 2)
    ridge_ : float
        The λ used, and ``bias_ridge_`` that of the biases.
    n_components_ : int
    mean_ : float
        Mean of the observed entries; ``spread_`` is their standard deviation.
    draws_ : dict of arrays
        What was drawn, in units of ``spread_``, when solver="gibbs"; ``noise_`` is the standard deviation of a single
        rating.
    ridge_path_ : dict
        Held-out error (root mean square) for every λ tried, when ridge="auto".
    rank_path_ : dict
        Least held-out error for every rank tried, 0 being biases alone; ``choice_`` is the same with
        ``plot()``, when n_components="auto".
    drift_ : dict of arrays
        How biases drift, after ``fit(X, timestamps=...)``; ``bins_path_`` is the held-out error by `time_bins`.
    user_features_, item_features_ : dict of arrays
        The map from features to vectors, after ``fit(X, user_features=..., item_features=...)``.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.add.outer([1.0, 2, 3, 4], [0.0, 1, 2])
    >>> X[1, 2] = np.nan
    >>> model = unweave.MatrixCompletion(1, ridge=0.01).fit(X)
    >>> round(float(model.inverse_transform(model.codes_)[1, 2]), 1)
    4.0

    References
    ----------
    Koren, Bell and Volinsky (2009), Matrix factorization techniques for recommender systems. Salakhutdinov and Mnih
    (2008), Bayesian probabilistic matrix factorization using Markov chain Monte Carlo.
    """

    mean_: float
    spread_: float = 1.0  # that of files written before there was one,
    bias_ridge_: float | None = None  # when biases had the ridge of the vectors

    def __init__(
        self,
        n_components=10,
        *,
        ridge="auto",
        bias_ridge=None,
        weighting="root",
        time_bins="auto",
        time_ridge=20.0,
        missing="auto",
        solver="auto",
        init="auto",
        max_iter=None,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.ridge = ridge
        self.bias_ridge = bias_ridge
        self.weighting = weighting
        self.time_bins = time_bins
        self.time_ridge = time_ridge
        self.missing = missing
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------

    def _cost_family(self, complete):
        return "ratings"

    def fit(self, X, y=None, *, timestamps=None, user_features=None, item_features=None, client=None):
        """Fit the factorisation, with what is known besides the ratings.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Ratings, or sequence of blocks of users
            Users × items. Blocks (or :class:`unweave.scale.two_sides.TwoSided`) are fitted by alternating least
            squares; rank and ridge, where they are to be found, are found on a sample of the users.
        y : ignored
        timestamps : array, optional
            When each rating was given (numbers or dates, in any order): one for each stored entry of a sparse X (for
            :func:`unweave.ratings`, its ``times``), or an array of X's shape. Then biases drift.
        user_features, item_features : array, sparse matrix, frame of numbers or Features, optional
            One row for each row (column) of X; or what :func:`unweave.features` returned, matched
            by id, whose other ids join as users (items) without a rating.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        X = as_blocks(X)
        refuse_triples(X)
        given, features = (timestamps, user_features, item_features), (user_features, item_features)
        with fitting(self, client):
            blocks = is_blocks(X)
            X = X if blocks else joined(X, *features)
            for name in _OPTIONAL:
                self.__dict__.pop(name, None)
            if blocks:
                return self._fit_blocks(X, timestamps, features)
            objective, self._learned = open_table(self, X, self.missing, self._loss())
            need_place(self.checkpoint, "the checkpoint")  # before the searches, which may take long
            task = set_task(self, X, objective, timestamps, features)
            self.mean_, self.spread_ = task.units.mean, task.units.spread
            fitted = (sample if self.solver == "gibbs" else minimise)(self, task, given)
            self._keep(fitted.learned)
            self._remember(X, objective)
            fitted.run.close(fitted.certificate.objective, fitted.certificate)
        return self

    def _fit_blocks(self, X, timestamps, features) -> MatrixCompletion:
        """Fit to blocks of users, from both sides; no codes are kept."""
        refuse_more(self, timestamps, features)
        need_place(self.checkpoint, "the checkpoint")
        sides = open_ratings(self, X, self.missing)
        self._learned = Learned(clone(get_loss(self._loss())), {}, False)
        run = Run(self, sides.rows.digest)
        scheme, plan, chosen, looked_at = prepare(self, sides, self._learned.loss, run.rng)
        units = scheme.how.units
        self.mean_, self.spread_ = units.mean, units.spread
        self.ridge_, self.bias_ridge_ = chosen.ridge, chosen.bias_ridge
        state = run.through(scheme, explained(plan, sides, chosen, power_of(self.weighting), looked_at))
        learned, certificate = learned_of(scheme, state)
        self._keep({**learned, **chosen.published(), "n_components_": chosen.rank})
        self._remember(X, csr_array(sides.shape, dtype=sides.rows.dtype))
        run.close(certificate.objective, certificate)
        return self

    def fit_transform(self, X, y=None, *, timestamps=None, user_features=None, item_features=None, client=None):
        """Fit, and return the codes of X."""
        known = {"timestamps": timestamps, "user_features": user_features, "item_features": item_features}
        self.fit(X, **known, client=client)
        if self.codes_ is None:
            return self.transform(X)
        return self.codes_[: X.shape[0]] if hasattr(X, "shape") else self.codes_

    def _keep(self, learned: dict) -> None:
        """Set the attributes that a fit has learned."""
        self._publish(learned["_sentence"], learned["_full_components"])
        for name, value in learned.items():
            setattr(self, name, value)

    def partial_fit(self, X, y=None, *, timestamps=None, user_features=None, item_features=None):
        """Learn from more ratings: a few sweeps over all that is known, from where the model stands.

        Users and items are matched by id where ids are known (:func:`unweave.ratings`): ratings of known users are
        added, or replace older ones, and new users and items join. Without ids the rows of X are new users. The first
        call is `fit`; mean and ridge stay as it set them. A model that was fitted with timestamps needs them here;
        features (of the rows and columns of this X) may be left out: then newcomers count as average.
        """
        features = (user_features, item_features)
        if not hasattr(self, "components_"):
            return self.fit(X, timestamps=timestamps, user_features=user_features, item_features=item_features)
        if self.codes_ is None:
            raise ValueError(
                "partial_fit goes on from the ratings that a fit has seen, and a fit in blocks keeps none: fit again "
                "with the new blocks as well"
            )
        if hasattr(self, "draws_"):
            raise ValueError("solver='gibbs' cannot go on from old draws: fold_in new users, or fit again with all")
        with fitting(self):
            answers = self._answers
            grown, side = more_ratings(self, joined(X, *features), answers.records, timestamps, features)
            self._keep(sweep_again(self, grown, side, answers))
            if self.item_ids_ is not None and hasattr(self, "feature_names_in_"):
                self.feature_names_in_ = objects(str(item) for item in self.item_ids_)
        return self

    def _default_max_iter(self) -> int:
        if self.solver == "gibbs":
            return _DRAWS
        return _SWEEPS if how_to_descend(self.solver) is None else _PASSES

    @property
    def _limits_shape(self) -> bool:
        """Say that the draws that are kept are spread over all sweeps."""
        return self.solver == "gibbs"

    def certify(self, X):
        """Return the KKT residual of the fit (the problem is not convex, and no bound holds for missing entries)."""
        return self.certificate_

    @property
    def _answers(self) -> Answers:
        """Make what answers questions out of what was learned."""
        return answers_of(self)

    # -- using ---------------------------------------------------------------------------------------------------

    def predict(
        self, users, items=None, *, rows=False, unknown="error", clip=False, timestamps=None, user_features=None,
        item_features=None,
    ):  # fmt: skip
        """Predict ratings of pairs, ``predict(users, items)``; of a dense table all, as :meth:`complete` does.

        Parameters
        ----------
        users, items, rows, unknown
            As for every recommender: ids (positions with ``rows=True``), or a dense table; an unknown id is an error,
            or with ``unknown="mean"`` predicted from the mean and the bias of the other side.
        clip : bool
            Keep predictions within the range of the ratings of the fit.
        timestamps : one, or one per pair, optional
            When the ratings are asked for, for a model fitted with timestamps. Without it a prediction is for the
            average time of the ratings of the user and of the item. Times before the first rating or after the last
            fall into the first or last stretch of an item's drift.
        user_features, item_features : optional
            One row for each of `users` or of `items` (an array, a list of dicts, a frame, or Features by id), for those
            who were not there in ``fit``; who was there is predicted from what was learned.
        """
        check_is_fitted(self)
        features = {"user": user_features, "item": item_features}
        featured = any(given is not None for given in features.values())
        if items is None and (featured or timestamps is not None):
            raise TypeError("timestamps and features go with pairs: predict(users, items, ...)")
        if featured:
            scores = featured_scores(self, self._answers, users, items, features, rows)
        else:
            scores = super().predict(users, items, rows=rows, unknown=unknown)
        if timestamps is not None:
            scores = timed_scores(self, self._answers, scores, users, items, timestamps, rows)
        elif np.ndim(scores) == 0:
            scores = float(scores)
        return self._in_range(scores) if clip else scores

    def complete(self, X, *, clip: bool = False) -> NDArray:
        """Complete the whole table: predict every entry, the known ones included, each row from its own entries.

        Parameters
        ----------
        X : table of ratings, dense or sparse, or :class:`Ratings`
        clip : bool
            Keep predictions within the range of the ratings of the fit.

        Returns
        -------
        array (n_rows, n_items), dense
        """
        scores = super().complete(X)
        return self._in_range(scores) if clip else scores

    def _in_range(self, scores):
        """Keep scores within the range of the ratings of the fit."""
        least, most = getattr(self, "_range", None) or (self.seen_.data.min(), self.seen_.data.max())
        kept = np.clip(scores, least, most)
        return float(kept) if np.ndim(kept) == 0 else kept

    def predict_std(self, users, items, *, rows: bool = False):
        """Tell how sure ratings of pairs are: their standard deviation, that of the draws and the noise of one rating.

        Arguments as in :meth:`predict`; needs ``solver="gibbs"``.
        """
        check_is_fitted(self)
        return pair_spread(self, users, items, rows)

    def score(self, X, y=None) -> float:
        """Score a table: minus the mean loss of an observed entry, after the best codes for X; higher is better.

        Ratings with ids are matched with the items of the fit; a warning counts those of items that it did not have.
        """
        check_is_fitted(self)
        if is_table(X) and self.item_ids_ is not None:
            found = matched(X, None, list(self.item_ids_))
            if found.ratings:
                warn_user(found.said("the model"))
            X = named(self, aligned(self, found.table))
        return super().score(X)

    def fold_in(self, ratings, *, rows: bool = False, unknown: str = "error", features=None) -> NewUser:
        """Add a new user, from ratings and features and without a refit; `recommend`, `predict`, `explain` take it.

        Parameters
        ----------
        ratings, rows, unknown
            As for every recommender; no ratings at all (``{}``) are allowed.
        features : sequence of numbers, or dict of column → value, optional
            Of the user, as in ``fit``; without them the user is an average one before the ratings.
        """
        check_is_fitted(self)
        if features is None:
            return super().fold_in(ratings, rows=rows, unknown=unknown)
        answers = self._answers
        row = row_of(features, answers.records.features("user"), "user")
        items, values = read_ratings(self, ratings, rows, unknown)
        with single_blas():
            return NewUser(answers.new_code(items, values, row), items, values)

    def transform(self, X, *, timestamps=None, user_features=None):
        """Find the codes of X: the left half-step with the components fixed, each row on its own.

        With the times and features that ``fit`` had, the codes are those of ``fit``; without them ratings count as
        given at the average time, and rows as those of average users.
        """
        check_is_fitted(self)
        X = as_blocks(X)
        if is_blocks(X):
            with single_blas():
                return np.concatenate(list(codes_of_blocks(self, X)))
        if timestamps is None and not hasattr(self, "user_features_") and user_features is None:
            return super().transform(X)
        X = named(self, aligned(self, X)) if is_table(X) else X
        with single_blas():
            table = observed(reopen_table(self, X, self.missing, self._learned))
            return self._answers.informed_codes(X, table, timestamps, user_features)

    # -- hooks of Recommends and BaseFactorization ---------------------------------------------------------------

    @property
    def _ridge_rows(self) -> bool:  # type: ignore[override]
        """Say whether one row is solved on its own, by ridge least squares."""
        return not hasattr(self, "draws_")

    def _row_ridge(self, n_ratings):
        return self._answers.row_ridge(n_ratings)

    def _coder(self):
        return InUnits(self._answers)

    def _blank_code(self):
        return self._answers.blank("user")

    def _blank_item(self):
        return self._answers.blank("item")

    def _item_vectors(self):
        return self.components_[self._answers.vector_entries()].T

    def _user_vectors(self, codes):
        return codes[:, self._answers.vector_entries()]

    def _row_code(self, items, values):
        if not (self._ridge_rows or hasattr(self, "draws_")):
            return super()._row_code(items, values)
        return self._answers.new_code(items, values)

    def _influence_of(self, asked, items, values, item):
        """Tell what each rating adds; those of a known user count less their drift, about what the features suggest."""
        place, answers = int(asked.places[0]), self._answers
        prior, off = answers.expected(place, items, self.seen_.indptr)
        parts, baseline = self._influence(items, values - off, item)
        return parts, baseline + float(prior @ self.components_[:, item])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
