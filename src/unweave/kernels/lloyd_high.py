"""Nearest centre of each row when rows are long: a lower bound for each row and each group of centres.

With one centre a group these are Elkan's bounds, with one group Hamerly's, in between the Yinyang bounds. Bounds are
kept lazily (see :mod:`unweave.kernels.lloyd`): ``upper[i] + path[label]`` and ``lower[i, g] - group_path[g]``.

- :func:`decide_direct` settles rows whose bounds fail by few distances, one by one, and lists the others;
- :func:`decide_product` settles those from a matrix product. The product only bounds a distance, by
  ``|x|^2 - 2 x.c + |c|^2`` and its rounding error; centres that the bounds do not tell apart are compared by sums of
  squared differences. So cancellation may cost time but never a label.

Groups come in blocks of `LANES` (padded: infinite bounds, no members), so that the loops over bounds have a fixed
length and vectorise; a sum of float32 counts does, where a minimum or an integer count would not.

References: C. Elkan, ICML 2003; Y. Ding et al., "Yinyang k-means", ICML 2015.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel, part

LANES = 16
_PATH = np.float32(1.0 - 4e-7)  # as in lloyd_low
_ONE, _NONE = np.float32(1.0), np.float32(0.0)


@part
def _square(X, i, centres, j):
    """Squared distance of row i to centre j."""
    total = X.dtype.type(0.0)
    for t in range(X.shape[1]):
        gap = X[i, t] - centres[j, t]
        total += gap * gap
    return total


@part
def _failing(bounds, group_path, separations, sizes, reach):
    """Number of centres that neither their bound nor their separation from the own centre puts beyond `reach`."""
    count = _NONE
    for g in range(bounds.shape[0]):
        count += sizes[g] if (bounds[g] - group_path[g] < reach and separations[g] < reach) else _NONE
    return count


@part
def _block_fails(bounds, group_path, separations, begin, reach):
    """Whether any of the `LANES` groups from `begin` fails."""
    count = _NONE
    for g in range(begin, begin + LANES):
        count += _ONE if (bounds[g] - group_path[g] < reach and separations[g] < reach) else _NONE
    return count > 0.0


@part
def _search_group(X, centres, i, a, own, members, begin, end):
    """The two smallest squared distances of row i to the centres of a group, and the nearest; that to a is known."""
    low, next_low, nearest = X.dtype.type(np.inf), X.dtype.type(np.inf), np.int32(-1)
    for q in range(begin, end):
        j = members[q]
        value = own if j == a else _square(X, i, centres, j)
        if value < low:
            low, next_low, nearest = value, low, j
        elif value < next_low:
            next_low = value
    return low, next_low, nearest


@kernel
def decide_direct(
    X, centres, old, half, apart, sizes, group, most, later, new, upper, lower, path, group_path, starts, members,
    slack, start, stop,
):  # fmt: skip
    """Labels of rows ``[start, stop)`` by bounds and single distances; returns the number of rows put off.

    ``half[a]`` and ``apart[a, g]`` are half the distance of centre a to the nearest other centre, of group g. Rows that
    need more than `most` distances, or have no label yet, are listed in `later`.
    """
    n_groups = lower.shape[1]
    up, down = np.float32(1.0 + slack), np.float32(1.0 - slack)
    low, next_low = np.empty(n_groups, X.dtype), np.empty(n_groups, X.dtype)
    nearest, searched = np.empty(n_groups, np.int32), np.empty(n_groups, np.int64)
    postponed = 0
    for i in range(start, stop):
        a = old[i]
        new[i] = a
        if a < 0:
            later[postponed] = i
            postponed += 1
            continue
        reach = upper[i] + path[a]
        bounds, separations = lower[i], apart[a]
        if reach <= half[a] or _failing(bounds, group_path, separations, sizes, reach) == 0.0:
            continue
        own = _square(X, i, centres, a)
        home = np.float32(np.sqrt(own)) * up
        upper[i] = home - path[a] * _PATH
        count = _failing(bounds, group_path, separations, sizes, home)
        if count == 0.0:
            continue
        if count > most:
            later[postponed] = i
            postponed += 1
            continue
        best, label, reach, n_searched = own, a, home, 0
        for begin in range(0, n_groups, LANES):
            if not _block_fails(bounds, group_path, separations, begin, home):
                continue
            for g in range(begin, begin + LANES):
                # `separations` speak of the old centre, so they are compared with the distance to that one.
                if bounds[g] - group_path[g] < reach and separations[g] < home:
                    low[g], next_low[g], nearest[g] = _search_group(
                        X, centres, i, a, own, members, starts[g], starts[g + 1]
                    )
                    searched[n_searched] = g
                    n_searched += 1
                    if low[g] < best:
                        best, label = low[g], nearest[g]
                        reach = np.float32(np.sqrt(best)) * up
        if label != a:
            # The old centre is an "other" one now; if its group was searched, the next loop sets the bound anew.
            away = np.float32(np.sqrt(own)) * down + group_path[group[a]] * _PATH
            bounds[group[a]] = away if away < bounds[group[a]] else bounds[group[a]]
            new[i] = label
            upper[i] = reach - path[label] * _PATH
        for q in range(n_searched):
            g = searched[q]
            rest = next_low[g] if nearest[g] == label else low[g]
            bounds[g] = np.float32(np.sqrt(rest)) * down + group_path[g] * _PATH
    return postponed


@part
def _least(values, lanes):
    """The smallest of `values`, whose length is a multiple of `LANES`."""
    for p in range(LANES):
        lanes[p] = np.inf
    for begin in range(0, values.shape[0], LANES):
        for p in range(LANES):
            value = values[begin + p]
            lanes[p] = value if value < lanes[p] else lanes[p]
    least = lanes[0]
    for p in range(LANES):
        least = lanes[p] if lanes[p] < least else least
    return least


@part
def _settle(X, centres, i, low, ceiling):
    """The nearest of the centres with ``low[j] <= ceiling``, and a bound from above of its squared distance.

    If there are several, `low` becomes their distance. At the end it is infinite for the nearest one.
    """
    label, count = np.int32(0), 0
    for j in range(centres.shape[0]):
        if low[j] <= ceiling:
            label = np.int32(j) if count == 0 else label
            count += 1
    best = ceiling
    if count > 1:
        best = X.dtype.type(np.inf)
        for j in range(label, centres.shape[0]):
            if low[j] <= ceiling:
                low[j] = _square(X, i, centres, j)
                if low[j] < best:
                    best, label = low[j], np.int32(j)
    low[label] = np.inf
    return label, best


@kernel
def decide_product(
    X, centres, norms, centre_norms, product, error, new, upper, lower, path, group_path, starts, members, slack, rows
):
    """Settle the listed rows from ``product[r] = centres . X[rows[r]]``; all their bounds are renewed.

    `error` is the rounding error of a product relative to ``|x|^2 + |c|^2``.
    """
    k, n_groups = centres.shape[0], starts.shape[0] - 1
    zero = X.dtype.type(0.0)
    up, down = np.float32(1.0 + slack), np.float32(1.0 - slack)
    tight, wide = X.dtype.type(1.0 - error), X.dtype.type(1.0 + error)
    wide_k = (k + LANES - 1) // LANES * LANES
    low, high, lanes = np.empty(wide_k, X.dtype), np.empty(wide_k, X.dtype), np.empty(LANES, X.dtype)
    high[:] = np.inf
    for r in range(rows.shape[0]):
        i = rows[r]
        norm_low, norm_high = norms[i] * tight, norms[i] * wide
        for j in range(k):
            twice = product[r, j] + product[r, j]
            low[j] = norm_low + centre_norms[j] * tight - twice
            high[j] = norm_high + centre_norms[j] * wide - twice
        label, best = _settle(X, centres, i, low, _least(high, lanes))
        if n_groups == k:
            for g in range(k):
                rest = low[g] if low[g] > zero else zero
                lower[i, g] = np.float32(np.sqrt(rest)) * down + group_path[g] * _PATH
        else:
            for g in range(n_groups):
                rest = X.dtype.type(np.inf)
                for q in range(starts[g], starts[g + 1]):
                    rest = low[members[q]] if low[members[q]] < rest else rest
                rest = rest if rest > zero else zero
                lower[i, g] = np.float32(np.sqrt(rest)) * down + group_path[g] * _PATH
        new[i] = label
        upper[i] = np.float32(np.sqrt(best)) * up - path[label] * _PATH
