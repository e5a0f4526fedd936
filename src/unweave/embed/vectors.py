"""Vectors of words (or songs, products, places): which are near each other, and what is to c as b is to a."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.embed.names import UnknownSymbolError

_ROWS = 1 << 14  # looked at together, so that a file mapped into memory is never wholly copied


class Vectors:
    """A vector for each symbol: the answer of every model of this room, or a file of vectors that others made.

    Parameters
    ----------
    symbols : sequence of str or other hashables
        No symbol twice. Where there are counts, the most frequent comes first.
    array : array (n_symbols, n_components)
        Finite float32 or float64; a memory map stays one. Other numbers become float32.
    counts : array (n_symbols,), optional
        How often each symbol occurred.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = Vectors(["cat", "dog", "car"], np.array([[1.0, 0.1], [1.0, 0.2], [0.0, 1.0]]))
    >>> len(vectors), "dog" in vectors, vectors.place("dog"), vectors["dog"]
    (3, True, 1, array([1. , 0.2]))
    """

    def __init__(self, symbols: Sequence[Hashable], array: NDArray, counts: NDArray | None = None):
        self.symbols = symbols if isinstance(symbols, list) else list(symbols)
        self.array = _checked(array, len(self.symbols))
        self.counts = None if counts is None else np.asarray(counts)
        if self.counts is not None and self.counts.shape != (len(self.symbols),):
            raise ValueError(f"counts must have one number for each of the {len(self.symbols)} symbols")
        if len(self._places) != len(self.symbols):
            twice = next(word for i, word in enumerate(self.symbols) if self._places[word] != i)
            raise ValueError(f"symbols holds {twice!r} twice: give each symbol one vector")

    @cached_property
    def _places(self) -> dict[Hashable, int]:
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    def __getstate__(self) -> dict[str, Any]:
        """What is saved and copied: not what is made of it when first asked."""
        return {"symbols": self.symbols, "array": self.array, "counts": self.counts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    # -- looking up ----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.symbols)

    def __iter__(self):
        return iter(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return symbol in self._places

    def __getitem__(self, symbol) -> NDArray:
        """The vector of a symbol, or the vectors of a list of symbols as rows."""
        return self.array[[self.place(one) for one in symbol] if isinstance(symbol, list) else self.place(symbol)]

    def __repr__(self) -> str:
        return f"Vectors({len(self):,} symbols, {self.n_components} components)"

    @property
    def n_components(self) -> int:
        return self.array.shape[1]

    def place(self, symbol: Hashable) -> int:
        """The row of a symbol; an error that suggests near spellings where there is none.

        >>> Vectors(["apple"], np.ones((1, 2))).place("aple")
        Traceback (most recent call last):
            ...
        unweave.embed.names.UnknownSymbolError: 'aple' is not among the 1 known words; did you mean 'apple'?
        """
        place = self._places.get(symbol)
        if place is None:
            raise UnknownSymbolError(symbol, self.symbols)
        return place


def _checked(array: Any, n: int) -> NDArray:
    array = np.asarray(array)
    if array.dtype not in (np.float32, np.float64):
        if array.dtype.kind not in "buif":
            raise ValueError(f"array must hold real numbers, got {array.dtype}")
        array = array.astype(np.float32)
    if array.ndim != 2 or array.shape[0] != n or not array.shape[1]:
        raise ValueError(f"array must have a row for each of the {n} symbols and a column at least, got {array.shape}")
    for start in range(0, n, _ROWS):
        if not np.isfinite(array[start : start + _ROWS]).all():
            raise ValueError("array holds NaN or infinity: leave out symbols without a vector")
    return array
