"""From counts to weights: frequencies, smoothed, times what a word tells."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

WEIGHTS = ("counts", "frequency", "tf-idf")
IDF = ("one", "log", "log1p")
_LARGEST = 4 << 30  # bytes of a dense table that may be asked for


def inverse_frequency(documents: NDArray, n: int, kind: str) -> NDArray[np.float64]:
    """IDF of words that are in `documents` of `n` documents: 1, log(n/d) or log(1 + n/d).

    A word of a given vocabulary that is in none counts as if it were in one.

    >>> inverse_frequency(np.array([1, 2]), 2, "log").round(3)
    array([0.693, 0.   ])
    """
    ratio = n / np.maximum(documents, 1)
    return {"one": np.ones_like(ratio), "log": np.log(ratio), "log1p": np.log1p(ratio)}[kind]


def weigh(X: sp.csr_array, weights: str, smoothing: float, idf: NDArray) -> sp.csr_array | NDArray:
    """Counts as they are, or f = n_dt / Σ_t n_dt, or ε/T + (1−ε)·f, the last two times IDF if weights is "tf-idf".

    ε/T, not ε, so that a row still sums to one over its T words. With ε > 0 the table is dense, and a document without
    words is uniform; otherwise it is a row of zeros.
    """
    if weights == "counts":
        return X
    share = _frequencies(X)
    if smoothing > 0:
        table = _smoothed(share, smoothing)
        if weights == "tf-idf":
            table *= idf.astype(table.dtype)
        return table
    if weights == "tf-idf":
        share.data *= idf.astype(share.dtype)[share.indices]
        share.eliminate_zeros()
    return share


def _frequencies(X: sp.csr_array) -> sp.csr_array:
    totals = np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
    data = (X.data / np.repeat(totals, np.diff(X.indptr))).astype(X.dtype)
    return sp.csr_array((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def _smoothed(share: sp.csr_array, smoothing: float) -> NDArray:
    n, width = share.shape
    if n * width * share.dtype.itemsize > _LARGEST:
        raise ValueError(
            f"smoothing makes every entry positive, and a dense table of {n} × {width} is too large; use max_words or "
            "min_df for fewer words, or smoothing=0"
        )
    table = share.toarray()
    table *= 1 - smoothing
    table += smoothing / width
    table[np.diff(share.indptr) == 0] = 1 / width
    return table
