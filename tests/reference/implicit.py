"""Implicit least squares, slow and obvious: every entry of the table is visited."""

from __future__ import annotations

import numpy as np


def confidence(X, alpha):
    """(preference, confidence) of every entry of a dense table of counts."""
    return (X > 0).astype(np.float64), 1 + alpha * X.astype(np.float64)


def objective(X, alpha, U, Z, ridge):
    """1/2 sum c (p - u.z)^2 + ridge/2 (|U|^2 + |Z|^2); `ridge` a number, or (one a row, one a column)."""
    p, c = confidence(X, alpha)
    left, right = ridge if isinstance(ridge, tuple) else (ridge, ridge)
    left, right = np.broadcast_to(left, len(U)), np.broadcast_to(right, Z.shape[1])
    loss = 0.5 * np.sum(c * (p - U.astype(np.float64) @ Z) ** 2)
    return loss + 0.5 * (left @ np.sum(U.astype(np.float64) ** 2, 1) + right @ np.sum(Z.astype(np.float64) ** 2, 0))


def solve_rows(X, alpha, H, ridge):
    """Rows that minimise the objective given H (m x k), and their values."""
    p, c = confidence(X, alpha)
    ridge = np.broadcast_to(ridge, len(X))
    H = H.astype(np.float64)
    rows, values = [], []
    for i in range(len(X)):
        A = (H.T * c[i]) @ H + ridge[i] * np.eye(H.shape[1])
        f = np.linalg.solve(A, H.T @ (c[i] * p[i]))
        rows.append(f)
        values.append(0.5 * np.sum(c[i] * (p[i] - H @ f) ** 2) + 0.5 * ridge[i] * f @ f)
    return np.array(rows), np.array(values)


def row_values(X, alpha, H, F, ridge):
    """Value of each row of F."""
    p, c = confidence(X, alpha)
    F = F.astype(np.float64)
    return 0.5 * np.sum(c * (p - F @ H.T.astype(np.float64)) ** 2, axis=1) + 0.5 * ridge * np.sum(F**2, axis=1)
