"""Admission to sets, row by row."""

import numpy as np


def admit(X, means, scales, limit, origin, labels):
    """Labels (-1 for rows too far), N, SUM and SUMSQ."""
    k, d = means.shape
    labels, counts, sums, squares = labels.copy(), np.zeros(k), np.zeros((k, d)), np.zeros((k, d))
    for i, row in enumerate(X.astype(np.float64)):
        a = labels[i]
        if a < 0:
            continue
        if (scales[a] * (row - means[a]) ** 2).sum() > limit:
            labels[i] = -1
            continue
        counts[a] += 1
        sums[a] += row - origin
        squares[a] += (row - origin) ** 2
    return labels, counts, sums, squares
