"""What the E-step of a mixture shares: log-sum-exp with responsibilities, and scratch of each thread."""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from unweave.kernels.gaussian import below_top, scale_columns

# Shares below exp of this are zero: their products with a table would be numbers so small that processors slow down.
_FAINTEST = -460.0


def responsibilities(L: NDArray[np.float64], weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """log Σ_c exp L[c, i] of every column i; L itself becomes w_i exp L[c, i] / Σ_c exp L[c, i].

    The exponentials are NumPy's, which are vectorised where the processor can; the rest is compiled.

    Examples
    --------
    >>> import numpy as np
    >>> L = np.log([[1.0, 2.0], [3.0, 2.0]])
    >>> np.exp(responsibilities(L))
    array([4., 4.])
    >>> L
    array([[0.25, 0.5 ],
           [0.75, 0.5 ]])
    """
    n = L.shape[1]
    largest, sums = np.empty(n), np.empty(n)
    below_top(L, _FAINTEST, -np.inf, largest)
    np.exp(L, out=L)
    scale_columns(L, np.ones(n) if weights is None else weights, sums)
    return np.log(sums) + largest


class Scratch:
    """A buffer for each thread: a fresh array of megabytes costs more in page faults than the work done in it.

    Examples
    --------
    >>> Scratch((2, 5)).columns(3).shape
    (2, 3)
    """

    def __init__(self, shape: tuple[int, int]):
        self.shape, self._own = shape, threading.local()

    def __reduce__(self):
        return Scratch, (self.shape,)  # what threads hold stays where they are

    def columns(self, n: int) -> NDArray[np.float64]:
        """A contiguous array of `n` columns, valid until this thread asks again."""
        if not hasattr(self._own, "buffer"):
            self._own.buffer = np.empty(self.shape[0] * self.shape[1])
        return self._own.buffer[: self.shape[0] * n].reshape(self.shape[0], n)
