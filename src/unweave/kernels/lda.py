"""Find topics of documents: collapsed and variational updates, mixtures under fixed topics, and Dirichlet priors.

Entries of a block of documents name words by `local`, their place in `words`; a block adds what its words get into a
`share` of its own, so blocks may run side by side.
"""

from __future__ import annotations

import math

import numpy as np

from unweave.kernels import APART, kernel
from unweave.kernels.counts import longest_row, ratios


@kernel
def _without_own(a, inverse, low, t, alpha, g, total):
    """Weights of a pair once the token's own share g / total is taken out of both counts; their sum."""
    scale, zero = g.dtype.type(1) / total, g.dtype.type(0)
    new = zero
    for k in range(g.shape[0]):
        own = g[k] * scale
        word, document = a[k] - own * inverse[k], t[k] - own
        word = word if word > low[k] else low[k]
        document = document if document > alpha[k] else alpha[k]
        g[k] = word * document
        new += g[k]
    return new


@kernel
def collapsed_range(
    indptr, local, data, words, A, inverse, low, alpha, passes, counts, out, share, values, start, stop
):
    """Topic counts of the documents ``[start, stop)``: `passes` zero-order collapsed updates from `counts` into `out`.

    A[w, k] = (n_wk + eta) / (n_k + V eta), `inverse` = 1 / (n_k + V eta), `low` = eta `inverse`. The last pass adds
    what each word gets to `share`, and minus the log-likelihood of each document before it goes to `values`.
    """
    K = alpha.shape[0]
    zero = A.dtype.type(0)
    room = np.empty(4 * APART + 3 * K, A.dtype)
    g, t, new = (
        room[APART : APART + K],
        room[2 * APART + K : 2 * APART + 2 * K],
        room[3 * APART + 2 * K : 3 * (APART + K)],
    )
    for i in range(start, stop):
        for k in range(K):
            new[k] = counts[i, k]
        for turn in range(passes):
            size = 0.0
            for k in range(K):
                t[k] = new[k] + alpha[k]
                size += np.float64(t[k])
                new[k] = zero
            value, log_size = 0.0, math.log(size)
            for p in range(indptr[i], indptr[i + 1]):
                row = local[p]
                a = A[words[row]]
                total = zero
                for k in range(K):
                    g[k] = a[k] * t[k]
                    total += g[k]
                if turn == passes - 1:
                    value += np.float64(data[p]) * (log_size - math.log(np.float64(total)))
                    weight = data[p] / _without_own(a, inverse, low, t, alpha, g, total)
                    got = share[row]
                    for k in range(K):
                        amount = weight * g[k]
                        new[k] += amount
                        got[k] += amount
                else:
                    weight = data[p] / _without_own(a, inverse, low, t, alpha, g, total)
                    for k in range(K):
                        new[k] += weight * g[k]
            values[i] = value
        for k in range(K):
            out[i, k] = new[k]


@kernel
def mixture_range(indptr, indices, data, H, smooth, repeats, tol, out, start, stop):
    """Mixtures of the documents ``[start, stop)`` with the topics H (words × topics) fixed, into `out`.

    From the normalised `smooth`, `repeats` times f ← normalise(f · (x / (f H')) H + smooth); a row stops when no f_t
    changes by more than `tol`.
    """
    K = H.shape[1]
    longest = longest_row(indptr, start, stop)
    p, numerator = np.empty(longest, H.dtype), np.empty(2 * APART + K, H.dtype)[APART : APART + K]
    near, order = np.empty((longest, K), H.dtype), np.arange(longest).astype(np.int32)
    tiny = H.dtype.type(np.finfo(H.dtype).tiny)
    mass = H.dtype.type(0)
    for k in range(K):
        mass += smooth[k]
    prior = H.dtype.type(1) / mass
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        f = out[i]
        for k in range(K):
            f[k] = smooth[k] * prior
        for j in range(lo, hi):
            near[j - lo] = H[indices[j]]
        for _ in range(repeats):
            ratios(order, data[lo:hi], near, f, tiny, np.int64(0), hi - lo, p, numerator)
            total, change = H.dtype.type(0), H.dtype.type(0)
            for k in range(K):
                numerator[k] = f[k] * numerator[k] + smooth[k]
                total += numerator[k]
            for k in range(K):
                new = numerator[k] / total
                change = max(change, abs(new - f[k]))
                f[k] = new
            if change <= tol:
                break


@kernel
def digamma(x):
    """The derivative of log Γ for x > 0: the recurrence up to 6, then the asymptotic series."""
    below = 0.0
    while x < 6.0:
        below -= 1.0 / x
        x += 1.0
    r = 1.0 / (x * x)
    return below + math.log(x) - 0.5 / x - r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r / 240)))


@kernel
def expected_sums_range(N, prior, sums, start, stop):
    """Adds sum over rows of E[digamma(n + a_k) - digamma(a_k)] to `sums` (k), n Poisson with mean N[i, k].

    The mean is that of n given n > 0, times the probability of n > 0 (Teh, Newman and Welling 2007, zero order).
    """
    K = N.shape[1]
    base = np.empty(K)
    for k in range(K):
        base[k] = digamma(prior[k])
    for i in range(start, stop):
        for k in range(K):
            a, x = prior[k], float(N[i, k])
            if x > 1e-4:
                some = -math.expm1(-x)
                sums[k] += some * (digamma(a + x / some) - base[k])
            else:  # at most one: digamma(a + 1) - digamma(a) = 1 / a
                sums[k] += x / a


@kernel
def counted_sums_range(N, prior, sums, start, stop):
    """Adds sum over rows of digamma(n + a_k) - digamma(a_k) to `sums` (k) for whole counts n = N[i, k]."""
    K = prior.shape[0]
    base = np.empty(K)
    for k in range(K):
        base[k] = digamma(prior[k])
    for i in range(start, stop):
        for k in range(K):
            if N[i, k] == 1:
                sums[k] += 1.0 / prior[k]
            elif N[i, k] > 1:
                sums[k] += digamma(prior[k] + N[i, k]) - base[k]


@kernel
def _spread(local, data, words, E, t, lo, hi, floor, gained):
    """gained_k = sum over the entries of x t_k E[w, k] / (t·E[w])."""
    K = t.shape[0]
    zero = E.dtype.type(0)
    for k in range(K):
        gained[k] = zero
    for p in range(lo, hi):
        e = E[words[local[p]]]
        total = zero
        for k in range(K):
            total += t[k] * e[k]
        weight = data[p] / max(total, floor)
        for k in range(K):
            gained[k] += weight * e[k]
    for k in range(K):
        gained[k] *= t[k]


@kernel
def variational_range(indptr, local, data, words, E, alpha, passes, tol, gamma, out, share, values, start, stop):
    """Posterior parameters of the documents ``[start, stop)`` from `gamma` into `out`: alpha_k + expected counts.

    E[w, k] = exp(E log phi_wk). What each word then gets is added to `share`; `values` receives
    sum of x log(sum_k exp(digamma(out_k)) E[w, k]).
    """
    K = alpha.shape[0]
    floor = E.dtype.type(np.finfo(E.dtype).tiny)
    room = np.empty(3 * APART + 2 * K, E.dtype)
    t, gained = room[APART : APART + K], room[2 * APART + K : 2 * (APART + K)]
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        row = out[i]
        for k in range(row.shape[0]):
            row[k] = gamma[i, k]
        for _ in range(passes):
            for k in range(K):
                t[k] = math.exp(digamma(np.float64(row[k])))
            _spread(local, data, words, E, t, lo, hi, floor, gained)
            change, size = E.dtype.type(0), E.dtype.type(0)
            for k in range(K):
                new = gained[k] + alpha[k]
                change += abs(new - row[k])
                size += new
                row[k] = new
            if change <= tol * size:
                break
        for k in range(K):
            t[k] = math.exp(digamma(np.float64(row[k])))
        value = 0.0
        for p in range(lo, hi):
            e = E[words[local[p]]]
            got = share[local[p]]
            total = E.dtype.type(0)
            for k in range(K):
                total += t[k] * e[k]
            total = max(total, floor)
            value += np.float64(data[p]) * math.log(np.float64(total))
            weight = data[p] / total
            for k in range(K):
                got[k] += weight * t[k] * e[k]
        values[i] = value
