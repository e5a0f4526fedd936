"""Few rows that stand for many: landmarks whose features come near to those of the kernel (Nyström)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.products import matmul
from unweave.predict.kernels.base import Kernel, need_psd

_LOOKED_AT = 100  # things whose table says that a kernel is none, where their own products do
_EPS = float(np.finfo(np.float64).eps)


def take(items: Any, rows: NDArray) -> Any:
    """Some things of a list by number: rows of a table, or items."""
    return [items[i] for i in rows] if isinstance(items, list) else items[rows]


def far_landmarks(
    columns: Callable[[NDArray], NDArray], own: NDArray, most: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """At most `most` landmarks, and F (n × r) with K ≈ F·Fᵀ: randomly pivoted Cholesky, an eighth of them a round.

    Landmarks are drawn with the chance of what the ones before leave unexplained of each row, so they lie apart; a
    round orthogonalises what it drew. `columns(rows)` is K[:, rows] and `own` the diagonal (Chen, Epperly, Tropp and
    Webber, 2025, Randomly pivoted Cholesky).
    """
    n = len(own)
    left, floor = np.maximum(own, 0.0), n * _EPS * max(float(own.max(initial=0.0)), np.finfo(np.float64).tiny)
    chosen: list[NDArray] = []
    factors = np.zeros((n, min(most, n)))
    filled, block = 0, max(1, -(-most // 8))
    while filled < factors.shape[1]:
        left[left <= floor] = 0.0
        alive = int(np.count_nonzero(left))
        if not alive:
            break
        size = min(block, factors.shape[1] - filled, alive)
        fresh = np.sort(rng.choice(n, size=size, replace=False, p=left / left.sum()))
        known = factors[:, :filled]
        C = columns(fresh) - matmul(known, np.ascontiguousarray(known[fresh].T))
        values, V = np.linalg.eigh(0.5 * (C[fresh] + C[fresh].T))
        keep = values > max(floor, 1e-12 * float(values[-1]))
        G = C @ (V[:, keep] / np.sqrt(values[keep]))
        factors[:, filled : filled + G.shape[1]] = G
        filled += G.shape[1]
        left = np.maximum(left - np.square(G).sum(axis=1), 0.0)
        left[fresh] = 0.0
        chosen.append(fresh)
    return np.concatenate([np.empty(0, np.int64), *chosen]), factors[:, :filled]


def landmarks_of(kernel: Kernel, items: Any, most: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of landmarks among things that were read, in order."""
    own = kernel.own(items)
    far = np.sort(far_landmarks(lambda rows: kernel.table(items, take(items, rows)), own, most, rng)[0])
    if not len(far) or own.min() < 0:  # nothing is like itself: then nothing may be like anything
        some = take(items, np.unique([*range(min(len(own), _LOOKED_AT)), int(own.argmin())]))
        need_psd(kernel.table(some, some), f"the table of {kernel}", lambda _: "so there are no features of it")
    return far


def nystrom_map(kernel: Kernel, landmarks: Any) -> NDArray[np.float64]:
    """M (m × r), with which k(x, landmarks)·M are features: their inner products are the kernel among landmarks.

    That is K_mm^(−½) where directions of K_mm that are nothing but rounding are left out.
    """
    K = kernel.table(landmarks, landmarks)
    values, V = np.linalg.eigh(K)
    top = float(values[-1]) if len(values) else 0.0
    if len(values) and values[0] < -1e-8 * max(top, np.finfo(np.float64).tiny):
        raise ValueError(
            f"{kernel} is not positive semidefinite (its table has the eigenvalue {values[0]:.3g}; the largest is "
            f"{top:.3g}), so there are no such features"
        )
    keep = values > len(values) * _EPS * max(top, np.finfo(np.float64).tiny)
    return np.ascontiguousarray(V[:, keep] / np.sqrt(values[keep]))
