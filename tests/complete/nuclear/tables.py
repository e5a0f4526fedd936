"""Tables of low rank that were partly observed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp


def planted(n=60, m=45, rank=3, share=0.4, noise=0.0, seed=0):
    """A matrix of low rank, and a table with NaN where it was not observed."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, m))
    X = M + noise * rng.standard_normal((n, m)) if noise else M
    return M, np.where(rng.random((n, m)) < share, X, np.nan)


def stored(X):
    """The same as a sparse table that stores what was observed."""
    rows, columns = np.nonzero(~np.isnan(X))
    return sp.csr_array((X[rows, columns], (rows, columns)), shape=X.shape)
