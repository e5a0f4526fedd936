"""Documents under variational inference: Dirichlet posteriors of their mixtures."""

from __future__ import annotations

import math

import numpy as np

from unweave.kernels import kernel
from unweave.kernels.lda_priors import digamma


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
    t, gained = np.empty(K, E.dtype), np.empty(K, E.dtype)
    for i in range(start, stop):
        lo, hi = indptr[i], indptr[i + 1]
        row = out[i]
        row[:] = gamma[i]
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
