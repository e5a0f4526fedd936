"""Proximal steps found slowly: by bisection, by trying every candidate, or from the formula, one row at a time."""

from __future__ import annotations

import itertools
import math


def simplex(row, total=1.0):
    """Bisection for theta with sum max(row - theta, 0) = total."""
    low, high = min(row) - total, max(row)
    for _ in range(200):
        theta = (low + high) / 2
        if sum(max(v - theta, 0.0) for v in row) > total:
            low = theta
        else:
            high = theta
    return [max(v - theta, 0.0) for v in row]


def l1_ball(row, radius=1.0):
    if sum(abs(v) for v in row) <= radius:
        return list(row)
    return [math.copysign(s, v) for s, v in zip(simplex([abs(v) for v in row], radius), row)]


def l2_ball(row, radius=1.0):
    norm = math.sqrt(sum(v * v for v in row))
    return [v * min(1.0, radius / norm) if norm else v for v in row]


def sparse(row, nonzeros=1):
    """Try every support; the first best one wins."""
    k = len(row)
    supports = itertools.combinations(range(k), min(nonzeros, k))
    best = max(supports, key=lambda support: sum(row[j] ** 2 for j in support))
    return [row[j] if j in best else 0.0 for j in range(k)]


def onehot(row):
    best = min(range(len(row)), key=lambda j: sum((v - (i == j)) ** 2 for i, v in enumerate(row)))
    return [float(j == best) for j in range(len(row))]


def soft(row, threshold):
    return [math.copysign(max(abs(v) - threshold, 0.0), v) for v in row]
