"""Arguments of this room, checked in one place."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np


def share(value, name: str) -> float:
    """A number strictly between 0 and 1, or an error that names the argument.

    >>> share(0.2, "test")
    0.2
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}")
    if not 0 < float(value) < 1:
        raise ValueError(f"{name} must lie between 0 and 1 (0.2 is a fifth), got {value}")
    return float(value)


def number(value, name: str) -> float:
    """A finite number from 0 on, or an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value < 0:
        raise ValueError(f"{name} must be a finite number from 0 on, got {value}")
    return float(value)


def whole(value, name: str) -> int:
    """A whole number of at least 1, or an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return int(value)


def generator(random_state) -> np.random.Generator:
    """A random generator from what scikit-learn calls ``random_state``; None is seed 0, so that splits repeat."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(f"random_state must be None, a whole number from 0 or a generator, got {random_state!r}")
