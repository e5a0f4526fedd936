"""Say how the error falls with more rows, and so whether more of them would help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import column_or_1d

from unweave.data.arguments import generator, whole
from unweave.predict.learned.columns import rows_of

_FLAT = 0.05  # share by which the last doubling must lower the error to be worth a word


@dataclass
class LearningCurve:
    """Hold the error on rows held out, and on those of the fit, for growing numbers of rows.

    Attributes
    ----------
    sizes : array
        How many rows were fitted to.
    held_out, fitted : arrays
        The mean error of each size: share of wrong rows, or root of the mean squared error.
    spread : array
        The standard error of `held_out` over the repeats; 0 where there is one.
    what : str
        What the error is, in words.
    """

    sizes: NDArray
    held_out: NDArray
    fitted: NDArray
    spread: NDArray
    what: str

    @property
    def advice(self) -> str:
        """Say what more rows would bring.

        >>> LearningCurve(np.array([50, 100]), np.array([0.4, 0.2]), np.zeros(2), np.zeros(2), "share wrong").advice
        'still falling: from 50 to 100 rows the error fell by 50 %, so more rows would help'
        """
        if len(self.sizes) < 2 or not self.held_out[-2] > 0:
            return "too few sizes to tell"
        fall = 1 - self.held_out[-1] / self.held_out[-2]
        span = f"from {self.sizes[-2]:,} to {self.sizes[-1]:,} rows"
        if fall >= _FLAT:
            return f"still falling: {span} the error fell by {fall:.0%}, so more rows would help".replace("%", " %")
        if self.fitted[-1] < 0.5 * self.held_out[-1]:
            return f"flat {span}, though the rows of the fit are met better: a simpler model might do as well"
        return f"flat {span}: other columns would help more than more rows"

    def plot(self):
        """Draw both errors as a matplotlib figure."""
        from unweave.predict.evaluation.figures import plot_learning_curve

        return plot_learning_curve(self)

    def __str__(self) -> str:
        lines = [f"{'rows':>8}  held out ({self.what})   rows of the fit"]
        lines += [
            f"{size:>8,}  {held:.4g} ± {spread:.2g}  {fitted:.4g}"
            for size, held, spread, fitted in zip(self.sizes, self.held_out, self.spread, self.fitted, strict=True)
        ]
        return "\n".join([*lines, self.advice])


def learning_curve(
    estimator: Any, X, y, *, sizes: Sequence[int] | None = None, n_repeats: int = 3, random_state=None
) -> LearningCurve:
    """Fit an estimator to more and more rows, and judge each fit on the same rows held out.

    A quarter of the rows is held out; the others are taken from the first on, so that each fit has the rows of the one
    before. All that is repeated with other rows held out.

    Parameters
    ----------
    estimator : classifier or regressor
        Of scikit-learn or ours; copies of it are fitted.
    X, y : table, array
    sizes : list of int, optional
        Numbers of rows; unless given, doublings up to all that are not held out.
    n_repeats : int, default=3
    random_state : None, int or generator

    Returns
    -------
    LearningCurve
        Numbers, ``advice`` in words, ``str`` and ``plot()``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> curve = learning_curve(GaussianNB(), *load_wine(return_X_y=True), random_state=0)
    >>> curve.sizes.tolist(), bool(curve.held_out[-1] < curve.held_out[0])
    ([16, 33, 66, 133], True)
    """
    y = column_or_1d(y)
    n, rng, classes = len(y), generator(random_state), _is_for_classes(estimator)
    n_repeats, most = whole(n_repeats, "n_repeats", 1), 3 * n // 4
    asked = _sizes(sizes, most)
    held, own = (np.full((n_repeats, len(asked)), np.nan) for _ in range(2))
    for r in range(n_repeats):
        order = _mixed(y, rng) if classes else rng.permutation(n)
        test = order[most:]
        for i, size in enumerate(asked):
            train = order[:size]
            if classes and len(np.unique(y[train])) < 2:
                continue  # one class alone cannot be learned from
            fitted = clone(estimator).fit(rows_of(X, train), y[train])
            held[r, i] = _error(y[test], fitted.predict(rows_of(X, test)), classes)
            own[r, i] = _error(y[train], fitted.predict(rows_of(X, train)), classes)
    some = ~np.isnan(held).any(axis=0)
    if not some.any():
        raise ValueError("sizes are too small: the rows of a fit have one class only")
    held, own, kept = held[:, some], own[:, some], np.asarray(asked)[some]
    spread = held.std(axis=0, ddof=1) / n_repeats**0.5 if n_repeats > 1 else np.zeros(len(kept))
    what = "share wrong" if classes else "root of the mean squared error"
    return LearningCurve(kept, held.mean(axis=0), own.mean(axis=0), spread, what)


def _is_for_classes(estimator: Any) -> bool:
    return getattr(estimator, "kind", "") == "classes" or is_classifier(estimator)


def _sizes(asked: Sequence[int] | None, most: int) -> list[int]:
    if asked is not None:
        sizes = sorted({whole(one, "sizes", 2) for one in asked})
        if not sizes or sizes[-1] > most:
            raise ValueError(
                f"sizes must be numbers up to {most}: a quarter of the rows is held out, got {list(asked)}"
            )
        return sizes
    if most < 2:
        raise ValueError("a learning curve needs at least four rows")
    found = [most]
    while found[-1] // 2 >= 10 and len(found) < 6:
        found.append(found[-1] // 2)
    return found[::-1]


def _mixed(y: NDArray, rng: np.random.Generator) -> NDArray:
    """Order rows at random so that the classes come evenly from first to last."""
    places = np.unique(y, return_inverse=True)[1].ravel()
    counts = np.bincount(places)
    draw = rng.permutation(len(y))
    rank = np.empty(len(y))
    for k in range(len(counts)):
        own = draw[places[draw] == k]
        rank[own] = (np.arange(len(own)) + rng.random()) / len(own)
    return np.lexsort((rng.random(len(y)), rank))


def _error(truth: NDArray, said: NDArray, classes: bool) -> float:
    return float(np.mean(truth != said)) if classes else float(np.sqrt(np.mean((truth - said) ** 2)))
