"""Vectors of words (or songs, products, places): which are near each other, and what is to c as b is to a."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.embed.names import UnknownSymbolError
from unweave.embed.nearest import Nearest, unit_point

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ROWS = 1 << 14  # looked at together, so that a file mapped into memory is never wholly copied
EPSILON = 1e-3  # in the quotient of 3CosMul, as its authors (and gensim) set it


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

    Notes
    -----
    Nearness is the cosine. Rows are scaled to length one once, when the first question is asked; after some questions
    to many rows, a copy in bytes is made, which answers several times faster and exactly the same.

    References
    ----------
    Levy and Goldberg (2014), Linguistic regularities in sparse and explicit word representations (3CosMul).

    Examples
    --------
    >>> import numpy as np
    >>> vectors = Vectors(["cat", "dog", "car"], np.array([[1.0, 0.1], [1.0, 0.2], [0.0, 1.0]]))
    >>> len(vectors), "dog" in vectors, vectors.place("dog"), vectors["dog"]
    (3, True, 1, array([1. , 0.2]))
    >>> [(word, round(score, 3)) for word, score in vectors.most_similar("cat", 2)]
    [('dog', 0.995), ('car', 0.1)]
    >>> vectors.doesnt_match(["cat", "dog", "car"])
    'car'
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

    # -- near and far --------------------------------------------------------------------------------------------------

    @cached_property
    def _near(self) -> Nearest:
        return Nearest(self.array)

    def use_index(self, kind: str | None = "bytes") -> Vectors:
        """Choose what finds the nearest from now on; without this, it is chosen by how much is asked.

        Parameters
        ----------
        kind : {"bytes", "hnswlib", "faiss"} or None, default="bytes"
            A scan of a copy in bytes, whose answers are exact; a graph of another library (if installed), which is
            faster for a million rows and more and now and then misses a neighbour; None multiplies all rows.

        Returns
        -------
        self
        """
        self._near.use(kind)
        return self

    def most_similar(self, to, n: int = 10, *, without=(), unknown: str = "error") -> list[tuple[Any, float]]:
        """The `n` symbols nearest to a symbol, to several at once, or to a vector, best first, with their cosines.

        Parameters
        ----------
        to : symbol, list of symbols, or array (n_components,)
            Of several the mean of their vectors of length one is meant. What is given is not among the answers.
        n : int, default=10
        without : symbol or list of symbols, optional
            To be far from: their vectors are subtracted.
        unknown : {"error", "skip"}, default="error"
            What to do with symbols of a list that have no vector. There must be one at least that has.
        """
        n = whole(n, "n", 1)
        if isinstance(to, np.ndarray):
            if to.shape != (self.n_components,):
                raise ValueError(f"a vector to look around must have {self.n_components} numbers, got {to.shape}")
            if not np.isfinite(to).all():
                raise ValueError("a vector to look around must hold finite numbers")
        near = [] if isinstance(to, np.ndarray) else self._known(to, unknown)
        far = self._known(without, unknown)
        if not near and not far and not isinstance(to, np.ndarray):
            raise ValueError("to is an empty list: give a symbol at least")
        point = unit_point(to) if isinstance(to, np.ndarray) else self._sum(near)
        return self._answer(point - self._sum(far), n, {*near, *far})

    def similarity(self, a: Hashable, b: Hashable) -> float:
        """The cosine of two symbols: 1 for the same direction, 0 for nothing in common."""
        return float(unit_point(self[a]) @ unit_point(self[b]))

    def analogy(
        self, a: Hashable, b: Hashable, c: Hashable, n: int = 10, method: str = "add"
    ) -> list[tuple[Any, float]]:
        """What is to `c` as `b` is to `a`: ("man", "king", "woman") asks for "queen".

        Parameters
        ----------
        a, b, c : symbols
            None of them is among the answers.
        n : int, default=10
        method : {"add", "mul"}, default="add"
            "add" looks around b − a + c (3CosAdd). "mul" takes the largest cos(x, b)·cos(x, c) / cos(x, a), cosines
            moved to between 0 and 1, so that one large cosine cannot hide two small ones (3CosMul).
        """
        n = whole(n, "n", 1)
        places = [self.place(one) for one in (a, b, c)]
        if method == "add":
            one, two, three = (unit_point(self.array[place]) for place in places)
            return self._answer(two - one + three, n, set(places))
        if method != "mul":
            raise ValueError(f"method={method!r} is not known; use 'add' or 'mul'")
        rows = (self._near.cosines(self.array[place]).astype(np.float64) for place in places)
        near_one, near_two, near_three = ((1 + row) / 2 for row in rows)
        scores = near_two * near_three / (near_one + EPSILON)
        scores[places] = -np.inf
        best = np.argsort(-scores, kind="stable")[: min(n, len(self) - len(set(places)))]
        return [(self.symbols[place], float(scores[place])) for place in best]

    def doesnt_match(self, symbols: Sequence[Hashable], *, unknown: str = "error") -> Any:
        """The one of several symbols that is farthest from the mean of all."""
        places = self._known(list(symbols), unknown)
        if len(places) < 3:
            raise ValueError(f"symbols must hold at least three with a vector, got {len(places)}")
        units = np.array([unit_point(self.array[place]) for place in places])
        return self.symbols[places[int(np.argmin(units @ units.sum(axis=0)))]]

    def nearest(self, points: NDArray, n: int = 10) -> tuple[NDArray, NDArray]:
        """For each row of a table of vectors the rows of the `n` nearest symbols, and the cosines, best first.

        Use it for many questions at once: they are multiplied in blocks on all cores. Nothing is left out.
        """
        points = np.asarray(points)
        if points.ndim != 2 or points.shape[1] != self.n_components:
            raise ValueError(f"points must have {self.n_components} columns, got the shape {points.shape}")
        if not np.isfinite(points).all():
            raise ValueError("points must hold finite numbers")
        return self._near.top_of_each(points, whole(n, "n", 1))

    def units(self) -> NDArray[np.float32]:
        """All vectors scaled to length one, as they are compared; zeros stay."""
        return self._near.units

    def _known(self, given, unknown: str) -> list[int]:
        """The rows of what is given; unknown symbols raise or are skipped."""
        if unknown not in ("error", "skip"):
            raise ValueError(f"unknown={unknown!r} is not known; use 'error' or 'skip'")
        given = list(given) if _is_several(given) else [given]
        if unknown == "error":
            return [self.place(one) for one in given]
        places = [self._places[one] for one in given if one in self._places]
        if given and not places:
            raise UnknownSymbolError(given[0], self.symbols)
        return places

    def _sum(self, places: list[int]) -> NDArray[np.float64]:
        return np.sum([unit_point(self.array[place]) for place in places] or [np.zeros(self.n_components)], axis=0)

    def _answer(self, point: NDArray, n: int, left_out: set[int]) -> list[tuple[Any, float]]:
        places, scores = self._near.top(point, n + len(left_out))
        found = [(int(i), float(score)) for i, score in zip(places, scores, strict=True) if int(i) not in left_out]
        return [(self.symbols[i], score) for i, score in found[:n]]

    # -- all of them ---------------------------------------------------------------------------------------------------

    def cluster(self, k: int, *, random_state=None) -> list[list[Any]]:
        """Put the symbols into `k` groups by k-means on cosines; in each the one nearest to the middle comes first.

        Symbols whose vector is zero have no direction, and are in no group.
        """
        from unweave.registry import find

        units = self._near.units
        (rows,) = np.nonzero(units.any(axis=1))
        model = find("KMeans")(whole(k, "k", 1), metric="cosine", random_state=random_state).fit(units[rows])
        groups = []
        for group, centre in enumerate(model.cluster_centers_):
            members = rows[model.labels_ == group]
            order = np.argsort(-(units[members] @ centre.astype(np.float32)), kind="stable")
            groups.append([self.symbols[i] for i in members[order]])
        return groups

    def plot(self, symbols: Sequence[Hashable] | None = None) -> Figure:
        """A matplotlib figure of some symbols (by default the first 50): the plane that shows most of their spread."""
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(
                "drawing needs matplotlib, which is not installed: pip install 'unweave[plot]'"
            ) from error
        from unweave.embed.layout import principal_plane

        chosen = self.symbols[:50] if symbols is None else list(symbols)
        spots = principal_plane(np.array([unit_point(self[symbol]) for symbol in chosen]))
        figure, axis = pyplot.subplots(figsize=(7, 5.5), layout="constrained")
        axis.scatter(spots[:, 0], spots[:, 1], s=12)
        for symbol, spot in zip(chosen, spots, strict=True):
            axis.annotate(str(symbol), spot, xytext=(4, 2), textcoords="offset points", fontsize=9)
        axis.margins(x=0.16, y=0.08)  # names stand to the right of their dots
        axis.set(xticks=[], yticks=[], title=f"{len(chosen)} of {len(self):,} symbols")
        return figure

    def report(self, path: str | os.PathLike, *, most: int = 1000) -> Path:
        """Write a page with a map of the first `most` symbols, a search box, and the nearest of the one clicked.

        The page is one HTML file that needs nothing else. Symbols are placed so that neighbours stay neighbours.
        """
        from unweave.embed.layout import map_facts
        from unweave.report.word_page import write_word_map

        return write_word_map(map_facts(self, whole(most, "most", 1)), path)

    # -- files ---------------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, path: str | os.PathLike, *, encoding: str = "utf-8", limit: int | None = None) -> Vectors:
        """Read vectors from a file; the format is told by the content.

        Parameters
        ----------
        path : str or path
            Text or binary as word2vec writes it, text as GloVe writes it (no first line of sizes), fastText's .vec,
            what :meth:`write` wrote, or a saved model that has vectors; all but the last two maybe packed as .gz, .xz
            or .zst.
        encoding : str, default="utf-8"
            Of the words.
        limit : int, optional
            The most bytes that may be unpacked; by default as for :func:`unweave.read`.

        Returns
        -------
        Vectors
            In float32. Files of our own are mapped into memory. Of a word that comes twice the first vector is kept,
            with a warning.

        Raises
        ------
        ReadError
            A ValueError that names the file, the line or byte, and the remedy.
        """
        from unweave.embed.files import read

        return read(path, encoding=encoding, limit=limit)

    def write(self, path: str | os.PathLike, format: str = "auto") -> Path:
        """Write all vectors to one file, whole or not at all.

        Parameters
        ----------
        path : str or path
        format : {"auto", "unweave", "word2vec", "word2vec-binary", "glove", "fasttext"}, default="auto"
            "auto" goes by the ending: .txt is word2vec's text, .vec fastText's, .bin word2vec's binary, all else our
            own, which also holds counts and symbols that are not words, and is read at once. Texts are exact.
        """
        from unweave.embed.files import write

        return write(self, path, format)


def _is_several(given: Any) -> bool:
    return isinstance(given, list | set | frozenset) or (isinstance(given, tuple) and not given)


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
