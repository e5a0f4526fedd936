"""Encode rows by a linear map and decode them by another, trained by gradients (a linear autoencoder)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import subspace_angles
from sklearn.utils.validation import check_is_fitted

from unweave.compress.pca import PCA, Projected
from unweave.compress.quality import open_weighted
from unweave.data.arguments import number, row_weights
from unweave.factorization.base import BaseFactorization
from unweave.factorization.run import Run, fitting
from unweave.objectives import Objective
from unweave.objectives.opening import reopen_table
from unweave.parallel import single_blas
from unweave.penalties import Free
from unweave.select.auto import chooses
from unweave.solve.certificate import Certificate, eckart_young, of_spectrum
from unweave.solve.closed import centred_gram, decompose
from unweave.solve.optimise import Smooth
from unweave.solve.optimise.minimise import scheme_of
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem, check_size, well_posed
from unweave.updates import LeastSquares

_MOST_COLUMNS = 8192


class LinearAutoencoder(BaseFactorization):
    """X ≈ mean + (X − mean)·Eᵀ·D with an encoder E and a decoder D (k × m), which are one if tied: PCA by gradients.

    Minimises ½‖Xc − Xc·Eᵀ·D‖², Xc the centred table. At the minimum the rows of D span the subspace of PCA, but they
    need not be its axes: any other basis does as well. With `ordering` λ > 0, ½n·Σ_j λ·(j/k)·v·(‖e_j‖² + ‖d_j‖²) is
    added, v the total variance: a different price for each component makes them the principal axes in their order, a
    little shorter (an axis whose variance is below λ·(j/k)·v costs more than it explains, and vanishes).

    PCA finds the same subspace at once. Use this to study such networks, or as the plain case of one.

    Parameters
    ----------
    n_components : int or "auto", default=2
        "auto" takes PCA's number.
    tied : bool, default=True
        Whether the decoder is the encoder transposed.
    ordering : float, default=0.0
        λ, a share of the total variance (1e-3, say).
    solver : {"l-bfgs", "sgd", "momentum", "nesterov", "adagrad", "adam"} or a rule, default="l-bfgs"
        See :func:`unweave.minimise`; all but "l-bfgs" go over mini-batches of rows.
    step, decay : float, optional
        Length of the first step (columns are in units in which the total variance is one) and weight decay.
    schedule : {"constant", "inverse", "exponential", "cosine"} or callable, default="cosine"
    batch_size : int, default=256
    max_iter : int, default=500
        Steps of "l-bfgs", or epochs.
    tol : float, default=1e-7
        Largest entry of the gradient at which "l-bfgs" ends.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    components_ : array (k, m)
        The decoder D; the largest entry of each row by absolute value is positive.
    encoder_ : array (k, m)
        E: codes are (X − mean)·encoder_ᵀ.
    mean_ : array (m,)
    codes_ : None
        Codes are not kept; ``transform`` gives them.
    objective_ : float
        ½‖Xc − Xc·Eᵀ·D‖²; the history holds the objective of a row with its penalty, in the units of `step`.
    n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import PCA, LinearAutoencoder
    >>> X = np.random.default_rng(0).normal(size=(200, 6)) * [5, 4, 3, 1, 1, 1]
    >>> model = LinearAutoencoder(3, tied=False).fit(X)
    >>> bool(model.subspace_angle(PCA(3).fit(X)).max() < 1e-3)
    True

    References
    ----------
    Baldi and Hornik (1989), Neural networks and principal component analysis. Bao, Lucas, Sachdeva and Grosse (2020),
    Regularized linear autoencoders recover the principal components, eventually.
    """

    missing, loss, init = None, "squared", "auto"

    def __init__(
        self,
        n_components=2,
        *,
        tied=True,
        ordering=0.0,
        solver="l-bfgs",
        step=None,
        decay=None,
        schedule="cosine",
        batch_size=256,
        max_iter=500,
        tol=1e-7,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.tied = tied
        self.ordering = ordering
        self.solver = solver
        self.step = step
        self.decay = decay
        self.schedule = schedule
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def partial_fit(self):
        raise AttributeError("LinearAutoencoder goes over all rows many times; use fit (PCA has a partial_fit)")

    @chooses
    def _fit(self, X, weights=None):
        return self._fit_objective(*open_weighted(self, X, weights))

    def _stand_in(self):
        return PCA(random_state=self.random_state), "n_components"

    def _cost_family(self, complete):
        return "axes"

    def _problem(self, loss, shape, mixed):
        k = self._number()
        if k > min(shape):
            raise ValueError(f"n_components={k} must be at most min(n_samples={shape[0]}, n_features={shape[1]})")
        return Problem(k, loss, Free(), Free(), offset=True)

    def fit(self, X, y=None, sample_weight=None, *, client=None):
        """Fit encoder and decoder.

        Parameters
        ----------
        X : array, sparse matrix, data frame, or sequence of row blocks
            The table, rows are samples.
        y : ignored
        sample_weight : array (n,), optional
            Weights of the rows: one of weight 2 counts as if it were there twice.
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers visit the blocks of X.
        """
        with fitting(self, client):
            self._fit(X, weights=sample_weight)
        return self

    def fit_transform(self, X, y=None, sample_weight=None, *, client=None):
        """Fit, and the codes of X: the same numbers as ``fit(X).transform(X)``; arguments as in :meth:`fit`."""
        return self.fit(X, sample_weight=sample_weight, client=client).transform(X)

    def _fit_objective(self, objective, learned, weights=None):
        problem = well_posed(self._problem(learned.loss, objective.shape, learned.mixed))
        check_size(problem, *objective.shape)
        run = Run(self, objective, *([] if weights is None else [weights]))
        network = Network(objective, problem.n_components, bool(self.tied), number(self.ordering, "ordering"), weights)
        tol = number(self.tol, "tol")
        scheme = scheme_of(
            network, network.start(run.rng), self.solver, self.step, self.decay, self.schedule, self.batch_size, tol
        )
        batches = not isinstance(self.solver, str) or self.solver != "l-bfgs"
        if batches and objective.in_blocks:
            raise ValueError(
                "a solver of mini-batches needs X as one table in memory, not as a sequence of blocks: stack them "
                "(numpy.vstack), or use solver='l-bfgs'"
            )
        title = f"{self.solver} on {'mini-batches of rows' if batches else 'the covariance of the columns'}"
        why = f"encoder and decoder are {'one' if self.tied else 'two'}"
        state = run.through(scheme, Plan(describe(objective, problem), title, "", "", "random axes", [why]))
        self._learned, self._sentence, self._left, self._stream = learned, problem, LeastSquares(), None
        self._keep(network, *network.parts(state["x"]), objective.dtype)
        self.objective_ = network.loss(self.encoder_, self.components_)
        self.reconstruction_err_ = float(np.sqrt(2 * self.objective_))
        run.close(self.objective_, self._bound(objective, weights))

    def _bound(self, objective: Objective, weights: NDArray | None) -> Certificate:
        """Eckart–Young: nothing of this rank can leave less of the rows, each counted by its weight."""
        if weights is None:
            return eckart_young(objective, self._sentence, self.objective_)
        svd = decompose(objective, min(self.n_components_, *objective.shape), "mean", weights)
        return of_spectrum(svd, objective, self.objective_)

    def certify(self, X, *, sample_weight=None) -> Certificate:
        """How far the fitted model is from the best of its rank, on the table it was fitted to."""
        if sample_weight is None:
            check_is_fitted(self)
            self._learned.need_weights(None, "sample_weight")
            return super().certify(X)
        check_is_fitted(self)
        with single_blas():
            objective = reopen_table(self, X, self.missing, self._learned)
            self.certificate_ = self._bound(objective, row_weights(sample_weight, objective.shape[0]))
        return self.certificate_

    def _keep(self, network: Network, E: NDArray, D: NDArray, dtype) -> None:
        signs = np.sign(D[np.arange(len(D)), np.abs(D).argmax(axis=1)])[:, None]
        signs[signs == 0] = 1
        self._full_components = np.vstack([signs * D, network.mean]).astype(dtype)
        self.components_, self.mean_ = self._full_components[:-1], self._full_components[-1]
        self.offset_, self.encoder_ = self.mean_, np.ascontiguousarray(signs * E, dtype=dtype)
        self.n_components_ = self._n_features_out = len(D)
        self.codes_ = None

    def _coder(self):
        return Projected(self.encoder_, self.mean_, super()._coder())

    def _codes_out(self, U):
        return np.ascontiguousarray(U[:, : self.n_components_])

    def subspace_angle(self, other) -> NDArray[np.float64]:
        """Measure the principal angles (radians, rising) between the components and those of another model.

        Parameters
        ----------
        other : fitted model or array (k, m)
            A PCA, say: all angles are 0 where the two span the same subspace.
        """
        check_is_fitted(self)
        rows = np.asarray(getattr(other, "components_", other), dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.components_.shape[1] or not np.isfinite(rows).all():
            m = self.components_.shape[1]
            raise ValueError(f"other must be a model of the same {m} columns, or an array of components (k × {m})")
        return subspace_angles(self.components_.T.astype(np.float64), rows.T)[::-1]


class Network(Smooth):
    """The error of a row as a function of encoder and decoder, in units in which the total variance is one.

    All of it follows from the covariance C of the columns: ½·tr C − tr E·C·Dᵀ + ½·tr (E·C·Eᵀ)(D·Dᵀ). A mini-batch has a
    covariance of its own. Rows may have weights.
    """

    def __init__(self, objective: Objective, k: int, tied: bool, ordering: float, weights: NDArray | None = None):
        n, m = objective.shape
        if m > _MOST_COLUMNS:
            raise ValueError(
                f"X has {m} columns, and LinearAutoencoder keeps their covariance: at most {_MOST_COLUMNS}; use PCA"
            )
        self.objective, self.tied, self.n_rows, self.shape = objective, tied, int(n), (k, m)
        if weights is None:
            self.mean, size = objective.column_means(), float(n)
            gram = objective.column_gram(self.mean.astype(objective.dtype))
        else:
            (self.mean, gram), size = centred_gram(objective, weights), float(weights.sum())
        self.total, self.size, self.weights = float(np.trace(gram)), size, weights
        self.variance = self.total / size or 1.0
        self.covariance = gram / size / self.variance
        self.prices = (ordering * np.arange(1, k + 1) / k)[:, None]

    def start(self, rng: np.random.Generator) -> NDArray:
        """Axes at random, the same for both."""
        W = np.linalg.qr(rng.normal(size=self.shape[::-1]))[0].T
        return W.ravel() if self.tied else np.concatenate([W.ravel(), W.ravel()])

    def parts(self, x: NDArray) -> tuple[NDArray, NDArray]:
        """Encoder and decoder."""
        if self.tied:
            return x.reshape(self.shape), x.reshape(self.shape)
        E, D = x.reshape(2, *self.shape)
        return E, D

    def value_and_gradient(self, x, rows=None):
        E, D = self.parts(x)
        (EC, DC), total = self._times(E, D, rows)
        inner, outer = EC @ E.T, D @ D.T
        value = 0.5 * total - float(np.vdot(EC, D)) + 0.5 * float(np.vdot(inner, outer))
        value += 0.5 * float((self.prices * (E**2 + D**2)).sum())
        by_E = outer @ EC - DC + self.prices * E
        by_D = inner @ D - EC + self.prices * D
        gradient = by_E + by_D if self.tied else np.stack([by_E, by_D])
        return value, gradient.ravel()

    def loss(self, E: NDArray, D: NDArray) -> float:
        """½‖Xc − Xc·Eᵀ·D‖², in the units of the table."""
        E, D = E.astype(np.float64), D.astype(np.float64)
        left = np.eye(self.shape[1]) - E.T @ D
        return 0.5 * float(np.vdot(self.covariance @ left, left)) * self.variance * self.size

    def _times(self, E: NDArray, D: NDArray, rows: NDArray | None) -> tuple[list[NDArray], float]:
        """E·C and D·C, and the trace of C."""
        if rows is None:
            return [E @ self.covariance, D @ self.covariance], 1.0 if self.total else 0.0
        some = self.objective.take(np.sort(rows))
        some = self.objective if some is None else some
        x, _ = some.dense_rows(0, some.shape[0])
        x = (x.astype(np.float64) - self.mean) / np.sqrt(self.variance)
        if self.weights is not None:  # so that means over batches are, on average, those over all rows
            x *= np.sqrt(self.weights[np.sort(rows)] * (self.objective.shape[0] / self.size))[:, None]
        return [(x @ F.T).T @ x / len(x) for F in (E, D)], float(np.square(x).sum()) / len(x)
