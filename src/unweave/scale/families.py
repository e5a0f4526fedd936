"""Say how large what a visit sends is, for every family of models: formulas of the shape of the table.

What a visit sends out (its state) and what a block hands back (its summary) are small arrays, and so is what stays with
the rows. ``tests/scale/test_cost.py`` holds the formulas against what real fits send.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

GRAM_COLUMNS = 4096  # columns up to which PCA sums the Gram of the columns (``MOST_BLOCK_COLUMNS``)
_PRODUCT_COLUMNS = 64  # columns up to which a Gaussian mixture forms products of pairs (``forms.py``)
_PAGE = 4096  # bytes that a memory map reads at least
# Numbers of second derivatives of counts that are worth sending in every pass (32 MB), and the share of entries that
# must be stored: they are summed over all entries, while a multiplicative step goes over the stored ones.
_MOST_CURVES, _FILLED = 1 << 22, 0.25
_BOUNDS = 1 << 27  # bytes of bounds that k-means keeps with the rows


class Size(NamedTuple):
    """What a planner knows of a table: rows, columns, components, stored entries, bytes of a number, blocks."""

    n: int
    m: int
    k: int
    stored: int
    number: int
    blocks: int


class Sent(NamedTuple):
    """The bytes of one visit to all blocks.

    Attributes
    ----------
    state : float
        What each block is told.
    added : float
        What each block hands back and is added up on the way: no longer than one of them at the end.
    listed : float
        What all blocks together hand back side by side: as long at the end as all of them.
    """

    state: float
    added: float
    listed: float = 0.0


def _nothing(size: Size, readers: int = 1) -> float:
    return 0.0


@dataclass(frozen=True)
class Family:
    """Models that are fitted alike.

    Attributes
    ----------
    title : str
        What an iteration does, in words.
    visits : callable
        ``size -> list of Sent``: one for each visit of an iteration.
    beside : int
        Visits before the first iteration and after the last.
    kept : callable
        Bytes that stay with all rows together between two visits.
    driver : callable
        Bytes beyond states and sums that the process which calls `fit` holds: samples, decompositions, labels.
    files : callable
        ``(size, readers) -> bytes`` of factors that are written to a folder which all workers see and read from there,
        an iteration, if so many read it and each remembers what it has read.
    works : bool
        Whether workers do the visits side by side.
    """

    title: str
    visits: Callable[[Size], list[Sent]]
    beside: int
    kept: Callable[[Size], float] = _nothing
    driver: Callable[[Size], float] = _nothing
    files: Callable[[Size, int], float] = _nothing
    works: bool = True


# -- what visits send ------------------------------------------------------------------------------------------------


def _axes(s: Size) -> list[Sent]:
    if s.m <= GRAM_COLUMNS:
        return [Sent(8 * s.m, 8 * s.m * s.m)]
    wide = min(s.k + 8, s.m)
    return [Sent(s.number * s.m * wide, 8 * s.m * wide)]


def _axes_driver(s: Size) -> float:
    if s.m <= GRAM_COLUMNS:
        return 3 * 8 * s.m * s.m  # the Gram, its eigenvectors, and room to find them
    return 8 * s.number * s.m * (s.k + 8)  # a few blocks of Krylov vectors


def _crosses(s: Size) -> list[Sent]:
    return [Sent(s.number * s.k * s.m, 8 * (s.m * s.k + s.k * s.k))]


def _grams(s: Size) -> list[Sent]:
    return [Sent(s.number * s.k * s.m, 8 * s.m * (s.k * s.k + s.k + 1))]


def sends_curves(n: int, m: int, k: int, stored: int) -> bool:
    """Whether counts in blocks hand back second derivatives of every column besides gradients."""
    return m * k * k <= _MOST_CURVES and stored >= _FILLED * n * m


def _tangents(s: Size) -> list[Sent]:
    curves = s.k * s.k if sends_curves(s.n, s.m, s.k, s.stored) else 0
    return [Sent(s.number * s.k * s.m, 8 * s.m * (2 * s.k + curves))]


def _tangent_kept(s: Size) -> float:
    """The codes; where they are carried on, the former ones too."""
    return (2 if sends_curves(s.n, s.m, s.k, s.stored) else 1) * s.number * s.n * s.k


def _means(s: Size) -> list[Sent]:
    # Centres, their mean, and how far each has gone; sums and counts.
    return [Sent(s.number * (s.k * s.m + s.m) + 16 * s.k, 8 * (s.k * s.m + s.k))]


def _mean_kept(s: Size) -> float:
    """Labels of one or a few bytes, and two or k + 1 bounds where these do not take too much."""
    bounds = 2 if s.m <= 32 else s.k + 1
    kept = 4 * s.n * bounds
    return s.n * np.min_scalar_type(max(1, s.k - 1)).itemsize + (kept if kept <= _BOUNDS else 0)


def _mean_driver(s: Size) -> float:
    """Rows that stand for the table while a start is looked for, and the labels."""
    standing = min(s.n, max(4 * s.k, min(max(1 << 14, 128 * s.k), (1 << 24) // s.m)))
    return 2 * standing * s.m * s.number + 5 * s.n


def _full(s: Size) -> list[Sent]:
    # Told are the factors and what was made of them for all rows: products of pairs of columns where these are few.
    few = s.m <= _PRODUCT_COLUMNS
    pairs = s.m * (s.m + 1) // 2 if few else s.m * s.m
    told = 2 * s.k * s.m * (s.m + 1) + ((s.k + 2) * pairs if few else 0)
    return [Sent(8 * told, 8 * s.k * (pairs + s.m + 1))]


def _diagonal(s: Size) -> list[Sent]:
    return [Sent(8 * 6 * s.k * s.m, 8 * s.k * (3 * s.m + 1))]


def _shares(s: Size) -> list[Sent]:
    return [Sent(8 * 2 * s.k * s.m, 8 * s.k * (2 * s.m + 1))]


def _sampled_rows(s: Size) -> float:
    """Rows that a mixture begins with, in float64, and the labels."""
    return 2 * 8 * min(s.n, 20_000) * s.m + 8 * s.n


def _words(s: Size) -> list[Sent]:
    return [Sent(s.number * (s.m * s.k + s.k), s.number * s.m * s.k)]


def _words_in_turn(s: Size) -> list[Sent]:
    words = s.number * (s.m * s.k + s.k)
    return [Sent(s.blocks * words, words)]  # handed from block to block


def _sampled_documents(s: Size) -> float:
    """Documents that topics begin with, and twice the topics that are tried on them."""
    some = min(s.n, 20_000)
    return 2 * (some / s.n) * s.stored * (s.number + 4) + 2 * s.number * s.k * (some + 4 * s.m)


def _ratings(s: Size) -> list[Sent]:
    items = s.number * s.m * (s.k + 2)
    return [Sent(items, 0), Sent(items, 0, s.number * s.m * (s.k + 1))]


def _clicks(s: Size) -> list[Sent]:
    items, gram = s.number * s.m * s.k, 8 * s.k * s.k
    return [Sent(items + s.number * s.k * s.k, gram), Sent(items + s.number * s.k * s.k, 0, s.number * s.m * s.k)]


def _sampled_ratings(s: Size) -> float:
    return 6 * min(s.stored, 2_000_000) * (s.number + 8)


def _users_read(width: int) -> Callable[[Size, int], float]:
    """The factors of all users in a file: written once, read once, and by every block of items where it touches them.

    A file is read in whole pages, and a page that a machine has read it need not read again.
    """

    def files(s: Size, readers: int) -> float:
        whole = float(s.number * (s.k + width) * s.n)
        pages = whole / _PAGE
        touched = _PAGE * pages * -np.expm1(-s.stored / s.blocks / pages)
        return 2 * whole + min(s.blocks * touched, readers * whole)

    return files


FAMILIES: dict[str, Family] = {
    "axes": Family("the Gram of the columns, or products with it", _axes, 2, driver=_axes_driver),
    "parts": Family(
        "codes, then components from XᵀU and UᵀU", _crosses, 3, lambda s: 2 * s.number * s.n * s.k,
        lambda s: 3 * 8 * s.m * s.k,
    ),
    "holes": Family(
        "codes, then components from a Gram for every column", _grams, 2, lambda s: s.number * s.n * s.k,
        lambda s: 8 * s.m * s.k * s.k,
    ),
    "gradients": Family(
        "codes, then components from a gradient and a bound", _crosses, 2, lambda s: s.number * s.n * s.k,
        lambda s: 3 * 8 * s.m * s.k,
    ),
    "counts": Family(
        "codes, then one step of Newton's, or a multiplicative one, of the components", _tangents, 2, _tangent_kept,
        lambda s: 3 * 8 * s.m * s.k,
    ),
    "groups": Family("labels, then means", _means, 3, _mean_kept, _mean_driver),
    "gaussian": Family("probabilities, then means and covariances", _full, 4, driver=_sampled_rows),
    "gaussian-diagonal": Family("probabilities, then means and variances", _diagonal, 4, driver=_sampled_rows),
    "bernoulli": Family("probabilities, then shares", _shares, 4, driver=_sampled_rows),
    "topics": Family(
        "documents, then word counts", _words, 3, lambda s: 2 * s.number * s.n * s.k, _sampled_documents
    ),
    "topics-online": Family(
        "batches one after the other", _words_in_turn, 3, driver=_sampled_documents, works=False
    ),
    "ratings": Family(
        "users given items, then items given users", _ratings, 5, driver=_sampled_ratings, files=_users_read(2)
    ),
    "implicit": Family(
        "users given items, then items given users", _clicks, 5, driver=_sampled_ratings, files=_users_read(0)
    ),
}  # fmt: skip


def family_of(model: Any, complete: bool = True) -> str:
    """Name the family of an estimator; `complete` says that its table has no holes.

    >>> from unweave import NMF, PCA, GaussianMixture
    >>> family_of(PCA(3)), family_of(NMF(3)), family_of(NMF(3, loss="kl"))
    ('axes', 'parts', 'counts')
    >>> family_of(GaussianMixture(3, covariance_type="diag"))
    'gaussian-diagonal'
    """
    return model._cost_family(complete)
