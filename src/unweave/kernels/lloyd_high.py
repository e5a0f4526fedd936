"""Nearest centre of each row when rows are long: a lower bound for each row and each group of centres.

With one centre a group these are Elkan's bounds, with one group Hamerly's, in between the Yinyang bounds. Bounds are
kept lazily (see :mod:`unweave.kernels.lloyd_low`): ``upper[i] + path[label]``, ``lower[i, g] - group_path[g]`` and, for
all the other centres together, ``floor[i] - far``. Three kernels share the work of a chunk:

- :func:`screen` lists the rows whose bounds fail and counts the distances they need;
- :func:`decide_direct` computes those distances one by one, if they are few;
- :func:`decide_product` reads them off one matrix product, if they are many. The product only bounds a distance, by
  ``|x|^2 - 2 x.c + |c|^2`` and its rounding error; centres that the bounds do not tell apart are compared by sums of
  squared differences. So cancellation may cost time but never a label.

References: C. Elkan, ICML 2003; Y. Ding et al., "Yinyang k-means", ICML 2015.
"""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

_PATH = 1.0 - 4e-7  # as in lloyd_low


@kernel
def _square(X, i, centres, j):
    """Squared distance of row i to centre j."""
    total = X.dtype.type(0.0)
    for t in range(X.shape[1]):
        gap = X[i, t] - centres[j, t]
        total += gap * gap
    return total


@kernel
def _needed(lower, group_path, apart, sizes, i, a, reach):
    """Distances that row i still needs when its own centre is within `reach`; and its least group bound."""
    count, least = 0, np.float32(np.inf)
    for g in range(sizes.shape[0]):
        bound = lower[i, g] - group_path[g]
        least = bound if bound < least else least
        count += sizes[g] if (bound < reach and apart[a, g] < reach) else np.int32(0)
    return count, least


@kernel
def screen(X, centres, old, new, upper, lower, floor, path, group_path, far, half, apart, sizes, slack, rows, own,
           start, stop):
    """List in `rows` the rows of the chunk that need distances, with the squared distance to their centre in `own`.

    ``apart[a, g]`` is half the distance from centre a to the nearest centre of group g. Returns the number of rows and
    the number of distances. A row without a label needs all of them.
    """
    found, pairs = 0, 0
    up = np.float32(1.0 + slack)
    for i in range(start, stop):
        a = old[i]
        new[i] = a
        if a < 0:
            rows[found] = i
            own[found] = np.inf
            found += 1
            pairs += centres.shape[0]
            continue
        reach = upper[i] + path[a]
        if reach <= floor[i] - far or reach <= half[a]:
            continue
        count, least = _needed(lower, group_path, apart, sizes, i, a, reach)
        square = X.dtype.type(0.0)
        if count > 0:
            square = _square(X, i, centres, a)
            reach = np.float32(np.sqrt(square)) * up
            upper[i] = reach - path[a] * np.float32(_PATH)
            count, least = _needed(lower, group_path, apart, sizes, i, a, reach)
        if count > 0:
            rows[found] = i
            own[found] = square
            found += 1
            pairs += count
        else:
            # A group whose bound is below `reach` is excused by `apart`, and then its centres are beyond `reach` too.
            least = least if least > reach else reach
            floor[i] = least * np.float32(1.0 - 4e-7) + far * np.float32(_PATH)
    return found, pairs


@kernel
def decide_direct(X, centres, new, upper, lower, floor, path, group_path, far, apart, group, starts, members, slack,
                  rows, own, found):
    """Settle the listed rows (all have labels) by squared differences to the centres of the groups that fail."""
    up, down = 1.0 + slack, 1.0 - slack
    n_groups = starts.shape[0] - 1
    first, second = np.empty(n_groups, X.dtype), np.empty(n_groups, X.dtype)
    which = np.empty(n_groups, np.int32)
    for r in range(found):
        i = rows[r]
        a = new[i]
        best, label = own[r], a
        reach = np.float32(np.sqrt(best) * up)
        home = reach  # `apart` speaks of the old centre, so it is compared with the distance to that one
        for g in range(n_groups):
            which[g] = -1
            if not (lower[i, g] - group_path[g] < reach and apart[a, g] < home):
                continue
            low, next_low, arg = X.dtype.type(np.inf), X.dtype.type(np.inf), np.int32(0)
            for q in range(starts[g], starts[g + 1]):
                j = members[q]
                value = own[r] if j == a else _square(X, i, centres, j)
                if value < low:
                    low, next_low, arg = value, low, j
                elif value < next_low:
                    next_low = value
            first[g], second[g], which[g] = low, next_low, arg
            if low < best:
                best, label = low, arg
                reach = np.float32(np.sqrt(best) * up)
        least = np.float32(np.inf)
        for g in range(n_groups):
            if which[g] >= 0:
                rest = second[g] if which[g] == label else first[g]
                lower[i, g] = np.sqrt(rest) * down + group_path[g] * _PATH
            elif label != a and group[a] == g:
                away = np.float32(np.sqrt(own[r]) * down + group_path[g] * _PATH)
                lower[i, g] = away if away < lower[i, g] else lower[i, g]
            bound = lower[i, g] - group_path[g]
            least = bound if bound < least else least
        new[i] = label
        upper[i] = np.sqrt(best) * up - path[label] * _PATH
        floor[i] = least * (1.0 - 4e-7) + far * _PATH


@kernel
def decide_product(X, centres, norms, centre_norms, product, error, new, upper, lower, floor, path, group_path, far,
                   starts, members, slack, rows, own, found):
    """Settle the listed rows from ``product[r] = centres . X[rows[r]]``; all their bounds are renewed.

    `error` is the rounding error of a product relative to ``|x|^2 + |c|^2``.
    """
    k = centres.shape[0]
    up, down = 1.0 + slack, 1.0 - slack
    tight, wide = X.dtype.type(1.0 - error), X.dtype.type(1.0 + error)
    low = np.empty(k, X.dtype)
    for r in range(found):
        i = rows[r]
        norm_low, norm_high = norms[i] * tight, norms[i] * wide
        ceiling = X.dtype.type(np.inf)
        for j in range(k):
            twice = product[r, j] + product[r, j]
            low[j] = norm_low + centre_norms[j] * tight - twice
            high = norm_high + centre_norms[j] * wide - twice
            ceiling = high if high < ceiling else ceiling
        label, count = np.int32(0), 0
        for j in range(k):
            if low[j] <= ceiling:
                label = np.int32(j) if count == 0 else label
                count += 1
        best = ceiling
        if count > 1:
            best = X.dtype.type(np.inf)
            for j in range(label, k):
                if low[j] <= ceiling:
                    low[j] = _square(X, i, centres, j)
                    if low[j] < best:
                        best, label = low[j], np.int32(j)
        low[label] = np.inf
        least = np.float32(np.inf)
        for g in range(starts.shape[0] - 1):
            rest = X.dtype.type(np.inf)
            for q in range(starts[g], starts[g + 1]):
                rest = low[members[q]] if low[members[q]] < rest else rest
            rest = np.sqrt(rest) if rest > 0.0 else X.dtype.type(0.0)
            lower[i, g] = rest * down + group_path[g] * _PATH
            bound = np.float32(rest * down)
            least = bound if bound < least else least
        new[i] = label
        own[r] = best
        upper[i] = np.sqrt(best) * up - path[label] * _PATH
        floor[i] = least * (1.0 - 4e-7) + far * _PATH
