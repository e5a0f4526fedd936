"""Turns single values that JSON has no word for into short texts and back: dates, decimals, scalars, random generators.

The state of a generator that comes from outside is checked, because NumPy does not check it.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import math
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

import numpy as np

_Pair = tuple[Callable[[Any], Any], Callable[[Any], Any]]

# type by its full name → (to JSON, from JSON); pandas and polars are imported only when a file has such a value.
_LEAVES: dict[str, _Pair] = {
    "builtins.bytes": (lambda v: base64.b64encode(v).decode(), base64.b64decode),
    "builtins.slice": (lambda v: [v.start, v.stop, v.step], lambda j: slice(*map(_whole_or_none, j))),
    "datetime.date": (lambda v: v.isoformat(), datetime.date.fromisoformat),
    "datetime.datetime": (lambda v: v.isoformat(), datetime.datetime.fromisoformat),
    "datetime.time": (lambda v: v.isoformat(), datetime.time.fromisoformat),
    "datetime.timedelta": (
        lambda v: [v.days, v.seconds, v.microseconds],
        lambda j: datetime.timedelta(j[0], j[1], j[2]),
    ),
    "decimal.Decimal": (str, decimal.Decimal),
    "pathlib.Path": (str, Path),
    "pandas.Timestamp": (lambda v: v.isoformat(), lambda j: _pandas("Timestamp", j)),
    "pandas.Timedelta": (lambda v: v.isoformat(), lambda j: _pandas("Timedelta", j)),
    "pandas.Period": (lambda v: [str(v), v.freqstr], lambda j: _pandas("Period", j[0], j[1])),
}
_SCALARS = {np.dtype(word).name for word in "?bhiqBHIQefd"}
_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


def leaf_name(value: object) -> str | None:
    """Return the name of a value's type if it is one of those above, else None.

    >>> leaf_name(decimal.Decimal("0.1")), leaf_name({1})
    ('decimal.Decimal', None)
    """
    if isinstance(value, PurePath):
        return "pathlib.Path"
    name = full_name(type(value))
    return name if name in _LEAVES else None


def full_name(kind: type) -> str:
    """Return package and class of a type; the module inside a package differs from version to version."""
    return f"{kind.__module__.partition('.')[0]}.{kind.__name__}"


def freeze_leaf(name: str, value: object) -> Any:
    return _LEAVES[name][0](value)


def thaw_leaf(name: str, text: Any) -> Any:
    return _LEAVES[name][1](text)


def freeze_float(value: float) -> Any:
    """Return a finite float as itself, in full precision, and the others as words."""
    return value if math.isfinite(value) else {"$": "float", "is": str(value)}


def freeze_scalar(value: np.generic) -> dict | None:
    """Return a NumPy scalar with its type, None if the format has no such type."""
    if isinstance(value, np.str_):
        return {"$": "scalar", "dtype": "str", "is": str(value)}
    if value.dtype.name not in _SCALARS:
        return None
    plain = value.item()
    return {"$": "scalar", "dtype": value.dtype.name, "is": str(plain) if isinstance(plain, float) else plain}


def thaw_scalar(dtype: str, plain: Any) -> np.generic:
    if dtype == "str":
        return np.str_(plain)
    if dtype not in _SCALARS:
        raise ValueError(f"{dtype!r} is not a type of number")
    kind = np.dtype(dtype)
    return kind.type(float(plain) if kind.kind == "f" else plain)


def _whole_or_none(value: Any) -> int | None:
    if value is not None and type(value) is not int:
        raise ValueError("the ends of a slice must be whole numbers")
    return value


def _pandas(name: str, *values: str) -> Any:
    import pandas

    return getattr(pandas, name)(*values)


# -- random generators -------------------------------------------------------------------------------------------------


def freeze_generator(value: np.random.Generator | np.random.RandomState) -> tuple[str, dict]:
    """Return "Generator" or "RandomState", and the state as plain values."""
    if isinstance(value, np.random.Generator):
        return "Generator", dict(value.bit_generator.state)
    return "RandomState", dict(value.get_state(legacy=False))


def thaw_generator(kind: str, state: dict) -> np.random.Generator | np.random.RandomState:
    """Return the generator that will give the same numbers.

    >>> rng = np.random.default_rng(3)
    >>> again = thaw_generator(*freeze_generator(rng))
    >>> bool(again.random() == rng.random())
    True
    """
    if state["bit_generator"] not in _GENERATORS:
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
    """Refuse a position outside its buffer, which C would read as it is."""
    if not 0 <= state.get("buffer_pos", 0) <= 4 or not 0 <= state["state"].get("pos", 0) <= 624:
        raise ValueError("the state of a random generator is impossible")
