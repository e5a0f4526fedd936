"""Skip-gram steps with negative sampling, between one part of the inputs and one part of the outputs."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

_f, _u = np.float32, np.uint64
_GOLDEN = _u(0x9E3779B97F4A7C15)
_LOW = _u(0xFFFFFFFF)


@part
def _scattered(z):
    """64 bits that look drawn, from any number (the end of splitmix64): who draws does not matter, only for what."""
    z = (z ^ (z >> _u(30))) * _u(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> _u(27))) * _u(0x94D049BB133111EB)
    return z ^ (z >> _u(31))


@part
def _sigmoid(f):
    """1 / (1 + exp(−f)) to 2e-7, f cut at ±15.8: a quotient of polynomials for tanh(f/2), eight at a time."""
    x = min(max(f * _f(0.5), _f(-7.9)), _f(7.9))
    s = x * x
    p = _f(2.00018790482477e-13) + s * _f(-2.76076847742355e-16)
    p = _f(5.12229709037114e-08) + s * (_f(-8.60467152213735e-11) + s * p)
    p = _f(4.89352455891786e-03) + s * (_f(6.37261928875436e-04) + s * (_f(1.48572235717979e-05) + s * p))
    q = _f(1.18534705686654e-04) + s * _f(1.19825839466702e-06)
    q = _f(4.89352518554385e-03) + s * (_f(2.26843463243900e-03) + s * q)
    return _f(0.5) + _f(0.5) * x * p / q


@kernel
def descend_part(
    visits, rows, low, high, hole, tokens, U, V, keep, other, share, weight, rate, key, watch, part_of, parts, held,
    near, dots, grad, told,
):  # fmt: skip
    """Step down −log σ(u·v) of words that occur, and −log σ(−u·v) of words drawn, for the outputs of one part.

    For each t in `visits` the input is row ``rows[t]`` of `U`; the outputs that occur are ``tokens[low[t]:high[t]]``
    but for the one at t + `hole` (so 0 leaves out the word itself, and what is beyond the window nothing), as far as
    they are in part `part_of` (word modulo `parts`, a power of two). For each one that occurs, in this part or not,
    `share` outputs of the part are drawn by the alias tables `keep` and `other`: the number is rounded up or down by
    chance, so that it is right on average. Drawn ones count `weight` times. The input moves once, by the sum of what
    its outputs asked for.

    `U` and `V` are changed in place; column held[0] of U and held[1] of V stay as they are (none if negative).
    Draws depend on `key`, t and the part alone. `near`, `dots` and `grad` are scratch. The loss, and how many outputs
    occurred, are added to `told`, of those visits whose drawn number has none of the bits of `watch`.
    """
    d, one = U.shape[1], _f(1)
    size = _u((V.shape[0] - part_of + parts - 1) // parts) if V.shape[0] > part_of else _u(0)
    loss, occurred = 0.0, 0
    for o in range(visits.shape[0]):
        t = visits[o]
        r, n, out = rows[t], 0, t + hole
        reach = high[t] - low[t] - (low[t] <= out < high[t])
        for s in range(low[t], high[t]):
            c = tokens[s]
            near[n] = c
            n += (c & (parts - 1) == part_of) & (s != out)
        z = _scattered(key + _u(t * parts + part_of) * _GOLDEN)
        heard = z & watch == _u(0)
        m = n + np.int64(reach * share + _f(z >> _u(40)) * _f(2.0**-24))
        if size == _u(0):
            m = n
        if m == 0:
            continue
        for a in range(n, m):
            z = z * _u(6364136223846793005) + _u(1442695040888963407)
            c = part_of + parts * np.int64(((z >> _u(32)) * size) >> _u(32))
            near[a] = c if (z & _LOW) < _u(keep[c]) else other[c]
        for a in range(m):
            c, f = near[a], _f(0)
            for q in range(d):
                f += U[r, q] * V[c, q]
            dots[a] = f
        for q in range(d):
            grad[q] = _f(0)
        for a in range(m):
            dots[a] = _sigmoid(dots[a] if a < n else -dots[a])
        if heard:
            likely, unlikely = 1.0, 0.0
            for a in range(m):
                if a == n:
                    unlikely, likely = np.log(likely), 1.0
                likely *= dots[a]
                if likely < 1e-200:
                    loss -= np.log(likely) * (1.0 if a < n else weight)
                    likely = 1.0
            loss -= np.log(likely) if m == n else unlikely + weight * np.log(likely)
            occurred += n
        for a in range(m):
            c = near[a]
            g = rate * (one - dots[a]) * (one if a < n else -weight)
            for q in range(d):
                v = V[c, q]
                grad[q] += g * v
                V[c, q] = v + g * U[r, q]
            if held[1] >= 0:
                V[c, held[1]] = one
        for q in range(d):
            U[r, q] += grad[q]
        if held[0] >= 0:
            U[r, held[0]] = one
    told[0] += loss
    told[1] += occurred
