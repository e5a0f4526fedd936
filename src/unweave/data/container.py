"""The one way arrays are written to disk: a safetensors file with a JSON note, atomically, with a digest of each array.

A file is written beside its destination, flushed to the disk and renamed over it, so a reader finds the old file or the
new one, never a part. Reading checks the digests before anything is used. No pickle.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_NOTE, _DIGESTS = "unweave", "digests"


class DamagedFileError(ValueError):
    """A file that is not one of ours, or not whole."""


def digest(array: NDArray) -> str:
    """A short fingerprint of an array's bytes (not of its shape or type)."""
    return hashlib.blake2b(np.ascontiguousarray(array).data.cast("B"), digest_size=16).hexdigest()


def write(path: str | os.PathLike, arrays: Mapping[str, NDArray], note: Mapping) -> None:
    """Write named arrays and a JSON note to `path`, atomically."""
    from safetensors.numpy import save_file

    target = Path(path)
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    metadata = {
        _NOTE: json.dumps(note),
        _DIGESTS: json.dumps({name: digest(array) if array.size else "" for name, array in plain.items()}),
    }
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=target.name, suffix=".part")
    os.close(handle)
    try:
        save_file(plain, temporary, metadata=metadata)
        _flush(temporary)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _flush(target.parent or Path("."))


def _flush(path: str | os.PathLike) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: str | os.PathLike) -> tuple[dict[str, NDArray], dict]:
    """The arrays and the note of a file written by :func:`write`; DamagedFileError if it is anything else."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="np") as file:
            metadata = file.metadata() or {}
            note, digests = json.loads(metadata[_NOTE]), json.loads(metadata[_DIGESTS])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise DamagedFileError(f"{path} is not a whole file of unweave ({error})") from error
    if set(arrays) != set(digests) or not isinstance(note, dict):
        raise DamagedFileError(f"{path} does not hold the arrays it lists")
    for name, array in arrays.items():
        if array.size and digest(array) != digests[name]:
            raise DamagedFileError(f"{path} is damaged: the contents of {name!r} do not match their digest")
    return arrays, note
