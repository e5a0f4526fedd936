"""Tables whose values differ by so little that squares of the differences vanish."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

# A thousandth of these still has a square that is a number of full precision.
_LEAST = {np.dtype(np.float32): 1e-17, np.dtype(np.float64): 1e-145}


def need_spread(values, dtype) -> None:
    """Raise where the values differ, but by too little for squared distances in that type.

    >>> need_spread(np.array([0.0, 1e-30]), np.float64)
    >>> need_spread(np.array([0.0, 1e-30]), np.float32)
    Traceback (most recent call last):
    ValueError: the values of X are too small (1e-30) for squared distances in float32: rescale X, or pass it as float64
    """
    spread, dtype = _spread(values)[0], np.dtype(dtype)
    if 0 < spread < _LEAST[dtype]:
        raise out_of_range("small", spread, dtype)


def out_of_range(word: str, size: float, dtype) -> ValueError:
    """The error for values that are too large or too small for their squares."""
    wider = ", or pass it as float64" if dtype == np.float32 else ""
    return ValueError(f"the values of X are too {word} ({size:.3g}) for squared distances in {dtype}: rescale X{wider}")


def enlarged(values):
    """The same, but times a power of two where squared distances would vanish: for what does not depend on the scale.

    >>> float(enlarged(np.array([[0.0], [2.0**-600]])).max())
    0.5
    """
    spread, most = _spread(values)
    if not 0 < spread < _LEAST[values.dtype]:
        return values
    power = -int(np.frexp(most)[1])
    if not sp.issparse(values):
        return np.ldexp(values, power)
    return sp.csr_array((np.ldexp(values.data, power), values.indices, values.indptr), shape=values.shape)


def _spread(values) -> tuple[float, float]:
    """Largest less smallest of what was seen (not NaN), and the largest without its sign."""
    stored = values.data if sp.issparse(values) else values
    if not stored.size:
        return 0.0, 0.0
    low, high = float(np.fmin.reduce(stored, axis=None)), float(np.fmax.reduce(stored, axis=None))
    if sp.issparse(values) and stored.size < np.prod(values.shape):
        low, high = min(low, 0.0), max(high, 0.0)
    return (high - low, max(-low, high)) if low == low else (0.0, 0.0)
