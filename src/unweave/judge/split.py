"""Split known ratings into a part to learn from and a part to be judged by."""

from __future__ import annotations

from numbers import Real

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import generator, whole
from unweave.data.hold_out import KnownEntries, exact_share, part
from unweave.data.named import NamedTable


def share(value, name: str) -> float:
    """Check that a number lies strictly between 0 and 1, or raise an error that names the argument.

    >>> share(0.2, "test")
    0.2
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}")
    if not 0 < float(value) < 1:
        raise ValueError(f"{name} must lie between 0 and 1 (0.2 is a fifth), got {value}")
    return float(value)


HOW = ("random", "last", "by-user")


def split_ratings(ratings, *, test=0.2, how="random", n_last=1, time=None, random_state=None):
    """Split ratings into two parts of the same kind and shape, ``(train, test)``.

    Sparse means unobserved: the stored entries of a sparse table are the ratings, stored zeros among them. Both parts
    keep the rows, columns, names, ids and times of the whole.

    Parameters
    ----------
    ratings : sparse array or matrix, array with NaN, or NamedTable
    test : float, default=0.2
        Share of the ratings ("random") or of the users ("by-user") in the test part.
    how : {"random", "last", "by-user"}
        "random" asks how well holes are filled. "last" puts the `n_last` latest ratings of each user into the test
        part, as a recommender meets them: use it when there are times. Users with no more than `n_last` ratings stay
        in the training part. "by-user" holds out whole users, whom the model then does not know at all; to give it some
        of their ratings first, use :func:`split_users`, which holds out the same users.
    n_last : int, default=1
        For "last".
    time : array, optional
        Time of each known entry in its order (for a dense table: an array of its shape), unless the table brings times.
        Of equal times the entry that is stored later counts as later.
    random_state : None, int or generator
        None is a fixed seed.

    Returns
    -------
    train, test
        Users and items of the test part that do not occur in the training part are left in; the `notes` of a NamedTable
        say how many, and so does :func:`strangers`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> X = sp.csr_array(np.arange(1.0, 13).reshape(3, 4))
    >>> train, test = split_ratings(X, test=0.25)
    >>> train.nnz, test.nnz, bool((train + test - X).count_nonzero())
    (9, 3, False)
    >>> train, test = split_ratings(X, how="last", time=[4, 1, 2, 3, 1, 2, 3, 4, 9, 9, 8, 8])
    >>> test.toarray().tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 8.0], [0.0, 10.0, 0.0, 0.0]]
    """
    if how not in HOW:
        raise ValueError(f"how={how!r} is not known; use one of {', '.join(map(repr, HOW))}")
    entries, times = _opened(ratings, time)
    if how == "last":
        held = _last(entries, times, whole(n_last, "n_last", 1))
    elif how == "by-user":
        held = _users(entries, share(test, "test"), generator(random_state))[entries.rows]
    else:
        held = exact_share(len(entries), share(test, "test"), generator(random_state))
    note = _note(entries, held)
    return part(ratings, ~held, times=times), part(ratings, held, note, times)


def split_users(ratings, *, test=0.2, given=0.8, random_state=None):
    """Split users into two parts, those held out with some of their ratings given: ``(train, given, hidden)``.

    Use it to ask how well a model serves users who come after the fit: fit on `train`, fold in `given`
    (``model.transform(given)``), and compare with `hidden`. :func:`judge` does so: ``judge(model, train, hidden,
    given=given)``. All three have the shape of the whole, and a user has ratings either in `train` or in the other two.

    Parameters
    ----------
    ratings, random_state
        As in :func:`split_ratings`.
    test : float, default=0.2
        Share of the users who are held out.
    given : float, default=0.8
        Share of the ratings of such a user that is given, drawn at random; at least one is given, and one hidden where
        there are two.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> train, given, hidden = split_users(sp.csr_array(np.ones((5, 4))), given=0.5)
    >>> [np.diff(part.indptr).tolist() for part in (train, given, hidden)]
    [[4, 4, 0, 4, 4], [0, 0, 2, 0, 0], [0, 0, 2, 0, 0]]
    """
    entries, times = _opened(ratings, None)
    rng = generator(random_state)
    users = _users(entries, share(test, "test"), rng)
    counts = entries.counts
    hidden_counts = np.clip(np.rint((1 - share(given, "given")) * counts), 1, np.maximum(counts - 1, 1)).astype(int)
    hidden_counts[counts < 2] = 0
    rows = entries.rows
    out = users[rows]
    theirs = np.flatnonzero(out)
    shuffled = theirs[np.lexsort((rng.random(len(theirs)), rows[theirs]))]
    hidden = np.zeros(len(entries), bool)
    hidden[shuffled] = _place_in_row(rows[theirs]) < hidden_counts[rows[theirs]]
    if not hidden.any():
        raise ValueError("no held-out user has two ratings, so nothing can be hidden; raise test, or use split_ratings")
    note = _note(entries, out, hidden)
    parts = (~out, out & ~hidden, hidden)
    return tuple(part(ratings, kept, said, times) for kept, said in zip(parts, ("", "", note), strict=True))


def strangers(train, test) -> tuple[int, int]:
    """Count the (users, items) of `test` that do not occur in `train`.

    >>> import numpy as np
    >>> hole = np.nan
    >>> strangers(np.array([[1.0, hole], [hole, hole]]), np.array([[hole, 2.0], [3.0, hole]]))
    (1, 1)
    """
    known, asked = KnownEntries(train, "train"), KnownEntries(test, "test")
    if known.shape != asked.shape:
        raise ValueError(f"train has shape {known.shape} and test {asked.shape}: give two parts of one table")
    n, m = known.shape
    return _new(asked.rows, known.rows, n), _new(asked.columns, known.columns, m)


def _opened(ratings, time) -> tuple[KnownEntries, NDArray | None]:
    entries = KnownEntries(ratings)
    if len(entries) < 2:
        raise ValueError(f"ratings has {len(entries)} known entries: at least 2 are needed to split them")
    given = getattr(ratings, "times", None) if isinstance(ratings, NamedTable) and time is None else time
    return entries, None if given is None else _times(given, ratings, entries)


def _times(time, ratings, entries: KnownEntries) -> NDArray:
    times = np.asarray(time)
    if times.shape == entries.shape and not isinstance(ratings, NamedTable) and len(times) != len(entries):
        times = times[entries.rows, entries.columns]
    if times.shape != (len(entries),):
        raise ValueError(f"time must have one value for each of the {len(entries)} known entries, got {times.shape}")
    if times.dtype.kind not in "fiumM":
        raise TypeError(f"time must hold numbers or dates, got {times.dtype}")
    if (np.isnat(times) if times.dtype.kind in "mM" else np.isnan(times)).any():
        raise ValueError("time holds missing values: drop these ratings, or split by how='random'")
    return times


def _users(entries: KnownEntries, test: float, rng: np.random.Generator) -> NDArray:
    active = np.flatnonzero(entries.counts)
    if len(active) < 2:
        raise ValueError(f"ratings has {len(active)} user with ratings: at least 2 are needed to hold some out")
    held = np.zeros(entries.shape[0], bool)
    held[active[exact_share(len(active), test, rng)]] = True
    return held


def _last(entries: KnownEntries, times: NDArray | None, n_last: int) -> NDArray:
    if times is None:
        raise ValueError("how='last' needs times: give time=, or read them with unweave.ratings(..., time=...)")
    by_time = np.argsort(times, kind="stable")  # of equal times the one stored later is later
    rows, counts = entries.rows, entries.counts[entries.rows]
    order = by_time[_stable(rows[by_time], entries.shape[0])]
    held = np.zeros(len(entries), bool)
    held[order] = (_place_in_row(rows) >= counts - n_last) & (counts > n_last)
    if not held.any():
        raise ValueError(f"no user has more than n_last={n_last} ratings; lower it, or split by how='random'")
    return held


def _stable(keys: NDArray, size: int) -> NDArray:
    """Sort as ``argsort(keys, kind="stable")`` does, by counting: row t of the transpose lists the keys t in order."""
    n = len(keys)
    index = np.int32 if max(n, size) < 2**31 else np.int64
    once = sp.csr_array((np.ones(n, np.bool_), keys.astype(index), np.arange(n + 1, dtype=index)), shape=(n, size))
    return once.tocsc().indices


def _place_in_row(rows: NDArray) -> NDArray:
    """Number 0, 1, 2, … within every run of equal numbers of an ascending array."""
    places = np.arange(len(rows))
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    return places - np.repeat(starts, np.diff(starts, append=len(rows)))


def _new(asked: NDArray, known: NDArray, size: int) -> int:
    """Count how many of `size` places occur in `asked` but not in `known`."""
    new = np.zeros(size, bool)
    new[asked] = True
    new[known] = False
    return int(new.sum())


def _note(entries: KnownEntries, out: NDArray, asked: NDArray | None = None) -> str:
    """Say what the test part (`asked`, or all that is `out` of the training part) has that the training part lacks."""
    asked = out if asked is None else asked
    users, items = (
        _new(places[asked], places[~out], size)
        for places, size in zip((entries.rows, entries.columns), entries.shape, strict=True)
    )
    return f"{users} users and {items} items of the test part do not occur in the training part"
