"""Slow and obvious twins of the kernels of roles, and the published greedy methods, on arrays of True and False."""

from __future__ import annotations

from itertools import combinations

import numpy as np


def fit_together(X, first, second) -> bool:
    """Whether two cells fit into one role."""
    (u, p), (v, q) = first, second
    return bool(X[u, q] and X[v, p])


def fewest_roles(X) -> int:
    """The least number of roles of an exact cover, by trying all sets of closed blocks."""
    n, m = X.shape
    blocks = set()
    for size in range(1, n + 1):
        for users in combinations(range(n), size):
            items = X[list(users)].all(axis=0)
            if items.any():
                holders = X[:, items].all(axis=1)
                blocks.add((tuple(holders), tuple(items)))
    blocks = [np.outer(users, items) for users, items in sorted(blocks)]
    if not X.any():
        return 0
    for k in range(1, min(n, m) + 1):
        for some in combinations(blocks, k):
            if (np.logical_or.reduce(some) == X).all():
                return k
    raise AssertionError("rows themselves are a cover")


def best_flips(x, seen, roles, missed=1.0, extra=1.0, exact=False, most=0, begin=None):
    """Switch roles of one row on and off, best first; the code, and its cost."""
    k = len(roles)
    code = np.zeros(k, dtype=int) if begin is None else np.array(begin)
    useful = [bool((z & x & seen).any() and not (exact and (z & ~x & seen).any())) for z in roles]
    code[~np.array(useful, dtype=bool)] = 0

    def cost(code):
        covered = np.logical_or.reduce(roles[code > 0], axis=0) if code.any() else np.zeros(len(x), bool)
        return missed * (x & seen & ~covered).sum() + extra * (~x & seen & covered).sum()

    while True:
        best, which = -1.0, -1
        for r in range(k):
            if not useful[r] or (not code[r] and most and code.sum() >= most):
                continue
            other = code.copy()
            other[r] = 1 - other[r]
            gain = cost(code) - cost(other)
            if (gain >= 0 if code[r] else gain > 0) and gain > best:
                best, which = gain, r
        if which < 0:
            return code, cost(code)
        code[which] = 1 - code[which]


def asso(X, k, threshold):
    """Miettinen's ASSO: rows of the association matrix above a threshold, greedily; users and roles."""
    counts = X.T.astype(int) @ X
    candidates = counts / np.maximum(X.sum(axis=0), 1)[:, None] >= threshold
    covered, users, roles = np.zeros_like(X), [], []
    for _ in range(k):
        best = (0, None, None)
        for z in candidates:
            gain = (X & ~covered & z).sum(axis=1) - (~X & ~covered & z).sum(axis=1)
            if gain[gain > 0].sum() > best[0]:
                best = (gain[gain > 0].sum(), gain > 0, z)
        if best[1] is None:
            break
        users.append(best[1])
        roles.append(best[2])
        covered |= np.outer(best[1], best[2])
    return covered, users, roles


def grecond(X, k):
    """Belohlavek and Vychodil's GreConD: formal concepts grown by the attribute that covers most; what is covered."""
    covered, roles = np.zeros_like(X), []
    for _ in range(k):
        best, holders, items = 0, np.ones(len(X), bool), None
        while True:
            found = (best, None, None)
            for j in range(X.shape[1]):
                who = holders & X[:, j]
                what = X[who].all(axis=0)
                score = (X & ~covered)[np.ix_(who, what)].sum()
                if score > found[0]:
                    found = (score, who, what)
            if found[1] is None:
                break
            best, holders, items = found
        if items is None:
            break
        roles.append(items)
        covered |= np.outer(holders, items)
    return covered, roles
