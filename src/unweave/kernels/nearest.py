"""The rows nearest to a point by their inner product: a scan of a copy in bytes, doubtful rows looked at again.

A row u of length one is kept as u = a·v + e, v in whole numbers from -127 to 127 and ‖e‖ known; a point q of length one
as q = b·w + f with w in 16 bits. Then |u·q − a·b·(v·w)| ≤ ‖e‖ + ‖a·v‖·‖f‖, and v·w is a sum of whole numbers, which
no order of adding changes. A row whose bound does not reach the worst of the n best so far cannot be among them. The
others, about one in a hundred, are multiplied in float32: what is found is what a scan in float32 finds, to the bit.

Columns are looked at 64 at a time (a lane); after each, the product of the lengths of what follows (the tails of row
and point) is the most that it can add, and most rows are ruled out by their first lane already. Columns in the order of
falling singular values make the most of it. A lane of all rows lies together: of rows that lie apart every product
waited for memory, and a scan took four times as long.
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
def _coarsen(row, step, most, lane, out):
    """Write a lane of row ≈ step·out; the sums of squares of what is left out and of the lane."""
    left, whole = 0.0, 0.0
    for j in range(min(LANE, row.shape[0] - lane * LANE)):
        value = np.float64(row[lane * LANE + j])
        code = min(max(np.rint(value / step), -most), most) if step > 0 else 0.0
        out[j] = code
        left += (value - code * step) ** 2
        whole += value * value
    return left, whole


@kernel
def coarsen_range(units, coarse, steps, errors, tails, start, stop):
    """Rows of length one or zero as ``steps[i] * coarse[:, i]`` in bytes, bounds of what that leaves out and of tails.

    `coarse` is lanes × rows × `LANE`, and beyond the columns of the rows zero already; ``tails[l, i]`` bounds the
    length of what follows lane l.
    """
    lanes = coarse.shape[0]
    for i in range(start, stop):
        steps[i] = _largest(units[i]) / 127.0
        left, tail = 0.0, 0.0
        for back in range(lanes):
            lane = lanes - 1 - back
            tails[lane, i] = _UP * math.sqrt(tail)
            more, whole = _coarsen(units[i], np.float64(steps[i]), 127.0, lane, coarse[lane, i])
            left += more
            tail += whole
        errors[i] = _UP * math.sqrt(left)


@kernel
def coarsen_point(point, coarse, tails):
    """A point of length one as ``step * coarse`` in 16 bits: the step, and what a scan with it may miss; fills `tails`.

    What it may miss is due to the part f that is left out of the point, and to the rounding of products in float32.
    """
    lanes, width = coarse.shape[0], point.shape[0]
    most = max(1, min(32767, _MOST // max(1, width)))
    step = _largest(point) / most
    left, tail = 0.0, 0.0
    for back in range(lanes):
        lane = lanes - 1 - back
        tails[lane] = _UP * _UP * math.sqrt(tail)
        more, whole = _coarsen(point, step, float(most), lane, coarse[lane])
        left += more
        tail += whole
    return step, 2.1 * (_UP * math.sqrt(left)) + 2.0 * width * 6e-8 + 1e-30


@part
def _multiply(coarse, whole, totals):
    """Add the products of the rows with a lane; apart from all else, or it would not become vector code."""
    for i in range(coarse.shape[0]):
        row = coarse[i]
        total = np.int32(0)
        for j in range(LANE):
            total += np.int32(row[j]) * np.int32(whole[j])
        totals[i] += total


@part
def _multiply_kept(coarse, whole, kept, count, totals):
    """The same for the rows that are kept."""
    for c in range(count):
        row = coarse[kept[c]]
        total = np.int32(0)
        for j in range(LANE):
            total += np.int32(row[j]) * np.int32(whole[j])
        totals[kept[c]] += total


@kernel
def nearest_range(units, coarse, steps, errors, tails, point, whole, rests, step, slack, values, places, start, stop):
    """Offer the rows of ``[start, stop)`` to the heap (values, places) of the largest products with the point.

    `whole`, `rests` (its tails), `step` and `slack` are what :func:`coarsen_point` made of it. The heap is that of
    :mod:`unweave.kernels.top`: of equal products the lower row stays.
    """
    width = units.shape[1]
    totals, kept = np.empty(_STRIDE, np.int32), np.empty(_STRIDE, np.int64)
    bounds = np.empty(_STRIDE)
    for first in range(start, stop, _STRIDE):
        size = min(_STRIDE, stop - first)
        last = first + size
        scale, error = steps[first:last], errors[first:last]
        count, worst = size, np.float64(values[0])
        for i in range(size):
            totals[i] = 0
        for lane in range(coarse.shape[0]):
            rows, tail, rest = coarse[lane, first:last], tails[lane, first:last], rests[lane]
            if count == size:
                _multiply(rows, whole[lane], totals)
            else:
                _multiply_kept(rows, whole[lane], kept, count, totals)
            reach = 0
            for i in range(size):  # of those ruled out before too: it costs less than to go round them
                missed = np.float64(tail[i]) * rest + (_UP * np.float64(error[i]) + slack)
                bounds[i] = totals[i] * (np.float64(scale[i]) * step) + missed
                reach += np.int64(bounds[i] > worst)
            if reach == 0:
                count = 0
                break
            if count == size:
                if reach == size:
                    continue
                for i in range(size):
                    kept[i] = i
            before, count = count, 0
            for c in range(before):
                i = kept[c]
                kept[count] = i
                count += bounds[i] > worst
        for c in range(count):
            i = kept[c] if count < size else c
            if bounds[i] <= values[0]:
                continue
            row, score = units[first + i], np.float32(0)
            for j in range(width):
                score += row[j] * point[j]
            if score > values[0]:
                values[0], places[0] = score, first + i
                _sift(values, places, 0, values.shape[0])
