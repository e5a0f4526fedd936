"""One short text that changes when the problem or the data change."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np
import scipy.sparse as sp


def fingerprint(parameters: Mapping[str, object], tables: Iterable) -> str:
    """Digest of parameters (described by value) and of the tables' bytes, in order."""
    h = hashlib.blake2b(digest_size=20)
    for name in sorted(parameters):
        h.update(f"{name}={_describe(parameters[name])};".encode())
    for table in tables:
        for part in _parts(table):
            h.update(f"{part.shape}{part.dtype}".encode())
            for start in range(0, max(1, part.shape[0] if part.ndim else 1), 4096):
                piece = part[start : start + 4096] if part.ndim else part
                h.update(np.ascontiguousarray(piece).tobytes())
    return h.hexdigest()


def _parts(table) -> list[np.ndarray]:
    if table is None:
        return []
    if sp.issparse(table):
        return [np.array(table.shape), table.indptr, table.indices, table.data]
    return [np.asarray(table)]


def _describe(value) -> str:
    if isinstance(value, np.ndarray) or sp.issparse(value):
        return fingerprint({}, [value])
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_describe(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{_describe(v)}" for k, v in sorted(value.items(), key=lambda kv: str(kv[0]))) + "}"
    if hasattr(value, "get_params"):
        return type(value).__name__ + _describe(value.get_params(deep=False))
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return "generator"
    return repr(value)
