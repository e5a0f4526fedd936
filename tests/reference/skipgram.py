"""Skip-gram steps, one word and one draw at a time, in Python's own numbers."""

import math

import numpy as np

ALL = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def scattered(z):
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & ALL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & ALL
    return z ^ (z >> 31)


def draw(z, part, parts, words, keep, other):
    """The next number of the chain, and the word of the part that it draws."""
    z = (z * 6364136223846793005 + 1442695040888963407) & ALL
    c = part + parts * ((z >> 32) * len(range(part, words, parts)) >> 32)
    return z, c if (z & 0xFFFFFFFF) < keep[c] else other[c]


def sigmoid(f):
    return 1 / (1 + math.exp(-min(max(f, -15.8), 15.8)))


def descend_part(
    visits, rows, low, high, hole, tokens, U, V, keep, other, share, weight, rate, key, watch, part_of, parts, held
):  # fmt: skip
    """Changes U and V (float64) in place; returns the loss and how many outputs occurred."""
    loss, occurred = 0.0, 0
    words = len(V)
    for t in visits.tolist():
        window = [int(tokens[s]) for s in range(low[t], high[t]) if s != t + hole]
        near = [c for c in window if c % parts == part_of]
        z = scattered((int(key) + (t * parts + part_of) * GOLDEN) & ALL)
        heard = z & int(watch) == 0
        asked = np.float32(len(window)) * np.float32(share) + np.float32(z >> 40) * np.float32(2.0**-24)
        drawn = []
        while words > part_of and len(near) + len(drawn) < len(near) + int(asked):
            z, c = draw(z, part_of, parts, words, keep, other)
            drawn.append(int(c))
        u, asks = U[rows[t]].copy(), 0.0
        products = [u @ V[c] for c in near + drawn]
        for c, f, sign, often in zip(near + drawn, products, [1] * len(near) + [-1] * len(drawn),
                                     [1] * len(near) + [weight] * len(drawn)):  # fmt: skip
            likely = sigmoid(sign * f)
            g = rate * (1 - likely) * sign * often
            if heard:
                loss -= often * math.log(likely)
            asks = asks + g * V[c]
            V[c] += g * u
            if held[1] >= 0:
                V[c, held[1]] = 1
        occurred += len(near) * heard
        U[rows[t]] += asks
        if held[0] >= 0:
            U[rows[t], held[0]] = 1
    return loss, occurred
