"""The generic estimator: any loss, any constraint on either side."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import whole
from unweave.factorization.base import BaseFactorization
from unweave.factorization.by_or import boolean_model, fit_boolean, is_boolean
from unweave.factorization.run import fitting
from unweave.losses.base import Loss
from unweave.penalties import Fixed, get_penalty
from unweave.solve.problem import Problem


class Factorization(BaseFactorization):
    """X ≈ U·Z under the loss and the constraints you name.

    Minimises Σ loss(x_ij, (U·Z)_ij) + penalty(U) + penalty(Z) over codes U (n × k) and components Z (k × m). For the
    squared loss that is ½‖X − U·Z‖² plus penalties. A planner picks the method (see ``plan_``), and ``certificate_``
    says how good the answer is.

    Parameters
    ----------
    n_components : int, default=2
        k.
    loss : str, Loss, list or dict, default="squared"
        One of squared, weighted, huber, absolute, kl, logistic, hinge, ordinal, categorical; a list with one loss a
        column, or a dict of column names for a data frame (columns it does not name are squared). With one loss a
        column every column's loss is divided by its loss at the best constant, and an offset is fitted (``offset_``).
        Data of logistic and hinge are 0 and 1. "boolean" replaces U·Z by the OR of ANDs and counts the entries that
        differ, as :class:`unweave.BooleanFactorization` does.
    codes, components : str, Penalty or a pair, default="free"
        One of free, nonnegative, simplex, one-hot, orthonormal, unit-norm, boolean, l1-ball, l2-ball, sparse, hull,
        cone, fixed, ridge, l1, elastic-net, nuclear, smooth, or an object with a strength (``L1(0.1)``), or a pair of
        "nonnegative" and another.
        Constraints on vectors bind each row of U and each row of Z; orthonormal binds all components together.
        Constraints that tie rows together (orthonormal and fixed codes) hold in `fit` only: `transform` of new rows
        is then plain least squares.
    missing : None, "nan", "zeros" or a Boolean mask, default=None
        What was not observed: nothing; NaN; everything that is not stored (sparse) or is zero (dense); or where the
        mask is True. For sparse tables zeros are data unless "zeros" is said.
    solver : str, default="auto"
        "svd", "power", "shrinkage", "least-squares", "conjugate-gradient", "projected-least-squares", "coordinate",
        "multiplicative", "proximal", "mirror", "nearest", "flip", "pursuit", "procrustes", "smoothing" or "reweighted",
        used on each side that it can do. One that can do neither raises with the reason.
    init : str, array or (codes, components), default="auto"
        "svd", "nndsvd", "random", "k-means++", "rows", or where to begin.
    max_iter : int, default=200
    tol : float, default=1e-5
        Stop when an iteration lowers the objective by less than this fraction; 0 stops only where
        nothing changes any more.
    random_state : None, int or generator, default=None
        None is a fixed seed: the same call gives the same answer.
    callback : callable, optional
        Called after each iteration with ``iteration``, ``objective``, ``change``, ``seconds``; a true value stops.
    checkpoint : path, optional
        Where to save the fit under way; the same call continues from there after a crash.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    components_, codes_ : arrays
        Z and U. ``codes_`` is None for data in blocks, and sparse for one-hot codes.
    objective_, n_iter_, history_, plan_, certificate_
        The objective reached, iterations, what happened, what was chosen and why, how good it is.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> X = np.outer(np.arange(1, 7.0), [1, 2, 3])
    >>> model = unweave.Factorization(1, codes="nonnegative", components="nonnegative").fit(X)
    >>> bool(model.objective_ < 1e-8)
    True
    >>> unweave.Factorization(2, codes="one-hot").fit(X).codes_.shape
    (6, 2)

    References
    ----------
    Udell, Horn, Zadeh and Boyd (2016), Generalized low rank models.
    """

    def __init__(
        self,
        n_components=2,
        *,
        loss="squared",
        codes="free",
        components="free",
        missing=None,
        solver="auto",
        init="auto",
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.loss = loss
        self.codes = codes
        self.components = components
        self.missing = missing
        self.solver = solver
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y=None, *, weights=None, client=None):
        """Fit the factorisation.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
        y : ignored
        weights : array of the shape of X, optional
            Weights of the entries, for ``loss="weighted"``; 0 means not observed.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        with fitting(self, client):
            self._remember_frame(X)
            if is_boolean(self.loss):
                self._refuse_weights(weights)
                fit_boolean(self, X)
            else:
                self._fit(X, weights=weights)
        return self

    def _refuse_weights(self, weights) -> None:
        if weights is not None:
            raise ValueError("weights do not go with loss='boolean': BooleanFactorization has prices, missed and extra")

    def _remember_frame(self, X) -> None:
        self._frame_kind = "polars" if type(X).__module__.startswith("polars") else "pandas"

    def fit_transform(self, X, y=None, *, client=None):
        """Fit, and the codes of X: the same numbers as ``fit(X).transform(X)``; `client` as in :meth:`fit`."""
        if is_boolean(self.loss):
            return self.fit(X, client=client).transform(X)
        self._remember_frame(X)
        return super().fit_transform(X, client=client)

    def transform(self, X, *, weights=None):
        """Codes of X: the left half-step with the components fixed, each row on its own.

        It starts from a fixed point and works until the row settles, so neither the other rows nor their order matter.
        Rows with nothing observed get the code that the penalty likes best (zeros, or a uniform mixture). `weights` are
        those of the entries of X under ``loss="weighted"``; without them all entries count the same.
        """
        if is_boolean(self.loss):
            check_is_fitted(self)
            self._refuse_weights(weights)
            return boolean_model(self).transform(X)
        return self._transform(X, weights)

    def inverse_transform(self, U, *, linear=False):
        """The table that codes stand for; under ``loss="boolean"`` the OR of the components they name."""
        if is_boolean(self.loss):
            check_is_fitted(self)
            return boolean_model(self).inverse_transform(U)
        return super().inverse_transform(U, linear=linear)

    def certify(self, X, *, weights=None):
        """The best certificate there is for the fitted model, on the table and the weights that it was fitted to.

        Eckart–Young for the squared loss with everything observed, a duality gap for convex problems, otherwise the
        KKT residual. The result is kept as ``certificate_``.
        """
        if is_boolean(self.loss):
            check_is_fitted(self)
            return self.certificate_
        return self._certify(X, weights)

    def _loss(self):
        return self.loss

    def _problem(self, loss: Loss, shape, mixed: bool) -> Problem:
        k = whole(self.n_components, "n_components", 1)
        codes, components = get_penalty(self.codes, "codes"), get_penalty(self.components, "components")
        for side, penalty in (("codes", codes), ("components", components)):
            if penalty.is_fixed:
                self._check_fixed(side, penalty, k, shape)
        if codes.mixes_rows:
            raise ValueError(f"codes={codes.name!r} is for components only: Z = W·X")
        if mixed and components.mixes_rows:
            raise ValueError(f"components={components.name!r} needs one loss for the whole table")
        return Problem(k, loss, codes, components, offset=mixed)

    def _check_fixed(self, side: str, penalty: Fixed, k: int, shape) -> None:
        values = penalty.values
        if values is None:
            given = self.init if side == "components" and not isinstance(self.init, tuple) else None
            if isinstance(self.init, tuple):
                given = self.init[0 if side == "codes" else 1]
            if given is None or isinstance(given, str):
                raise ValueError(f"{side}='fixed' needs the values: pass {side}=Fixed(array), or init=")
            return
        want = (shape[0], k) if side == "codes" else (k, np.shape(values)[-1])
        if np.ndim(values) != 2 or np.shape(values) != want:
            raise ValueError(f"{side}: Fixed values must have the shape {want}, got {np.shape(values)}")
