"""Slow, obvious twin of orthogonal matching pursuit: least squares on the chosen atoms after every choice."""

from __future__ import annotations

import numpy as np


def pursue(x, H, s):
    """Code of x (m,) over the columns of H (m x k) with at most s nonzeros."""
    x, H = np.asarray(x, np.float64), np.asarray(H, np.float64)
    lengths = np.sqrt((H**2).sum(axis=0))
    f, chosen = np.zeros(H.shape[1]), []
    while len(chosen) < s:
        residual = x - H @ f
        if (residual**2).sum() <= 1e-9 * (x**2).sum():
            break
        score = np.abs(H.T @ residual) / np.where(lengths > 0, lengths, np.inf)
        score[chosen] = -1
        if score.max() <= 1e-7 * np.sqrt((x**2).sum()):
            break
        chosen.append(int(score.argmax()))
        f[:] = 0
        f[chosen] = np.linalg.lstsq(H[:, chosen], x, rcond=None)[0]
    return f
