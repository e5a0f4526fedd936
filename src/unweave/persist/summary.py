"""What a saved model says about itself, for people and programs that need not load it."""

from __future__ import annotations

from typing import Any

from unweave.data.container import Contents
from unweave.persist.decode import Decoder

_RECORDS = {"history_": "history", "certificate_": "certificate", "plan_": "plan"}


def summary(contents: Contents) -> dict:
    """The header of a file of a model, as JSON-ready values."""
    note, decoder = contents.note, Decoder(contents.array)
    held = note["attributes"]
    names = decoder.decode(held.get("feature_names_in_"))
    about = {key: note[key] for key in ("class", "version", "format")}
    about["parameters"] = plain(note["parameters"])
    about["n_features"] = held.get("n_features_in_")
    about["names"] = None if names is None else [str(name) for name in names]
    for attribute, key in _RECORDS.items():
        record = decoder.decode(held.get(attribute))
        about[key] = None if record is None else record.as_dict()
    public = {key: told for key, told in held.items() if not key.startswith("_") and key not in _RECORDS}
    about["attributes"] = plain({key: told for key, told in public.items() if key != "feature_names_in_"})
    about["extra"] = plain(note["extra"])
    about["arrays"] = {
        name: {"dtype": str(entry.dtype), "shape": list(entry.shape), "bytes": entry.nbytes}
        for name, entry in contents.entries.items()
    }
    return about


def plain(told: Any) -> Any:
    """Encoded values for reading: an array is its shape, an object its class and what it holds.

    >>> plain({"a": {"$": "tuple", "items": [1, 2]}, "b": {"$": "array", "name": "b", "shape": [3, 4]}})
    {'a': [1, 2], 'b': {'shape': [3, 4]}}
    """
    if isinstance(told, list):
        return [plain(item) for item in told]
    if not isinstance(told, dict):
        return told
    kind = told.get("$")
    if kind is None:
        return {key: plain(item) for key, item in told.items()}
    if kind in ("tuple", "dict"):
        return plain(told["items"])
    if kind in ("float", "scalar", "leaf"):
        return told["is"]
    if kind == "object":
        return {"class": told["class"], "holds": plain(told["state"])}
    if kind == "array":
        return {"shape": told["shape"][::-1] if told.get("by") == "columns" else told["shape"]}
    if kind in ("sparse", "objects"):
        return {"shape": told["shape"]}
    return {"kind": kind}
