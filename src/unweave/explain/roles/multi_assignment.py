"""Multi-assignment clustering: roles in spite of noise, by a probability for every cell."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from unweave import parallel
from unweave.data.arguments import number, row_weights, whole
from unweave.data.named import NamedTable
from unweave.data.table import joined_blocks, refuse_blocks
from unweave.explain.roles.access import read_access
from unweave.explain.roles.multi_assignment_em import (
    MOST_SETS,
    Annealed,
    Cells,
    MixtureNoise,
    cells_of,
    count_sets,
    grouped,
    levels,
    log_likelihoods,
    posteriors,
    role_sets,
    usual_size,
)
from unweave.factorization.model import Model
from unweave.factorization.run import Run, fitting
from unweave.group.mixtures.base import best_start
from unweave.parallel import single_blas
from unweave.select.auto import chooses
from unweave.solve.plan import Plan

_NUMBERS = 1 << 21  # numbers of a posterior at once
_ROWS, _MOST, _FOLDS, _STARTS = 2000, 64, 3, 2  # of a search for the number of roles


class RoleException(NamedTuple):
    """A cell that the roles do not explain, and how surprising it is: −log of its probability."""

    user: Any
    permission: Any
    kind: str
    surprise: float


class MultiAssignmentClustering(Model, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Find roles in a noisy table of who has which permission: p(x_d = 1 | L) = ε r + (1 − ε)(1 − Π_{k∈L} β_kd).

    A user has a *set* L of roles and gets what any of them grants; β_kd is the probability that role k does not grant
    permission d. With probability ε a cell is noise, which is a one with probability r. All of β, ε and r are
    estimated, and so is the posterior of every user's set. Use it where some permissions were granted or lost by
    accident: roles that must explain every cell (:class:`RoleMiner`) would copy the accidents. Fitted by EM with
    deterministic annealing: from a temperature at which all sets are likely, so that where it begins matters little;
    −log-likelihood (with 0.01 pseudo-counts for either side of every coin) never rises, ``history_`` has it for a mean
    user. Users, and permissions, that are alike count as one.

    Parameters
    ----------
    n_components : int or "auto", default=5
        Number of roles. "auto" takes the number under which users that were left out are most likely.
    max_roles_per_user : int or "auto", default="auto"
        The most roles of a user. "auto" is 3, fewer where that would give more than 5000 sets of roles.
    binarize : float or None, default=None
        Entries above it are ones and all others zeros; None refuses a table of anything else.
    n_init : int, default=3
        Starts, of which the most likely answer is taken.
    missing : None or "nan", default=None
        "nan": only the entries seen count.
    max_iter, tol : int, default=200; float, default=1e-4
        The fit has settled when it is cold and a step raises the mean log-likelihood of a user by no more than `tol`.
    random_state, callback, checkpoint, verbose
        As in :class:`KMeans`.

    Attributes
    ----------
    roles_ : array (k, m) of 0 and 1
        The permissions of every role: where β < ½.
    assignments_ : array (n, k) of 0 and 1
        The most probable set of roles of every user; also ``codes_``.
    components_ : array (k, m)
        1 − β, the probability that a role grants a permission.
    noise_, noise_ones_ : float
        ε, and r.
    role_sets_ : array (s, k) of 0 and 1
        The sets of roles that were weighed; the columns of :meth:`posterior`.
    n_components_, choice_, objective_, n_iter_, history_, plan_, certificate_

    Examples
    --------
    >>> import numpy as np, unweave
    >>> rng = np.random.default_rng(0)
    >>> roles = np.repeat(np.eye(3, dtype=int), 6, axis=1)  # of six permissions each
    >>> users = rng.integers(0, 2, (200, 3))
    >>> X = (users @ roles > 0) ^ (rng.random((200, 18)) < 0.1)
    >>> model = unweave.MultiAssignmentClustering(3, random_state=0).fit(X)
    >>> sorted(model.roles_.tolist()) == sorted(roles.tolist())
    True
    >>> bool((model.denoise(X) == (users @ roles > 0)).mean() > 0.99)
    True

    References
    ----------
    Streich, Frank, Basin and Buhmann (2009), Multi-assignment clustering for Boolean data. Frank, Streich, Basin and
    Buhmann (2012), Multi-assignment clustering for Boolean data, JMLR 13.
    """

    _takes_blocks = False

    def __init__(
        self,
        n_components=5,
        *,
        max_roles_per_user="auto",
        binarize=None,
        n_init=3,
        missing=None,
        max_iter=200,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.max_roles_per_user = max_roles_per_user
        self.binarize = binarize
        self.n_init = n_init
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    # -- fitting -------------------------------------------------------------------------------------------------

    @chooses
    def fit(self, X, y=None, sample_weight=None):
        """Learn roles from users (rows) and permissions (columns).

        Parameters
        ----------
        X : array, sparse matrix, data frame or table that was read
            1 where the user has the permission.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the users.
        """
        with fitting(self):
            access = read_access(self, X, self.missing, reset=True)
            weights = row_weights(sample_weight, access.shape[0])
            k, starts = self._number(), whole(self.n_init, "n_init", 1)
            self.role_sets_ = role_sets(k, self._size(k))
            run = Run(self, access.ones, access.holes, weights)
            cells = cells_of(access, weights)
            counted = cells if weights is None else _with_weight(cells)
            few, _, of_permission = grouped(counted)
            model = MixtureNoise(few, self.role_sets_.astype(np.float64))
            em = Annealed(model.expect, model.maximise, model.first, model.revive, tol=number(self.tol, "tol"))
            plan = self._plan(access.shape, few.shape, starts)
            state = run.through(em, plan, best_start(em, starts, run.loop, run.rng))
            self._publish(state, of_permission)
            L, self.assignments_ = self._weighed(cells)
            prior = model.log_prior(state)
            run.close(-float(cells.users @ L) - prior)
        return self

    def _size(self, k: int) -> int:
        """Return how many roles a user has at most."""
        if isinstance(self.max_roles_per_user, str):
            if self.max_roles_per_user != "auto":
                raise ValueError(
                    f"max_roles_per_user must be a whole number or 'auto', got {self.max_roles_per_user!r}"
                )
            return usual_size(k)
        most = min(whole(self.max_roles_per_user, "max_roles_per_user", 1), k)
        if most > 1 and count_sets(k, most) > MOST_SETS:
            raise ValueError(
                f"max_roles_per_user={most} of {k} roles make {count_sets(k, most):,} sets to weigh for each user, "
                f"more than {MOST_SETS:,}: give max_roles_per_user={usual_size(k)} or fewer n_components"
            )
        return most

    def _plan(self, shape: tuple[int, int], few: tuple[int, int], starts: int) -> Plan:
        """Say in words how the fit is done."""
        k = self.role_sets_.shape[1]
        reasons = [
            f"every user has one of {len(self.role_sets_):,} sets of at most {self.role_sets_.sum(axis=1).max()} roles",
            f"{few[0]:,} users and {few[1]:,} permissions differ from all others",
            f"the best of {starts} starts" if starts > 1 else "one start",
        ]
        told = f"{shape[0]}×{shape[1]} table of zeros and ones, {k} roles, noise in the cells"
        return Plan(told, "EM with deterministic annealing", "", "", "users far apart", reasons)

    def _publish(self, state: dict, of_permission: NDArray[np.intp]) -> None:
        """Set what was learned, of every permission."""
        beta = state["beta"][:, of_permission]
        self.components_ = 1 - beta
        self.roles_ = (beta < 0.5).astype(np.uint8)
        self.noise_, self.noise_ones_ = float(state["noise"]), float(state["rate"])
        self._n_features_out = self.n_components_ = len(beta)

    def _choose_number(self, X, *args: Any, **more: Any):
        """Search for the number under which users that were left out are most likely, by short fits."""
        from unweave.scale.door import as_blocks
        from unweave.select.auto import climb, even_rows
        from unweave.select.choose import search
        from unweave.select.held_out import CrossValidation
        from unweave.select.trial import n_rows, unnamed

        estimator, X = unnamed(self, as_blocks(X))
        X, folds = even_rows(X, _ROWS), CrossValidation(_FOLDS)
        quick = clone(estimator).set_params(n_init=min(_STARTS, whole(self.n_init, "n_init", 1)))
        tried = partial(search, quick, X, "n_components")
        most = max(1, min(_MOST, n_rows(X) // 3))
        return climb(lambda ks: tried(ks, folds, verbose=bool(self.verbose)), most, folds)

    # -- using ---------------------------------------------------------------------------------------------------

    @property
    def codes_(self) -> NDArray:
        """The roles of the training users."""
        return self.assignments_

    def _parameters(self) -> dict:
        beta = np.clip(1 - self.components_, 1e-9, 1 - 1e-9)
        return {"beta": beta, "noise": self.noise_, "rate": self.noise_ones_}

    def _opened(self, X) -> Cells:
        """Read a new table."""
        check_is_fitted(self)
        refuse_blocks(self, X, new=True)
        return cells_of(read_access(self, X, self.missing, reset=False))

    def _over(self, cells: Cells, answer) -> list:
        """Ask ``answer(X, seen, G, logs)`` of some users at a time: their cells, posteriors and log-likelihoods."""
        sets = self.role_sets_.astype(np.float64)
        found = levels(sets, self._parameters())

        def some(start: int, stop: int):
            X, seen = cells.rows(slice(start, stop))
            G = log_likelihoods(X, seen, found, cells.permissions)
            return answer(X, seen, G, posteriors(G, 1.0))

        size = max(16, _NUMBERS // max(len(sets), cells.shape[1]))
        with single_blas():
            return parallel.run(some, cells.shape[0], size)

    def _weighed(self, cells: Cells) -> tuple[NDArray, NDArray]:
        """Compute the log-likelihood and the most probable set of roles of every user."""
        found = self._over(cells, lambda X, seen, G, logs: (logs, self.role_sets_[G.argmax(axis=1)]))
        logs, chosen = zip(*found, strict=True)
        return np.concatenate(logs), np.concatenate(chosen)

    def transform(self, X):
        """Give users their most probable sets of roles: array (n, k) of 0 and 1."""
        return self._weighed(self._opened(X))[1]

    def fit_transform(self, X, y=None, sample_weight=None):
        """Fit, and return the roles of the users."""
        return self.fit(X, sample_weight=sample_weight).assignments_

    def posterior(self, X):
        """Compute the probability of every set of ``role_sets_`` for every user: array (n, s)."""
        return np.concatenate(self._over(self._opened(X), lambda X, seen, G, logs: G))

    def inverse_transform(self, U):
        """Compute what users with these roles are granted, without noise: probabilities 1 − Π_k β_kd^{u_k}."""
        check_is_fitted(self)
        U = np.asarray(joined_blocks(U), dtype=np.float64)
        if U.ndim != 2 or U.shape[1] != self.n_components_:
            raise ValueError(f"U must have {self.n_components_} columns, one for each role, got {U.shape}")
        return 1 - np.exp(U @ np.log(self._parameters()["beta"]))

    def denoise(self, X):
        """Give users what their roles grant, and nothing else: array (n, m) of 0 and 1."""
        return (self.transform(X).astype(np.float64) @ self.roles_ > 0).astype(np.uint8)

    def exceptions(self, X, n=None) -> list[RoleException]:
        """List the cells that differ from what the user's roles grant, the most surprising first.

        Surprise is −log p(x_ud), with the posterior of the user's sets of roles. The kind is "extra" for a permission
        that no role of the user grants and "lacking" for one that a role would add. Users and permissions have the
        names of the table where there are any. `n` is the most that are listed.
        """
        cells = self._opened(X)
        found = levels(self.role_sets_.astype(np.float64), self._parameters())

        def some(values, seen, G, logs):
            granted = self.role_sets_[G.argmax(axis=1)].astype(np.float64) @ self.roles_ > 0
            other = (granted != (values > 0)) & (True if seen is None else seen > 0)
            rows, columns = np.nonzero(other)
            one = (G @ found.one)[rows, columns]
            value = values[rows, columns] > 0
            return len(values), rows, columns, value, -np.log(np.where(value, one, 1 - one))

        parts = self._over(cells, some)
        ends = np.cumsum([0, *(part[0] for part in parts)])
        rows = np.concatenate([part[1] + start for part, start in zip(parts, ends)])
        columns, value, surprise = (np.concatenate([part[i] for part in parts]) for i in (2, 3, 4))
        order = np.argsort(-surprise, kind="stable")[: None if n is None else whole(n, "n", 0)]
        users, permissions = _names(X, self)
        return [
            RoleException(
                int(i) if users is None else users[i], int(j) if permissions is None else permissions[j],
                "extra" if value[at] else "lacking", float(surprise[at]),
            )
            for at, i, j in zip(order, rows[order], columns[order], strict=True)
        ]  # fmt: skip

    def score_samples(self, X):
        """Compute log p(x) of every user (of what was seen)."""
        return self._weighed(self._opened(X))[0]

    def score(self, X, y=None, sample_weight=None) -> float:
        """Average log p(x): higher is better."""
        logs = self.score_samples(X)
        return float(np.average(logs, weights=row_weights(sample_weight, len(logs))))

    def anomaly_score(self, X):
        """Compute −log p(x) of every user: higher is stranger."""
        return -self.score_samples(X)

    def _check_loaded(self, looked_at: bool) -> None:
        """Check that the parts of a file fit together."""
        Z, sets = self.components_, self.role_sets_
        if np.ndim(Z) != 2 or np.shape(self.roles_) != Z.shape:
            raise ValueError("the roles are missing")
        if Z.shape != (self.n_components_, self.n_features_in_) or np.ndim(sets) != 2 or sets.shape[1] != len(Z):
            raise ValueError("the sets of roles do not fit the roles")
        if looked_at and not ((Z >= 0) & (Z <= 1)).all():
            raise ValueError("the roles are not probabilities")
        if not (0 < self.noise_ < 1 and 0 < self.noise_ones_ < 1):
            raise ValueError("the noise is no probability")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.missing is not None
        tags.transformer_tags.preserves_dtype = []
        return tags


def _with_weight(cells: Cells) -> Cells:
    """Leave out the users that have no weight."""
    kept = cells.users > 0
    return Cells(
        cells.ones[kept], None if cells.seen is None else cells.seen[kept], cells.users[kept], cells.permissions
    )


def _names(X, model) -> tuple[list | None, list | None]:
    """Return the names of users and permissions, where a table has them."""
    columns = getattr(model, "feature_names_in_", None)
    users = (
        X.rows if isinstance(X, NamedTable) else list(X.index) if hasattr(X, "index") and hasattr(X, "iloc") else None
    )
    return users, None if columns is None else list(columns)
