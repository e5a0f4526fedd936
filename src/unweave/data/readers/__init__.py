"""Readers: files of many formats into one :class:`~unweave.data.named.NamedTable`.

``read`` is what users call; every module here reads one family of formats and says by `looks_like` what its files look
like. Names are loaded when first used, so that listing formats costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.data.readers.door import read
    from unweave.data.readers.options import Options
    from unweave.data.readers.registry import formats
    from unweave.data.readers.source import ReadError, Source

__all__ = ["read", "formats", "ReadError", "Source", "Options"]

_HOMES = {
    "read": "door",
    "formats": "registry",
    "ReadError": "source",
    "Source": "source",
    "Options": "options",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
