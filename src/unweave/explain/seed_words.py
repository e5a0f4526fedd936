"""Words that say what a topic is to be about, as counts that are believed before any document is read."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.solve.progress import warn_user


def seed_counts(seed_words, strength: float, X: sp.csr_array, names, k: int) -> NDArray | None:
    """Words × topics: `strength` times the count of each seed word in X, in the topic it is a seed of.

    So belief and data weigh the same at strength 1, however large the table. None without seed words.

    >>> X = sp.csr_array([[2.0, 0.0, 1.0], [1.0, 4.0, 0.0]])
    >>> seed_counts({"pets": ["cat", "dog"]}, 1.0, X, ["cat", "dog", "sun"], 2).tolist()
    [[3.0, 0.0], [4.0, 0.0], [0.0, 0.0]]
    """
    if seed_words is None:
        return None
    groups = _groups(seed_words)
    if len(groups) > k:
        raise ValueError(f"seed_words names {len(groups)} topics, more than n_components={k}; raise n_components")
    place = {str(name): j for j, name in enumerate(range(X.shape[1]) if names is None else names)}
    totals = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    counts, unknown = np.zeros((X.shape[1], k)), []
    for t, (name, words) in enumerate(groups):
        columns = [place[word] for word in words if word in place and totals[place[word]] > 0]
        unknown += [word for word in words if word not in place or not totals[place[word]] > 0]
        if not columns:
            raise ValueError(
                f"seed_words: no word of {name} occurs in X; give at least one of its columns{_hint(names)}"
            )
        counts[columns, t] = strength * totals[columns]
    if unknown:
        warn_user(f"seed_words holds {len(unknown)} words that do not occur in X, such as {unknown[0]!r}: passed over")
    return counts.astype(X.dtype)


def _groups(seed_words) -> list[tuple[str, list[str]]]:
    """A name and the words of each seeded topic, in the order given."""
    if isinstance(seed_words, Mapping):
        pairs = [(repr(name), words) for name, words in seed_words.items()]
    elif isinstance(seed_words, list | tuple):
        pairs = [(f"topic {t}", words) for t, words in enumerate(seed_words)]
    else:
        pairs = []
    if not pairs or any(isinstance(words, str) or not hasattr(words, "__iter__") for _, words in pairs):
        raise ValueError(
            "seed_words must be a list of lists of words, one for each topic, or a dict of them, "
            f"{{'sports': ['game', 'team']}}; got {seed_words!r}"
        )
    return [(name, [str(word) for word in words]) for name, words in pairs]


def _hint(names) -> str:
    return "" if names is not None else " (X has no names, so words are numbers of columns)"
