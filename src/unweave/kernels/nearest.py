"""The rows nearest to a point by their inner product: a scan of a copy in bytes, doubtful rows looked at again.

A row u of length one is kept as u = a·v + e, v in whole numbers from -127 to 127 and ‖e‖ known; a point q of length one
as q = b·w + f with w in 16 bits. Then |u·q − a·b·(v·w)| ≤ ‖e‖ + ‖a·v‖·‖f‖, and v·w is a sum of whole numbers, which
no order of adding changes. A row whose bound does not reach the worst of the n best so far cannot be among them. The
others, about one in a hundred, are multiplied in float32: what is found is what a scan in float32 finds, to the bit.

Most rows are ruled out by their first 64 columns already, with the product of the lengths of what follows (the tails of
row and point) as the most that it can add. Columns in the order of falling singular values make the most of it.
"""

from __future__ import annotations

import math

import numpy as np

from unweave.kernels import kernel, part
from unweave.kernels.top import _sift

LANE = 64  # columns multiplied in one pass: a loop of known length, of which nothing is left but vector code
_STRIDE = 256  # rows of a pass
_MOST = 16_900_000  # 127 times this is below 2³¹: no sum of products overflows
_UP = 1.00001  # past the rounding of a sum of squares, its root and float32


@part
def _largest(row):
    largest = np.float32(0)
    for j in range(row.shape[0]):
        largest = max(largest, abs(row[j]))
    return np.float64(largest)


@part
def _coarsen(row, step, most, out):
    """Write row ≈ step·out; bounds of the lengths of what is left out and of the tail."""
    left, tail = 0.0, 0.0
    for j in range(row.shape[0]):
        value = np.float64(row[j])
        code = min(max(np.rint(value / step), -most), most) if step > 0 else 0.0
        out[j] = code
        left += (value - code * step) ** 2
        tail += value * value if j >= LANE else 0.0
    return _UP * math.sqrt(left), _UP * math.sqrt(tail)


@kernel
def coarsen_range(units, coarse, steps, errors, tails, start, stop):
    """Rows of length one or zero as ``steps[i] * coarse[i]`` in bytes, bounds of what that leaves out and of the tails.

    `coarse` has a multiple of `LANE` columns; those beyond the rows are zero already.
    """
    for i in range(start, stop):
        steps[i] = _largest(units[i]) / 127.0
        errors[i], tails[i] = _coarsen(units[i], np.float64(steps[i]), 127.0, coarse[i])


@kernel
def coarsen_point(point, coarse):
    """A point of length one as ``step * coarse`` in 16 bits: the step, what a scan with it may miss, and the tail.

    What it may miss is due to the part f that is left out of the point, and to the rounding of products in float32.
    """
    width = point.shape[0]
    most = max(1, min(32767, _MOST // max(1, width)))
    step = _largest(point) / most
    left, tail = _coarsen(point, step, float(most), coarse)
    return step, 2.1 * left + 2.0 * width * 6e-8 + 1e-30, _UP * tail


@part
def _multiply(coarse, whole, totals):
    """Products of the rows with the first lane of columns; apart from all else, or it would not become vector code."""
    for i in range(coarse.shape[0]):
        row = coarse[i]
        total = np.int32(0)
        for j in range(LANE):
            total += np.int32(row[j]) * np.int32(whole[j])
        totals[i] = total


@part
def _multiply_kept(coarse, whole, kept, count, totals):
    """Add the products with a further lane, of the rows that are kept."""
    for c in range(count):
        row = coarse[kept[c]]
        total = np.int32(0)
        for j in range(LANE):
            total += np.int32(row[j]) * np.int32(whole[j])
        totals[kept[c]] += total


@kernel
def nearest_range(units, coarse, steps, errors, tails, point, whole, step, slack, tail, values, places, start, stop):
    """Offer the rows of ``[start, stop)`` to the heap (values, places) of the largest products with the point.

    `whole`, `step`, `slack` and `tail` are what :func:`coarsen_point` made of it. The heap is that of
    :mod:`unweave.kernels.top`: of equal products the lower row stays.
    """
    width = units.shape[1]
    totals, kept = np.empty(_STRIDE, np.int32), np.empty(_STRIDE, np.int64)
    bounds = np.empty(_STRIDE)
    for first in range(start, stop, _STRIDE):
        size = min(_STRIDE, stop - first)
        rows, scale = coarse[first : first + size], steps[first : first + size]
        error, rest = errors[first : first + size], tails[first : first + size]
        _multiply(rows, whole, totals)
        for i in range(size):
            missed = np.float64(rest[i]) * tail + _UP * np.float64(error[i]) + slack
            bounds[i] = totals[i] * (np.float64(scale[i]) * step) + missed
        count, worst = 0, np.float64(values[0])
        for i in range(size):
            kept[count] = i
            count += bounds[i] > worst
        for left in range(LANE, coarse.shape[1], LANE):
            _multiply_kept(rows[:, left:], whole[left:], kept, count, totals)
        for c in range(count):
            i = kept[c]
            if totals[i] * (np.float64(scale[i]) * step) + (_UP * np.float64(error[i]) + slack) <= values[0]:
                continue
            row, score = units[first + i], np.float32(0)
            for j in range(width):
                score += row[j] * point[j]
            if score > values[0]:
                values[0], places[0] = score, first + i
                _sift(values, places, 0, values.shape[0])
