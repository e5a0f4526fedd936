"""Losses one entry at a time, as their formulas are written, in Python floats."""

from __future__ import annotations

import math


def squared(x, p):
    return (x - p[0]) ** 2 / 2


def huber(x, p, delta=1.0):
    r = abs(x - p[0])
    return r * r / 2 if r <= delta else delta * (r - delta / 2)


def absolute(x, p, eps):
    r = abs(x - p[0])
    return r if r > eps else r * r / (2 * eps) + eps / 2


def kl(x, p):
    return p[0] if x == 0 else x * math.log(x / p[0]) - x + p[0]


def itakura_saito(x, p):
    return x / p[0] - math.log(x / p[0]) - 1


def logistic(x, p):
    return math.log(1 + math.exp(p[0])) - x * p[0]


def hinge(x, p, s=0.1):
    short = max(0.0, 1 - (2 * x - 1) * p[0])
    return short * short / (2 * s) if short <= s else short - s / 2


def ordinal(x, p):
    return sum(logistic(float(x > t), [p_t]) for t, p_t in enumerate(p))


def categorical(x, p):
    return math.log(sum(math.exp(p_l) for p_l in p)) - p[int(x)]
