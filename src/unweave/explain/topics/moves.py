"""Split topics in two and merge them again: how a fit gets out of a start that missed a topic.

With counts n_wk of words and n_dk of documents by topic, and every word in its topic, the log-likelihood is

    Σ_k (Σ_w n_wk log n_wk − n_k log n_k) + Σ_dk n_dk log n_dk − (what does not depend on the topics),

so what two topics lose by becoming one is read off their two columns: nothing if they are copies, or if they are two
halves of a vocabulary that every document uses in the same shares; much if they are about two things. A fit that begins
with twice its topics and merges those that lose least finds topics that a start of the right size runs together.

Reference: Ueda, Nakano, Ghahramani and Hinton (2000), SMEM algorithm for mixture models.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from unweave.solve.scheme import State

_NEAR = 16  # other topics that each is compared with, those most alike: all pairs of many would cost as much as a fit
_APART = 0.9  # share of a document's words of a topic that goes to one of its halves

# Set on planted topics, and on AP, part of 20 Newsgroups and docstrings of SciPy and scikit-learn.
FIRST = 30  # sweeps with twice the topics before those most alike are merged; a fit that may make fewer begins plainly
SPLIT = 12  # sweeps with every topic split in two, once a fit has nearly settled
_CALM = 20.0  # times `tol`: when the objective falls by less, topics are split and merged
ROUNDS = 3  # of these at most, each when the fall has halved; one that does not pay is the last
_PATIENCE, _HOPE = 20, 20.0  # sweeps a repair is given to pay, and how many times the last fall it may lie above


def stepped(step: Callable[[State], tuple[State, float]], state: State, times: int) -> State:
    """Make a number of steps that belong to a start or a repair.

    They do not run in `iterate`: they are part of one iteration of a fit, which has the limits and the listeners.
    """
    for _ in range(times):
        state, _ = step(state)
    return state


def due_for_repair(state: State, tol: float) -> bool:
    """Tell whether a fit whose objective fell by ``state["fall"]`` is calm enough for another of its ``rounds``."""
    return state["rounds"] < ROUNDS and state["fall"] <= _CALM * tol / 2 ** state["rounds"]


def improved_on(best: float, step: Callable[[State], tuple[State, float]], state: State) -> State | None:
    """Step until the objective is below `best`, and return that state; None if it does not get there soon."""
    former = np.inf
    for _ in range(_PATIENCE):
        state, value = step(state)
        if value < best:
            return state
        if value - best > _HOPE * (former - value):
            return None
        former = value
    return None


def fell_back(into: NDArray) -> bool:
    """Tell whether the halves of every topic were merged again, so that nothing has changed."""
    first, second = np.split(into, 2)
    return np.array_equal(first, second)


def merging(words: NDArray, documents: NDArray, k: int, fixed: int = 0) -> NDArray:
    """Merge the pair of topics that loses least until `k` are left: the number of the topic each column becomes.

    The first `fixed` columns are not merged with each other and keep their places.

    >>> import numpy as np
    >>> words = np.array([[4.0, 8.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 5.0]])
    >>> merging(words, np.array([[6.0, 0.0, 0.0], [0.0, 12.0, 5.0]]), 2).tolist()
    [0, 0, 1]
    """
    tables = [np.ascontiguousarray(table.T, dtype=np.float64) for table in (words, documents)]  # a topic is a row
    count = len(tables[0])
    alone, into, pairs = _values(*tables), np.arange(count), _alike(*tables)
    pairs[:fixed, :fixed] = False
    loss = np.full((count, count), np.inf)

    def look(a: int, others: NDArray) -> None:
        for at in np.array_split(others, max(1, len(others) // _NEAR)):
            both = _values(*(t[a] + t[at] for t in tables))
            loss[a, at] = loss[at, a] = alone[a] + alone[at] - both

    for a in range(count):
        look(a, a + 1 + np.flatnonzero(pairs[a, a + 1 :]))
    for _ in range(count - k):
        if not np.isfinite(loss).any():  # those most alike are all merged
            left = np.unique(into)
            for a in left:
                look(a, left[(left > a) & (left >= fixed)])
        a, b = sorted(divmod(int(loss.argmin()), count))
        for table in tables:
            table[a] += table[b]
        alone[a] = _values(*(table[a : a + 1] for table in tables))[0]
        into[into == b], loss[b], loss[:, b] = a, np.inf, np.inf
        pairs[a] = pairs[:, a] = (pairs[a] | pairs[b]) & ((np.arange(count) >= fixed) | (a >= fixed))
        pairs[b] = pairs[:, b] = pairs[a, a] = False
        look(a, np.flatnonzero(pairs[a]))
    return np.unique(into, return_inverse=True)[1]


def merged(table: NDArray, into: NDArray) -> NDArray:
    """Add up the columns of a table (or one number per topic) as `merging` says."""
    join = np.zeros((len(into), into.max() + 1), dtype=table.dtype)
    join[np.arange(len(into)), into] = 1
    return np.ascontiguousarray(table @ join)


def halved(documents: NDArray, rng: np.random.Generator) -> NDArray:
    """Split every topic of the counts of documents by topic in two, side by side: each document leans to one half.

    With words that are alike in both halves a sweep then gives each half the words of the documents that lean to it.
    """
    low, high = (documents.dtype.type(share) for share in (1 - _APART, _APART))
    leans = np.where(rng.random(documents.shape) < 0.5, low, high)
    return np.hstack([documents * leans, documents * (1 - leans)])


def _values(words: NDArray, documents: NDArray) -> NDArray:
    """Compute what each topic (a row of both) adds to the log-likelihood."""
    return _times_log(words) - _times_log(words.sum(axis=1)[:, None]) + _times_log(documents)


def _times_log(table: NDArray) -> NDArray:
    """Sum x log x over every row, which stays in the cache meanwhile."""
    return np.array([x @ np.log(np.maximum(x, np.finfo(np.float64).tiny)) for x in table])


def _alike(words: NDArray, documents: NDArray) -> NDArray:
    """Find pairs of topics (rows) worth a look: of each those most alike in words and documents (Bhattacharyya)."""
    roots = (np.sqrt(t / np.maximum(t.sum(axis=1, keepdims=True), 1e-300)) for t in (words, documents))
    affinity = sum(root @ root.T for root in roots)
    count = len(affinity)
    np.fill_diagonal(affinity, -1)
    near = np.zeros((count, count), dtype=bool)
    order = np.argsort(-affinity, axis=1, kind="stable")[:, : min(_NEAR, count - 1)]
    near[np.arange(count)[:, None], order] = True
    return near | near.T
