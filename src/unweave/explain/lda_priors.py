"""Dirichlet priors learned from counts (collapsed methods) or from expected logarithms (variational ones)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma, psi

from unweave.kernels.lda import counted_sums_range, expected_sums_range
from unweave.parallel import run

ALPHA, ETA = 0.1, 0.05  # where learning begins, and what it is drawn to while there is little to learn from
_WEIGHT = 5.0  # of these: as much as so many documents that hold a topic (set on planted tables of 20 documents)
LEAST = 1e-5
_ROWS = 2048


def expected_sums(N: NDArray, prior: NDArray) -> NDArray:
    """Σ over rows of E[ψ(n + a_k) − ψ(a_k)] for counts n that are Poisson with means N (rows × k)."""
    return _added(expected_sums_range, N, prior)


def counted_sums(N: NDArray, prior: NDArray) -> NDArray:
    """Σ over rows of ψ(n + a_k) − ψ(a_k) for whole counts n = N (rows × k)."""
    return _added(counted_sums_range, N, prior)


def _added(kernel: Callable[..., None], N: NDArray, prior: NDArray) -> NDArray:
    def task(start: int, stop: int) -> NDArray:
        sums = np.zeros(len(prior))
        kernel(N, prior, sums, start, stop)
        return sums

    return np.sum(run(task, len(N), _ROWS), axis=0)


Sums = Callable[[NDArray, NDArray], NDArray]


def learn_alpha(alpha: NDArray, documents: NDArray, lengths: NDArray, sums: Sums = expected_sums) -> NDArray:
    """One fixed-point step of Minka's on α (asymmetric), documents × topics of counts.

    α_k ← α_k Σ_d E[ψ(n_dk + α_k) − ψ(α_k)] / Σ_d (ψ(n_d + Σα) − ψ(Σα)). Expected counts are no counts: taken as such
    they would make α many times too large, so n is Poisson about them, unless `sums` says that they are. α_k itself is
    Gamma with its mode at `ALPHA`: few documents neither throw it far off nor let a topic die for ever.
    """
    mass = alpha.sum()
    below = float((psi(lengths + mass) - psi(mass)).sum())
    return np.maximum((alpha * sums(documents, alpha) + _WEIGHT) / (below + _WEIGHT / ALPHA), LEAST)


def learn_eta(eta: float, words: NDArray, sums: Sums = expected_sums) -> float:
    """The same for the symmetric prior of the topics, words × topics of counts."""
    V, k = words.shape
    above = float(sums(words, np.full(k, eta)).sum())
    below = V * float((psi(words.sum(axis=0, dtype=np.float64) + V * eta) - psi(V * eta)).sum())
    return float(np.clip((eta * above + _WEIGHT) / (below + _WEIGHT / ETA), LEAST, 1e3))


def inverse_digamma(y: NDArray) -> NDArray:
    """x with ψ(x) = y, by five Newton steps from Minka's start."""
    y = np.asarray(y, dtype=np.float64)
    x = np.where(y >= -2.22, np.exp(np.minimum(y, 50)) + 0.5, -1 / (np.minimum(y, -2.22) - psi(1)))
    for _ in range(5):
        x = x - (psi(x) - y) / polygamma(1, x)
    return x


def fit_dirichlet(prior: NDArray, mean_logs: NDArray) -> NDArray:
    """One step of Minka's on the Dirichlet likelihood, a_k ← ψ⁻¹(ψ(Σa) + mean log p_k): it never falls."""
    return np.maximum(inverse_digamma(psi(prior.sum()) + mean_logs), LEAST)
