"""New documents from topics."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import whole


def sample_documents(topics: NDArray, alpha: NDArray, n, length, rng: np.random.Generator) -> sp.csr_array:
    """Counts of `n` documents: θ ~ Dir(α), then `length` words from θφ.

    >>> import numpy as np
    >>> sample_documents(np.eye(2), np.ones(2), 3, 5, np.random.default_rng(0)).sum(axis=1).tolist()
    [5.0, 5.0, 5.0]
    """
    n, lengths = whole(n, "n", 1), np.asarray(length)
    if lengths.shape not in ((), (n,)) or lengths.dtype.kind not in "iu" or (lengths < 0).any():
        raise ValueError(f"length must be a whole number that is not negative, or {n} of them; got {length!r}")
    gammas = np.maximum(rng.gamma(alpha, size=(n, len(alpha))), 1e-300)
    rows = []
    for theta, size in zip(gammas / gammas.sum(axis=1, keepdims=True), np.broadcast_to(lengths, n)):
        each = rng.multinomial(size, theta)
        total = np.zeros(topics.shape[1])
        for k in np.flatnonzero(each):
            total += rng.multinomial(each[k], topics[k] / topics[k].sum())
        rows.append(sp.csr_array(total[None]))
    return sp.csr_array(sp.vstack(rows, format="csr"))
