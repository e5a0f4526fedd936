"""Absolute loss, made smooth at zero."""

from __future__ import annotations

from typing import Self

import numpy as np

from unweave.losses.base import Loss, Pieces, positive_number
from unweave.losses.huber import huber_centre

_TOLD = 1 << 13  # values of a block of a large table that the smoothing is learned from


class Absolute(Loss):
    """l(x, p) = |r|, and its smooth bound r^2/(2 eps) + eps/2 for |r| <= eps, with r = x - p.

    Use it for data with many or large outliers: each column's best constant is its median. eps is `smoothing` times
    the mean absolute deviation of the data about their median, so it follows the units of the data; a smaller one is
    closer to |r| and slower to fit. Reference: Ke and Kanade, "Robust L1 norm factorization", CVPR 2005.

    Attributes
    ----------
    eps_ : the half-width of the smooth part, known after `prepare`

    >>> loss = Absolute(smoothing=0.1).prepare(np.array([-1.0, 0.0, 1.0, 2.0]))
    >>> loss.eps_, loss.value(np.zeros(2), np.array([0.0, -3.0]))
    (0.1, array([0.05, 3.  ]))
    """

    name = "absolute"
    noise = "laplace"
    in_data_units = True
    reweights = True
    degree = 1.0

    def __init__(self, smoothing: float = 1e-3) -> None:
        self.smoothing = smoothing

    def validate(self) -> Self:
        positive_number(self.smoothing, self.name, "smoothing")
        return self

    def _told(self, values: np.ndarray, zeros: int) -> tuple[np.ndarray, int]:
        # eps follows the spread of the data, which some of many values tell well enough.
        if values.size + zeros <= _TOLD:
            return values, zeros
        many = round(_TOLD * values.size / (values.size + zeros))
        return values[np.random.default_rng(0).choice(values.size, many, replace=False)], _TOLD - many

    def _learn(self, pieces: Pieces) -> None:
        count, total, largest = 0, 0.0, 0.0
        middle = _median(pieces)
        for values, zeros in pieces:
            count += values.size + zeros
            total += float(np.abs(values - middle).sum(dtype=np.float64)) + zeros * abs(float(middle))
            largest = max(largest, float(np.abs(values).max(initial=0)))
        spread = total / count if count else 0.0
        # Constant data have no spread of their own: their size, or 1, stands in for it.
        if spread <= 1e-12 * largest:
            spread = largest or 1.0
        self.eps_ = float(self.smoothing) * spread

    @property
    def curvature(self) -> float:
        return 1.0 / self._learned("eps_")

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        # With M = max(|r|, eps), (r^2/M + M)/2 is |r| outside and the bound inside.
        size = np.abs(p - x)
        floor = np.maximum(size, self._learned("eps_"))
        return 0.5 * (size * (size / floor) + floor)

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        r = p - x
        return r / np.maximum(np.abs(r), self._learned("eps_"))

    def weights(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        return 1.0 / np.maximum(np.abs(p - x), self._learned("eps_"))

    def _constant(self, x: np.ndarray) -> np.ndarray:
        return np.array([huber_centre(x, self._learned("eps_"))])

    def _key(self) -> tuple:
        return (type(self), self._learned("eps_"))


# The median of values that are never together: its digits to the base 2¹⁶, one pass over the pieces for each.
_BITS = 16


def _median(pieces: Pieces) -> np.floating:
    """The median of all values, those that are not written out included: what `numpy.median` says of them together.

    >>> float(_median(Pieces(lambda: [(np.array([5.0, -1.0]), 1), (np.array([2.0]), 0)])))
    1.0
    """
    count = sum(values.size + zeros for values, zeros in pieces)
    if not count:
        return np.float64(0)
    return np.mean([_of_rank(pieces, rank) for rank in sorted({(count - 1) // 2, count // 2})])


def _of_rank(pieces: Pieces, rank: int) -> np.floating:
    """The value with `rank` others before it in order."""
    dtype = np.result_type(*(values.dtype for values, _ in pieces))
    prefix, key = 0, np.dtype(f"u{dtype.itemsize}")
    for shift in range(8 * dtype.itemsize - _BITS, -1, -_BITS):
        counts = np.zeros(1 << _BITS, dtype=np.int64)
        for values, zeros in pieces:
            counts += _next_digits(values.astype(dtype, copy=False).view(key), prefix, shift)
            counts += zeros * _next_digits(np.zeros(1, key), prefix, shift)
        below = np.cumsum(counts)
        digit = int(np.searchsorted(below, rank, side="right"))
        rank -= int(below[digit] - counts[digit])
        prefix = prefix << _BITS | digit
    top = 1 << 8 * dtype.itemsize - 1
    return key.type(prefix ^ (top if prefix & top else 2 * top - 1)).view(dtype)


def _next_digits(bits: np.ndarray, prefix: int, shift: int) -> np.ndarray:
    """How often each digit comes next among the floats (by their bits) whose digits so far are `prefix`."""
    top = bits.dtype.type(1 << 8 * bits.dtype.itemsize - 1)
    # Whole numbers in the order of the floats: those below zero are turned round, the others put above them.
    keys = np.where(bits & top, ~bits, bits | top)
    keys = keys[(keys >> shift) >> _BITS == prefix]
    return np.bincount(((keys >> shift) & ((1 << _BITS) - 1)).astype(np.intp), minlength=1 << _BITS)
