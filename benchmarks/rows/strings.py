"""Kernels of DNA strings: the table of 1000 of them with themselves, against strkernels.

Both count the same: subsequences of one to three letters weighted by ½ for every letter of their span, and substrings
of one to three letters by how often they are there. strkernels knows A, C, G and T alone, so strings with other letters
(15 of splice) are left out. There are 106 promoters, so that row has 106 strings. What is compared is how far a table
is from both counts written out, for some pairs: to 12 digits that must be nothing for both.
"""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import need
from benchmarks.harness import Fit, Row

LENGTH, DECAY = 3, 0.5
SIZES = {"full": 1000, "quick": 200, "tiny": 20}
_PAIRS = 30


def sequences(folder: Path, name: str) -> tuple[list[str], list[str]]:
    """Strings of the letters of DNA, and the label of each."""
    path = need(folder / "sequences", f"{name}.tsv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file if line.strip()]
    return [line[-1].strip().upper() for line in lines], [line[0] for line in lines]


def _load(name: str):
    def load(folder: Path, size: str) -> list[str]:
        texts = [text for text in sequences(folder, name)[0] if set(text) <= set("ACGT")]
        return [texts[i] for i in np.random.default_rng(0).permutation(len(texts))[: SIZES[size]]]

    return load


def common_subsequences(a: str, b: str) -> float:
    """Σ λ^(span in a + span in b) over common subsequences of 1 to LENGTH letters, by the recursion as it is written.

    ``ends[i, j]`` weighs the common subsequences of so many letters whose last letter is a[i] and b[j], their spans
    counted up to there.
    """
    alike = np.array(list(a))[:, None] == np.array(list(b))
    ends, total = alike * DECAY**2, 0.0
    for length in range(1, LENGTH + 1):
        total += ends.sum()
        if length == LENGTH:
            return float(total)
        reach = np.zeros((len(a) + 1, len(b) + 1))  # of those that ended before, each step further costs λ
        for i in range(len(a)):
            for j in range(len(b)):
                reach[i + 1, j + 1] = ends[i, j] + DECAY * (reach[i, j + 1] + reach[i + 1, j]) - DECAY**2 * reach[i, j]
        ends = alike * DECAY**2 * reach[:-1, :-1]
    return float(total)


def common_substrings(a: str, b: str) -> float:
    one, other = (Counter(t[i : i + n] for n in range(1, LENGTH + 1) for i in range(len(t) - n + 1)) for t in (a, b))
    return float(sum(count * other[piece] for piece, count in one.items()))


def _off(truth):
    """The largest relative distance from what is written out, to twelve digits."""

    def objective(texts: list[str], K: np.ndarray) -> float:
        rng = np.random.default_rng(1)
        pairs = rng.integers(len(texts), size=(_PAIRS, 2))
        off = max(abs(K[i, j] / truth(texts[i], texts[j]) - 1) for i, j in pairs)
        return max(round(float(off), 12), 0.0 if np.array_equal(K, K.T) else 1.0)

    return objective


def _ours_subsequences(texts: list[str], target: Any) -> Fit:
    from unweave.predict import Subsequences

    return Fit(Subsequences(LENGTH, decay=DECAY)(texts), 1)


def _ours_substrings(texts: list[str], target: Any) -> Fit:
    from unweave.predict import Substrings

    return Fit(Substrings(LENGTH, counts=True)(texts), 1)


def _strkernels_subsequences(texts: list[str], threads: int) -> Fit:
    from strkernels import SubsequenceStringKernel

    return Fit(SubsequenceStringKernel(normalizer=None, maxlen=LENGTH, ssk_lambda=DECAY)(texts, texts), 1)


def _strkernels_substrings(texts: list[str], threads: int) -> Fit:
    from strkernels import SpectrumStringKernel

    return Fit(SpectrumStringKernel(normalizer=None, order=LENGTH)(texts, texts), 1)


ROWS = [
    Row(
        name=f"{kind}-{name}", title=f"{words} of at most 3 letters, {title}", target=5.0, load=_load(name),
        ours=ours, peers={"strkernels": peer}, objective=_off(truth), stops=False, dtype="float64",
        value="distance from both written out", tuned_on="drawn letters",
    )
    for name, title in (("splice", "1000 splice junctions"), ("promoters", "106 promoters"))
    for kind, words, ours, peer, truth in (
        ("subsequences", "common subsequences", _ours_subsequences, _strkernels_subsequences, common_subsequences),
        ("substrings", "common substrings", _ours_substrings, _strkernels_substrings, common_substrings),
    )
]  # fmt: skip
