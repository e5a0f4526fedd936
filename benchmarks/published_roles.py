"""Published methods for roles, plainly: as their papers state them, without anything that improves them afterwards.

They are what models are compared with, and share no code with the package.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

THRESHOLDS = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # the one with the fewest errors on the table is taken
Table = NDArray[np.bool_]


def asso(X: Table, k: int) -> Table:
    """Rows of the association matrix above a threshold, taken greedily (Miettinen et al. 2008)."""
    shares = (X.T.astype(int) @ X) / np.maximum(X.sum(axis=0), 1)[:, None]
    return _fewest_errors(X, (_greedily(X, shares >= limit, k) for limit in THRESHOLDS))


def fast_miner(X: Table, k: int) -> Table:
    """What two users have in common, taken greedily by what it covers, never a zero (Vaidya et al. 2006)."""
    kinds = np.unique(X, axis=0)
    found = [kinds, *(kinds[i] & kinds[j][None] for i, j in combinations(range(len(kinds)), 2))]
    candidates = np.unique(np.vstack(found), axis=0)
    holders = (candidates.astype(np.int32) @ (~X).T.astype(np.int32)) == 0
    free, roles = X.copy(), np.zeros((0, X.shape[1]), bool)
    for _ in range(k):
        gains = ((candidates.astype(np.int32) @ free.T.astype(np.int32)) * holders).sum(axis=1)
        best = int(gains.argmax())
        if gains[best] == 0:
            break
        roles = np.vstack([roles, candidates[best]])
        free &= ~np.outer(holders[best], candidates[best])
    return roles


def rounded_svd(X: Table, k: int) -> Table:
    """Right singular vectors, turned so that their largest entry is positive, cut at a share of it."""
    vectors = np.linalg.svd(X.astype(float), full_matrices=False)[2][:k]
    vectors = vectors * np.sign(vectors[np.arange(len(vectors)), np.abs(vectors).argmax(axis=1)])[:, None]
    top = vectors.max(axis=1, keepdims=True)
    return _fewest_errors(X, (vectors >= share * top for share in THRESHOLDS))


def hamming_kmeans(X: Table, k: int, rng: np.random.Generator, starts: int = 10) -> Table:
    """k-means under the Hamming distance, each role the median of a group; the best of several starts."""
    best, fewest = X[:0], np.inf
    for _ in range(starts):
        roles, labels = X[rng.choice(len(X), k, replace=False)], np.full(len(X), -1)
        while True:
            away = (X[:, None, :] != roles[None]).sum(axis=2)
            if (away.argmin(axis=1) == labels).all():
                break
            labels = away.argmin(axis=1)
            groups = [X[labels == r] for r in range(k)]
            roles = np.array([2 * g.sum(axis=0) >= len(g) if len(g) else roles[r] for r, g in enumerate(groups)])
        if away.min(axis=1).sum() < fewest:
            best, fewest = roles, away.min(axis=1).sum()
    return best


def _greedily(X: Table, candidates: Table, k: int) -> Table:
    """Of some candidates the one that gains most, given to whom it pays, again and again."""
    covered, roles = np.zeros_like(X), np.zeros((0, X.shape[1]), bool)
    for _ in range(k):
        worth = np.where(covered, 0, np.where(X, 1, -1)) @ candidates.T.astype(int)
        best = int(np.maximum(worth, 0).sum(axis=0).argmax())
        if not (worth[:, best] > 0).any():
            break
        roles = np.vstack([roles, candidates[best]])
        covered |= np.outer(worth[:, best] > 0, candidates[best])
    return roles


def _fewest_errors(X: Table, found) -> Table:
    """The roles with the fewest errors if each user gets, greedily, those that pay."""
    return min(found, key=lambda roles: _errors(X, roles))


def _errors(X: Table, roles: Table) -> int:
    covered = np.zeros_like(X)
    while True:
        worth = np.where(covered, 0, np.where(X, 1, -1)) @ roles.T.astype(int)
        best, users = worth.argmax(axis=1), np.flatnonzero(worth.max(axis=1, initial=0) > 0)
        if not len(users):
            return int((covered != X).sum())
        covered[users] |= roles[best[users]]
