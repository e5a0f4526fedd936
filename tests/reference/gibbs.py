"""Posterior of one row of a factor at a time, written out."""

import numpy as np


def draw_rows(X, known, H, precision, shift, alpha, normal):
    out = np.empty((len(X), H.shape[1]))
    for i in range(len(X)):
        seen = H[known[i]]
        A = precision + alpha * seen.T @ seen
        y = shift + alpha * seen.T @ X[i, known[i]]
        L = np.linalg.cholesky(A)
        out[i] = np.linalg.solve(A, y) + np.linalg.solve(L.T, normal[i])
    return out
