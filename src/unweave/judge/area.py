"""The probability that a relevant item is ranked above one that is not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.judge.answers import Answers, is_model
from unweave.judge.entries import Entries
from unweave.judge.top import blank

_ROWS = 32  # rows of a task


def auc(scores, relevant, *, given=None) -> float:
    """Area under the ROC curve: #{(r, o): s_r > s_o} + ½·#{(r, o): s_r = s_o}, over |R|·|O|; mean over users.

    R are a user's relevant items, O all others that the user has not seen. 0.5 is chance, 1 is best. It looks at the
    whole order where :func:`ndcg_at` looks at its top. Users without a relevant item, or without any other, do not
    count.

    Parameters
    ----------
    scores : array (users, items), or fitted model
    relevant : table (users, items)
        Its known entries are the relevant items.
    given : table, optional
        What the users have seen: left out of O, and folded in by a model that was not fitted on these users. A
        recommender that was knows what they have seen.

    Examples
    --------
    >>> import numpy as np
    >>> scores, hole = np.array([[0.9, 0.5, 0.7, 0.1]]), np.nan
    >>> relevant, known = np.array([[hole, 1.0, hole, hole]]), np.array([[5.0, hole, hole, hole]])
    >>> round(auc(scores, relevant), 4), auc(scores, relevant, given=known)
    (0.3333, 0.5)

    References
    ----------
    Hanley and McNeil (1982), The meaning and use of the area under a ROC curve.
    """
    entries = Entries(relevant, "relevant")
    return float(auc_of_users(scores, relevant, np.flatnonzero(entries.counts), given).mean())


def auc_of_users(scores, relevant, users: NDArray, given=None) -> NDArray:
    """The area of each of these users, those who have none left out."""
    wanted = Entries(relevant, "relevant").csr()
    if is_model(scores):
        answers = Answers(scores, relevant, given)
        blocks, seen = answers.scores(users), answers.seen
    else:
        blocks, seen = _blocks(scores, wanted.shape, users), None if given is None else Entries(given, "given").csr()
        if seen is not None and seen.shape != wanted.shape:
            raise ValueError(f"given has shape {seen.shape}, but relevant {wanted.shape}")
    out = np.full(len(users), np.nan)
    for start, block in blocks:
        if np.isnan(block).any():
            raise ValueError("scores hold NaN: give every item a number")
        _areas(block, wanted, seen, users[start : start + len(block)], out[start : start + len(block)])
    out = out[~np.isnan(out)]
    if not len(out):
        raise ValueError("no user has both a relevant item and another one, so there is nothing to rank")
    return out


def _blocks(scores, shape: tuple, users: NDArray) -> Iterator[tuple[int, NDArray]]:
    table = np.asarray(scores)
    if table.shape != shape or table.dtype.kind not in "fiub":
        raise ValueError(f"scores must be numbers of shape {shape}, one an item and user, got {table.shape}")
    table = table if table.dtype.kind == "f" else table.astype(np.float64)
    for start, stop in parallel.chunks(len(users), 1024):
        yield start, table[users[start:stop]]


def _areas(block: NDArray, wanted, seen, users: NDArray, out: NDArray) -> None:
    """Areas of the users of a block. Each row is sorted once; the relevant ones are then found in it."""
    np.maximum(block, np.finfo(block.dtype).min, out=block)  # -inf is about to mean: does not count
    relevant = [block[i, _row(wanted, user)] for i, user in enumerate(users)]
    if seen is not None:
        blank(block, seen, users)
    blank(block, wanted, users)

    def task(start: int, stop: int) -> None:
        others = np.sort(block[start:stop], axis=1)
        for i in range(start, stop):
            out[i] = _area(relevant[i], others[i - start])

    parallel.run(task, len(users), _ROWS)


def _row(table, user: int) -> NDArray:
    return table.indices[table.indptr[user] : table.indptr[user + 1]]


def _area(relevant: NDArray, others: NDArray) -> float:
    """Area from the scores of the relevant and, ascending and -inf where they do not count, of the others."""
    first = int(np.searchsorted(others, -np.inf, side="right"))
    others = others[first:]
    if not len(relevant) or not len(others):
        return np.nan
    below = np.searchsorted(others, relevant, side="left").sum(dtype=np.int64)
    up_to = np.searchsorted(others, relevant, side="right").sum(dtype=np.int64)
    return float(0.5 * (below + up_to) / (len(relevant) * len(others)))
