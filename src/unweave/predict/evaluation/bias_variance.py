"""Part the error of a method into what it gets wrong always and what changes with the rows that it is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_consistent_length, column_or_1d

from unweave.data.arguments import generator, number, whole
from unweave.predict.learned.columns import rows_of


@dataclass
class BiasVariance:
    """Hold the parts of an error.

    Attributes
    ----------
    error : float
        The mean error on rows held out: squared, or the share of rows that are wrong.
    bias : float
        Squared error: (mean prediction − y)², averaged over the rows, which holds bias² and noise. Share of wrong rows:
        how often the main prediction (the most frequent) is wrong.
    variance : float
        Squared error: the variance of the predictions of a row; ``error == bias + variance`` to the last digits. Share
        of wrong rows: how often a prediction differs from the main one.
    unbiased_variance, biased_variance : float
        Of wrong rows alone: the part of the variance that does harm (the main prediction is right), and the part that
        helps (it is wrong, and this one is right). ``error == bias + unbiased_variance − biased_variance`` as in
        Domingos, noise being counted as bias; both None for squared error.
    noise : float or None
        What no method can predict, where it is known; then `bias` is without it.
    n_resamples, n_rows : int
        Of the fits, and of the rows that were judged at least once.
    """

    error: float
    bias: float
    variance: float
    unbiased_variance: float | None
    biased_variance: float | None
    noise: float | None
    n_resamples: int
    n_rows: int

    def plot(self):
        """Draw the parts as a matplotlib figure."""
        from unweave.predict.evaluation.figures import plot_bias_variance

        return plot_bias_variance(self)

    def __str__(self) -> str:
        if self.unbiased_variance is not None:
            return (
                f"wrong {self.error:.4f} = bias {self.bias:.4f} + variance that harms {self.unbiased_variance:.4f} − "
                f"variance that helps {self.biased_variance:.4f}, {self.n_resamples} fits, {self.n_rows} rows"
            )
        noise = "bias² and noise" if self.noise is None else f"noise {self.noise:.4g} + bias²"
        return (
            f"squared error {self.error:.4g} = {noise} {self.bias:.4g} + variance {self.variance:.4g}, "
            f"{self.n_resamples} fits, {self.n_rows} rows"
        )


def bias_variance(
    estimator: Any, X, y, *, test_X=None, test_y=None, noise: float | None = None, n_resamples: int = 50,
    share: float = 0.7, random_state=None,
) -> BiasVariance:  # fmt: skip
    """Part the error of an estimator into bias and variance, by fitting it to many draws of the rows.

    Every draw takes a share of the rows without replacement, and each row is judged by the fits that it was no part of;
    with `test_X` and `test_y` all fits are judged by those. Squared error (for regressors) is parted exactly: for each
    row the mean of (prediction − y)² is (mean prediction − y)² + variance of the predictions, and the first is bias² +
    noise. The share of wrong rows (for classifiers) is parted as by Domingos.

    Parameters
    ----------
    estimator : classifier or regressor
        Of scikit-learn or ours; copies of it are fitted.
    X, y : table, array
    test_X, test_y : table, array, optional
        Rows to judge by, where there are some of their own.
    noise : float, optional
        The variance of y about what can be known, where it is known (generated data): it is then taken out of the bias.
    n_resamples : int, default=50
    share : float, default=0.7
        Of the rows, in each draw.
    random_state : None, int or generator

    Returns
    -------
    BiasVariance
        Numbers, ``str`` and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = np.random.default_rng(0).random((120, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.3 * np.random.default_rng(1).normal(size=120)
    >>> deep = bias_variance(DecisionTreeRegressor(random_state=0), X, y, random_state=0)
    >>> flat = bias_variance(DecisionTreeRegressor(max_depth=1), X, y, random_state=0)
    >>> deep.variance > flat.variance, deep.bias < flat.bias, abs(deep.error - deep.bias - deep.variance) < 1e-9
    (True, True, True)

    References
    ----------
    S. Geman, E. Bienenstock and R. Doursat, Neural networks and the bias/variance dilemma, 1992.
    P. Domingos, A unified bias-variance decomposition, 2000.
    """
    y = column_or_1d(y)
    n, rng = len(y), generator(random_state)
    n_resamples, taken = whole(n_resamples, "n_resamples", 2), _taken(share, n)
    if (test_X is None) != (test_y is None):
        raise ValueError("give test_X and test_y, or neither")
    classes = is_classifier(estimator)
    truth = y if test_y is None else column_or_1d(test_y)
    names = np.unique(np.concatenate([y, truth])) if classes else None
    said = np.full((n_resamples, len(truth)), np.nan)
    for b in range(n_resamples):
        order = rng.permutation(n)
        fitted = clone(estimator).fit(rows_of(X, np.sort(order[:taken])), y[np.sort(order[:taken])])
        judged = np.sort(order[taken:]) if test_y is None else np.arange(len(truth))
        found = fitted.predict(rows_of(X, judged) if test_X is None else test_X)
        said[b, judged] = np.searchsorted(names, found) if names is not None else np.asarray(found, dtype=np.float64)
    if test_X is not None:
        check_consistent_length(test_X, truth)
    seen = ~np.isnan(said).all(axis=0)
    said = said[:, seen]
    if names is not None:
        return _wrong(said, np.searchsorted(names, truth)[seen], len(names), n_resamples)
    return _squared(said, truth[seen].astype(np.float64), noise, n_resamples)


def _taken(share: float, n: int) -> int:
    share = number(share, "share")
    taken = round(share * n)
    if not 0 < taken < n:
        raise ValueError(f"share={share:g} of {n} rows leaves none to fit or none to judge: give one such as 0.7")
    return taken


def _squared(said: NDArray, y: NDArray, noise: float | None, fits: int) -> BiasVariance:
    mean = np.nanmean(said, axis=0)
    error = float(np.nanmean((said - y) ** 2, axis=0).mean())
    bias, variance = float(((mean - y) ** 2).mean()), float(np.nanmean((said - mean) ** 2, axis=0).mean())
    noise = None if noise is None else number(noise, "noise")
    return BiasVariance(error, bias - (noise or 0.0), variance, None, None, noise, fits, len(y))


def _wrong(said: NDArray, y: NDArray, k: int, fits: int) -> BiasVariance:
    known = ~np.isnan(said)
    votes = np.stack([(said == j).sum(axis=0) for j in range(k)])
    main, count = votes.argmax(axis=0), known.sum(axis=0)
    wrong = (known & (said != y)).sum(axis=0) / count
    differs = 1 - votes[main, np.arange(len(y))] / count
    off = main != y
    # Where the main prediction is right, every other one is wrong; where it is wrong, some of the others are right.
    helps = np.where(off, 1 - wrong, 0.0)
    harms = np.where(off, 0.0, differs)
    return BiasVariance(
        float(wrong.mean()), float(off.mean()), float(differs.mean()), float(harms.mean()), float(helps.mean()), None,
        fits, len(y),
    )  # fmt: skip
