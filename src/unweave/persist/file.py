"""Writes a fitted model to one file, reads it again, and says what a file holds without loading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from unweave.data import container
from unweave.data.atomic import not_written, system_words
from unweave.data.container import Contents, DamagedFileError
from unweave.persist.codec import Decoder, Encoder, add_parameters, restore
from unweave.persist.registry import ESTIMATORS, estimator_name, find_estimator, library_version

FORMAT = 1  # raised when an older library could no longer make sense of a file

_REMEDY = "copy the file again or save the model anew"
_NONSENSE = (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError, MemoryError)
_RECORDS = {"history_": "history", "certificate_": "certificate", "plan_": "plan"}


def save(model: Any, path: str | os.PathLike, *, extra: dict | None = None) -> Path:
    """Write a fitted estimator to one file, atomically.

    Everything it was given and has learned is kept, summaries of `partial_fit` included; only a `callback` is not,
    because code is not saved.

    Parameters
    ----------
    model : a fitted estimator of unweave
    path : where to; ``.unweave`` is the usual ending. A file that is there is replaced in one step.
    extra : dict, optional
        Anything to keep beside the model (names of rows, notes): JSON values, NumPy and CSR arrays.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    NotFittedError, TypeError
        If the model is not fitted, or is or holds something that cannot be saved; the message names the attribute.
    OSError
        If the file cannot be written; what was there before is then untouched.
    """
    from sklearn.utils.validation import check_is_fitted

    name = estimator_name(model)
    check_is_fitted(model)
    path, encoder = Path(path), Encoder()
    parameters = dict(model.get_params(deep=False))
    learned = {key: value for key, value in vars(model).items() if key not in parameters}
    if callable(parameters.get("callback")):
        parameters["callback"] = None
    note = {"kind": "model", "format": FORMAT, "version": library_version(), "class": name}
    for part, values in (("parameters", parameters), ("attributes", learned)):
        note[part] = {key: encoder.encode(value, key) for key, value in values.items()}
    note["extra"] = encoder.encode(dict(extra or {}), "extra")
    try:
        container.write(path, encoder.finish(), note)
    except OSError as error:
        raise not_written(error, "save the model to", path) from error
    return path


def load(path: str | os.PathLike, *, check: bool = False) -> Any:
    """Return the fitted estimator of a file that :func:`save` wrote.

    The header, the structure and the digests of up to 16 MB of arrays (from the smallest on, so all of a small model)
    are always checked. Larger arrays are mapped into memory and read when used, and only with ``check=True`` compared
    with their digests first. Sparse arrays are always checked in full. Only load large files you would trust to be
    whole without it.

    Raises
    ------
    DamagedFileError
        A ValueError: the file is not a saved model, not whole, or of a newer format.
    """
    from unweave.persist.check import check_loaded

    contents = _open(path)
    note = contents.note
    names = set(contents.entries) if check else contents.small()
    contents.check(names)
    decoder = Decoder(contents.array)
    try:
        model = find_estimator(note["class"])()
        strange = sorted(set(note["parameters"]) - set(model.get_params(deep=False)))
        if strange:
            raise ValueError(f"{note['class']} has no parameter {strange[0]!r} in this version of unweave")
        former = getattr(model, "_former_names", {})
        for part in ("parameters", "attributes"):
            restore(model, {former.get(key, key): decoder.decode(value) for key, value in note[part].items()})
        add_parameters(model, note["parameters"])
        check_loaded(model, names == set(contents.entries))
    except _NONSENSE as error:
        raise DamagedFileError(_complaint(path, note, error)) from error
    return model


def read_extra(path: str | os.PathLike) -> dict:
    """Return what was given to :func:`save` as `extra`, an empty dict if nothing was; its arrays are always checked."""
    contents = _open(path)

    def checked(name: str):
        contents.check([name])
        return contents.array(name)

    try:
        return dict(Decoder(checked).decode(contents.note["extra"]))
    except _NONSENSE as error:
        raise DamagedFileError(_complaint(path, contents.note, error)) from error


def header(path: str | os.PathLike) -> dict:
    """Return what a file says about itself, as JSON-ready values, without reading its arrays.

    Keys: class, version, format, parameters, n_features, names (of columns, or None), history, certificate, plan,
    attributes, extra, arrays (type, shape and bytes of each) and bytes (of the file).
    """
    contents = _open(path)
    try:
        return {**summary(contents), "bytes": os.stat(path).st_size}
    except _NONSENSE as error:
        raise DamagedFileError(_complaint(path, contents.note, error)) from error


def _open(path: str | os.PathLike) -> Contents:
    """Open a file, and check that it holds a model in a format we know."""
    try:
        contents = Contents(path)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        why = f"there is no file {path}" if missing else f"cannot read {path}: {system_words(error)}"
        raise type(error)(why) from error
    except DamagedFileError as error:
        raise DamagedFileError(f"{error}; {_REMEDY}") from error
    note = contents.note
    if note.get("kind") == "checkpoint":
        raise DamagedFileError(f"{path} is the checkpoint of a fit under way, not a saved model")
    if note.get("kind") == "vectors":
        raise DamagedFileError(
            f"{path} holds vectors of words, not a model: ask it with unweave similar or unweave analogy, or read it "
            "with unweave.Vectors.read"
        )
    parts = (note.get("parameters"), note.get("attributes"), note.get("extra"))
    if note.get("kind") != "model" or type(note.get("format")) is not int:
        raise DamagedFileError(f"{path} is not a saved model of unweave")
    if note["format"] > FORMAT:
        raise DamagedFileError(
            f"{path} was written by unweave {note.get('version')} in format {note['format']}; this is unweave "
            f"{library_version()}, which reads up to format {FORMAT}: install {note.get('version')} or newer"
        )
    if note["format"] < 1 or not all(isinstance(part, dict) for part in parts):
        raise DamagedFileError(f"{path} is not a saved model of unweave")
    if not isinstance(note.get("class"), str) or note["class"] not in ESTIMATORS:
        raise DamagedFileError(
            f"{path} holds a {note.get('class')!r}, which is not an estimator of unweave {library_version()} "
            f"(it was written by {note.get('version')})"
        )
    return contents


def _complaint(path: str | os.PathLike, note: dict, error: BaseException) -> str:
    if isinstance(error, DamagedFileError):
        return str(error)
    words = f"{error} is missing" if isinstance(error, KeyError) else str(error) or type(error).__name__
    other = note.get("version") != library_version()
    hint = f"; it was written by unweave {note.get('version')}, this is {library_version()}" if other else ""
    return f"{path} is damaged or was not written by unweave: {words}{hint}; {_REMEDY}"


# -- what a file says about itself -------------------------------------------------------------------------------------


def summary(contents: Contents) -> dict:
    """Return the header of a saved model as JSON-ready values."""
    note, decoder = contents.note, Decoder(contents.array)
    held = note["attributes"]
    names = decoder.decode(held.get("feature_names_in_"))
    about = {key: note[key] for key in ("class", "version", "format")}
    about["parameters"] = readable(note["parameters"])
    about["n_features"] = held.get("n_features_in_")
    about["names"] = None if names is None else [str(name) for name in names]
    for attribute, key in _RECORDS.items():
        record = decoder.decode(held.get(attribute))
        about[key] = None if record is None else record.as_dict()
    public = {key: told for key, told in held.items() if not key.startswith("_") and key not in _RECORDS}
    about["attributes"] = readable({key: told for key, told in public.items() if key != "feature_names_in_"})
    about["extra"] = readable(note["extra"])
    about["arrays"] = {
        name: {"dtype": str(entry.dtype), "shape": list(entry.shape), "bytes": entry.nbytes}
        for name, entry in contents.entries.items()
    }
    return about


def readable(told: Any) -> Any:
    """Make encoded values readable: an array is its shape, an object its class and what it holds.

    >>> readable({"a": {"$": "tuple", "items": [1, 2]}, "b": {"$": "array", "name": "b", "shape": [3, 4]}})
    {'a': [1, 2], 'b': {'shape': [3, 4]}}
    """
    if isinstance(told, list):
        return [readable(item) for item in told]
    if not isinstance(told, dict):
        return told
    kind = told.get("$")
    if kind is None:
        return {key: readable(item) for key, item in told.items()}
    if kind in ("tuple", "dict"):
        return readable(told["items"])
    if kind in ("float", "scalar", "leaf"):
        return told["is"]
    if kind == "object":
        return {"class": told["class"], "holds": readable(told["state"])}
    if kind == "array":
        return {"shape": told["shape"][::-1] if told.get("by") == "columns" else told["shape"]}
    if kind in ("sparse", "objects"):
        return {"shape": told["shape"]}
    return {"kind": kind}
