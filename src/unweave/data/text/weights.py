"""Turns counts into weights: frequencies, smoothed if asked, and times how much a word tells (IDF)."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

WEIGHTS = ("counts", "frequency", "tf-idf")
IDF = ("one", "log", "log1p")
TF = ("auto", "log", "frequency")
_LARGEST = 4 << 30  # bytes of a dense table that may be asked for


def inverse_frequency(documents: NDArray, n: int, kind: str) -> NDArray[np.float64]:
    """Return the IDF of words that are in `documents` of `n` documents: 1, log(n/d) or log(1 + n/d).

    A word of a given vocabulary that is in none counts as if it were in one.

    >>> inverse_frequency(np.array([1, 2]), 2, "log").round(3)
    array([0.693, 0.   ])
    """
    ratio = n / np.maximum(documents, 1)
    return {"one": np.ones_like(ratio), "log": np.log(ratio), "log1p": np.log1p(ratio)}[kind]


def weigh(
    X: sp.csr_array, weights: str, smoothing: float, idf: NDArray, tf: str = "frequency", norm: str | None = None
) -> sp.csr_array | NDArray:
    """Return counts as they are, frequencies f = n_dt / Σ_t n_dt, or tf_dt · IDF_t, in rows of length one if asked.

    tf is f, or 1 + log n_dt. With smoothing f becomes ε/T + (1−ε)·f: ε/T, not ε, so that a row still sums to one over
    its T words. Then the table is dense, and a document without words is uniform; otherwise it is a row of zeros.

    >>> counts = sp.csr_array(np.array([[1.0, 3.0]]))
    >>> weigh(counts, "tf-idf", 0.0, np.array([1.0, 2.0])).toarray()
    array([[0.25, 1.5 ]])
    """
    if weights == "counts":
        return X
    if weights == "frequency":
        return _frequencies(X) if smoothing == 0 else _smoothed(_frequencies(X), smoothing)
    table = _inverse_weighed(X, smoothing, idf, tf)
    return _unit(table) if norm == "l2" else table


def _inverse_weighed(X: sp.csr_array, smoothing: float, idf: NDArray, tf: str) -> sp.csr_array | NDArray:
    """Return tf · IDF."""
    idf = idf.astype(X.dtype)
    if smoothing > 0:
        return _smoothed(_frequencies(X), smoothing) * idf
    table = _logarithms(X) if tf == "log" else _frequencies(X)
    table.data *= idf[table.indices]
    table.eliminate_zeros()
    return table


def _logarithms(X: sp.csr_array) -> sp.csr_array:
    """Return 1 + log n of every count; a count between 0 and 1 (of a table that was weighted before) stays as it is."""
    data = np.where(X.data < 1, X.data, 1 + np.log(np.maximum(X.data, 1))).astype(X.dtype)
    return sp.csr_array((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)


def _unit(table: sp.csr_array | NDArray) -> sp.csr_array | NDArray:
    """Scale rows to length one; empty ones stay empty."""
    square = np.square(table) if isinstance(table, np.ndarray) else table.multiply(table)
    length = np.sqrt(np.asarray(square.sum(axis=1, dtype=np.float64)).ravel())
    length = np.where(length > 0, length, 1)
    if isinstance(table, np.ndarray):
        return (table / length[:, None]).astype(table.dtype)
    table.data = (table.data / np.repeat(length, np.diff(table.indptr))).astype(table.dtype)
    return table


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
