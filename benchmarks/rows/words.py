"""Counting the words of 100 MB of text, one document a line; and of as many short ones, such as titles."""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import datasets
from benchmarks.harness import Fit, Row

LINES = {"full": None, "quick": 2000, "tiny": 50}


@cache
def _documents(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def load(folder: Path, size: str) -> list[str]:
    """English Wikipedia in the style of text8: 17,619 articles."""
    return _documents(datasets.need(folder / "wiki_en_100m", "wiki_en_100m.txt.xz"))[: LINES[size]]


@cache
def _titles(path: Path) -> list[str]:
    """Eight words a document."""
    words = " ".join(_documents(path)).split(" ")[: 8 * 1_000_000]
    return [" ".join(words[i : i + 8]) for i in range(0, len(words), 8)]


def load_titles(folder: Path, size: str) -> list[str]:
    """A million documents of eight words, cut from English Wikipedia."""
    most = {"full": None, "quick": 50_000, "tiny": 500}[size]
    return _titles(datasets.need(folder / "wiki_en_100m", "wiki_en_100m.txt.xz"))[:most]


def ours(texts: list[str], target: float | None) -> Fit:
    from unweave.explain.text.table import TextTable

    table = TextTable()
    return Fit((table.fit_transform(texts), table.words_), 1)


def sklearn(texts: list[str], threads: int) -> Fit:
    from sklearn.feature_extraction.text import CountVectorizer

    table = CountVectorizer()
    X = table.fit_transform(texts)
    return Fit((X, table.get_feature_names_out().tolist()), 1)


def objective(texts: list[str], answer: Any) -> float:
    """A number that only the same words with the same counts give: Σ n_dt (1 + d) (1 + t), and the letters of words."""
    import numpy as np

    X, words = answer
    d, t = np.arange(1.0, X.shape[0] + 1), np.arange(1.0, X.shape[1] + 1)
    return float(d @ (X @ t)) + sum(i * len(word) for i, word in enumerate(words))


ROWS = [
    Row(
        name="words",
        title="counting the words of 100 MB of text (wiki_en_100m)",
        target=3.0,
        load=load,
        ours=ours,
        peers={"sklearn CountVectorizer": sklearn},
        objective=objective,
        stops=False,
        value="checksum",
        slack=0.0,
    ),
    Row(
        name="titles",
        title="counting the words of a million short documents (eight words each, wiki_en_100m)",
        target=4.0,
        load=load_titles,
        ours=ours,
        peers={"sklearn CountVectorizer": sklearn},
        objective=objective,
        stops=False,
        value="checksum",
        slack=0.0,
    ),
]
