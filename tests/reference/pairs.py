"""Slow, obvious twins of `unweave.kernels.pairs`: dense tables in float64, one pair at a time."""

import numpy as np


def weighted_rows(targets, weights, aim, P, Y):
    """Σ_j w r y_j and Σ_j w r² of every row; pairs that are not there have no weight."""
    residual = P @ Y.T - aim * targets
    return (weights * residual) @ Y, (weights * residual**2).sum(axis=1)


def adapt_block(pairs, P, Y, P_squares, Y_squares, rate):
    """AdaGrad on (row, column, target, weight), in order; the ends that are held stay."""
    for i, j, target, weight in pairs:
        push = weight * (P[i] @ Y[j] - target)
        g, h = push * Y[j], push * P[i]
        g[0] = h[-1] = 0
        P[i] -= rate * g / np.sqrt(P_squares[i])
        Y[j] -= rate * h / np.sqrt(Y_squares[j])
        P_squares[i] += g**2
        Y_squares[j] += h**2
