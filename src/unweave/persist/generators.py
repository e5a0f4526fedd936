"""Random generators as plain state, and back; a state from outside is checked, because NumPy does not check it."""

from __future__ import annotations

import numpy as np

_KINDS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def freeze(value: np.random.Generator | np.random.RandomState) -> tuple[str, dict]:
    """("Generator" or "RandomState", state)."""
    if isinstance(value, np.random.Generator):
        return "Generator", dict(value.bit_generator.state)
    return "RandomState", dict(value.get_state(legacy=False))


def thaw(kind: str, state: dict) -> np.random.Generator | np.random.RandomState:
    """The generator that will give the same numbers.

    >>> rng = np.random.default_rng(3)
    >>> again = thaw(*freeze(rng))
    >>> bool(again.random() == rng.random())
    True
    """
    if state["bit_generator"] not in _KINDS:
        raise ValueError(f"{state['bit_generator']!r} is not a random generator")
    _check_positions(state)
    bits = getattr(np.random, state["bit_generator"])(0)
    if kind == "Generator":
        bits.state = state
        return np.random.Generator(bits)
    legacy = np.random.RandomState(bits)
    legacy.set_state(state)
    return legacy


def _check_positions(state: dict) -> None:
    """A position outside its buffer would be read as it is, in C."""
    if not 0 <= state.get("buffer_pos", 0) <= 4 or not 0 <= state["state"].get("pos", 0) <= 624:
        raise ValueError("the state of a random generator is impossible")
