"""Arguments of every room, checked in one place: the right kind of number, or an error that names the argument."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np


def whole(value, name: str, least: int) -> int:
    """A whole number of at least `least`, or an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def number(value, name: str, least: float = 0.0) -> float:
    """A finite number of at least `least`, or an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value < least:
        raise ValueError(f"{name} must be a finite number of at least {least:g}, got {value}")
    return float(value)


def generator(random_state) -> np.random.Generator:
    """A random generator from what scikit-learn calls ``random_state``; None is seed 0, so that fits repeat."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(f"random_state must be None, a whole number from 0 or a generator, got {random_state!r}")
