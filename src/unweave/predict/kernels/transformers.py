"""Kernels in pipelines: a table of inner products, or features whose inner products come near to the kernel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.arguments import generator, row_weights, whole
from unweave.data.storage import as_dense, is_finite, product, typed
from unweave.data.table import check_table
from unweave.parallel import chunks, single_blas
from unweave.predict.kernels.base import Kernel
from unweave.predict.kernels.choice import as_kernel
from unweave.predict.kernels.landmarks import landmarks_of, nystrom_map, take


def count(items: Any) -> int:
    """How many things there are in a list or a table."""
    return len(items) if isinstance(items, list) else int(items.shape[0])


def known_things(estimator: Any, kernel: Kernel, X: Any, *, reset: bool) -> Any:
    """What a kernel compares, checked as the estimator's table where it is one."""
    if kernel.takes == "vectors":
        return typed(check_table(estimator, X, None, reset=reset).values, np.float64)
    found = kernel.read(X, "X")
    if not len(found):
        raise ValueError("X is empty: give at least one thing to compare")
    return found


def fitted_kernel(estimator: Any, X: Any, sample_weight: Any = None) -> tuple[Kernel, Any]:
    """The kernel that `estimator.kernel` means for X, and X as it was read."""
    kernel = as_kernel(estimator.kernel)
    items = known_things(estimator, kernel, X, reset=True)
    if isinstance(estimator.kernel, str) and kernel.takes == "vectors":
        weights = row_weights(sample_weight, items.shape[0])
        each = np.ones(items.shape[0]) if weights is None else weights
        total = float(each.sum()) * items.shape[1]
        mean = float((each @ items).sum()) / total
        # about the mean, so that a large offset of all columns does not swallow the spread
        square = sum(
            float(each[start:stop] @ np.square(as_dense(items[start:stop]) - mean).sum(axis=1))
            for start, stop in chunks(len(each), 1024)
        )
        kernel = as_kernel(estimator.kernel, square / total, items.shape[1])
    return kernel, items


class KernelTransformer(TransformerMixin, BaseEstimator):
    """What both have: a kernel, a file to be saved in, and scikit-learn's manners."""

    kernel: Any
    kernel_: Kernel

    def save(self, path: str | os.PathLike) -> Path:
        """Write the fitted transformer to one file; :func:`unweave.load` reads it back."""
        from unweave.persist import save

        check_is_fitted(self)
        return save(self, path)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        takes = getattr(self.kernel, "takes", None) or as_kernel(self.kernel).takes
        tags.input_tags.sparse = takes == "vectors"
        tags.input_tags.string = takes == "texts"
        return tags


class KernelTable(KernelTransformer):
    """Turn things into their inner products with the training things: columns for models that take them precomputed.

    In a pipeline before ``SVC(kernel="precomputed")`` or ``KernelRidge(kernel="precomputed")`` it makes any kernel,
    of strings and trees too, a part of the model, and cross-validation compares test things with training things alone.

    Parameters
    ----------
    kernel : str, kernel or function of two tables, default="gaussian"
        A name ("linear", "polynomial", "gaussian", "substrings", "spectrum", "weighted-degree", "subsequences" or
        "trees") or an object of :mod:`unweave.predict`. "gaussian" takes γ = 1 / (columns · variance of X).
    normalised : bool, default=False
        Divide by the lengths of both, so that everything has the inner product 1 with itself.

    Attributes
    ----------
    kernel_ : kernel
        The one that was meant.
    rows_ : array or list
        The training things.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from unweave.predict import KernelTable, Substrings
    >>> model = make_pipeline(KernelTable(Substrings(3)), SVC(kernel="precomputed"))
    >>> model.fit(["abcabc", "abcab", "xyzxy", "zxyz"], [0, 0, 1, 1]).predict(["cabca", "xyzz"]).tolist()
    [0, 1]
    """

    def __init__(self, kernel="gaussian", *, normalised=False):
        self.kernel = kernel
        self.normalised = normalised

    def fit(self, X, y=None):
        """Keep the training things."""
        kernel, items = fitted_kernel(self, X)
        self.kernel_ = kernel.normalised() if self.normalised else kernel
        # a copy: the user may change theirs
        self.rows_, self._n_features_out = take(items, np.arange(count(items))), count(items)
        return self

    def transform(self, X):
        """The inner products of things (rows) with the training things (columns)."""
        check_is_fitted(self)
        items = known_things(self, self.kernel_, X, reset=False)
        return self.kernel_.table(items, self.rows_)

    def fit_transform(self, X, y=None):
        """Fit, and return the table of the training things with themselves."""
        self.fit(X)
        return self.kernel_.table(self.rows_, self.rows_)

    def _check_loaded(self, looked_at: bool) -> None:
        """Raise ValueError unless what was read from a file fits together."""
        if not isinstance(self.kernel_, Kernel):
            raise ValueError("kernel_ is no kernel")
        if not isinstance(self.rows_, list) and looked_at and not is_finite(self.rows_):
            raise ValueError("rows_ must be finite")


class KernelFeatures(KernelTransformer):
    """Columns whose inner products come near to a kernel: fast linear models on them do what kernel machines do.

    Nyström's features of m landmarks are k(x, landmarks)·K_mm^(−½), for any kernel: exact among the landmarks, which
    are drawn far apart (randomly pivoted Cholesky). Random Fourier features are cosines and sines of random
    frequencies, for kernels of x − x' such as the Gaussian: they need no data, and their error falls as 1/√m whatever
    the data are. Use either where there are too many rows for a table of all pairs.

    Parameters
    ----------
    kernel : str, kernel or function of two tables, default="gaussian"
        As of :class:`KernelTable`.
    n_components : int, default=100
        m: columns, at most. There are fewer where fewer directions differ.
    method : {"auto", "nystrom", "fourier"}, default="auto"
        "auto" is "nystrom", whose landmarks know the data.
    random_state : int, generator or None

    Attributes
    ----------
    kernel_ : kernel
    landmarks_ : array or list
        The things that stand for all ("nystrom"), and ``landmark_rows_``, their numbers.
    projection_ : array (m, r) or (columns, m / 2)
        K_mm^(−½), or the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.predict import Gaussian, KernelFeatures
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> F = KernelFeatures(Gaussian(0.3), n_components=10, random_state=0).fit_transform(X)
    >>> F.shape, bool(np.abs(F @ F.T - Gaussian(0.3)(X)).max() < 1e-4)
    ((50, 10), True)

    References
    ----------
    Williams and Seeger (2001), Using the Nyström method to speed up kernel machines. Rahimi and Recht (2007), Random
    features for large-scale kernel machines.
    """

    def __init__(self, kernel="gaussian", n_components=100, *, method="auto", random_state=None):
        self.kernel = kernel
        self.n_components = n_components
        self.method = method
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the landmarks, or the frequencies."""
        if not isinstance(self.method, str) or self.method not in ("auto", "nystrom", "fourier"):
            raise ValueError(f"method={self.method!r} is not known; use 'auto', 'nystrom' or 'fourier'")
        most, rng = whole(self.n_components, "n_components", 1), generator(self.random_state)
        kernel, items = fitted_kernel(self, X)
        if self.method == "fourier":
            if not hasattr(kernel, "frequencies"):
                raise ValueError(f"{kernel} is no function of x − x': use method='nystrom'")
            self.projection_ = kernel.frequencies(-(-most // 2), items.shape[1], rng)
            self.landmarks_ = self.landmark_rows_ = None
            self._n_features_out = 2 * self.projection_.shape[1]
        else:
            with single_blas():
                self.landmark_rows_ = landmarks_of(kernel, items, most, rng)
                self.landmarks_ = take(items, self.landmark_rows_)
                self.projection_ = nystrom_map(kernel, self.landmarks_)
            self._n_features_out = self.projection_.shape[1]
        self.kernel_ = kernel
        return self

    def transform(self, X):
        """The features of things."""
        check_is_fitted(self)
        items = known_things(self, self.kernel_, X, reset=False)
        with single_blas():
            if self.landmarks_ is None:
                waves = product(items, self.projection_)
                return np.hstack([np.cos(waves), np.sin(waves)]) / np.sqrt(self.projection_.shape[1])
            return self.kernel_.table(items, self.landmarks_) @ self.projection_

    def _check_loaded(self, looked_at: bool) -> None:
        """Raise ValueError unless what was read from a file fits together."""
        P = self.projection_
        if (
            not isinstance(P, np.ndarray)
            or P.ndim != 2
            or P.dtype != np.float64
            or not isinstance(self.kernel_, Kernel)
        ):
            raise ValueError("projection_ is no table of numbers")
        if looked_at and not np.isfinite(P).all():
            raise ValueError("projection_ must be finite")
