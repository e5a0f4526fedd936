"""Collect what a topic map shows: which topics there are, how near they are, and which words tell them apart."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.atomic import replace_file
from unweave.data.named import NamedTable
from unweave.report.markup import plain

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
    from unweave.report.topic_page import render_topic_map

    if not hasattr(model, "topics_"):
        raise ValueError(f"{type(model).__name__} has no topics_: give a fitted model of topics (LDA, PLSA)")
    page = render_topic_map(map_facts(model, X, vocabulary))
    return replace_file(Path(path), lambda name: Path(name).write_text(page, encoding="utf-8"))


def map_facts(model: Any, X=None, vocabulary=None) -> dict:
    """Collect what the page shows, as lists of short texts and whole numbers."""
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
    """Count p(w) and the documents it was counted in; words that were not counted keep what the model expects."""
    if X is None:
        return expected, None
    table = X.X if isinstance(X, NamedTable) else X
    table = table if hasattr(table, "shape") else np.asarray(table, dtype=np.float64)
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
    """Round −1000 log p."""
    return np.rint(-_FINE * np.log(np.maximum(p, 1e-300))).astype(int).tolist()


def _relevant(topics: NDArray, overall: NDArray) -> tuple[list[NDArray], list[NDArray]]:
    """Find the words of each topic that are among its 30 most relevant somewhere on the slider, and the 10 likeliest.

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
    """Find places of the n largest, the first of equal ones first."""
    if len(values) > n:
        bound = np.partition(values, len(values) - n)[len(values) - n]
        (near,) = np.nonzero(values >= bound)
    else:
        near = np.arange(len(values))
    return near[np.argsort(-values[near], kind="stable")[:n]]


def _where(joint: NDArray) -> list[list[int]]:
    """List for each word: topic, percent, topic, percent, … where it is at least one percent of the word."""
    percent = np.rint(100 * joint / np.maximum(joint.sum(axis=0), 1e-300)).astype(int)
    return [
        np.column_stack([at, column[at]]).ravel().tolist() for column in percent.T for at in [np.flatnonzero(column)]
    ]


_WORDS_TOLD_APART = 5000  # told apart; the others count as one word, which can only make topics look a little nearer


def shannon_distances(topics: NDArray) -> NDArray:
    """Compute √JS(p, q) for every pair of rows, in bits: 0 for equal topics, 1 for topics that share no word.

    JS(p, q) = H((p + q)/2) − (H(p) + H(q))/2.

    >>> shannon_distances(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    P = _coarse(np.asarray(topics, dtype=np.float64))
    own, k = _entropy(P), len(P)
    D = np.zeros((k, k))
    for i in range(k):
        D[i, i + 1 :] = _entropy(0.5 * (P[i] + P[i + 1 :])) - 0.5 * (own[i] + own[i + 1 :])
    return np.sqrt(np.clip(D + D.T, 0, 1))


def _coarse(P: NDArray) -> NDArray:
    if P.shape[1] <= _WORDS_TOLD_APART:
        return P
    keep = np.argsort(-P.max(axis=0), kind="stable")[:_WORDS_TOLD_APART]
    rest = np.maximum(1 - P[:, keep].sum(axis=1, keepdims=True), 0)
    return np.hstack([P[:, keep], rest])


def _entropy(P: NDArray) -> NDArray:
    return -(P * np.log2(np.where(P > 0, P, 1))).sum(axis=1)


def plane(D: NDArray) -> NDArray:
    """Find two coordinates per point whose distances are near those of D: classical scaling.

    The leading eigenvectors of −½ J D² J, J = I − 1/k, times the roots of their values. Each axis is turned so that its
    farthest point is on the positive side, which makes the map repeat.

    References
    ----------
    Torgerson (1952), Multidimensional scaling.

    Examples
    --------
    >>> plane(np.array([[0.0, 2.0], [2.0, 0.0]])).round(6).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    k = len(D)
    J = np.eye(k) - 1 / k
    values, vectors = np.linalg.eigh(-0.5 * J @ np.square(D) @ J)
    order = np.argsort(-values)[:2]
    axes = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
    far = axes[np.abs(axes.round(9)).argmax(axis=0), np.arange(axes.shape[1])]
    axes = axes * np.where(far < 0, -1, 1)
    return np.hstack([axes, np.zeros((k, 2 - axes.shape[1]))]) + 0.0


def fit_to_frame(points: NDArray, radii: NDArray, wide: float, high: float, least: float) -> NDArray:
    """Scale points to a frame (one scale for both axes), then move them until no two are nearer than `least`.

    Circles of the given radii stay inside the frame.
    """
    edge = float(radii.max()) + 6
    span = np.maximum(np.ptp(points, axis=0), 1e-9)
    scale = min((wide - 2 * edge) / span[0], (high - 2 * edge) / span[1])
    scale = scale if np.ptp(points, axis=0).max() > 1e-9 else 0.0
    middle = 0.5 * (points.max(axis=0) + points.min(axis=0))
    spots = np.array([wide, high]) / 2 + scale * (points - middle) * np.array([1, -1])
    low, top = radii[:, None] + 2, np.array([wide, high]) - radii[:, None] - 2
    angles = 2.399963 * np.arange(len(spots))  # the golden angle: points in one place part in all directions
    spots = spots + 0.01 * np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(300):
        apart = spots[:, None] - spots[None]
        length = np.sqrt(np.square(apart).sum(axis=2)) + np.eye(len(spots)) * 1e9
        lack = np.maximum(least - length, 0)
        if lack.max() < 0.01:
            break
        spots = np.clip(spots + 0.5 * (apart * (lack / length)[:, :, None]).sum(axis=1), low, top)
    return spots
