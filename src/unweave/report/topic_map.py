"""The topic map: which topics there are, how near they are to each other, and which words tell them apart.

Facts in small whole numbers first, the page from them; see :mod:`unweave.report.topics_page`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.atomic import replace_file
from unweave.data.named import NamedTable
from unweave.report.markup import plain
from unweave.report.topic_map_places import fit_to_frame, plane, shannon_distances

SHOWN = 30  # words of a topic
STEPS = 20  # of the slider between 0 and 1
WIDTH, HEIGHT = 600, 560
_FINE = 1000  # logarithms are kept to a thousandth
_WORD = 60
_INK = 0.16  # share of the map that the circles cover
_LABEL = 23.0  # how near the numbers of two topics may be


def write_topic_map(model: Any, path: str | os.PathLike, X=None, vocabulary=None) -> Path:
    """Write the topic map of a fitted model of topics as one HTML page that needs nothing else.

    Topics are circles, their areas the shares of all words, near each other when they share words (classical scaling
    of the Jensen–Shannon distances). The words of a topic are ordered by relevance

        λ log p(w|t) + (1 − λ) log(p(w|t) / p(w)),

    where a slider sets λ: 1 is the plain probability, 0 favours words that occur in no other topic.

    Parameters
    ----------
    model : a fitted model with ``topics_`` (rows sum to one) and ``topic_shares_``
    path : where to; written beside the target and renamed
    X : counts the model was fitted to, optional
        For p(w) as counted; otherwise p(w) = Σ_t p(t) p(w|t).
    vocabulary : list of str, optional
        Words; by default the names of the columns.

    References
    ----------
    Sievert and Shirley (2014), LDAvis: a method for visualizing and interpreting topics.
    """
    from unweave.report.topics_page import render_topic_map

    if not hasattr(model, "topics_"):
        raise ValueError(f"{type(model).__name__} has no topics_: give a fitted model of topics (LDA, PLSA)")
    page = render_topic_map(map_facts(model, X, vocabulary))
    return replace_file(Path(path), lambda name: Path(name).write_text(page, encoding="utf-8"))


def map_facts(model: Any, X=None, vocabulary=None) -> dict:
    """What the page shows, as lists of short texts and whole numbers."""
    topics = np.asarray(model.topics_, dtype=np.float64)
    shares = np.asarray(model.topic_shares_, dtype=np.float64)
    shares = shares / max(shares.sum(), 1e-300)
    overall, documents = _overall(shares @ topics, X)
    chosen, tops = _relevant(topics, overall)
    ids = np.unique(np.concatenate(chosen))
    names = _names(model, X, vocabulary, topics.shape[1])
    radii = np.sqrt(_INK * WIDTH * HEIGHT / np.pi * np.maximum(shares, 0.0005)).clip(max=100)
    least = min(_LABEL, 0.8 * np.sqrt(WIDTH * HEIGHT / len(topics)))
    spots = fit_to_frame(plane(shannon_distances(topics)), radii, WIDTH, HEIGHT, least)
    return {
        "model": type(model).__name__,
        "source": plain(X.source) if isinstance(X, NamedTable) else "",
        "documents": documents,
        "columns": topics.shape[1],
        "words": [plain(names[j], _WORD) or "(no name)" for j in ids],
        "overall": _whole(overall[ids]),
        "where": _where(topics[:, ids] * shares[:, None]),
        "topics": [
            {
                "share": round(float(shares[t]), 5),
                "x": round(float(spots[t, 0]), 1),
                "y": round(float(spots[t, 1]), 1),
                "r": round(float(radii[t]), 1),
                "ids": np.searchsorted(ids, chosen[t]).tolist(),
                "logs": _whole(topics[t, chosen[t]]),
                "top": np.searchsorted(ids, tops[t]).tolist(),
            }
            for t in range(len(topics))
        ],
    }


def _overall(expected: NDArray, X) -> tuple[NDArray, int | None]:
    """p(w), and the number of documents it was counted in; words that were not counted keep what the model expects."""
    if X is None:
        return expected, None
    table = X.X if isinstance(X, NamedTable) else X
    table = table if sp.issparse(table) else np.asarray(table, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != len(expected):
        raise ValueError(f"X must have {len(expected)} columns, one for each word of the model, got {table.shape}")
    counts = np.asarray(table.sum(axis=0), dtype=np.float64).ravel()
    if not np.isfinite(counts).all() or (counts < 0).any() or not counts.any():
        raise ValueError("X must hold counts of words: finite, not negative, and some above zero")
    return np.where(counts > 0, counts / counts.sum(), expected), table.shape[0]


def _names(model: Any, X, vocabulary, m: int) -> list[str]:
    if vocabulary is None:
        vocabulary = getattr(model, "feature_names_in_", None)
    if vocabulary is None and isinstance(X, NamedTable):
        vocabulary = X.columns
    names = [str(word) for word in (range(m) if vocabulary is None else vocabulary)]
    if len(names) != m:
        raise ValueError(f"vocabulary has {len(names)} words, but the model was fitted to {m} columns")
    return names


def _whole(p: NDArray) -> list[int]:
    """−1000 log p, rounded."""
    return np.rint(-_FINE * np.log(np.maximum(p, 1e-300))).astype(int).tolist()


def _relevant(topics: NDArray, overall: NDArray) -> tuple[list[NDArray], list[NDArray]]:
    """For each topic the words that are among its 30 most relevant at some place of the slider; and the 10 likeliest.

    Relevance is log p(w|t) − (1 − λ) log p(w), in the thousandths that the page works with, so both order words alike.
    """
    base = np.array(_whole(overall), dtype=np.float64)
    chosen, tops = [], []
    for row in topics:
        (possible,) = np.nonzero(row > 0)
        logs, lift = -np.array(_whole(row[possible]), dtype=np.float64), base[possible]
        found: list[NDArray] = []
        for step in range(STEPS + 1):
            relevance = logs + (1 - step / STEPS) * lift
            found.append(possible[_largest(relevance, SHOWN)])
        tops.append(found[-1][:10])
        chosen.append(np.unique(np.concatenate(found)))
    return chosen, tops


def _largest(values: NDArray, n: int) -> NDArray:
    """Places of the n largest, the first of equal ones first."""
    if len(values) > n:
        bound = np.partition(values, len(values) - n)[len(values) - n]
        (near,) = np.nonzero(values >= bound)
    else:
        near = np.arange(len(values))
    return near[np.argsort(-values[near], kind="stable")[:n]]


def _where(joint: NDArray) -> list[list[int]]:
    """For each word: topic, percent, topic, percent, … where it is at least one percent of the word."""
    percent = np.rint(100 * joint / np.maximum(joint.sum(axis=0), 1e-300)).astype(int)
    return [
        np.column_stack([at, column[at]]).ravel().tolist() for column in percent.T for at in [np.flatnonzero(column)]
    ]
