"""Learn Dirichlet priors, and turn seed words into counts: what is believed of topics before a document is read.

Priors are learned from counts (collapsed methods) or from expected logarithms (variational ones).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import polygamma, psi

from unweave.kernels.lda import counted_sums_range, expected_sums_range
from unweave.parallel import run
from unweave.solve.progress import warn_user

ALPHA, ETA = 0.1, 0.05  # where learning begins, and what it is drawn to while there is little to learn from
_WEIGHT = 5.0  # of these: as much as so many documents that hold a topic (set on planted tables of 20 documents)
LEAST = 1e-5
_ROWS = 2048


def expected_sums(N: NDArray, prior: NDArray) -> NDArray:
    """Sum E[ψ(n + a_k) − ψ(a_k)] over rows, for counts n that are Poisson with means N (rows × k)."""
    return _added(expected_sums_range, N, prior)


def counted_sums(N: NDArray, prior: NDArray) -> NDArray:
    """Sum ψ(n + a_k) − ψ(a_k) over rows, for whole counts n = N (rows × k)."""
    return _added(counted_sums_range, N, prior)


def _added(kernel: Callable[..., None], N: NDArray, prior: NDArray) -> NDArray:
    def task(start: int, stop: int) -> NDArray:
        sums = np.zeros(len(prior))
        kernel(N, prior, sums, start, stop)
        return sums

    return np.sum(run(task, len(N), _ROWS), axis=0)


Sums = Callable[[NDArray, NDArray], NDArray]


def learn_alpha(alpha: NDArray, documents: NDArray, lengths: NDArray, sums: Sums = expected_sums) -> NDArray:
    """Make one fixed-point step of Minka's on α (asymmetric), from counts of documents × topics.

    α_k ← α_k Σ_d E[ψ(n_dk + α_k) − ψ(α_k)] / Σ_d (ψ(n_d + Σα) − ψ(Σα)). Expected counts are no counts: taken as such
    they would make α many times too large, so n is Poisson about them, unless `sums` says that they are. α_k itself is
    Gamma with its mode at `ALPHA`: few documents neither throw it far off nor let a topic die for ever.
    """
    return alpha_from(alpha, *alpha_sums(alpha, documents, lengths, sums))


def alpha_sums(
    alpha: NDArray, documents: NDArray, lengths: NDArray, sums: Sums = expected_sums
) -> tuple[NDArray, float]:
    """Compute both sums over documents of such a step; those of more documents add up."""
    mass = alpha.sum()
    return sums(documents, alpha), float((psi(lengths + mass) - psi(mass)).sum())


def alpha_from(alpha: NDArray, above: NDArray, below: float) -> NDArray:
    """Make the step from its sums."""
    return np.maximum((alpha * above + _WEIGHT) / (below + _WEIGHT / ALPHA), LEAST)


def learn_eta(eta: float, words: NDArray, sums: Sums = expected_sums) -> float:
    """Do the same for the symmetric prior of the topics, from counts of words × topics."""
    V, k = words.shape
    above = float(sums(words, np.full(k, eta)).sum())
    below = V * float((psi(words.sum(axis=0, dtype=np.float64) + V * eta) - psi(V * eta)).sum())
    return float(np.clip((eta * above + _WEIGHT) / (below + _WEIGHT / ETA), LEAST, 1e3))


def inverse_digamma(y: NDArray) -> NDArray:
    """Solve ψ(x) = y by five Newton steps from Minka's start."""
    y = np.asarray(y, dtype=np.float64)
    x = np.where(y >= -2.22, np.exp(np.minimum(y, 50)) + 0.5, -1 / (np.minimum(y, -2.22) - psi(1)))
    for _ in range(5):
        x = x - (psi(x) - y) / polygamma(1, x)
    return x


def fit_dirichlet(prior: NDArray, mean_logs: NDArray) -> NDArray:
    """Make one step of Minka's on the Dirichlet likelihood, a_k ← ψ⁻¹(ψ(Σa) + mean log p_k): it never falls."""
    return np.maximum(inverse_digamma(psi(prior.sum()) + mean_logs), LEAST)


def seed_counts(seed_words, strength: float, X: sp.csr_array, names, k: int) -> NDArray | None:
    """Count each seed word in X, times `strength`, in the topic it is a seed of: words × topics.

    So belief and data weigh the same at strength 1, however large the table. None without seed words.

    >>> X = sp.csr_array([[2.0, 0.0, 1.0], [1.0, 4.0, 0.0]])
    >>> seed_counts({"pets": ["cat", "dog"]}, 1.0, X, ["cat", "dog", "sun"], 2).tolist()
    [[3.0, 0.0], [4.0, 0.0], [0.0, 0.0]]
    """
    if seed_words is None:
        return None
    groups = _groups(seed_words)
    if len(groups) > k:
        raise ValueError(f"seed_words names {len(groups)} topics, more than n_components={k}; raise n_components")
    place = {str(name): j for j, name in enumerate(range(X.shape[1]) if names is None else names)}
    totals = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel()
    counts, unknown = np.zeros((X.shape[1], k)), []
    for t, (name, words) in enumerate(groups):
        columns = [place[word] for word in words if word in place and totals[place[word]] > 0]
        unknown += [word for word in words if word not in place or not totals[place[word]] > 0]
        if not columns:
            raise ValueError(
                f"seed_words: no word of {name} occurs in X; give at least one of its columns{_hint(names)}"
            )
        counts[columns, t] = strength * totals[columns]
    if unknown:
        warn_user(f"seed_words holds {len(unknown)} words that do not occur in X, such as {unknown[0]!r}: passed over")
    return counts.astype(X.dtype)


def _groups(seed_words) -> list[tuple[str, list[str]]]:
    """Read the name and the words of each seeded topic, in the order given."""
    if isinstance(seed_words, Mapping):
        pairs = [(repr(name), words) for name, words in seed_words.items()]
    elif isinstance(seed_words, list | tuple):
        pairs = [(f"topic {t}", words) for t, words in enumerate(seed_words)]
    else:
        pairs = []
    if not pairs or any(isinstance(words, str) or not hasattr(words, "__iter__") for _, words in pairs):
        raise ValueError(
            "seed_words must be a list of lists of words, one for each topic, or a dict of them, "
            f"{{'sports': ['game', 'team']}}; got {seed_words!r}"
        )
    return [(name, [str(word) for word in words]) for name, words in pairs]


def _hint(names) -> str:
    return "" if names is not None else " (X has no names, so words are numbers of columns)"
