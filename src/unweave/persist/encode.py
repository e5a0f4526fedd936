"""What a fitted model holds, as JSON and named arrays.

JSON's own values stand for themselves; everything else is an object with the key ``"$"`` that says what it is. Arrays
that are parts of others (``components_`` of the factor with its offset) are written once, and so are shared objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.layout import can_hold
from unweave.persist import generators, leaves
from unweave.persist.registry import part_name

LONG = 4096  # items from which a list of numbers or texts is an array of the file, to keep the header short
SPARSE = {
    "csr_array": sp.csr_array,
    "csc_array": sp.csc_array,
    "csr_matrix": sp.csr_matrix,
    "csc_matrix": sp.csc_matrix,
}


class Encoder:
    """Collects arrays while values are turned into JSON; call :meth:`finish` at the end, once.

    >>> encoder = Encoder()
    >>> encoder.encode({"a": (1, None), "b": np.eye(2)}, "x")
    {'a': {'$': 'tuple', 'items': [1, None]}, 'b': {'$': 'array', 'shape': [2, 2]}}
    >>> list(encoder.finish())
    ["x['b']"]
    """

    def __init__(self) -> None:
        self._arrays: list[tuple[NDArray, dict, str]] = []
        self._objects: dict[int, int | None] = {}  # id → number in the file, None while it is being written
        self._written = 0
        self._kept: list[object] = []  # an id may not be used again while it stands in the table

    def encode(self, value: Any, where: str) -> Any:
        """`value` as JSON; TypeError, naming `where` it was found, for what cannot be saved."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return leaves.freeze_float(value)
        if kind is list:
            return self._list(value, where)
        if kind is tuple:
            return {"$": "tuple", "items": self._list(list(value), where)}
        if kind is dict:
            return self._dict(value, where)
        if isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray):
            return self._array(np.asarray(value), where)
        return self._other(value, where)

    def _other(self, value: Any, where: str) -> Any:
        if isinstance(value, np.generic) and (scalar := leaves.freeze_scalar(value)) is not None:
            return scalar
        if type(value).__name__ in SPARSE and sp.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, np.random.Generator | np.random.RandomState):
            kind, state = generators.freeze(value)
            return {"$": "generator", "kind": kind, "state": self.encode(state, where)}
        if (leaf := leaves.leaf_name(value)) is not None:
            return {"$": "leaf", "type": leaf, "is": leaves.freeze_leaf(leaf, value)}
        if leaves.full_name(type(value)) == "pandas.Interval":
            ends = {side: self.encode(getattr(value, side), where) for side in ("left", "right")}
            return {"$": "interval", **ends, "closed": value.closed}
        if (name := part_name(type(value))) is not None:
            return self._object(name, value, where)
        raise TypeError(
            f"{where} holds a {leaves.full_name(type(value))}, which cannot be saved: use numbers, "
            "texts, NumPy arrays, CSR or CSC arrays, and lists or dicts of them"
        )

    def _list(self, items: list, where: str) -> Any:
        if len(items) >= LONG:
            kinds = set(map(type, items))
            if kinds == {str}:
                return self._texts(items, where)
            if kinds == {float} or (kinds == {int} and max(map(abs, items)) < 1 << 63):
                return {"$": "numbers", "array": self._array(np.array(items), where)}
        return [self.encode(item, f"{where}[{i}]") for i, item in enumerate(items)]

    def _texts(self, items: list[str], where: str) -> dict:
        pieces = [item.encode("utf-8", "surrogatepass") for item in items]
        text, lengths = np.frombuffer(b"".join(pieces), np.uint8), np.array([len(piece) for piece in pieces])
        return {"$": "texts", "array": self._array(text, where), "lengths": self._array(lengths, f"{where}.lengths")}

    def _dict(self, items: dict, where: str) -> Any:
        if all(type(key) is str and key != "$" for key in items):
            return {key: self.encode(item, f"{where}[{key!r}]") for key, item in items.items()}
        pairs = [[self.encode(k, where), self.encode(v, f"{where}[{k!r}]")] for k, v in items.items()]
        return {"$": "dict", "items": pairs}

    def _object(self, name: str, value: Any, where: str) -> dict:
        if id(value) in self._objects:
            number = self._objects[id(value)]
            if number is None:
                raise TypeError(f"{where} refers to an object that holds it, which cannot be saved")
            return {"$": "same", "as": number}
        self._kept.append(value)
        self._objects[id(value)] = None
        if isinstance(value, tuple):
            state: Any = self._list(list(value), where)
        else:
            state = {key: self.encode(item, f"{where}.{key}") for key, item in (value.__getstate__() or {}).items()}
        # Numbered when done, which is the order in which a reader has them whole.
        number = self._objects[id(value)] = self._written
        self._written += 1
        return {"$": "object", "class": name, "number": number, "state": state}

    # -- arrays ------------------------------------------------------------------------------------------------------

    def _array(self, array: NDArray, where: str) -> dict:
        kind = array.dtype.kind
        if kind == "O":
            return {"$": "objects", "shape": list(array.shape), "items": self._list(array.ravel().tolist(), where)}
        if kind == "U":
            points = np.array(array, dtype=f"<U{max(1, array.dtype.itemsize // 4)}", order="C")
            points = points.reshape(-1).view("<u4").reshape(*array.shape, points.dtype.itemsize // 4)
            return {"$": "unicode", "array": self._array(points, where)}
        if kind in "mM":
            whole = np.asarray(array, order="C").astype(array.dtype.newbyteorder("<"), copy=False).view("<i8")
            return {"$": "times", "dtype": array.dtype.newbyteorder("<").str, "array": self._array(whole, where)}
        if not can_hold(array.dtype):
            raise TypeError(f"{where} is an array of {array.dtype}, which cannot be saved: convert it to float64")
        columns = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
        stored = array.T if columns else np.require(array, requirements="C")
        reference: dict[str, Any] = {"$": "array", "shape": list(stored.shape)}
        if columns:
            reference["by"] = "columns"
        self._arrays.append((stored, reference, where))
        return reference

    def _sparse(self, value: Any, where: str) -> dict:
        parts = {part: self._array(getattr(value, part), f"{where}.{part}") for part in ("data", "indices", "indptr")}
        return {"$": "sparse", "format": type(value).__name__, "shape": [int(n) for n in value.shape], **parts}

    def finish(self) -> dict[str, NDArray]:
        """The arrays by name, each memory once: references to parts of another array say where they lie in it."""
        named: dict[str, NDArray] = {}
        holder, name = np.empty(0, bool), ""
        for array, reference, where in sorted(self._arrays, key=_place):
            ahead = array.ctypes.data - holder.ctypes.data
            inside = array.dtype == holder.dtype and ahead >= 0 and ahead + array.nbytes <= holder.nbytes
            if not (inside and array.size) or ahead % array.itemsize:
                holder, ahead = array, 0
                name = where if where not in named else f"{where}#{len(named)}"
                named[name] = array
            reference["name"] = name
            if array.shape != holder.shape:
                reference["at"] = ahead // array.itemsize
        return named


def _place(item: tuple[NDArray, dict, str]) -> tuple[int, int, bool]:
    """Order in memory, a whole before its parts; of two names for the same array the public one comes first."""
    return item[0].ctypes.data, -item[0].nbytes, item[2].startswith("_")
