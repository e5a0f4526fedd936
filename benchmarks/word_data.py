"""English Wikipedia as files and as numbers, and what people say of words: what the rows of `embed` work on."""

from __future__ import annotations

import gzip
import lzma
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import need

# Every so many articles, which are in no order of importance: 17.2, 1.0 and 0.02 million words.
EVERY = {"full": 1, "quick": 17, "tiny": 800}


@cache
def _lines(path: Path) -> list[str]:
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line.strip()]


@cache
def _folder() -> Any:
    return tempfile.TemporaryDirectory(prefix="unweave-bench-")


@cache
def wiki(folder: Path, every: int = 1, first: int = 0) -> Path:
    """A file of every so many articles, an article a line, unpacked: the quickest way in for everybody."""
    source = need(folder / "wiki_en_100m", "wiki_en_100m.txt.xz")
    path = Path(_folder().name) / f"wiki-{every}-{first}.txt"
    path.write_text("\n".join(_lines(source)[first::every]) + "\n")
    return path


def corpus(folder: Path, size: str) -> Any:
    """The same as numbers of words, those that occur five times."""
    from unweave.embed import read_corpus

    return read_corpus(wiki(folder, EVERY[size]), min_count=5)


def glove(folder: Path) -> tuple[list[str], np.ndarray]:
    """Words and vectors of glove-6b-50d-top100k."""
    base = folder / "glove-6b-50d-top100k"
    need(base, "vectors_f16.npz", "words.txt.gz")
    with gzip.open(base / "words.txt.gz", "rt", encoding="utf-8") as file:
        words = file.read().strip("\n").split("\n")
    return words, np.load(base / "vectors_f16.npz")["X"].astype(np.float32)


def french(folder: Path) -> tuple[list[str], np.ndarray]:
    """Words and vectors of crosslingual-en-fr."""
    base = folder / "crosslingual-en-fr"
    need(base, "fr_vectors_f16.npz", "fr_words.txt.gz")
    with gzip.open(base / "fr_words.txt.gz", "rt", encoding="utf-8") as file:
        words = file.read().strip("\n").split("\n")
    return words, np.load(base / "fr_vectors_f16.npz")["X"].astype(np.float32)


def dictionary(folder: Path) -> list[tuple[str, str]]:
    """Pairs of an English word and its translation."""
    base = folder / "crosslingual-en-fr"
    need(base, "freedict_en_fr_pairs.tsv.gz")
    with gzip.open(base / "freedict_en_fr_pairs.tsv.gz", "rt", encoding="utf-8") as file:
        return [tuple(line.split("\t")) for line in file.read().splitlines()]  # type: ignore[misc]
