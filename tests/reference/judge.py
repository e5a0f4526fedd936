"""Measures of lists and scores, slow and obvious: one user after the other, in the words of their definitions."""

from __future__ import annotations

import math


def precision_at(lists, relevant, n):
    """`lists` hold positions (-1: none), `relevant` one set a user; users without a relevant item do not count."""
    return _mean(sum(item in R for item in L[:n]) / n for L, R in zip(lists, relevant) if R)


def recall_at(lists, relevant, n):
    return _mean(sum(item in R for item in L[:n]) / len(R) for L, R in zip(lists, relevant) if R)


def map_at(lists, relevant, n):
    return _mean(_average_precision(L[:n], R) / min(n, len(R)) for L, R in zip(lists, relevant) if R)


def _average_precision(L, R):
    total = 0.0
    for i, item in enumerate(L):
        if item in R:
            total += sum(other in R for other in L[: i + 1]) / (i + 1)
    return total


def ndcg_at(lists, relevant, n):
    values = []
    for L, R in zip(lists, relevant):
        if R:
            gain = sum(1 / math.log2(i + 2) for i, item in enumerate(L[:n]) if item in R)
            values.append(gain / sum(1 / math.log2(i + 2) for i in range(min(n, len(R)))))
    return _mean(values)


def coverage(lists, m, n):
    return len({item for L in lists for item in L[:n] if item >= 0}) / m


def auc(scores, relevant, seen):
    values = []
    for s, R, S in zip(scores, relevant, seen):
        others = [j for j in range(len(s)) if j not in R and j not in S]
        if R and others:
            pairs = [(s[r] > s[o]) + 0.5 * (s[r] == s[o]) for r in R for o in others]
            values.append(sum(pairs) / len(pairs))
    return _mean(values)


def best_columns(scores, n):
    """Columns by falling score, the leftmost of equals first; -1 where nothing is left, and -inf takes no part."""
    lists = []
    for s in scores:
        order = sorted((j for j in range(len(s)) if s[j] > -math.inf), key=lambda j: (-s[j], j))[:n]
        lists.append(order + [-1] * (n - len(order)))
    return lists


def _mean(values):
    values = list(values)
    return sum(values) / len(values)
