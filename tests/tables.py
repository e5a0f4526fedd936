"""Make the small tables that tests of several rooms share; the same seed gives the same table everywhere."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def blobs(n: int = 300, d: int = 4, k: int = 5, seed: int = 0, dtype=np.float64, apart: float = 8.0):
    """Rows dealt in turn among k round clusters whose middles lie about `apart` from each other, and their labels."""
    rng = np.random.default_rng(seed)
    middles = apart * rng.standard_normal((k, d))
    labels = np.arange(n) % k
    return (middles[labels] + rng.standard_normal((n, d))).astype(dtype), labels


def around(rng: np.random.Generator, centres, n: int = 40, spread: float = 0.5) -> np.ndarray:
    """`n` rows around each of some centres, one cluster below the other."""
    return np.concatenate([rng.normal(centre, spread, size=(n, len(centre))) for centre in centres])


def parts(n: int = 60, m: int = 12, k: int = 4, seed: int = 0, dtype=np.float64) -> np.ndarray:
    """Sums of k non-negative parts, and a little noise."""
    rng = np.random.default_rng(seed)
    return (rng.random((n, k)) @ rng.random((k, m)) + 0.1 * rng.random((n, m))).astype(dtype)


def signed_parts(n: int = 80, m: int = 12, k: int = 3, seed: int = 0, dtype=np.float64) -> np.ndarray:
    """Non-negative codes of components of any sign, and a little noise."""
    rng = np.random.default_rng(seed)
    return (rng.gamma(0.5, size=(n, k)) @ rng.normal(size=(k, m)) + 0.1 * rng.normal(size=(n, m))).astype(dtype)


def stored(values: np.ndarray, known: np.ndarray) -> sp.csr_array:
    """The entries that are known as a CSR array, zeros among them stored."""
    rows, columns = np.nonzero(known)
    return sp.csr_array((values[known], (rows, columns)), shape=known.shape)
