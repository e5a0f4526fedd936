"""From JSON and named arrays back to what a model held; nothing in the JSON is trusted."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.persist import generators, leaves
from unweave.persist.encode import SPARSE
from unweave.persist.registry import find_part


class Decoder:
    """The way back of :class:`unweave.persist.encode.Encoder`; `fetch` gives the array of a name.

    >>> Decoder({}.__getitem__).decode({"$": "tuple", "items": [1, {"$": "float", "is": "inf"}]})
    (1, inf)
    """

    def __init__(self, fetch: Callable[[str], NDArray]) -> None:
        self._fetch = fetch
        self._objects: dict[int, Any] = {}
        self._unrolled: set[str] = set()

    def decode(self, told: Any) -> Any:
        """The value; ValueError, KeyError or TypeError where the JSON makes no sense."""
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
        return leaves.thaw_scalar(told["dtype"], told["is"])

    def _leaf(self, told: dict) -> Any:
        return leaves.thaw_leaf(told["type"], told["is"])

    def _interval(self, told: dict) -> Any:
        import pandas

        return pandas.Interval(self.decode(told["left"]), self.decode(told["right"]), told["closed"])

    def _generator(self, told: dict) -> Any:
        return generators.thaw(told["kind"], self.decode(told["state"]))

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
        """An array that becomes a list, which may happen once: otherwise a short file could fill the memory."""
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
        """Indices are all looked at: one out of range would be a crash in compiled code."""
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
    """Set the parameters that a file does not tell, because they are younger than it.

    They get what the model did before it could be said, where the class says so in ``_before``, otherwise the default.
    """
    before = getattr(type(value), "_before", {})
    if not hasattr(value, "get_params"):
        return
    for name, parameter in inspect.signature(type(value).__init__).parameters.items():
        if name not in told and name != "self" and parameter.default is not inspect.Parameter.empty:
            setattr(value, name, before.get(name, parameter.default))
