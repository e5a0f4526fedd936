"""What every loss is: the cost of a prediction p for an entry x, entry by entry."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError


def as_floats(X: Any) -> np.ndarray:
    """`X` as an array of float32 or float64; anything else becomes float64."""
    X = np.asarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def positive_number(value: Any, owner: str, parameter: str) -> float:
    """`value` as a float above zero, or a ValueError that names the parameter."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"loss={owner!r}: {parameter} must be a finite number above 0, got {value!r}")
    return float(value)


class Pieces:
    """A table as a loss learns from it, however it is stored: pieces that add up and can be gone through again.

    Each is the entries that are written out and the number of zeros beside them that are not. `read` begins anew.
    """

    def __init__(self, read: Callable[[], Iterable[tuple[np.ndarray, int]]]):
        self._read = read

    def __iter__(self) -> Iterator[tuple[np.ndarray, int]]:
        return iter(self._read())


class Loss(BaseEstimator):
    """Cost of predicting p where the data say x.

    A data column j owns the prediction columns ``j*width .. (j+1)*width - 1``. The life of a loss is: `prepare` on the
    data (a new copy that knows levels and scales), `encode` the data, then `value` and `gradient` as often as needed,
    and `predict` to come back to the units of the data.

    Attributes
    ----------
    name : the word users write
    width : prediction columns per data column
    nonnegative : whether data and predictions must be at least 0
    power : where nonnegative, the root under which a multiplicative update takes its ratio so that it never climbs
    convex : whether `value` is, in p
    degree : d where value(c·x, c·p) = cᵈ·value(x, p) for every c > 0 (once prepared on such data), or None: the loss
        has a unit of its own
    reweights : whether `weights` gives a useful majoriser that changes with the prediction (Huber, absolute)
    in_data_units : whether a prediction p is itself in the units of the data, so that x - p is an error and a row of
        the table can serve as a component
    is_squared : whether the cost is w/2 (x - p)^2
    any_number : whether the loss takes any number as data and learns nothing from them
    takes_weights : whether `fit` may be given weights of single entries
    per_column : whether columns have losses of their own
    zeros_in_sums : whether the cost of all zeros of a table follows from the sums of the factors, so that only the
        other entries need be looked at
    noise : the distribution of an entry about its prediction of which `value` is −log, but for what no prediction
        changes: "gaussian", "laplace", "poisson" or "discrete" (levels); "" where there is none
    predicts_names : whether `predict` gives names of levels, which are right or wrong and have no distance
    bends : whether `bend`, the second derivative in p, is known and nowhere below 0
    curvature : an upper bound of the second derivative in p (of the largest eigenvalue if width > 1), or None
    """

    name: ClassVar[str] = ""
    nonnegative: bool = False
    convex: bool = True
    degree: float | None = None
    power: float = 1.0
    reweights: bool = False
    in_data_units: bool = False
    is_squared: bool = False
    any_number: bool = False
    takes_weights: bool = False
    per_column: bool = False
    zeros_in_sums: bool = False
    noise: str = ""
    predicts_names: bool = False
    bends: bool = False

    @property
    def width(self) -> int:
        return 1

    @property
    def curvature(self) -> float | None:
        return None

    def validate(self) -> Self:
        """Check the parameters; a ValueError names the one that is wrong."""
        return self

    def prepare(self, X: np.ndarray) -> Self:
        """A copy that has learned from the observed (not NaN) entries of `X` what it needs; `self` is left alone."""
        return self.prepare_from(Pieces(lambda: [(X, 0)]))

    def prepare_from(self, pieces: Pieces) -> Self:
        """`prepare` for a table in pieces: what is learned from them all is what the whole table teaches."""
        self.validate()
        observed = Pieces(lambda: ((self._observed(X), zeros) for X, zeros in pieces))
        for values, zeros in observed:
            self._check(values)
            self._check(np.zeros(min(zeros, 1)))
        ready = clone(self)
        ready._learn(observed)
        return ready

    def note(self, X: np.ndarray, zeros: int) -> tuple[np.ndarray, int]:
        """What a block of a large table is worth to `prepare_from`: a small piece, made where the block is.

        `zeros` are those beside the entries of `X` that are not written out. Values that the loss cannot take raise.
        """
        values = self._observed(X)
        self._check(values)
        self._check(np.zeros(min(zeros, 1)))
        return self._told(values, zeros)

    def encode(self, X: np.ndarray) -> np.ndarray:
        """Check new data and map them to what `value` takes; NaN stays NaN. May return `X` itself."""
        X = as_floats(X)
        self._check(self._observed(X))
        return X

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Loss of each entry: x of shape (..., m), p of shape (..., m*width), result (..., m)."""
        raise NotImplementedError

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Derivative of `value` in p; the shape of p."""
        raise NotImplementedError

    def rising(self, x: np.ndarray, p: np.ndarray) -> np.ndarray | None:
        """The part D of the gradient D - N with D, N >= 0, where nonnegative; None means 1 everywhere."""
        return None

    def weights(self, x: np.ndarray, p: np.ndarray) -> np.ndarray | None:
        """w >= 0 with l(x,q) <= l(x,p) + w/2 (q-x)^2 - w/2 (p-x)^2 for every q, or None if there is no such w."""
        return None

    def constant(self, x: np.ndarray) -> np.ndarray:
        """The best single prediction, shape (width,), for the observed entries of one encoded column."""
        x = as_floats(x)
        return self._constant(x) if x.size else np.zeros(self.width)

    def constants(self, X: np.ndarray) -> np.ndarray:
        """`constant` of every column of encoded data (NaN left out), one after the other: a start for offsets."""
        return np.concatenate([self.constant(x[~np.isnan(x)]) for x in as_floats(X).T])

    def predict(self, p: np.ndarray) -> np.ndarray:
        """Predictions in the units of the data."""
        return p

    def ruin(self, dtype) -> float:
        """The total loss from which on something seen was predicted as 0, where that costs infinitely much."""
        return np.inf

    def bend(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Second derivative by p of each entry's cost, for a loss that `bends`."""
        raise NotImplementedError(f"loss={self.name!r} does not say how it bends")

    def column_curvature(self, m: int) -> np.ndarray | None:
        """`curvature` for each of the prediction columns of `m` data columns, or None."""
        return None if self.curvature is None else np.full(m * self.width, self.curvature)

    def prediction_columns(self, m: int) -> int:
        """How many prediction columns `m` data columns need."""
        return m * self.width

    def _check(self, values: np.ndarray) -> None:
        """Raise if an observed value is outside the domain of the loss."""

    def _told(self, values: np.ndarray, zeros: int) -> tuple[np.ndarray, int]:
        """The part of observed values that `_learn` needs; none unless a loss says so."""
        return values[:0], 0

    def _learn(self, pieces: Pieces) -> None:
        """Set what is learned from the observed values; the same however they are cut into pieces."""

    def _constant(self, x: np.ndarray) -> np.ndarray:
        """`constant` for at least one entry."""
        raise NotImplementedError

    def _key(self) -> tuple:
        """Prepared losses with equal keys compute the same from the same encoded entries."""
        return (type(self), self.width, *sorted(self.get_params(deep=False).items()))

    def _learned(self, attribute: str) -> Any:
        if attribute not in vars(self):
            raise NotFittedError(f"loss={self.name!r} has not seen data yet: use the copy that prepare(X) returns")
        return vars(self)[attribute]

    def _observed(self, X: Any) -> np.ndarray:
        X = as_floats(X)
        unknown = np.isnan(X)
        values = X[~unknown] if unknown.any() else X.ravel()
        if np.isinf(values).any():
            raise ValueError(f"loss={self.name!r} needs finite data; found inf: write NaN for entries not observed")
        return values
