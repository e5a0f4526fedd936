"""Checks the arguments of every room: the right kind of number comes back, or an error names the argument."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def whole(value, name: str, least: int) -> int:
    """Return `value` as a whole number of at least `least`, or raise an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, got {value}")
    return int(value)


def number(value, name: str, least: float = 0.0) -> float:
    """Return `value` as a finite number of at least `least`, or raise an error that names the argument."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not math.isfinite(value) or value < least:
        raise ValueError(f"{name} must be a finite number of at least {least:g}, got {value}")
    return float(value)


def numbers(value, name: str, shape: tuple[int, ...], dtype=np.float64) -> NDArray:
    """Return a new array of finite numbers of that shape, or raise an error that names the argument.

    >>> numbers([[1, 2]], "init", (1, 2))
    array([[1., 2.]])
    """
    try:
        found = np.array(value, dtype=dtype, order="C")
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be an array of numbers of the shape {shape}, got {value!r:.60}") from None
    if found.shape != shape:
        raise ValueError(f"{name} must have the shape {shape}, got {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must hold finite numbers")
    return found


def row_weights(sample_weight, n: int) -> NDArray[np.float64] | None:
    """Return the weights of `n` rows, or raise; None stays None, and one number counts for every row.

    >>> row_weights(2, 3)
    array([2., 2., 2.])
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real | str) or getattr(sample_weight, "ndim", 1) == 0:
        sample_weight = np.full(n, number(np.asarray(sample_weight).item(), "sample_weight"))
    weights = finite_weights(sample_weight)
    if len(weights) != n:
        raise ValueError(f"sample_weight must hold one number per row: X has {n} rows, it has {len(weights)}")
    return weights


def finite_weights(sample_weight) -> NDArray[np.float64]:
    """Check weights of rows whose number is not known yet: finite, none negative, not all zero."""
    try:
        weights = np.array(sample_weight, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise TypeError(f"sample_weight must hold one number per row, got {sample_weight!r:.60}") from None
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must hold one number per row (a 1D array), got the shape {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold one finite number per row, none of them negative")
    if not weights.any():
        raise ValueError("sample_weight must hold a positive number: all are zero")
    return weights


def generator(random_state) -> np.random.Generator:
    """Make a random generator of what scikit-learn calls ``random_state``; None is seed 0, so that fits repeat."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and int(random_state) >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(f"random_state must be None, a whole number from 0 or a generator, got {random_state!r}")


def need_rows_compared(kernel: Any, name: str) -> None:
    """Raise unless a function of two tables compares rows of numbers: some kernels compare strings, or trees."""
    takes = getattr(kernel, "takes", "vectors")
    if takes not in ("vectors", "anything"):
        raise ValueError(
            f"{name}={kernel!r} compares {takes}: use {name}='precomputed', and give the table {kernel!r}(X) for X"
        )
