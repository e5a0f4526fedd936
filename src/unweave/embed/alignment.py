"""Align two spaces of vectors by pairs of words that mean the same, and translate words from one to the other."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number, whole
from unweave.data.readers.source import ReadError, Source
from unweave.embed.names import UnknownSymbolError
from unweave.embed.vectors import Vectors
from unweave.linalg.nearest import unit_rows
from unweave.linalg.scores import top_columns

METHODS = ("auto", "orthogonal", "linear", "cca")
_NEIGHBOURS = 10  # of CSLS, as its authors set it
# Most frequent words of the source whose nearest tell how crowded a target is. Set on three times 750 words of an
# English-French dictionary, none of them among those that a row of the benchmark reports: 5000 found 0.8 % fewer.
_HUBS = 20_000
_REFINED = 8000  # most frequent words of both sides among which mutual neighbours are looked for
_FEATURES = 600
# How long the column of places is beside rows of length one. Set on three draws of 500 words of the same dictionary:
# 48.5 % of them were translated rightly with it and 47.3 % without; anything from 0.05 to 0.4 helped.
_PLACE = 0.1


@dataclass(frozen=True)
class Precision:
    """Share of held-out words whose translations are among the first 1, 5 and 10; `coverage` of those with a vector."""

    at_1: float
    at_5: float
    at_10: float
    coverage: float
    asked: int


class Alignment:
    """Two spaces in one: what :func:`align` returns.

    Attributes
    ----------
    source, target : Vectors
        As they were given.
    source_points, target_points : float32 arrays
        Their words as points of length one in the common space.
    method : str
    n_pairs : int
        Pairs that were used, those found by refinement among them.
    """

    def __init__(self, source: Vectors, target: Vectors, maps: tuple[_Map, _Map], method: str, n_pairs: int):
        self.source, self.target, self.method, self.n_pairs = source, target, method, n_pairs
        self._maps = maps
        self.source_points, self.target_points = maps[0].points_of_all(source), maps[1].points_of_all(target)
        self._crowding: NDArray[np.float32] | None = None

    def __repr__(self) -> str:
        return f"Alignment({len(self.source):,} → {len(self.target):,} words, {self.method}, {self.n_pairs:,} pairs)"

    def translate(self, word: Hashable | NDArray, n: int = 5, *, retrieval: str = "csls") -> list[tuple[Any, float]]:
        """The `n` symbols of the target that are nearest to a symbol (or a vector) of the source, best first.

        Parameters
        ----------
        word : symbol of the source, or array of its width
        n : int, default=5
        retrieval : {"csls", "cosine"}, default="csls"
            "csls" takes off how near a target is to everything, so that a few hubs are not the answer to all.
        """
        if isinstance(word, np.ndarray):
            if word.shape != (self.source.n_components,) or not np.isfinite(word).all():
                raise ValueError(f"word must be a symbol or {self.source.n_components} finite numbers")
            points = self._maps[0].points(word[None], None)
        else:
            points = self.source_points[[self.source.place(word)]]
        places, scores = self._nearest(points, whole(n, "n", 1), retrieval)
        return [(self.target.symbols[i], float(s)) for i, s in zip(places[0], scores[0], strict=True) if i >= 0]

    def precision(self, pairs, *, retrieval: str = "csls") -> Precision:
        """How often a held-out translation is found: any of the translations of a word counts.

        Parameters
        ----------
        pairs : list of (source, target), dict or path
            As for :func:`align`; keep them apart from those it was given.
        """
        wanted: dict[Any, set] = {}
        for one, two in _pairs(pairs):
            wanted.setdefault(one, set()).add(two)
        asked = [(one, gold) for one, words in wanted.items() if one in self.source
                 if (gold := {self.target.place(word) for word in words if word in self.target})]  # fmt: skip
        if not asked:
            raise ValueError("pairs holds no word of the source with a translation in the target")
        rows = np.array([self.source.place(one) for one, _ in asked])
        places, _ = self._nearest(self.source_points[rows], 10, retrieval)
        first = np.array(
            [
                next((k for k, i in enumerate(row) if i in gold), 99)
                for row, (_, gold) in zip(places, asked, strict=True)
            ]
        )
        one, five, ten = (float((first < k).mean()) for k in (1, 5, 10))
        return Precision(one, five, ten, len(asked) / len(wanted), len(asked))

    def _nearest(self, points: NDArray, n: int, retrieval: str) -> tuple[NDArray, NDArray]:
        n = min(n, len(self.target))
        if retrieval == "cosine":
            return top_columns(points, np.ascontiguousarray(self.target_points.T), n)
        if retrieval != "csls":
            raise ValueError(f"retrieval={retrieval!r} is not known; use 'csls' or 'cosine'")
        if self._crowding is None:
            self._crowding = crowding(self.target_points, self.source_points[:_HUBS])
        return nearest_by_csls(points, self.target_points, self._crowding, n)


def align(
    source: Vectors, target: Vectors, pairs, *, method: str = "auto", ridge: float = 0.5, refine: int = 0
) -> Alignment:
    """Bring two spaces of vectors into one by pairs of words that mean the same, so that words can be translated.

    Rows are scaled to length one, centred and scaled again; pairs count one over the number of translations.

    Parameters
    ----------
    source, target : Vectors
        They need not have the same number of components.
    pairs : list of (source, target), dict, or path
        A dictionary; a file has two words on a line, between tabs or blanks. Pairs of which a word has no vector are
        passed over.
    method : {"auto", "orthogonal", "linear", "cca"}, default="auto"
        "orthogonal" turns the target onto the source (Procrustes; of unequal widths the principal plane of the wider
        one), which keeps all distances: for few pairs and spaces made alike. "linear" is the least-squares map of the
        target. "cca" finds the directions of both that agree most, weighted by how much they do; the narrower side also
        gets random ramps of itself where it is much narrower, so that the map may bend, and both get a column for the
        place of a word in its list, which says how frequent it is in most files and weighs nothing where it does not.
        "auto": cca from 1000 pairs on, below that orthogonal for equal widths and linear for others.
    ridge : float, default=0.5
        Of cca: shrinks both covariances towards a multiple of the identity, this share of their mean variance.
    refine : int, default=0
        Rounds in which words that are each other's nearest (by CSLS) join the pairs: helps where these are few.

    Returns
    -------
    Alignment
        `translate(word, n)`, `precision(held_out)`.

    References
    ----------
    Schönemann (1966), A generalized solution of the orthogonal Procrustes problem. Faruqui and Dyer (2014), Improving
    vector space word representations using multilingual correlation. Conneau et al. (2018), Word translation without
    parallel data (CSLS). Artetxe, Labaka and Agirre (2018), Generalizing and improving bilingual word embedding
    mappings.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.embed import Vectors, align
    >>> rng = np.random.default_rng(0)
    >>> table = rng.standard_normal((50, 4))
    >>> turned = table @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    >>> english, other = Vectors([f"e{i}" for i in range(50)], table), Vectors([f"f{i}" for i in range(50)], turned)
    >>> found = align(english, other, [(f"e{i}", f"f{i}") for i in range(20)])
    >>> found.translate("e40", 1)[0][0], found.precision([(f"e{i}", f"f{i}") for i in range(20, 50)]).at_1
    ('f40', 1.0)
    """
    if method not in METHODS:
        raise ValueError(f"method={method!r} is not known; use one of {', '.join(map(repr, METHODS))}")
    ridge, refine = number(ridge, "ridge"), whole(refine, "refine", 0)
    listed = list(_pairs(pairs))
    known = [(source.place(a), target.place(b)) for a, b in listed if a in source and b in target]
    if len(known) < 2:
        if listed:
            away = next((a for a, _ in listed if a not in source), None)
            why = UnknownSymbolError(away, source.symbols) if away is not None else "the second word is unknown"
            raise ValueError(
                f"pairs has {len(known)} pairs of which both words have vectors, and two are needed: {why}"
            )
        raise ValueError("pairs is empty: give words of the source and what they are called in the target")
    rows = np.array(known, dtype=np.int64)
    if method == "auto":
        equal = source.n_components == target.n_components
        method = "cca" if len(rows) >= 1000 else "orthogonal" if equal else "linear"
    found = _aligned(source, target, rows, method, ridge)
    for _ in range(refine):
        more = mutual_neighbours(found.source_points[:_REFINED], found.target_points[:_REFINED])
        found = _aligned(source, target, np.vstack([rows, more]), method, ridge)
    return found


def _aligned(source: Vectors, target: Vectors, rows: NDArray, method: str, ridge: float) -> Alignment:
    bends = method == "cca" and max(source.n_components, target.n_components) >= 2 * min(
        source.n_components, target.n_components
    )
    wide, place = source.n_components > target.n_components, _PLACE if method == "cca" else 0.0
    one = _Map(source, _FEATURES if bends and not wide else 0, place)
    two = _Map(target, _FEATURES if bends and wide else 0, place)
    weights = np.sqrt(1 / np.bincount(rows[:, 0])[rows[:, 0]])[:, None]
    A, B = (
        weights * side.prepared(vectors.array[places], places)
        for side, vectors, places in ((one, source, rows[:, 0]), (two, target, rows[:, 1]))
    )
    if method == "orthogonal":
        one.turn, two.turn = _procrustes(A, B)
    elif method == "linear":
        one.turn, two.turn = np.eye(A.shape[1]), np.linalg.lstsq(B, A, rcond=None)[0]
    else:
        one.turn, two.turn = _correlated(A, B, ridge)
    return Alignment(source, target, (one, two), method, len(rows))


class _Map:
    """From the vectors of one side to points of the common space: scaled, centred, bent (maybe) and turned."""

    turn: NDArray

    def __init__(self, vectors: Vectors, features: int, place: float):
        units = vectors.units()
        self._middle = units.mean(axis=0, dtype=np.float64)
        # The same ramps every time: which they are matters little, and nothing else here is drawn.
        self._ramps = np.random.default_rng(0).standard_normal((vectors.n_components, features))
        self._level = np.zeros(features)
        if features:
            self._level = np.maximum(self._scaled(vectors.array) @ self._ramps, 0).mean(axis=0)
        self._place, logs = place, np.log(np.arange(len(vectors)) + 10.0)
        self._usual, self._spread = logs.mean(), logs.std() or 1.0

    def _scaled(self, rows: NDArray) -> NDArray[np.float32]:
        return unit_rows(unit_rows(rows) - self._middle)

    def prepared(self, rows: NDArray, places: NDArray | None) -> NDArray:
        """Rows scaled, their ramps, and where they stand in their list; a point that stands nowhere gets the mean."""
        columns: list[NDArray] = [self._scaled(rows)]
        if len(self._level):
            bent = np.maximum(columns[0] @ self._ramps.astype(np.float32), 0) - self._level.astype(np.float32)
            columns.append(bent / np.float32(np.sqrt(len(self._level))))
        if self._place:
            logs = self._usual if places is None else np.log(places + 10.0)
            told = np.broadcast_to(self._place * (logs - self._usual) / self._spread, len(rows))
            columns.append(told.astype(np.float32)[:, None])
        return np.hstack(columns)

    def points(self, rows: NDArray, places: NDArray | None) -> NDArray[np.float32]:
        return unit_rows(self.prepared(rows, places) @ self.turn.astype(np.float32))

    def points_of_all(self, vectors: Vectors) -> NDArray[np.float32]:
        """The points of all words, some thousand at a time."""
        n = len(vectors)
        starts = range(0, n, 4096)
        return np.vstack([self.points(vectors.array[i : i + 4096], np.arange(i, min(i + 4096, n))) for i in starts])


# -- maps --------------------------------------------------------------------------------------------------------------


def _procrustes(A: NDArray, B: NDArray) -> tuple[NDArray, NDArray]:
    """The rotations of both sides, into as many dimensions as the narrower has, after which pairs are nearest."""
    k = min(A.shape[1], B.shape[1])
    ahead = [_principal(side, k) if side.shape[1] > k else np.eye(k) for side in (A, B)]
    left, _, right = np.linalg.svd((A @ ahead[0]).T.astype(np.float64) @ (B @ ahead[1]))
    return ahead[0] @ left, ahead[1] @ right.T


def _principal(side: NDArray, k: int) -> NDArray:
    return np.linalg.eigh(side.T.astype(np.float64) @ side)[1][:, ::-1][:, :k]


def _correlated(A: NDArray, B: NDArray, ridge: float) -> tuple[NDArray, NDArray]:
    """Canonical directions of both sides, each as long as the correlation of its two halves."""
    A, B = A.astype(np.float64), B.astype(np.float64)
    white_a, white_b = _whitening(A.T @ A, ridge), _whitening(B.T @ B, ridge)
    left, agree, right = np.linalg.svd(white_a @ (A.T @ B) @ white_b, full_matrices=False)
    return white_a @ left * agree, white_b @ right.T * agree


def _whitening(gram: NDArray, ridge: float) -> NDArray:
    values, axes = np.linalg.eigh(gram)
    lifted = np.maximum(values, 0) + max(ridge, 1e-9) * max(values.mean(), 1e-300)
    return axes / np.sqrt(lifted) @ axes.T


# -- retrieval ---------------------------------------------------------------------------------------------------------


def crowding(points: NDArray, others: NDArray) -> NDArray[np.float32]:
    """For each point the mean cosine with its ten nearest of the others: high for hubs."""
    _, scores = top_columns(points, np.ascontiguousarray(others.T), min(_NEIGHBOURS, len(others)))
    return scores.mean(axis=1, dtype=np.float64).astype(np.float32)


def nearest_by_csls(points: NDArray, targets: NDArray, crowded: NDArray, n: int) -> tuple[NDArray, NDArray]:
    """The targets with the largest 2·cos(point, target) − crowding(target); what is added to all of a row is left out.

    It is a product too, with one more column, so the search in blocks does it.
    """
    wider = np.hstack([2 * points, np.ones((len(points), 1), np.float32)])
    return top_columns(wider, np.ascontiguousarray(np.hstack([targets, -crowded[:, None]]).T), n)


def mutual_neighbours(one: NDArray, two: NDArray) -> NDArray[np.int64]:
    """Pairs of rows that are each other's nearest by CSLS."""
    there = nearest_by_csls(one, two, crowding(two, one), 1)[0][:, 0]
    back = nearest_by_csls(two, one, crowding(one, two), 1)[0][:, 0]
    rows = np.flatnonzero(back[there] == np.arange(len(one)))
    return np.column_stack([rows, there[rows]])


def _pairs(pairs: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(pairs, dict):
        return list(pairs.items())
    if not isinstance(pairs, str | os.PathLike):
        listed = list(pairs)
        for i, one in enumerate(listed):
            if isinstance(one, str) or not hasattr(one, "__len__") or len(one) != 2:
                raise ValueError(f"pair {i} is {one!r:.60}: give a word and its translation")
        return [(one, two) for one, two in listed]
    source, found = Source(pairs), []
    for line, text in source.lines():
        cells = text.split("\t") if "\t" in text else text.split()
        if text.strip() and len(cells) != 2:
            raise ReadError(source.name, f"{len(cells)} words where a pair has two", line)
        if text.strip():
            found.append((cells[0].strip(), cells[1].strip()))
    return found
