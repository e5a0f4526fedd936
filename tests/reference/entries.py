"""Slow, obvious twins of the kernels over observed entries: one row at a time, plain NumPy in float64."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def row(i, indptr, indices, data, weights, H):
    """Data, weights and gathered vectors of row i, in float64."""
    span = slice(indptr[i], indptr[i + 1])
    x = np.asarray(data[span], np.float64)
    w = np.asarray(weights[span], np.float64) if len(weights) else np.ones(len(x))
    return x, w, np.asarray(H, np.float64)[indices[span]]


def solve_rows(indptr, indices, data, weights, H, F, ridge, held=(), rcond=None):
    """Least squares with a ridge as extra rows of data, the least norm if there are several solutions."""
    out = np.array(F, np.float64)
    free = [t for t in range(H.shape[1]) if t not in held]
    ridges = np.broadcast_to(ridge, len(out))
    for i in range(len(out)):
        x, w, S = row(i, indptr, indices, data, weights, H)
        x = x - S[:, list(held)] @ out[i, list(held)]
        root = np.sqrt(w)
        left = np.vstack([root[:, None] * S[:, free], np.sqrt(ridges[i]) * np.eye(len(free))])
        right = np.concatenate([root * x, np.zeros(len(free))])
        out[i, free] = np.linalg.lstsq(left, right, rcond=rcond)[0]
    return out


def coordinate_rows(indptr, indices, data, weights, H, F, l1, ridge, nonnegative, sweeps, tol):
    """Minimise over one entry after the other, the whole residual computed anew each time."""
    out = np.array(F, np.float64)
    l1, ridge = np.broadcast_to(l1, len(out)), np.broadcast_to(ridge, len(out))
    for i, f in enumerate(out):
        x, w, S = row(i, indptr, indices, data, weights, H)
        if nonnegative:
            f[:] = np.maximum(f, 0)
        for _ in range(sweeps):
            before = f.copy()
            for t in range(len(f)):
                curvature = (w * S[:, t] ** 2).sum() + ridge[i]
                if curvature <= 0:
                    f[t] = 0 if l1[i] > 0 else f[t]
                    continue
                others = x - S @ f + S[:, t] * f[t]
                pull = (w * others * S[:, t]).sum()
                f[t] = np.sign(pull) * max(abs(pull) - l1[i], 0) / curvature
                if nonnegative:
                    f[t] = max(f[t], 0)
            if np.abs(f - before).max() <= tol * np.abs(f).max():
                break
    return out


def descend_rows(indptr, indices, data, weights, H, F, ridge, steps):
    """Conjugate gradients on the normal equations of each row."""
    out = np.array(F, np.float64)
    ridges = np.broadcast_to(ridge, len(out))
    for i, f in enumerate(out):
        x, w, S = row(i, indptr, indices, data, weights, H)
        B = S.T @ (w[:, None] * S) + ridges[i] * np.eye(len(f))
        r = S.T @ (w * x) - B @ f
        p = r.copy()
        for _ in range(steps):
            if p @ B @ p <= 1e-12 * (x @ x + 1):
                break
            step = (r @ r) / (p @ B @ p)
            f += step * p
            new = r - step * (B @ p)
            p = new + (new @ new) / (r @ r) * p
            r = new
    return out


def row_values(indptr, indices, data, weights, H, F):
    """``1/2 sum w (x - f.h)^2``."""
    out = []
    for i in range(len(F)):
        x, w, S = row(i, indptr, indices, data, weights, H)
        out.append(0.5 * (w * (x - S @ np.asarray(F[i], np.float64)) ** 2).sum())
    return np.array(out)


def predict_entries(indptr, indices, H, F):
    """``f_i . h_j`` at the entries."""
    rows = np.repeat(np.arange(len(F)), np.diff(indptr))
    return (np.asarray(F, np.float64)[rows] * np.asarray(H, np.float64)[indices]).sum(axis=1)


def gradient_rows(indptr, indices, g, H):
    """``sum_j g_ij h_j``."""
    return np.array([g[s:e].astype(np.float64) @ H[indices[s:e]].astype(np.float64) for s, e in pairwise(indptr)])


def nearest_rows(indptr, indices, data, weights, H):
    """The centre (column of H) nearest to each row over its entries."""
    labels, values = [], []
    for i in range(len(indptr) - 1):
        x, w, S = row(i, indptr, indices, data, weights, H)
        distance = (w[:, None] * (x[:, None] - S) ** 2).sum(axis=0)
        labels.append(distance.argmin())
        values.append(distance.min())
    return np.array(labels), np.array(values)
