"""A network of radial units, with centres by k-means, by gradient, or at all rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, whole
from unweave.factorization.run import Run, fitting
from unweave.predict.predictor import Predictor, dense_table
from unweave.predict.radial.problem import Everything, Outputs, softmax, units
from unweave.predict.target import read_target
from unweave.solve.optimise.schemes import QuasiNewton
from unweave.solve.plan import Plan

CENTERS = ("kmeans", "gradient", "all")
MOST_ROWS = 10_000  # with a unit each: a square table of them takes 0.8 GB
# β times the number of columns. Of 0.1, 0.25, 0.5, 1 and 2 the best mean score over seven generated sets (two moons,
# rings, two of make_classification, Friedman 1 and 2, swiss roll), with k-means and with all rows as centres.
_WIDTH = 0.5
_LOOK = 4096  # rows whose units are made at once


class RBFNetwork(Predictor):
    """Add up bumps: f(x) = b + Σ_j w_j·exp(−β_j‖x − c_j‖²), for classes (softmax of f) or amounts.

    min over w, b of mean loss + ½ ridge·‖w‖², the loss being cross-entropy or half the squares; columns (and amounts)
    are brought to mean 0 and variance 1 before. Use it on tables of up to some dozens of columns where rows that lie
    close together have similar targets. With ``centers="kmeans"`` the centres are those of groups of rows; with "all"
    every row is one, which is a kernel machine; both problems are convex. With "gradient" the network begins at
    "kmeans", and then centres and widths are learned with the weights: fewer units say as much, as in PARITY, but the
    problem is no longer convex and the answer depends on the start.

    Parameters
    ----------
    n_units : int, default=50
        How many; at most as many as rows, and not used with ``centers="all"``.
    centers : {"kmeans", "gradient", "all"}, default="kmeans"
    task : {"auto", "classes", "numbers"}, default="auto"
        What y is; "auto" takes whole numbers and words as classes.
    beta : "auto" or float, default="auto"
        β of every unit at the start, for standardised columns; "auto" is ½ over the number of columns that vary.
    ridge : float, default=1e-4
        Draws the weights to zero.
    max_iter : int, default=500
        Steps of L-BFGS.
    tol : float, default=1e-4
        Largest entry of the gradient at which it ends.
    random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    classes_ : array
        Where y is classes.
    centers_ : array (h, m), betas_ : array (h,)
        Centres in units of X, and β, which is per squared standard deviation.
    weights_ : array (h, t), intercept_ : array (t,)
        Of the standardised outputs: a column a class, or an amount.
    mean_, scale_ : arrays (m,)
        Of the columns.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave import RBFNetwork
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> inside = np.where((X**2).sum(axis=1) < 1.4, "in", "out")  # no line parts them
    >>> RBFNetwork(20, random_state=0).fit(X[:200], inside[:200]).score(X[200:], inside[200:]) > 0.9
    True

    References
    ----------
    Broomhead and Lowe (1988), Multivariable functional interpolation and adaptive networks. Moody and Darken (1989),
    Fast learning in networks of locally-tuned processing units.
    """

    def __init__(
        self,
        n_units=50,
        *,
        centers="kmeans",
        task="auto",
        beta="auto",
        ridge=1e-4,
        max_iter=500,
        tol=1e-4,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_units = n_units
        self.centers = centers
        self.task = task
        self.beta = beta
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y) -> RBFNetwork:
        """Place the units and learn their weights.

        Parameters
        ----------
        X : array or data frame (n, m)
        y : array (n,), or (n, t) for several amounts
        """
        with fitting(self):
            table = dense_table(self, X, reset=True)
            target = read_target(self, y, len(table), self.task)
            self.__dict__.pop("classes_", None)
            X = np.asarray(table, dtype=np.float64)
            run = Run(self, X, target.values)
            X = self._standardised(X, reset=True)
            outputs = self._targets(target)
            centers, how = self._centers(X, run.rng)
            betas = np.full(len(centers), self._beta())
            ridge, tol = number(self.ridge, "ridge"), number(self.tol, "tol")
            is_classes = target.classes is not None
            problem = Outputs(units(X, centers, betas), outputs, is_classes, ridge)
            size = (len(centers) + 1) * outputs.shape[1]
            first = np.zeros(size) if is_classes else problem.least_squares()
            if self.centers == "gradient":
                whole_problem = Everything(X, len(centers), outputs, is_classes, ridge)
                # Of weights that are zero no gradient reaches the centres.
                start = whole_problem.start(centers, betas, problem.least_squares())
                last = run.through(QuasiNewton(whole_problem, start, tol), self._plan(len(X), centers, how))
                centers, betas, rest = whole_problem.parts(last["x"])
            else:
                last = run.through(QuasiNewton(problem, first, tol), self._plan(len(X), centers, how))
                rest = last["x"]
            if target.classes is not None:
                self.classes_ = target.classes
            self._single = target.values.ndim == 1
            self.centers_, self.betas_ = centers * self.scale_ + self.mean_, betas.copy()
            self.weights_, self.intercept_ = (part.copy() for part in problem.parts(rest))
            run.close(float(last["value"]))
        return self

    def activations(self, X) -> NDArray[np.float64]:
        """What each unit says of each row: an array (n, h) of values from 0 to 1."""
        check_is_fitted(self)
        table = np.asarray(dense_table(self, X, reset=False), dtype=np.float64)
        centers = (self.centers_ - self.mean_) / self.scale_
        Z, found = self._standardised(table, reset=False), np.empty((len(table), len(centers)))
        for i in range(0, len(Z), _LOOK):
            found[i : i + _LOOK] = units(Z[i : i + _LOOK], centers, self.betas_)
        return found

    def _outputs(self, X) -> NDArray[np.float64]:
        scores = self.activations(X) @ self.weights_ + self.intercept_
        if self._is_classifier:
            return softmax(scores)
        amounts = scores * self._level[1] + self._level[0]
        return amounts[:, 0] if self._single else amounts

    def _standardised(self, X: NDArray, *, reset: bool) -> NDArray:
        if reset:
            self.mean_ = X.mean(axis=0)
            spread = X.std(axis=0)
            # A column whose spread is rounding of its mean does not vary.
            self.scale_ = np.where(spread > 1e-12 * np.abs(self.mean_), spread, 1.0)
            self._varying = int((spread > 1e-12 * np.abs(self.mean_)).sum())
        return (X - self.mean_) / self.scale_

    def _targets(self, target) -> NDArray[np.float64]:
        if target.classes is not None:
            self._level = np.array([[0.0], [1.0]])
            return np.eye(len(target.classes))[target.values]
        amounts = target.values.reshape(len(target.values), -1)
        spread = amounts.std(axis=0)
        self._level = np.stack([amounts.mean(axis=0), np.where(spread > 0, spread, 1.0)])
        return (amounts - self._level[0]) / self._level[1]

    def _centers(self, X: NDArray, rng) -> tuple[NDArray, str]:
        if not isinstance(self.centers, str) or self.centers not in CENTERS:
            raise ValueError(f"centers must be one of {', '.join(map(repr, CENTERS))}, got {self.centers!r}")
        if self.centers == "all":
            if len(X) > MOST_ROWS:
                raise ValueError(
                    f"centers='all' makes a unit of each of {len(X)} rows, more than {MOST_ROWS}: use 'kmeans'"
                )
            return X.copy(), "a unit at every row"
        from unweave.group import KMeans

        k = min(whole(self.n_units, "n_units", 1), len(np.unique(X, axis=0)))
        return KMeans(k, random_state=rng).fit(X).cluster_centers_.astype(np.float64), "centres of k-means"

    def _beta(self) -> float:
        if isinstance(self.beta, str) and self.beta == "auto":
            return _WIDTH / max(self._varying, 1)
        beta = number(self.beta, "beta")
        if not beta:
            raise ValueError("beta must be positive: with 0 every unit says 1 everywhere")
        return beta

    def _plan(self, n: int, centers: NDArray, how: str) -> Plan:
        what = f"{n}×{centers.shape[1]} table → target, {len(centers)} radial units"
        learned = "centres, widths and weights" if self.centers == "gradient" else "weights"
        return Plan(what, f"L-BFGS over {learned}", "", "", how, [])

    def _check_loaded(self, looked_at: bool) -> None:
        super()._check_loaded(looked_at)
        h, t = np.shape(self.weights_)
        shapes = {"centers_": (h, self.n_features_in_), "betas_": (h,), "intercept_": (t,), "_level": (2, t)}
        shapes |= {"mean_": (self.n_features_in_,), "scale_": (self.n_features_in_,)}
        if self._is_classifier:
            shapes["_level"] = (2, 1)
            if len(self.classes_) != t:
                raise ValueError("classes_ does not fit the outputs")
        for name, shape in shapes.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{name} should be an array of the shape {shape}")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.task == "numbers"
        return tags
