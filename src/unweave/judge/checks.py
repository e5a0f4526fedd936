"""Arguments of this room."""

from __future__ import annotations

from numbers import Real


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
