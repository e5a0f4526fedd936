"""Logistic regression on a kernel: shares of classes from inner products alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import number, row_weights, whole
from unweave.data.storage import is_finite
from unweave.factorization.run import Run, fitting
from unweave.linalg.products import matmul
from unweave.parallel import chunks, single_blas
from unweave.predict.kernels.base import Kernel, need_psd
from unweave.predict.kernels.landmarks import far_landmarks, landmarks_of, nystrom_map, take
from unweave.predict.kernels.transformers import count, fitted_kernel, known_things
from unweave.predict.kernels.vectors import Linear
from unweave.predict.machines.losses import ManyClasses, Shares, TwoClasses
from unweave.predict.machines.newton import KernelNewton, OfFeatures, Products, WholeTable
from unweave.predict.predictor import Predictor
from unweave.predict.target import read_target
from unweave.solve.certificate import bounded
from unweave.solve.plan import Plan

MOST_ROWS = 20_000  # whose table of all pairs is kept (3.2 GB)
_LANDMARKS = 1000  # beyond that
# Rows from which conjugate gradients are preconditioned, and rows for each column of that: set on drawn classes of
# 3000 and 5000 rows with 20 columns
_PRECONDITIONED, _SHARE = 1000, 16
_BLOCK = 4096  # rows that are predicted together
_HEAVY = 1e-3  # of the largest weight: rows above it support the decision


class KernelLogistic(ClassifierMixin, Predictor):
    """Shares of classes by logistic regression on a kernel: probabilities where an SVM has margins.

    Minimises Σᵢ wᵢ ℓ(tᵢ, f(xᵢ) + b) + ½·ridge·‖f‖² over the functions f of the kernel's space: for two classes ℓ is
    log(1 + exp(−y·f)) with y = ±1, for more the cross-entropy of softmax with one function each, and targets t may be
    shares instead of classes. The loss is a sum, not a mean: ``ridge`` is 1/C of scikit-learn. The best f is
    Σ αᵢ k(xᵢ, ·) (representer theorem) with ridge·αᵢ = wᵢ(tᵢ − qᵢ), q the predicted share: rows that are sure and right
    weigh little, but never nothing, unlike in an SVM.

    Newton's method in function space, with conjugate gradients inside, ends at a duality gap: the certificate.

    Parameters
    ----------
    kernel : str, kernel, "precomputed" or function of two tables, default="gaussian"
        A name or an object of :mod:`unweave.predict`; "gaussian" takes γ = 1 / (columns · variance of X).
        "precomputed": X is the table of inner products (in `predict`: of new rows with the training rows).
    ridge : float, default=1.0
    fit_intercept : bool, default=True
        b, which the ridge does not touch.
    landmarks : "auto", int or None, default="auto"
        Nyström: f is made of the features of so many landmarks, drawn far apart. None uses all rows; "auto" does up to
        20 000, and takes 1000 landmarks beyond.
    max_iter : int, default=100
        Steps of Newton's method.
    tol : float, default=1e-8
        The duality gap, as a share of the objective, at which the fit ends.
    random_state : int, generator or None
        Of the landmarks.
    callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    classes_ : array (c,)
        Of shares as targets, the numbers of their columns.
    dual_coef_ : array (rows, 1) or (rows, c)
        The weights α of ``rows_``, which are the training rows or the landmarks (None for "precomputed").
    intercept_ : array
    support_ : array of int
        Rows of ``dual_coef_`` with at least a thousandth of the largest weight; ``sparsity_`` is the share of others.
    kernel_ : kernel
        The one that was meant.
    objective_, n_iter_, history_, plan_, certificate_
        As in :class:`unweave.Factorization`.

    Examples
    --------
    >>> from unweave.predict import KernelLogistic, Substrings
    >>> texts, label = ["abcabc", "abcab", "xyzxy", "zxyz"], ["first", "first", "second", "second"]
    >>> model = KernelLogistic(Substrings(3)).fit(texts, label)
    >>> model.predict(["cabca", "xyzz"]).tolist(), model.predict_proba(["cabca"]).round(2).tolist()
    (['first', 'second'], [[0.88, 0.12]])
    >>> print(model.certificate_)
    No objective can be better by more than rounding.

    References
    ----------
    Zhu and Hastie (2005), Kernel logistic regression and the import vector machine. Keerthi et al. (2005), A fast dual
    algorithm for kernel logistic regression.
    """

    def __init__(
        self,
        kernel="gaussian",
        *,
        ridge=1.0,
        fit_intercept=True,
        landmarks="auto",
        max_iter=100,
        tol=1e-8,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.kernel = kernel
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.landmarks = landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Find the function.

        Parameters
        ----------
        X : table, list of strings or trees, as the kernel takes; the table of inner products for "precomputed"
        y : array (n,) of classes, or (n, c) of shares that add up to one
        sample_weight : array (n,), optional
        """
        ridge = number(self.ridge, "ridge")
        if ridge == 0:
            raise ValueError("ridge must be above 0: without it classes that can be told apart have no best function")
        with fitting(self):
            kernel, items = self._read(X, sample_weight)
            n = count(items)
            weights = row_weights(sample_weight, n)
            weights = np.ones(n) if weights is None else weights
            self.classes_, targets = _targets(self, y, n)
            loss = _loss(targets, weights, self.classes_)
            run = Run(self, items if isinstance(items, np.ndarray) else None, targets, weights)
            products, why = self._products(kernel, items, n, run.rng)
            scheme = KernelNewton(products, loss, ridge, bool(self.fit_intercept), number(self.tol, "tol"))
            state = run.through(scheme, self._plan(kernel, n, ridge, why))
            self._publish(kernel, items, products, state)
            value, scale = state["value"], float(np.log(max(2, len(self.classes_))) * weights.sum())
            certificate = bounded("duality", state["bound"], value, scale, rounding=n * 2.3e-16 * scale)
            run.close(value, certificate)
        return self

    def _read(self, X, sample_weight) -> tuple[Kernel | None, Any]:
        """The kernel and what it compares; None and the table itself where that is given."""
        if not self._is_table:
            return fitted_kernel(self, X, sample_weight)
        K = np.asarray(known_things(self, Linear(), X, reset=True))
        if K.shape[0] != K.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square table of inner products, got the shape {K.shape}")
        need_psd(K, "kernel='precomputed': the table", lambda below: f"add {below:.3g} to its diagonal")
        return None, K

    @property
    def _is_table(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _products(self, kernel: Kernel | None, items: Any, n: int, rng) -> tuple[Products, str]:
        """How K is multiplied by, and why so."""
        most = self.landmarks
        if isinstance(most, str) and most == "auto":
            most = _LANDMARKS if n > MOST_ROWS and kernel is not None else None
        if most is not None:
            most = whole(most, "landmarks", 1)
            if kernel is None:
                raise ValueError("landmarks need the rows: with kernel='precomputed' use landmarks=None")
            self._landmark_rows = landmarks_of(kernel, items, most, rng)
            self.rows_ = take(items, self._landmark_rows)
            self._map = nystrom_map(kernel, self.rows_)
            return OfFeatures(
                kernel.table(items, self.rows_) @ self._map
            ), f"{len(self._landmark_rows)} landmarks stand for {n} rows"
        K = items if kernel is None else kernel.table(items, items)
        if kernel is not None and not kernel.definite:
            need_psd(K, f"the table of {kernel.name}", lambda _: "use a kernel that is an inner product")
        factors = None
        if n >= _PRECONDITIONED:
            factors = far_landmarks(lambda rows: K[:, rows], np.diag(K).copy(), n // _SHARE, rng)[1]
        return WholeTable(
            np.ascontiguousarray(K), factors, float(self.ridge)
        ), f"the table of all pairs of {n} rows is kept"

    def _plan(self, kernel: Kernel | None, n: int, ridge: float, why: str) -> Plan:
        name = "given" if kernel is None else kernel.name
        told = f"{n} rows, {len(self.classes_)} classes, {name} kernel, ridge {ridge:g}"
        return Plan(told, "Newton's method on the function, conjugate gradients inside", "", "", "zero", [why])

    def _publish(self, kernel, items, products: Products, state: dict) -> None:
        self.kernel_, self.intercept_ = kernel, state["b"]
        if isinstance(products, OfFeatures):
            self.dual_coef_ = self._map @ matmul(products.features.T, state["alpha"])
            del self._map, self._landmark_rows
        else:
            self.dual_coef_ = state["alpha"]
            self.rows_ = None if kernel is None else take(items, np.arange(len(state["alpha"])))
        heavy = np.abs(self.dual_coef_).max(axis=1)
        self.support_ = np.flatnonzero(heavy >= _HEAVY * heavy.max(initial=0.0))
        self.sparsity_ = 1.0 - len(self.support_) / max(1, len(heavy))

    def decision_function(self, X) -> NDArray[np.float64]:
        """Scores: for two classes the log odds of the second, otherwise one for each class."""
        F = self._scores(X)
        return F.ravel() if F.shape[1] == 1 else F

    def _scores(self, X) -> NDArray[np.float64]:
        check_is_fitted(self)
        items = known_things(self, Linear() if self.kernel_ is None else self.kernel_, X, reset=False)
        with single_blas():
            n = count(items)
            parts = [self._table(items[start:stop]) @ self.dual_coef_ for start, stop in chunks(n, _BLOCK)]
        return np.concatenate(parts) + self.intercept_

    def _table(self, items: Any) -> NDArray:
        return np.asarray(items) if self.kernel_ is None else self.kernel_.table(items, self.rows_)

    def predict_proba(self, X) -> NDArray[np.float64]:
        """The share of each class, in the order of ``classes_``."""
        return self._outputs(X)

    def _outputs(self, X) -> NDArray[np.float64]:
        F = self._scores(X)
        q = _loss(np.zeros((0, len(self.classes_))), np.zeros(0), self.classes_).shares(F)
        return np.hstack([1.0 - q, q]) if q.shape[1] == 1 else q

    def predict_log_proba(self, X) -> NDArray[np.float64]:
        """The logarithms of the shares."""
        F = self._scores(X)
        F = np.hstack([np.zeros_like(F), F]) if F.shape[1] == 1 else F
        return F - np.logaddexp.reduce(F, axis=1, keepdims=True)

    def _check_loaded(self, looked_at: bool) -> None:
        """Raise ValueError unless what was read from a file fits together."""
        A, b, width = self.dual_coef_, self.intercept_, 1 if len(self.classes_) == 2 else len(self.classes_)
        sound = isinstance(A, np.ndarray) and A.dtype == np.float64 and np.shape(A)[1:] == (width,)
        if not sound or np.shape(b) != (width,) or not (self.kernel_ is None or isinstance(self.kernel_, Kernel)):
            raise ValueError("the weights of rows do not fit the classes")
        if self.kernel_ is not None and count(self.rows_) != len(A):
            raise ValueError("the weights do not fit the rows")
        if looked_at and not (is_finite(A) and np.isfinite(b).all()):
            raise ValueError("the weights must be finite")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_table
        takes = getattr(self.kernel, "takes", "vectors")
        tags.input_tags.sparse, tags.input_tags.string = takes == "vectors", takes == "texts"
        return tags


def _targets(estimator, y: Any, n: int) -> tuple[NDArray, NDArray[np.float64]]:
    """The classes, and the share of each in each row: classes in one column, or shares in a column each."""
    y = y if y is None else np.asarray(y)
    if y is None or y.ndim < 2 or y.shape[1] == 1:
        codes, classes = read_target(estimator, y, n, "classes", several=False)
        assert classes is not None
        return classes, np.eye(len(classes))[codes]
    try:
        T = np.array(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("y has several columns and is no table of shares: give one column of classes") from None
    if len(T) != n:
        raise ValueError(f"y must hold one row of shares per row: X has {n} rows, y has {len(T)}")
    if not np.isfinite(T).all():
        raise ValueError("y contains NaN or infinity: leave out the rows without a target")
    if T.ndim > 2 or (T < 0).any() or np.abs(T.sum(axis=1) - 1).max(initial=0) > 1e-6:
        raise ValueError("y with a column for each class must hold shares: none negative, each row adding up to one")
    return np.arange(T.shape[1]), T


def _loss(targets: NDArray, weights: NDArray, classes: NDArray) -> Shares:
    """The loss of these targets; every class must be there."""
    if len(targets):
        lost = np.flatnonzero(~(weights @ targets > 0))
        if len(classes) < 2 or len(lost):
            if len(classes) < 2:
                raise ValueError(f"y holds 1 class only ({classes[0]}): KernelLogistic needs rows of at least two")
            raise ValueError(
                f"y holds nothing of the class {classes[lost[0]]} in rows that weigh something: leave the class out, "
                "or give its rows weight"
            )
    if len(classes) == 2:
        return TwoClasses(targets[:, 1:], weights)
    return ManyClasses(targets, weights)
