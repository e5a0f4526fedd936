"""Turns what a fitted model holds into JSON and named arrays (`Encoder`), and back (`Decoder`).

JSON's own values stand for themselves; everything else is an object with the key ``"$"`` that says what it is. Arrays
that are parts of others (``components_`` of the factor with its offset) are written once, and so are shared objects.
On the way back nothing in the JSON is trusted.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.container import can_hold
from unweave.persist import values
from unweave.persist.registry import find_part, part_name

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
        """Return `value` as JSON; TypeError, naming `where` it was found, for what cannot be saved."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return values.freeze_float(value)
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
        if isinstance(value, np.generic) and (scalar := values.freeze_scalar(value)) is not None:
            return scalar
        if type(value).__name__ in SPARSE and sp.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, np.random.Generator | np.random.RandomState):
            kind, state = values.freeze_generator(value)
            return {"$": "generator", "kind": kind, "state": self.encode(state, where)}
        if (leaf := values.leaf_name(value)) is not None:
            return {"$": "leaf", "type": leaf, "is": values.freeze_leaf(leaf, value)}
        if values.full_name(type(value)) == "pandas.Interval":
            ends = {side: self.encode(getattr(value, side), where) for side in ("left", "right")}
            return {"$": "interval", **ends, "closed": value.closed}
        if (name := part_name(type(value))) is not None:
            return self._object(name, value, where)
        raise TypeError(
            f"{where} holds a {values.full_name(type(value))}, which cannot be saved: use numbers, "
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
        """Return the arrays by name, each memory once: parts of another array say where they lie in it."""
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
    """Order arrays as in memory, a whole before its parts; of two names for one array the public one is first."""
    return item[0].ctypes.data, -item[0].nbytes, item[2].startswith("_")


# -- the way back ------------------------------------------------------------------------------------------------------


class Decoder:
    """Turns what an :class:`Encoder` wrote back into values; `fetch` gives the array of a name.

    >>> Decoder({}.__getitem__).decode({"$": "tuple", "items": [1, {"$": "float", "is": "inf"}]})
    (1, inf)
    """

    def __init__(self, fetch: Callable[[str], NDArray]) -> None:
        self._fetch = fetch
        self._objects: dict[int, Any] = {}
        self._unrolled: set[str] = set()

    def decode(self, told: Any) -> Any:
        """Return the value; ValueError, KeyError or TypeError where the JSON makes no sense."""
        if isinstance(told, list):
            return [self.decode(item) for item in told]
        if not isinstance(told, dict):
            return told
        if "$" not in told:
            return {key: self.decode(item) for key, item in told.items()}
        if told["$"] not in _WAYS:
            raise ValueError(f"{told['$']!r} is no kind of value")
        return _WAYS[told["$"]](self, told)

    def _float(self, told: dict) -> float:
        return float(told["is"])

    def _tuple(self, told: dict) -> tuple:
        return tuple(self._items(told["items"]))

    def _dict(self, told: dict) -> dict:
        return {self.decode(key): self.decode(item) for key, item in told["items"]}

    def _items(self, told: Any) -> list:
        items = self.decode(told)
        if not isinstance(items, list):
            raise ValueError("a list is not one")
        return items

    def _scalar(self, told: dict) -> np.generic:
        return values.thaw_scalar(told["dtype"], told["is"])

    def _leaf(self, told: dict) -> Any:
        return values.thaw_leaf(told["type"], told["is"])

    def _interval(self, told: dict) -> Any:
        import pandas

        return pandas.Interval(self.decode(told["left"]), self.decode(told["right"]), told["closed"])

    def _generator(self, told: dict) -> Any:
        return values.thaw_generator(told["kind"], self.decode(told["state"]))

    # -- objects -----------------------------------------------------------------------------------------------------

    def _object(self, told: dict) -> Any:
        kind = find_part(told["class"])
        if issubclass(kind, tuple):
            value: Any = kind(*self._items(told["state"]))
        else:
            value = kind.__new__(kind)
            restore(value, {key: self.decode(item) for key, item in told["state"].items()})
            add_parameters(value, told["state"])
        self._objects[told["number"]] = value
        return value

    def _same(self, told: dict) -> Any:
        return self._objects[told["as"]]

    # -- arrays ------------------------------------------------------------------------------------------------------

    def _array(self, told: dict) -> NDArray:
        whole, shape, at = self._fetch(told["name"]), tuple(told["shape"]), told.get("at", 0)
        if len(shape) > 32 or not all(type(n) is int and 0 <= n < 1 << 62 for n in (*shape, at)):
            raise ValueError(f"array {told['name']!r} has an impossible shape")
        count = math.prod(shape)
        if at + count > whole.size:
            raise ValueError(f"array {told['name']!r} is smaller than what is to be found in it")
        if whole.dtype == bool and whole.size and whole.view(np.uint8).max() > 1:
            raise ValueError(f"array {told['name']!r} holds truth values that are neither true nor false")
        found = whole if whole.shape == shape else whole.reshape(-1)[at : at + count].reshape(shape)
        return found.T if told.get("by") == "columns" else found

    def _once(self, told: dict) -> NDArray:
        """Return an array that becomes a list, which may happen once: otherwise a short file could fill the memory."""
        if told["name"] in self._unrolled:
            raise ValueError(f"array {told['name']!r} is used twice as a list")
        self._unrolled.add(told["name"])
        return self._array(told)

    def _numbers(self, told: dict) -> list:
        return self._once(told["array"]).tolist()

    def _texts(self, told: dict) -> list[str]:
        text, lengths = bytes(self._once(told["array"])), self._numbers({"array": told["lengths"]})
        ends = list(accumulate(lengths))
        if not all(type(n) is int and n >= 0 for n in lengths) or (ends and ends[-1] != len(text)):
            raise ValueError("a list of texts is not one")
        return [text[end - n : end].decode("utf-8", "surrogatepass") for n, end in zip(lengths, ends, strict=True)]

    def _unicode(self, told: dict) -> NDArray:
        points = self._array(told["array"])
        if points.dtype != np.uint32 or not points.ndim or not points.shape[-1] or points.max(initial=0) > 0x10FFFF:
            raise ValueError("an array of texts is not one")
        return np.ascontiguousarray(points).view(f"<U{points.shape[-1]}").reshape(points.shape[:-1])

    def _times(self, told: dict) -> NDArray:
        kind, whole = np.dtype(told["dtype"]), self._array(told["array"])
        if kind.kind not in "mM" or whole.dtype != np.int64:
            raise ValueError("an array of times is not one")
        return whole.view(kind)

    def _objects_array(self, told: dict) -> NDArray:
        items = self._items(told["items"])
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # one by one: a list among them would be spread
            array[i] = item
        return array.reshape(tuple(told["shape"]))

    def _sparse(self, told: dict) -> Any:
        """Make a sparse array, and check all its indices: one out of range would crash compiled code."""
        data, indices, indptr = (self._array(told[part]) for part in ("data", "indices", "indptr"))
        if any(part.ndim != 1 for part in (data, indices, indptr)) or indices.dtype.kind + indptr.dtype.kind != "ii":
            raise ValueError("the parts of a sparse array are not lists")
        value = SPARSE[told["format"]]((data, indices, indptr), shape=tuple(told["shape"]), copy=False)
        value.check_format(full_check=True)
        return value


_WAYS: dict[str, Callable[[Decoder, dict], Any]] = {
    "float": Decoder._float,
    "tuple": Decoder._tuple,
    "dict": Decoder._dict,
    "scalar": Decoder._scalar,
    "leaf": Decoder._leaf,
    "interval": Decoder._interval,
    "generator": Decoder._generator,
    "object": Decoder._object,
    "same": Decoder._same,
    "array": Decoder._array,
    "numbers": Decoder._numbers,
    "texts": Decoder._texts,
    "unicode": Decoder._unicode,
    "times": Decoder._times,
    "objects": Decoder._objects_array,
    "sparse": Decoder._sparse,
}


def restore(value: Any, state: dict) -> None:
    """Set attributes as they were, past `__init__` and frozen classes."""
    strange = [key for key in state if not key.isidentifier() or key.startswith("__")]
    if strange:
        raise ValueError(f"{strange[0]!r} is not the name of an attribute")
    vars(value).update(state)


def add_parameters(value: Any, told: dict) -> None:
    """Set the parameters that a file does not hold, because they are younger than it.

    They get what the model did before it could be said, where the class says so in ``_before``, otherwise the default.
    """
    before = getattr(type(value), "_before", {})
    if not hasattr(value, "get_params"):
        return
    for name, parameter in inspect.signature(type(value).__init__).parameters.items():
        if name not in told and name != "self" and parameter.default is not inspect.Parameter.empty:
            setattr(value, name, before.get(name, parameter.default))
