"""Refuses or enlarges tables whose values are so small, or differ by so little, that their squares vanish."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

from unweave.data.storage import stored

# A thousandth of these still has a square that is a number of full precision.
_LEAST = {np.dtype(np.float32): 1e-15, np.dtype(np.float64): 1e-145}
_PIECE = 1 << 16  # values that are looked at together


def need_spread(values, dtype) -> None:
    """Raise where the values differ, but by too little for squared distances in that type.

    >>> need_spread(np.array([0.0, 1e-30]), np.float64)
    >>> need_spread(np.array([0.0, 1e-30]), np.float32)
    Traceback (most recent call last):
    ValueError: the values of X are too small (1e-30) for squared distances in float32: rescale X, or pass it as float64
    """
    spread, dtype = _range_of(values)[0], np.dtype(dtype)
    if 0 < spread < _LEAST[dtype]:
        raise out_of_range("small", spread, dtype)


def squares_vanish(values) -> bool | None:
    """Tell whether no value has a square of full precision; None where there are only zeros. Stops as soon as it knows.

    >>> squares_vanish(np.array([0.0, 1e-200])), squares_vanish(np.array([1e-200, 1.0])), squares_vanish(np.zeros(3))
    (True, False, None)
    """
    entries = stored(values).reshape(-1)
    least, found = _LEAST[entries.dtype], None
    for start in range(0, entries.size, _PIECE):
        largest = float(np.fmax.reduce(np.abs(entries[start : start + _PIECE])))
        if largest >= least:
            return False
        found = True if largest > 0 else found
    return found


def need_squares(values) -> None:
    """Raise where all values of a table are so small that their squares vanish."""
    refuse_vanished([squares_vanish(values)], values.dtype)


def refuse_vanished(vanish: Iterable[bool | None], dtype: np.dtype) -> None:
    """Raise where :func:`squares_vanish` says so of every piece of a table that has other values than zero."""
    told = [one for one in vanish if one is not None]
    if told and all(told):
        wider = ", or pass it as float64" if dtype == np.float32 else ""
        raise ValueError(
            f"the values of X are too small (none reaches {_LEAST[np.dtype(dtype)]:.0e}): their squares vanish in "
            f"{dtype}; rescale X{wider}"
        )


def out_of_range(word: str, size: float, dtype) -> ValueError:
    """Return the error for values that are too large or too small for their squares."""
    wider = ", or pass it as float64" if dtype == np.float32 else ""
    return ValueError(f"the values of X are too {word} ({size:.3g}) for squared distances in {dtype}: rescale X{wider}")


def enlarged(values):
    """Multiply by a power of two where squared distances would vanish; for what does not depend on the scale.

    >>> float(enlarged(np.array([[0.0], [2.0**-600]])).max())
    0.5
    """
    spread, most = _range_of(values)
    if not 0 < spread < _LEAST[values.dtype]:
        return values
    power = -int(np.frexp(most)[1])
    if not sp.issparse(values):
        return np.ldexp(values, power)
    return sp.csr_array((np.ldexp(values.data, power), values.indices, values.indptr), shape=values.shape)


def _range_of(values) -> tuple[float, float]:
    """Return the range of what was seen (not NaN), and the largest value without its sign."""
    entries = stored(values)
    if not entries.size:
        return 0.0, 0.0
    low, high = float(np.fmin.reduce(entries, axis=None)), float(np.fmax.reduce(entries, axis=None))
    if sp.issparse(values) and entries.size < np.prod(values.shape):
        low, high = min(low, 0.0), max(high, 0.0)
    return (high - low, max(-low, high)) if low == low else (0.0, 0.0)
