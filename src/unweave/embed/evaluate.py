"""Measure vectors against people: analogies that should hold, and pairs of words that people scored for likeness."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.data.arguments import whole
from unweave.data.readers.source import ReadError, Source
from unweave.linalg.scores import top_columns

if TYPE_CHECKING:
    from unweave.embed.vectors import Vectors

_BLOCK = 256  # questions answered together by 3CosMul, whose scores are a table of them × words


@dataclass(frozen=True)
class Analogies:
    """How many analogies hold. `accuracy` is of the questions asked; `coverage` is the share that could be asked.

    `sections` has (right, asked, questions) for each section of the file.
    """

    accuracy: float
    coverage: float
    right: int
    asked: int
    questions: int
    sections: dict[str, tuple[int, int, int]] = field(repr=False)


@dataclass(frozen=True)
class Similarities:
    """How well cosines rank pairs as people do; `coverage` is the share of pairs of which both words have a vector."""

    spearman: float
    pearson: float
    coverage: float
    asked: int
    pairs: int


def evaluate_analogies(
    vectors: Vectors,
    questions: str | os.PathLike | Iterable[tuple],
    *,
    method: str = "add",
    most_frequent: int | None = 300_000,
    lowercase: bool = True,
) -> Analogies:
    """Ask what is to c as b is to a, and count how often the one nearest word is the right one.

    A question with a word that has no vector is not asked, and counts in `coverage` alone.

    Parameters
    ----------
    vectors : Vectors
    questions : path, or list of (a, b, c, d)
        A file such as ``questions-words.txt`` of word2vec: four words on a line, ``: name`` begins a section.
    method : {"add", "mul"}, default="add"
        As in :meth:`Vectors.analogy`.
    most_frequent : int, optional
        Only so many of the first words take part, as published numbers do it; None for all.
    lowercase : bool, default=True
        Look words up in lower case where they are not there as written.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.embed import Vectors
    >>> table = np.array([[2, 0, 0], [2, 1, 0], [0.5, 0, 0.1], [0.5, 1, 0.1], [0, 0.5, 2]])
    >>> vectors = Vectors(["king", "queen", "man", "woman", "apple"], table)
    >>> evaluate_analogies(vectors, [("man", "king", "woman", "queen"), ("man", "king", "girl", "princess")])
    Analogies(accuracy=1.0, coverage=0.5, right=1, asked=1, questions=2)
    """
    if method not in ("add", "mul"):
        raise ValueError(f"method={method!r} is not known; use 'add' or 'mul'")
    most = len(vectors) if most_frequent is None else min(len(vectors), whole(most_frequent, "most_frequent", 4))
    asked: list[list[int]] = []
    sections: list[str] = []
    owners: list[int] = []
    totals: list[int] = []
    for section, four in _four_words(questions):
        if not sections or sections[-1] != section:
            sections.append(section)
            totals.append(0)
        totals[-1] += 1
        places = [_place(vectors, word, lowercase, most) for word in four]
        if min(places) >= 0:
            asked.append(places)
            owners.append(len(sections) - 1)
    if not sum(totals):
        raise ValueError("questions is empty: give lines of four words")
    table = np.array(asked, dtype=np.int64).reshape(-1, 4)
    found = (_by_sums if method == "add" else _by_products)(vectors.units()[:most], table[:, :3])
    hits = found == table[:, 3]
    right = np.bincount(np.array(owners, dtype=np.int64)[hits], minlength=len(sections))
    each = np.bincount(np.array(owners, dtype=np.int64), minlength=len(sections))
    told: dict[str, tuple[int, int, int]] = {}
    for i, name in enumerate(sections):
        before = told.get(name, (0, 0, 0))
        told[name] = (before[0] + int(right[i]), before[1] + int(each[i]), before[2] + totals[i])
    share = float(hits.mean()) if len(table) else 0.0
    return Analogies(share, len(table) / sum(totals), int(hits.sum()), len(table), sum(totals), told)


def evaluate_similarity(
    vectors: Vectors, pairs: str | os.PathLike | Iterable[tuple], *, lowercase: bool = True
) -> Similarities:
    """Compare the cosines of pairs of words with the scores that people gave them, by rank (Spearman) and by value.

    Parameters
    ----------
    vectors : Vectors
    pairs : path, or list of (word, word, score)
        A file such as WordSim-353 or SimLex-999: two words and a number on a line, between blanks, tabs or commas. A
        first line of headings is passed over.
    lowercase : bool, default=True
        As in :func:`evaluate_analogies`.

    Examples
    --------
    >>> import numpy as np
    >>> from unweave.embed import Vectors
    >>> vectors = Vectors(["cat", "dog", "car"], np.array([[1, 0.1], [1, 0.2], [0.1, 1]]))
    >>> scored = [("cat", "dog", 9), ("cat", "car", 1), ("dog", "car", 2), ("cat", "unicorn", 5)]
    >>> evaluate_similarity(vectors, scored).coverage, round(evaluate_similarity(vectors, scored).spearman, 6)
    (0.75, 1.0)
    """
    from scipy.stats import pearsonr, spearmanr

    total, cosines, scores = 0, [], []
    for one, two, score in _scored_pairs(pairs):
        total += 1
        a, b = (_place(vectors, word, lowercase, len(vectors)) for word in (one, two))
        if min(a, b) >= 0:
            cosines.append(vectors.similarity(vectors.symbols[a], vectors.symbols[b]))
            scores.append(score)
    if not total:
        raise ValueError("pairs is empty: give two words and a score for each")
    usable = len(scores) > 1 and len(set(scores)) > 1 and len(set(cosines)) > 1
    ranks = float(spearmanr(cosines, scores).statistic) if usable else 0.0
    values = float(pearsonr(cosines, scores).statistic) if usable else 0.0
    return Similarities(ranks, values, len(scores) / total, len(scores), total)


def _by_sums(units: NDArray, asked: NDArray) -> NDArray[np.int64]:
    """The row nearest to b − a + c, of those that were not asked about."""
    if not len(asked):
        return np.empty(0, np.int64)
    points = units[asked[:, 1]] - units[asked[:, 0]] + units[asked[:, 2]]
    places, _ = top_columns(points, units.T, 4)
    fresh = ~(places[:, :, None] == asked[:, None, :]).any(axis=2) & (places >= 0)
    return np.where(fresh.any(axis=1), places[np.arange(len(places)), fresh.argmax(axis=1)], -1)


def _by_products(units: NDArray, asked: NDArray) -> NDArray[np.int64]:
    """The row with the largest cos(x, b)·cos(x, c)/cos(x, a), of those that were not asked about."""
    from unweave.embed.vectors import EPSILON

    found = np.full(len(asked), -1, np.int64)

    def block(start: int, stop: int) -> None:
        some = asked[start:stop]
        a, b, c = ((1 + units[some[:, j]] @ units.T) / 2 for j in range(3))
        scores = b * c / (a + np.float32(EPSILON))
        np.put_along_axis(scores, some, -np.inf, axis=1)
        found[start:stop] = scores.argmax(axis=1)

    with parallel.single_blas():
        parallel.run(block, len(asked), max(1, min(_BLOCK, 2**24 // max(1, len(units)))))
    return found


def _place(vectors: Vectors, word: Hashable, lowercase: bool, most: int) -> int:
    if word not in vectors and lowercase and isinstance(word, str):
        word = word.lower()
    place = vectors.place(word) if word in vectors else -1
    return place if place < most else -1


# -- files -------------------------------------------------------------------------------------------------------------


def _four_words(questions: Any) -> Iterator[tuple[str, tuple]]:
    section = "all"
    if not isinstance(questions, str | os.PathLike):
        for i, four in enumerate(questions):
            if isinstance(four, str) or len(four) != 4:
                raise ValueError(f"question {i} is {four!r:.60}: give four words each")
            yield section, tuple(four)
        return
    source = Source(questions)
    for number, line in source.lines():
        words = line.split()
        if line.startswith(":"):
            section = line[1:].strip() or "unnamed"
        elif len(words) == 4:
            yield section, tuple(words)
        elif words:
            raise ReadError(source.name, f"{len(words)} words where a question has four", number)


def _scored_pairs(pairs: Any) -> Iterator[tuple[Any, Any, float]]:
    if not isinstance(pairs, str | os.PathLike):
        for i, one in enumerate(pairs):
            try:
                first, second, score = one
                yield first, second, float(score)
            except (TypeError, ValueError):
                raise ValueError(f"pair {i} is {one!r:.60}: give two words and a score each") from None
        return
    source = Source(pairs)
    for number, line in source.lines():
        cells = line.replace("\t", " ").replace(",", " ").split()
        if not cells or line.startswith("#"):
            continue
        try:
            score = float(cells[2])
        except (IndexError, ValueError):
            if number == 1:
                continue
            raise ReadError(source.name, "has no two words and a score", number) from None
        if not np.isfinite(score):
            raise ReadError(source.name, f"the score {cells[2]!r} is not finite", number)
        yield cells[0], cells[1], score
