"""Dirichlet priors learned from counts (collapsed methods) or from expected logarithms (variational ones)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import polygamma, psi

from unweave.kernels.lda_priors import expected_sums_range
from unweave.parallel import run

LEAST = 1e-5
_ROWS = 2048


def expected_sums(N: NDArray, prior: NDArray) -> NDArray:
    """Σ over rows of E[ψ(n + a_k) − ψ(a_k)] for counts n that are Poisson with means N (rows × k)."""

    def task(start: int, stop: int) -> NDArray:
        sums = np.zeros(N.shape[1])
        expected_sums_range(N, prior, sums, start, stop)
        return sums

    return np.sum(run(task, len(N), _ROWS), axis=0)


def learn_alpha(alpha: NDArray, documents: NDArray, lengths: NDArray) -> NDArray:
    """One fixed-point step of Minka's on α (asymmetric), documents × topics of expected counts.

    α_k ← α_k Σ_d E[ψ(n_dk + α_k) − ψ(α_k)] / Σ_d (ψ(n_d + Σα) − ψ(Σα)). Expected counts are no counts: taken as such
    they would make α many times too large, so n is Poisson about them.
    """
    mass = alpha.sum()
    below = float((psi(lengths + mass) - psi(mass)).sum())
    return np.maximum(alpha * expected_sums(documents, alpha) / max(below, 1e-300), LEAST)


def learn_eta(eta: float, words: NDArray) -> float:
    """The same for the symmetric prior of the topics, words × topics of expected counts."""
    V, k = words.shape
    above = float(expected_sums(words, np.full(k, eta)).sum())
    below = V * float((psi(words.sum(axis=0, dtype=np.float64) + V * eta) - psi(V * eta)).sum())
    return float(np.clip(eta * above / max(below, 1e-300), LEAST, 1e3))


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
