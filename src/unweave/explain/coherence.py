"""Whether the top words of a topic occur together: UMass and NPMI coherence from counts of documents."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

MEASURES = ("umass", "npmi")


def coherence(topics, X, *, measure: str = "umass", n: int = 10) -> NDArray:
    """One number a topic, higher is better, from how often pairs of its `n` top words share a document of X.

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
    from unweave.data.arguments import whole

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
    """Mean over the pairs v before w (row v, column w) that are kept."""
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
