"""Expect with Gaussian components on a piece of the table, in the form that suits it.

``Products`` and ``Squares`` write log N(x) as one product: features of a row (products of its columns, the columns, 1)
times natural parameters; its transpose gives the moments. Two matrix products do a whole step, but squares of numbers
far from the mean cancel, so :func:`choose_form` bounds the rounding first and takes ``Direct`` or ``DirectSquares``,
component by component about its own mean, where digits would be lost. ``Holes`` conditions on what was seen of a row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.group.mixtures import shapes
from unweave.kernels.gaussian import covariances_range, products_range
from unweave.kernels.imputer import condition_range
from unweave.linalg.gaussian import Scratch

_CANCELS = 1e6  # digits beyond this many times the machine's precision may be lost: log-densities to 2e-10
_WIDEST = 64  # columns up to which all products of two are formed
_NUMBERS = 1 << 18  # features of a piece: two megabytes, what one core keeps close by
_LOG_2PI = float(np.log(2 * np.pi))
_NONE = np.empty((0, 0))


def choose_form(kind: str, state: dict, reach: tuple[NDArray, NDArray], complete: bool):
    """Choose the fastest form that keeps the digits, for values between `reach` (smallest, largest of every column)."""
    common = _Parameters(kind, state)
    low, high = reach
    far = np.maximum(np.abs(low - common.shift), np.abs(high - common.shift))
    if not shapes.dense(kind):
        worst = float(((common.factors * far) ** 2).sum(axis=1).max())
        return (Squares if worst <= _CANCELS else DirectSquares)(common)
    if not complete:
        return Holes(common)
    precise = max(float(far @ np.abs(T @ T.T) @ far) for T in common.factors) <= _CANCELS
    return (Products if precise and common.d <= _WIDEST else Direct)(common)


class _Parameters:
    """Prepare what every form needs to know of the parameters."""

    def __init__(self, kind: str, state: dict):
        self.means: NDArray = state["means"]
        self.k, self.d = self.means.shape
        factors = shapes.precision_factors(kind, state["covariances"])
        self.factors = shapes.each(kind, factors, self.k, self.d)
        self.covariances = shapes.each(kind, state["covariances"], self.k, self.d)
        weights = state["weights"]
        self.shift = weights @ self.means  # near the middle of the data, so that squares cancel least
        self.log_weights = np.log(np.maximum(weights, 1e-300))
        self.half_log_det = shapes.half_log_det(kind, self.factors)
        self.log_peak = self.log_weights + self.half_log_det - 0.5 * self.d * _LOG_2PI


class Products:
    """Expect with full covariances, everything seen.

    Features are the products of all pairs of columns, the columns, and 1.
    """

    def __init__(self, common: _Parameters):
        self.common, self.held = common, common.k * (common.d + 1) ** 2 // 2
        self.lower = np.tril_indices(common.d)
        width = len(self.lower[0]) + common.d + 1
        self.size = max(128, _NUMBERS // width)
        self.scratch = Scratch((width, self.size))
        self.natural = np.empty((common.k, width))
        double = np.where(self.lower[0] == self.lower[1], -0.5, -1.0)
        for c, (factor, mean) in enumerate(zip(common.factors, common.means - common.shift)):
            precision = factor @ factor.T
            slope = precision @ mean
            constant = common.log_peak[c] - 0.5 * mean @ slope
            self.natural[c] = np.concatenate([double * precision[self.lower], slope, [constant]])

    def log_joint(self, X, seen):
        F = self.scratch.columns(len(X))
        products_range(X, self.common.shift, F, 0, len(X))
        return self.natural @ F, F

    def statistics(self, F, R):
        return (R @ F.T,)

    def collect(self, totals) -> dict:
        (sums,), d = totals, self.common.d
        pairs = len(self.lower[0])
        second = np.empty((len(sums), d, d))
        second[:, self.lower[0], self.lower[1]] = second[:, self.lower[1], self.lower[0]] = sums[:, :pairs]
        about = np.tile(self.common.shift, (len(sums), 1))
        return {"count": sums[:, -1].copy(), "first": sums[:, pairs:-1].copy(), "second": second, "about": about}


class Squares:
    """Expect with diagonal covariances.

    Features are squares, columns and what was seen; unseen ones are zero throughout.
    """

    def __init__(self, common: _Parameters):
        self.common, self.held = common, 3 * common.k * common.d
        self.size = max(128, _NUMBERS // (3 * common.d))
        precision, mean = common.factors**2, common.means - common.shift
        self.natural = np.hstack([-0.5 * precision, precision * mean])
        self.constants = np.log(common.factors) - 0.5 * _LOG_2PI - 0.5 * precision * mean**2

    def log_joint(self, X, seen):
        Y = (X - self.common.shift).T
        known = None
        if seen is not None:
            known = np.ascontiguousarray(seen.T, dtype=np.float64)
            Y *= known
        F = np.concatenate([Y * Y, Y])
        L = self.natural @ F
        L += self.common.log_weights[:, None]
        L += self.constants.sum(axis=1)[:, None] if known is None else self.constants @ known
        return L, (F, known)

    def statistics(self, memo, R):
        F, known = memo
        count = R.sum(axis=1)
        return count, R @ F.T, np.outer(count, np.ones(self.common.d)) if known is None else R @ known.T

    def collect(self, totals) -> dict:
        (count, sums, seen), common = totals, self.common
        offset = common.means - common.shift
        first, second = _with_unseen(sums[:, common.d :], sums[:, : common.d], count, seen, offset, common.covariances)
        return {"count": count, "first": first, "second": second, "about": np.tile(common.shift, (common.k, 1))}


class DirectSquares:
    """Expect with diagonal covariances about each component's own mean."""

    def __init__(self, common: _Parameters):
        self.common, self.held = common, 3 * common.k * common.d
        self.size = max(128, _NUMBERS // (4 * common.d))
        self.constants = np.log(common.factors) - 0.5 * _LOG_2PI

    def log_joint(self, X, seen):
        common = self.common
        known = np.ones(X.shape) if seen is None else np.asarray(seen, dtype=np.float64)
        L = np.empty((common.k, len(X)))
        for c in range(common.k):
            L[c] = -0.5 * ((X - common.means[c]) ** 2 * known) @ common.factors[c] ** 2 + known @ self.constants[c]
        L += common.log_weights[:, None]
        return L, (X, known)

    def statistics(self, memo, R):
        X, known = memo
        first, second = np.empty((2, self.common.k, self.common.d))
        for c in range(self.common.k):
            D = (X - self.common.means[c]) * known
            first[c], second[c] = R[c] @ D, R[c] @ (D * D)
        return R.sum(axis=1), first, second, R @ known

    def collect(self, totals) -> dict:
        count, first, second, seen = totals
        first, second = _with_unseen(first, second, count, seen, 0.0, self.common.covariances)
        return {"count": count, "first": first, "second": second, "about": self.common.means}


def _with_unseen(first, second, count, seen, offset, variances):
    """Add the expected moments of unseen entries: columns are independent, so these follow the component."""
    unseen = np.maximum(count[:, None] - seen, 0.0)
    return first + unseen * offset, second + unseen * (variances + offset**2)


class Direct:
    """Expect with full covariances, everything seen, about each component's own mean."""

    def __init__(self, common: _Parameters):
        self.common, self.held = common, common.k * common.d**2
        self.size = max(4 * common.d, _NUMBERS // (4 * common.d))  # more rows than columns, to be worth their sum

    def log_joint(self, X, seen):
        common = self.common
        L = np.empty((common.k, len(X)))
        for c in range(common.k):
            Z = (X - common.means[c]) @ common.factors[c]
            L[c] = -0.5 * np.einsum("ij,ij->i", Z, Z)
        L += common.log_peak[:, None]
        return L, X

    def statistics(self, X, R):
        common = self.common
        first, second = np.empty((common.k, common.d)), np.empty((common.k, common.d, common.d))
        for c in range(common.k):
            D = X - common.means[c]
            first[c] = R[c] @ D
            D *= np.sqrt(R[c])[:, None]
            second[c] = D.T @ D
        return R.sum(axis=1), first, second

    def collect(self, totals) -> dict:
        count, first, second = totals
        return {"count": count, "first": first, "second": second, "about": self.common.means}


class Holes:
    """Expect with full covariances where some entries are missing, by pattern of holes.

    Holes take part by their conditional means and covariances. The precision is scaled to a unit diagonal, for which
    the kernel's pivots are meant.
    """

    def __init__(self, common: _Parameters):
        self.common, self.held = common, common.k * common.d**2
        self.size = max(4 * common.d, _NUMBERS // (4 * common.d))
        diagonal = np.sqrt(np.einsum("kij,kij->ki", common.factors, common.factors))
        self.unit = 1 / diagonal
        precision = np.einsum("kia,kja->kij", common.factors, common.factors)
        self.precision = precision * self.unit[:, :, None] * self.unit[:, None, :]

    def log_joint(self, X, seen):
        known = np.ones(X.shape, bool) if seen is None else np.asarray(seen) > 0
        order = np.lexsort(np.packbits(known, axis=1).T)
        X, known = X[order], np.ascontiguousarray(known[order])
        n, common = len(X), self.common
        L, filled = np.empty((common.k, n)), np.empty((common.k, n, common.d))
        n_seen = known.sum(axis=1)
        for c in range(common.k):
            unit = self.unit[c]
            D = np.where(known, (X - common.means[c]) / unit, 0.0)
            G = D @ self.precision[c]
            shift, values = np.empty_like(D), np.empty(n)
            condition_range(known, G, self.precision[c], _NONE, shift, np.empty_like(D), _NONE, values, 0, n)
            # log|A| is that of the scaled block: what the scale took away comes back with the holes
            L[c, order] = -values - 0.5 * (G * D).sum(axis=1) + (~known) @ np.log(unit)
            L[c, order] += common.log_weights[c] + common.half_log_det[c] - 0.5 * n_seen * _LOG_2PI
            filled[c] = (D + shift) * unit
        return L, (order, known, filled)

    def statistics(self, memo: Any, R):
        order, known, filled = memo
        k, d = self.common.k, self.common.d
        first, second = np.empty((k, d)), np.zeros((k, d, d))
        R = np.ascontiguousarray(R[:, order])
        for c in range(k):
            covariances_range(known, self.precision[c], R[c], second[c], 0, len(order))
            second[c] *= np.outer(self.unit[c], self.unit[c])
            D = filled[c]
            first[c] = R[c] @ D
            D *= np.sqrt(R[c])[:, None]
            second[c] += D.T @ D
        return R.sum(axis=1), first, second

    def collect(self, totals) -> dict:
        count, first, second = totals
        return {"count": count, "first": first, "second": second, "about": self.common.means}
