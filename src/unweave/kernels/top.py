"""The best columns of each row of a tile of scores, kept in one heap per row.

A heap of n (score, column) pairs has its worst pair at place 0: the lowest score, and of equal scores the rightmost
column. Tiles come from left to right, so a new pair with the score of the worst one never replaces it. Empty places
hold (-inf, -1), and a score of -inf or NaN never enters.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

_STRIDE = 64  # scores looked at together: most strides hold nothing above the worst pair, and the test vectorises


@kernel
def _sift(values, columns, place, size):
    """Move the pair at `place` down until no pair below it is worse."""
    value, column = values[place], columns[place]
    child = 2 * place + 1
    while child < size:
        right = child + 1
        if right < size and (
            values[right] < values[child] or (values[right] == values[child] and columns[right] > columns[child])
        ):
            child = right
        if values[child] > value or (values[child] == value and columns[child] <= column):
            break
        values[place], columns[place] = values[child], columns[child]
        place, child = child, 2 * child + 1
    values[place], columns[place] = value, column


@part
def _any_above(scores, worst):
    """Whether a score is above the worst one of a heap: counted in the dtype of the scores, which vectorises."""
    one, zero = scores.dtype.type(1), scores.dtype.type(0)
    above = zero
    for c in range(scores.shape[0]):
        above += one if scores[c] > worst else zero
    return above > zero


@part
def _strike(score, left, width, indices, begin, end):
    """Overwrite the columns ``indices[begin:end]`` (ascending) that lie in the tile with -inf."""
    at = begin + np.searchsorted(indices[begin:end], left)
    while at < end and indices[at] < left + width:
        score[indices[at] - left] = -np.inf
        at += 1


@kernel
def push_range(scores, left, width, indptr, indices, blocked, first, values, columns, start, stop):
    """Offer the tile ``scores[i, :width]`` (columns ``left`` to ``left + width``) to the heaps of its rows.

    Row i of the tile belongs to row ``first + i`` of `indptr`, `values` and `columns`. The columns that it has in
    `indices` (ascending; an empty `indptr` means none) and those `blocked` for all rows (ascending) are left out.
    """
    for i in range(start, stop):
        row = first + i
        score, value, column = scores[i], values[row], columns[row]
        if indptr.shape[0] > 0:
            _strike(score, left, width, indices, indptr[row], indptr[row + 1])
        if blocked.shape[0] > 0:
            _strike(score, left, width, blocked, 0, blocked.shape[0])
        for begin in range(0, width, _STRIDE):
            end = min(begin + _STRIDE, width)
            if not _any_above(score[begin:end], value[0]):
                continue
            for c in range(begin, end):
                if score[c] > value[0]:
                    value[0], column[0] = score[c], left + c
                    _sift(value, column, 0, value.shape[0])


@kernel
def sort_range(values, columns, start, stop):
    """Put every heap in order, best first; empty places come last."""
    for row in range(start, stop):
        value, column = values[row], columns[row]
        for size in range(value.shape[0] - 1, 0, -1):
            value[0], value[size] = value[size], value[0]
            column[0], column[size] = column[size], column[0]
            _sift(value, column, 0, size)
