"""How well topics predict words they have not seen: document completion."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.kernels.lda import mixture_range
from unweave.parallel import run

_ROWS = 32
_PRODUCTS = 1 << 18  # of shares and words that are held at a time


def mixtures(X: sp.csr_array, topics: NDArray, smooth: NDArray, repeats: int = 100, tol: float = 0.0) -> NDArray:
    """θ of every row of counts with the topics (k × words) fixed, in the type of X.

    From θ = smooth/Σsmooth, `repeats` times θ ← normalise(θ·((x/(θφ))φᵀ) + smooth); a row stops early when no entry
    changes by more than `tol`. A row without words gets the normalised `smooth`.

    >>> import numpy as np, scipy.sparse as sp
    >>> mixtures(sp.csr_array([[2.0, 0.0], [0.0, 0.0]]), np.eye(2), np.ones(2)).round(2)
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    dtype = X.data.dtype
    H, smooth = np.ascontiguousarray(topics.T, dtype=dtype), np.ascontiguousarray(smooth, dtype=dtype)
    out = np.empty((X.shape[0], H.shape[1]), dtype=dtype)
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    data = np.ascontiguousarray(X.data)

    def task(start: int, stop: int) -> None:
        mixture_range(indptr, indices, data, H, smooth, repeats, dtype.type(tol), out, start, stop)

    run(task, X.shape[0], _ROWS)
    return out


def document_completion(topics, A, B, *, smooth: float = 0.1, repeats: int = 100, floor: float = 1e-12) -> float:
    """Perplexity of the words B of documents whose other words are A: exp(−Σ b log(θφ) / Σ b).

    θ begins uniform and is improved `repeats` times on A by θ ← normalise(θ·((a/(θφ))φᵀ) + smooth); φ is floored. Only
    the topics count, so any model is judged alike. Lower is better; the number of words is the worst of no knowledge.

    Parameters
    ----------
    topics : array (k, words)
        Distributions over the words.
    A, B : sparse or dense tables (documents, words)
        Two parts of the same documents, as :func:`halves` makes them.

    Examples
    --------
    >>> import numpy as np
    >>> round(document_completion(np.full((2, 4), 0.25), np.eye(4), np.eye(4)), 6)
    4.0

    References
    ----------
    Wallach, Murray, Salakhutdinov and Mimno (2009), Evaluation methods for topic models.
    """
    phi = np.maximum(np.asarray(topics, dtype=np.float64), floor)
    seen, asked = (sp.csr_array(part).astype(np.float64) for part in (A, B))
    if seen.shape != asked.shape or seen.shape[1] != phi.shape[1]:
        raise ValueError(
            f"topics {phi.shape}, A {seen.shape} and B {asked.shape} do not fit: use the same words in all"
        )
    total = asked.sum()
    if not total > 0:
        raise ValueError("B has no words: nothing is left to be predicted")
    theta = mixtures(seen, phi, np.full(len(phi), float(smooth)), repeats)
    return float(np.exp(-log_sum(theta, phi, asked) / total))


def log_sum(theta: NDArray, phi: NDArray, asked: sp.csr_array) -> float:
    """Σ b log(θφ) over the entries b of `asked`, some at a time and added in their order."""
    rows = np.repeat(np.arange(asked.shape[0]), np.diff(asked.indptr))
    words = np.ascontiguousarray(phi.T)

    def task(start: int, stop: int) -> float:
        p = np.einsum("ik,ik->i", theta[rows[start:stop]], words[asked.indices[start:stop]])
        return float(asked.data[start:stop] @ np.log(p))

    return float(sum(run(task, len(rows), max(1, _PRODUCTS // len(phi)))))


def halves(X, random_state=None) -> tuple[sp.csr_array, sp.csr_array]:
    """The words of every document dealt out at random to two tables of (nearly) equal size.

    >>> import numpy as np
    >>> A, B = halves(np.array([[2, 4], [0, 1]]))
    >>> A.sum(axis=1).tolist(), (A + B).toarray().tolist()
    ([3, 0], [[2, 4], [0, 1]])
    """
    from unweave.data.arguments import generator

    X = sp.csr_array(X)
    if X.nnz and (X.data.min() < 0 or (X.data != np.floor(X.data)).any()):
        raise ValueError("words are dealt out one by one: X must hold whole numbers that are not negative")
    rng, counts = generator(random_state), X.data.astype(np.int64)
    rows = np.repeat(np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), counts)
    entries = np.repeat(np.arange(X.nnz), counts)
    order = np.lexsort((rng.random(len(rows)), rows))
    lengths = np.bincount(rows, minlength=X.shape[0])
    turn = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    first = np.bincount(entries[order][turn < np.repeat(lengths // 2, lengths)], minlength=X.nnz)
    place = X.indices, X.indptr
    parts = [sp.csr_array((v.astype(X.dtype), *place), shape=X.shape, copy=True) for v in (first, counts - first)]
    for part in parts:
        part.eliminate_zeros()
    return parts[0], parts[1]
