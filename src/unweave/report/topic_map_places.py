"""Where topics lie on a map: Jensen–Shannon distances, laid out in the plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_WORDS = 5000  # told apart; the others count as one word, which can only make topics look a little nearer


def shannon_distances(topics: NDArray) -> NDArray:
    """√JS(p, q) for every pair of rows, in bits: 0 for equal topics, 1 for topics that share no word.

    JS(p, q) = H((p + q)/2) − (H(p) + H(q))/2.

    >>> shannon_distances(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    P = _coarse(np.asarray(topics, dtype=np.float64))
    own, k = _entropy(P), len(P)
    D = np.zeros((k, k))
    for i in range(k):
        D[i, i + 1 :] = _entropy(0.5 * (P[i] + P[i + 1 :])) - 0.5 * (own[i] + own[i + 1 :])
    return np.sqrt(np.clip(D + D.T, 0, 1))


def _coarse(P: NDArray) -> NDArray:
    if P.shape[1] <= _WORDS:
        return P
    keep = np.argsort(-P.max(axis=0), kind="stable")[:_WORDS]
    rest = np.maximum(1 - P[:, keep].sum(axis=1, keepdims=True), 0)
    return np.hstack([P[:, keep], rest])


def _entropy(P: NDArray) -> NDArray:
    return -(P * np.log2(np.where(P > 0, P, 1))).sum(axis=1)


def plane(D: NDArray) -> NDArray:
    """Two coordinates a point whose distances are near those of D: classical scaling.

    The leading eigenvectors of −½ J D² J, J = I − 1/k, times the roots of their values. Each axis is turned so that its
    farthest point is on the positive side, which makes the map repeat.

    References
    ----------
    Torgerson (1952), Multidimensional scaling.

    Examples
    --------
    >>> plane(np.array([[0.0, 2.0], [2.0, 0.0]])).round(6).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    k = len(D)
    J = np.eye(k) - 1 / k
    values, vectors = np.linalg.eigh(-0.5 * J @ np.square(D) @ J)
    order = np.argsort(-values)[:2]
    axes = vectors[:, order] * np.sqrt(np.maximum(values[order], 0))
    far = axes[np.abs(axes.round(9)).argmax(axis=0), np.arange(axes.shape[1])]
    axes = axes * np.where(far < 0, -1, 1)
    return np.hstack([axes, np.zeros((k, 2 - axes.shape[1]))]) + 0.0


def fit_to_frame(points: NDArray, radii: NDArray, wide: float, high: float, least: float) -> NDArray:
    """Points scaled to a frame (one scale for both axes), then moved until no two are nearer than `least`.

    Circles of the given radii stay inside the frame.
    """
    edge = float(radii.max()) + 6
    span = np.maximum(np.ptp(points, axis=0), 1e-9)
    scale = min((wide - 2 * edge) / span[0], (high - 2 * edge) / span[1])
    scale = scale if np.ptp(points, axis=0).max() > 1e-9 else 0.0
    middle = 0.5 * (points.max(axis=0) + points.min(axis=0))
    spots = np.array([wide, high]) / 2 + scale * (points - middle) * np.array([1, -1])
    low, top = radii[:, None] + 2, np.array([wide, high]) - radii[:, None] - 2
    angles = 2.399963 * np.arange(len(spots))  # the golden angle: points in one place part in all directions
    spots = spots + 0.01 * np.column_stack([np.cos(angles), np.sin(angles)])
    for _ in range(300):
        apart = spots[:, None] - spots[None]
        length = np.sqrt(np.square(apart).sum(axis=2)) + np.eye(len(spots)) * 1e9
        lack = np.maximum(least - length, 0)
        if lack.max() < 0.01:
            break
        spots = np.clip(spots + 0.5 * (apart * (lack / length)[:, :, None]).sum(axis=1), low, top)
    return spots
