"""Makes one short text that changes when the problem or the data change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from types import CodeType

import numpy as np
import scipy.sparse as sp

_ROWS = 4096  # of a table that are copied at once


def fingerprint(parameters: Mapping[str, object], tables: Iterable) -> str:
    """Return a digest of parameters and tables, in order, by value; of generators it is the state that counts.

    A table that is None has a place too, so that weights of rows are never taken for those of columns.

    >>> one, two = np.random.default_rng(1), np.random.default_rng(2)
    >>> fingerprint({"rng": one}, []) == fingerprint({"rng": two}, [])
    False
    >>> fingerprint({"rng": one}, [None]) == fingerprint({"rng": np.random.default_rng(1)}, [None])
    True
    """
    h = hashlib.blake2b(digest_size=20)
    for name in sorted(parameters):
        h.update(f"{name}=".encode())
        _feed(h.update, parameters[name])
    for table in tables:
        _feed(h.update, table)
    return h.hexdigest()


def _feed(take: Callable[[bytes], None], value) -> None:
    """Hand over what a value is made of; every kind begins with a word of its own and says how long it is."""
    if isinstance(value, np.ndarray):
        _feed_array(take, value)
    elif sp.issparse(value):
        rows = sp.csr_array(value)
        _feed_all(take, "sparse", [np.array(rows.shape), rows.indptr, rows.indices, rows.data])
    elif hasattr(value, "to_numpy"):  # a data frame, or a column of one
        names = list(getattr(value, "columns", ()))
        _feed_all(take, "frame", [names, *([np.asarray(value[name]) for name in names] or [value.to_numpy()])])
    elif isinstance(value, (list, tuple)):
        _feed_all(take, "list", value)
    elif isinstance(value, Mapping):
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]))
        _feed_all(take, "dict", [part for pair in pairs for part in pair])
    elif isinstance(value, np.random.Generator):
        _feed_all(take, "generator", [value.bit_generator.state])
    elif isinstance(value, np.random.RandomState):
        _feed_all(take, "generator", [value.get_state(legacy=False)])
    elif isinstance(value, CodeType):
        _feed_all(take, "code", [value.co_code, value.co_names, value.co_consts])
    elif hasattr(value, "__code__"):  # a function: what it does, with what it has captured
        captured = [cell.cell_contents for cell in value.__closure__ or ()]
        _feed_all(take, "function", [value.__code__, value.__defaults__, value.__kwdefaults__, *captured])
    elif is_dataclass(value) and not isinstance(value, type):
        _feed_all(take, type(value).__name__, [getattr(value, field.name) for field in fields(value)])
    elif hasattr(value, "get_params") and not isinstance(value, type):
        _feed_all(take, type(value).__name__, [value.get_params(deep=False)])
    else:
        take(f"{type(value).__name__} {value!r};".encode())


def _feed_all(take: Callable[[bytes], None], kind: str, parts) -> None:
    take(f"{kind} {len(parts)}:".encode())
    for part in parts:
        _feed(take, part)


def _feed_array(take: Callable[[bytes], None], array: np.ndarray) -> None:
    if array.dtype == object:  # its bytes are addresses
        _feed_all(take, f"objects {array.shape}", array.ravel().tolist())
        return
    take(f"array {array.shape} {array.dtype}:".encode())
    for start in range(0, max(1, array.shape[0] if array.ndim else 1), _ROWS):
        take(np.ascontiguousarray(array[start : start + _ROWS] if array.ndim else array).tobytes())
