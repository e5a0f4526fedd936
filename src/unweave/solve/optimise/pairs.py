"""What L-BFGS remembers: the last few steps and how they changed the gradient, and the direction that follows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

_FLAT = 1e-10  # of the lengths of a step and its change: pairs that bend less, or the wrong way, are not remembered


def no_pairs(size: int) -> dict[str, NDArray]:
    """A memory without any pair, as a part of a state."""
    return {"steps": np.zeros((0, size)), "changes": np.zeros((0, size))}


def remembered(pairs: dict, step: NDArray, change: NDArray, most: int) -> dict[str, NDArray]:
    """Add a step and the change of the gradient along it; of more than `most` pairs the oldest is forgotten."""
    steps, changes = pairs["steps"], pairs["changes"]
    bend = float(step @ change)
    if not bend > _FLAT * float(np.linalg.norm(step)) * float(np.linalg.norm(change)):
        return {"steps": steps, "changes": changes}
    return {"steps": np.vstack([steps, step])[-most:], "changes": np.vstack([changes, change])[-most:]}


def direction(gradient: NDArray, pairs: dict, first: Callable[[NDArray], NDArray] | None = None) -> NDArray:
    """Return the step −H·g, where H is the inverse of the Hessian as the pairs know it (Nocedal's two loops).

    Parameters
    ----------
    gradient : array (d,)
    pairs : dict
        As :func:`remembered` makes it.
    first : callable, optional
        What is known of the inverse without any pair; by default a multiple of one that the last pair tells.

    Examples
    --------
    >>> bends = np.array([1.0, 10.0])
    >>> pairs = no_pairs(2)
    >>> for step in np.eye(2):
    ...     pairs = remembered(pairs, step, bends * step, 5)
    >>> direction(np.array([1.0, 1.0]), pairs).round(12).tolist()
    [-1.0, -0.1]
    """
    steps, changes = pairs["steps"], pairs["changes"]
    q, shares = gradient.copy(), []
    for step, change in zip(steps[::-1], changes[::-1], strict=True):
        share = (step @ q) / (step @ change)
        q -= share * change
        shares.append(share)
    if first is not None:
        q = first(q)
    elif len(steps):
        q *= (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for step, change, share in zip(steps, changes, shares[::-1], strict=True):
        q += (share - (change @ q) / (step @ change)) * step
    return -q
