"""Passes over weighted pairs of symbols, for vectors whose products fit a number of each pair."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


@kernel
def weighted_rows(indptr, indices, targets, weights, aim, P, Y, out, values, start, stop):
    """``out[i] = sum_j w_ij r_ij y_j`` and ``values[i] = sum_j w_ij r_ij^2`` with ``r_ij = p_i . y_j - aim * t_ij``.

    Over the pairs j of each row i (CSR). With aim 1 the gradient of the rows of P, with aim 0 their Hessian times P.
    """
    k = P.shape[1]
    for i in range(start, stop):
        p, total, sums = P[i], 0.0, out[i]
        for t in range(k):
            sums[t] = 0
        for e in range(indptr[i], indptr[i + 1]):
            y = Y[indices[e]]
            r = -aim * targets[e]
            for t in range(k):
                r += p[t] * y[t]
            push = weights[e] * r
            for t in range(k):
                sums[t] += push * y[t]
            total += np.float64(push) * r
        values[i] = total


@kernel
def adapt_block(rows, columns, targets, weights, order, P, Y, P_squares, Y_squares, rate):
    """One AdaGrad step on each pair of `order`: ``p -= rate g / sqrt(sum of squares)``, g = w r y, and the same for y.

    Vectors are longer by two: the first number of each p and the last of each y stay as they are, which makes biases
    of those beside them. Squares of a step are added after it. Blocks that share no row and no column may run side by
    side.
    """
    last = P.shape[1] - 1
    for o in range(order.shape[0]):
        e = order[o]
        p, y, a, b = P[rows[e]], Y[columns[e]], P_squares[rows[e]], Y_squares[columns[e]]
        r = -targets[e]
        for t in range(last + 1):
            r += p[t] * y[t]
        push = weights[e] * r
        for t in range(1, last):
            g, h = push * y[t], push * p[t]
            p[t] -= rate * g / np.sqrt(a[t])
            y[t] -= rate * h / np.sqrt(b[t])
            a[t] += g * g
            b[t] += h * h
        g, h = push * y[last], push * p[0]
        p[last] -= rate * g / np.sqrt(a[last])
        y[0] -= rate * h / np.sqrt(b[0])
        a[last] += g * g
        b[0] += h * h
