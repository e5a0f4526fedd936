"""Slow, obvious twin of the top-N search: the whole score matrix, a full sort of every row."""

from __future__ import annotations

import numpy as np


def top_columns(U, Z, n, seen=None, columns=None):
    """The n best columns of each row of U·Z and their scores, -1 and -inf where there are too few."""
    scores = U @ Z
    allowed = np.ones(scores.shape, bool)
    if columns is not None:
        allowed[:, np.setdiff1d(np.arange(Z.shape[1]), columns)] = False
    if seen is not None:
        rows, stored = seen.tocoo().coords
        allowed[rows, stored] = False
    places = np.full((len(U), n), -1)
    values = np.full((len(U), n), -np.inf, scores.dtype)
    for i, row in enumerate(scores):
        ranked = sorted(np.flatnonzero(allowed[i]), key=lambda j: (-row[j], j))[:n]
        places[i, : len(ranked)], values[i, : len(ranked)] = ranked, row[ranked]
    return places, values
