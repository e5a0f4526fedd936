"""An array that grows as rows arrive, without ever holding them twice."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Rows:
    """Rows appended block by block into one array, which is enlarged in place.

    Parameters
    ----------
    width : int
        Number of columns.
    dtype : str
        Of the array.
    expected : int
        Rows that will probably come. Too many cost nothing: memory that is never written is never used.

    Examples
    --------
    >>> rows = Rows(2, "float64", expected=1)
    >>> rows.append(np.ones((3, 2)))
    >>> rows.append(np.zeros((1, 2)))
    >>> rows.array().shape
    (4, 2)
    """

    def __init__(self, width: int, dtype: str, expected: int = 0):
        self._data: NDArray = np.empty((max(0, expected), width), dtype=dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, block: NDArray) -> None:
        end = self._count + len(block)
        if end > len(self._data):
            self._resize(end + end // 8)
        self._data[self._count : end] = block
        self._count = end

    def expect(self, n: int) -> None:
        """Make room for `n` rows in all."""
        if n > len(self._data) and self._count == 0:
            # resize would write zeros everywhere
            self._data = np.empty((n, self._data.shape[1]), dtype=self._data.dtype)
        elif n > len(self._data):
            self._resize(n)

    def _resize(self, n: int) -> None:
        # realloc moves pages instead of copying them; nothing else refers to the array yet.
        self._data.resize((n, self._data.shape[1]), refcheck=False)

    def array(self) -> NDArray:
        """The rows so far; the object is not to be used any more."""
        if len(self._data) != self._count:
            self._resize(self._count)
        return self._data
