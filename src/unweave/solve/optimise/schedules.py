"""How steps shorten: functions of the epoch (from 0) and the number of epochs that give a share of the first step."""

from __future__ import annotations

import math
from collections.abc import Callable

Schedule = Callable[[int, int], float]


def constant(epoch: int, epochs: int) -> float:
    """All steps alike."""
    return 1.0


def inverse(epoch: int, epochs: int) -> float:
    """1/(1 + 10·epoch/epochs): the sum of all steps grows without bound, that of their squares does not.

    >>> inverse(0, 100), inverse(100, 100)
    (1.0, 0.09090909090909091)
    """
    return 1.0 / (1.0 + 10.0 * epoch / epochs)


def exponential(epoch: int, epochs: int) -> float:
    """Down to a thousandth at the end, by the same factor in each epoch."""
    return 0.001 ** (epoch / epochs)


def cosine(epoch: int, epochs: int) -> float:
    """Half a wave of a cosine, from one to zero."""
    return 0.5 * (1.0 + math.cos(math.pi * epoch / epochs))


SCHEDULES: dict[str, Schedule] = {
    "constant": constant, "inverse": inverse, "exponential": exponential, "cosine": cosine,
}  # fmt: skip
