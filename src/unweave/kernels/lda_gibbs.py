"""Collapsed Gibbs sampling of the topic of every token of some documents, given the counts of words by topic.

Tables are padded to whole groups of `LANES` topics whose weights are zero: sums of groups are SIMD, and a draw walks
over groups before it walks over topics. The token's own share is taken out of the counts of its word and its topic by
one factor on the weight of its old topic.
"""

from __future__ import annotations

import math

import numpy as np

from unweave.kernels import kernel, part

LANES = 16


@part
def _mixed(z):
    """The output function of SplitMix64."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@part
def _stream(seed, i):
    """Where the numbers of document `i` begin: they depend on nothing but the seed and the document."""
    return _mixed(seed + np.uint64(i) * np.uint64(0xD1342543DE82EF95))


@part
def _uniform(state):
    """The next number in [0, 1) and the next state (SplitMix64)."""
    state += np.uint64(0x9E3779B97F4A7C15)
    return np.float64(_mixed(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0), state


@part
def _walk(heap, g, drawn):
    """The place in group `g` of `heap` where the running sum passes `drawn`."""
    t, last = g * LANES, g * LANES + LANES - 1
    while t < last and drawn >= heap[t]:
        drawn -= heap[t]
        t += 1
    while heap[t] <= 0 and t > 0:  # rounding took the draw past the end
        t -= 1
    return t


@part
def _pick(heap, groups, count, drawn):
    """The place in `heap` where the running sum passes `drawn`; `groups` are the sums of its first `count` groups."""
    g = 0
    while g < count - 1 and drawn >= groups[g]:
        drawn -= groups[g]
        g += 1
    return _walk(heap, g, drawn)


@part
def _pick_far(word, eta, far, heap, drawn):
    """A topic by the weights far_k (n_wk + eta): group by group, until the running sum passes `drawn`."""
    zero = heap.dtype.type(0)
    count = far.shape[0] // LANES
    for g in range(count):
        part, at = zero, g * LANES
        for j in range(LANES):
            heap[at + j] = (heap.dtype.type(word[at + j]) + eta) * far[at + j]
            part += heap[at + j]
        if drawn < part or g == count - 1:
            return _walk(heap, g, drawn)
        drawn -= part
    return 0


@part
def _left(word, old, totals, eta, spread):
    """(n_wk + eta) / (n_k + V eta) of the old topic without the token, over n_wk + eta with it."""
    one = totals.dtype.type(1)
    have = totals.dtype.type(word[old])
    return (have - one + eta) / ((have + eta) * (totals[old] - one + spread))


@kernel
def count_range(indptr, order, topics, table, start, stop):
    """How many of the tokens ``order[indptr[i]:indptr[i + 1]]`` have each topic, into the rows of `table`."""
    for i in range(start, stop):
        row = table[i]
        row[:] = 0
        for j in range(indptr[i], indptr[i + 1]):
            row[topics[order[j]]] += 1


@kernel
def prior_sums_range(table, prior, eta, sums, start, stop):
    """sum_k prior_k (n_wk + eta) of the words ``[start, stop)``."""
    for w in range(start, stop):
        row, total = table[w], prior.dtype.type(0)
        for k in range(prior.shape[0]):
            total += (prior.dtype.type(row[k]) + eta) * prior[k]
        sums[w] = total


@kernel
def settle_range(names, before, after, prior, first, last, table, sums, start, stop):
    """Move the tokens ``[first, last)`` of the words ``[start, stop)`` to their new topics in `table` and `sums`."""
    for q in range(first, last):
        w, old, new = names[q], before[q], after[q]
        if old != new and start <= w and w < stop:
            table[w, old] -= 1
            table[w, new] += 1
            sums[w] += prior[new] - prior[old]


@kernel
def gibbs_range(
    ends, names, table, totals, inverse, prior, sums, alpha, eta, spread, seed, before, after, values, start, stop
):
    """Draw the topics of the tokens of the documents ``[start, stop)`` anew, from `before` into `after`.

    The tokens of document i are ``ends[i]`` to ``ends[i + 1]``, their words `names`. `table` (words × topics, padded)
    and `totals` count them all; `inverse` = 1 / (n_k + V eta), `spread` = V eta. The weight of topic k is
    (n_dk + alpha_k) (n_wk + eta) / (n_k + V eta). The part with n_dk is summed over the topics the document has; the
    part with alpha_k has the sum ``sums[w]``, `prior` = alpha / (n_k + V eta), and is weighed topic by topic only when
    the draw falls into it, which is seldom. So the time grows with the topics of a document, not with all topics.

    `values`: minus the log-probability of each document's tokens, each given all others.
    """
    K, width = alpha.shape[0], table.shape[1]
    number, place = np.zeros(K, np.int32), np.empty(K, np.int32)
    own, mine = np.zeros(width, np.int32), np.zeros(width, alpha.dtype)
    heap, groups = np.empty(width, alpha.dtype), np.empty(width // LANES, alpha.dtype)
    far, zero = np.zeros(width, alpha.dtype), alpha.dtype.type(0)
    mass = 0.0
    for k in range(K):
        far[k] = prior[k]
        mass += alpha[k]
    for i in range(start, stop):
        lo, hi = ends[i], ends[i + 1]
        n = 0
        for q in range(lo, hi):
            k = before[q]
            if number[k] == 0:
                place[k] = n
                own[n] = k
                n += 1
            number[k] += 1
        for t in range(n):
            mine[t] = number[own[t]] * inverse[own[t]]
        value, product, scale = 0.0, 1.0, 1.0 / max(hi - lo - 1 + mass, 1e-300)
        state = _stream(seed, i)
        for q in range(lo, hi):
            w, old = names[q], before[q]
            word = table[w]
            left = _left(word, old, totals, eta, spread)
            number[old] -= 1
            mine[place[old]] = number[old] * left
            count, near = (n + LANES - 1) // LANES, zero
            for g in range(count):
                part, at = zero, g * LANES
                for j in range(LANES):
                    weight = (alpha.dtype.type(word[own[at + j]]) + eta) * mine[at + j]
                    heap[at + j] = weight
                    part += weight
                groups[g] = part
                near += part
            rest = max(sums[w] + alpha[old] * (alpha.dtype.type(word[old]) + eta) * (left - inverse[old]), zero)
            drawn, state = _uniform(state)
            drawn *= near + rest
            if drawn < near:
                new = own[_pick(heap, groups, count, alpha.dtype.type(drawn))]
            else:
                far[old] = alpha[old] * left
                new = _pick_far(word, eta, far, heap, alpha.dtype.type(drawn - near))
                far[old] = prior[old]
            after[q] = new
            if number[old] == 0:
                n -= 1
                t, k = place[old], own[n]
                own[t], mine[t], place[k] = k, mine[n], t
                mine[n] = zero
            else:
                mine[place[old]] = number[old] * inverse[old]
            if number[new] == 0:
                place[new] = n
                own[n] = new
                n += 1
            number[new] += 1
            mine[place[new]] = number[new] * inverse[new]
            product *= (near + rest) * scale
            if product < 1e-150:
                value -= math.log(product)
                product = 1.0
        values[i] = value - math.log(product)
        for t in range(n):
            number[own[t]] = 0
            mine[t] = zero
