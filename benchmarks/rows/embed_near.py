"""Neighbours of words among 100,000 vectors against gensim, and translations of words against a least-squares map."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import word_data
from benchmarks.harness import Fit, Row

QUERIES, BEST, WIDTH, HELD, DRAWS = 200, 10, 300, 500, 5


class Words(NamedTuple):
    """Words, their vectors, and words that are asked about."""

    words: list[str]
    array: np.ndarray
    asked: list[str]


def load(folder: Path, size: str) -> Words:
    """GloVe's 100,000 vectors, of 50 numbers, made as wide as asked.

    They are turned into 300 dimensions, and noise of half their length is added, whose spread over the dimensions falls
    as that of trained vectors of 300 does (as a power of the place): the shape of the work is that of the issue, its
    spectrum is made up.
    """
    words, array = word_data.glove(folder)
    most = {"full": None, "quick": 20_000, "tiny": 500}[size]
    words, array = words[:most], array[:most] / np.linalg.norm(array[:most], axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((WIDTH, WIDTH)))[0]
    spread = np.arange(1, WIDTH + 1) ** -0.5
    noise = rng.standard_normal((len(array), WIDTH), np.float32) * (spread / np.linalg.norm(spread)).astype(np.float32)
    wide = 0.5 * noise @ turn.astype(np.float32)
    wide += array @ np.linalg.qr(rng.standard_normal((WIDTH, array.shape[1])))[0].T.astype(np.float32)
    places = rng.choice(len(words), min(QUERIES, len(words)), replace=False)
    return Words(words, wide, [words[i] for i in places])


def _asked(ask: Callable[[str], Any], words: list[str]) -> tuple[list[list[str]], float]:
    """The answers, and the median seconds of a question after some to warm up."""
    for word in words[:25]:
        ask(word)
    answers, took = [], []
    for word in words:
        started = time.perf_counter()
        found = ask(word)
        took.append(time.perf_counter() - started)
        answers.append([near for near, _ in found])
    return answers, float(np.median(took))


def ours(data: Words, target: float | None, *, index: str | None) -> Fit:
    import unweave

    vectors = unweave.Vectors(data.words, data.array)
    if index != "auto":  # by itself the copy is made after the first questions
        vectors.use_index(index)
    return Fit(*_with_count(_asked(lambda word: vectors.most_similar(word, BEST), data.asked)))


def gensim(data: Words, threads: int) -> Fit:
    from gensim.models import KeyedVectors

    vectors = KeyedVectors(WIDTH)
    vectors.add_vectors(data.words, data.array)
    return Fit(*_with_count(_asked(lambda word: vectors.most_similar(word, topn=BEST), data.asked)))


def _with_count(found: tuple[list, float]) -> tuple[list, int, float]:
    return found[0], len(found[0]), found[1]


def strangers(data: Words, answers: list[list[str]]) -> float:
    """The share of neighbours found that are not among the nearest, in float64."""
    units = data.array.astype(np.float64)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    place = {word: i for i, word in enumerate(data.words)}
    wrong = 0
    for word, found in zip(data.asked, answers, strict=True):
        scores = units @ units[place[word]]
        scores[place[word]] = -2
        worst = np.partition(scores, -BEST)[-BEST]
        wrong += sum(scores[place[near]] < worst - 1e-7 for near in found)  # equal in what float32 can tell
    return wrong / (BEST * len(answers))


class Spaces(NamedTuple):
    """Two spaces, pairs to learn from, and pairs of words that are held out."""

    english: tuple[list[str], np.ndarray]
    french: tuple[list[str], np.ndarray]
    known: list[tuple[str, str]]
    held: list[tuple[str, str]]


def load_spaces(folder: Path, size: str) -> list[Spaces]:
    """Draws of 500 English words with a vector and a translation that has one, held out with all they mean."""
    english, french = word_data.glove(folder), word_data.french(folder)
    if size == "tiny":
        english, french = [(words[:20_000], array[:20_000]) for words, array in (english, french)]
    there, here = set(english[0]), set(french[0])
    pairs = [(a, b) for a, b in word_data.dictionary(folder) if a in there and b in here]
    heads = np.array(sorted({a for a, _ in pairs}), dtype=object)
    drawn = [set(heads[np.random.default_rng(seed).permutation(len(heads))[:HELD]]) for seed in range(DRAWS)]
    return [
        Spaces(english, french, [p for p in pairs if p[0] not in held], [p for p in pairs if p[0] in held])
        for held in drawn
    ]


def ours_translates(data: list[Spaces], target: float | None) -> Fit:
    return Fit([_ours_of_draw(draw) for draw in data])


def least_squares(data: list[Spaces], threads: int) -> Fit:
    return Fit([_least_squares_of_draw(draw) for draw in data])


def _ours_of_draw(data: Spaces) -> dict[str, str]:
    import unweave

    found = unweave.align(unweave.Vectors(*data.english), unweave.Vectors(*data.french), data.known)
    asked = sorted({a for a, _ in data.held})
    return {word: found.translate(word, 1)[0][0] for word in asked}


def _least_squares_of_draw(data: Spaces) -> dict[str, str]:
    """French vectors mapped onto the English ones, and the nearest by cosine."""
    (words, E), (names, F) = data.english, data.french
    row, column = ({word: i for i, word in enumerate(some)} for some in (words, names))
    A, B = F[[column[b] for _, b in data.known]], E[[row[a] for a, _ in data.known]]
    mapped = F @ np.linalg.lstsq(A, B, rcond=None)[0]
    mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
    asked = sorted({a for a, _ in data.held})
    return {word: names[int(np.argmax(mapped @ E[row[word]]))] for word in asked}


def misses(data: list[Spaces], answers: list[dict[str, str]]) -> float:
    """The share of the held-out words whose first translation is none of those in the dictionary, mean of the draws."""
    wrong = 0
    for draw, told in zip(data, answers, strict=True):
        wrong += len(told.items() - set(draw.held))
    return wrong / sum(map(len, answers))


ROWS = [
    Row(
        name=name,
        title=f"ten nearest of 100k×300 vectors, {title}",
        target=target,
        load=load,
        ours=partial(ours, index=index),
        peers={"gensim KeyedVectors": gensim},
        objective=strangers,
        stops=False,
        value="share that is not nearest",
        unit="s a question",
        repeats=2,
        reported_on="glove-6b-50d-top100k, widened",
    )
    for name, title, index, target in (
        ("most-similar", "the default call", "auto", 2.0),
        ("most-similar-plain", "all rows multiplied", None, 2.0),
        ("most-similar-bytes", "scan of a copy in bytes", "bytes", 20.0),
    )
] + [
    Row(
        name="translate",
        title="English to French, five draws of 500 held-out words: share whose first translation is wrong",
        target=1.0,
        load=load_spaces,
        ours=ours_translates,
        peers={"least squares": least_squares},
        objective=misses,
        aim="below",
        stops=False,
        value="share",
        repeats=1,
        tuned_on="other draws from the same words, which overlap",
        reported_on="glove-6b-50d-top100k, crosslingual-en-fr",
    )
]
