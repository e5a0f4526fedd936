"""Judge topics: how well they predict words they have not seen, and whether their top words occur together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import generator, whole
from unweave.kernels.lda import mixture_range
from unweave.parallel import run

_ROWS = 32
_PRODUCTS = 1 << 18  # of shares and words that are held at a time
MEASURES = ("umass", "npmi")


def mixtures(X: sp.csr_array, topics: NDArray, smooth: NDArray, repeats: int = 100, tol: float = 0.0) -> NDArray:
    """Find θ of every row of counts with the topics (k × words) fixed, in the type of X.

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
    """Compute the perplexity of the words B of documents whose other words are A: exp(−Σ b log(θφ) / Σ b).

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
    """Sum b log(θφ) over the entries b of `asked`, some at a time and added in their order."""
    rows = np.repeat(np.arange(asked.shape[0]), np.diff(asked.indptr))
    words = np.ascontiguousarray(phi.T)

    def task(start: int, stop: int) -> float:
        p = np.einsum("ik,ik->i", theta[rows[start:stop]], words[asked.indices[start:stop]])
        return float(asked.data[start:stop] @ np.log(p))

    return float(sum(run(task, len(rows), max(1, _PRODUCTS // len(phi)))))


def halves(X, random_state=None) -> tuple[sp.csr_array, sp.csr_array]:
    """Deal the words of every document out at random to two tables of (nearly) equal size.

    >>> import numpy as np
    >>> A, B = halves(np.array([[2, 4], [0, 1]]))
    >>> A.sum(axis=1).tolist(), (A + B).toarray().tolist()
    ([3, 0], [[2, 4], [0, 1]])
    """
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


def coherence(topics, X, *, measure: str = "umass", n: int = 10) -> NDArray:
    """Score every topic by how often pairs of its `n` top words share a document of X: higher is better.

    With D(v) documents that hold v, D(v, w) those that hold both, and v before w in the order of the topic:

        UMass: mean over pairs of log((D(v, w) + 1) / D(v)),
        NPMI:  mean over pairs of log(p(v, w) / (p(v) p(w))) / −log p(v, w), from −1 (never together) to 1.

    Words that no document holds are left out of UMass; a pair of NPMI that never meets counts −1. A topic with fewer
    than two words to compare is NaN.

    Parameters
    ----------
    topics : array (k, words)
    X : sparse or dense table (documents, words)
        Counts; only which words a document holds matters. UMass takes the training documents, NPMI any collection.
    measure : {"umass", "npmi"}
    n : int
        Top words of each topic.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 3]])
    >>> topics = np.array([[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]])
    >>> coherence(topics, X, measure="npmi", n=2)
    array([ 1., -1.])

    References
    ----------
    Mimno, Wallach, Talley, Leenders and McCallum (2011), Optimizing semantic coherence in topic models. Bouma (2009),
    Normalized (pointwise) mutual information in collocation extraction.
    """
    if measure not in MEASURES:
        raise ValueError(f"measure={measure!r} is not known; use one of {', '.join(MEASURES)}")
    topics, table = np.asarray(topics, dtype=np.float64), sp.csc_array(X)
    n = min(whole(n, "n", 2), topics.shape[1])
    if table.shape[1] != topics.shape[1]:
        raise ValueError(f"X has {table.shape[1]} columns, but the topics have {topics.shape[1]} words")
    top = np.argsort(-topics, axis=1, kind="stable")[:, :n]
    used = np.unique(top)
    held = sp.csc_array(table[:, used] != 0).astype(np.float64)
    together = np.asarray((held.T @ held).todense())
    place = np.searchsorted(used, top)
    judge = _umass if measure == "umass" else _npmi
    return np.array([judge(together[np.ix_(at, at)], table.shape[0]) for at in place])


def _pairs(values: NDArray, keep: NDArray) -> float:
    """Average over the pairs v before w (row v, column w) that are kept."""
    chosen = np.triu(np.ones(values.shape, bool), 1) & keep
    return float(values[chosen].mean()) if chosen.any() else float("nan")


def _umass(together: NDArray, documents: int) -> float:
    alone = np.diag(together)
    known = alone > 0
    values = np.log((together + 1) / np.maximum(alone, 1)[:, None])
    return _pairs(values, known[:, None] & known[None, :])


def _npmi(together: NDArray, documents: int) -> float:
    alone = np.diag(together) / documents
    p = together / documents
    met = p > 0
    safe = np.where(met, p, 1.0)
    expected = np.where(met, alone[:, None] * alone[None, :], 1.0)
    below = np.where(safe < 1, -np.log(safe), 1.0)
    values = np.where(met, np.where(safe < 1, np.log(safe / expected) / below, 1.0), -1.0)
    return _pairs(values, np.ones_like(met))
