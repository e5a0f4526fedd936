"""The one door for tables in blocks that do not look like a sequence of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.scale.memory import larger_than_memory


def as_blocks(X: Any) -> Any:
    """X as a sequence of row blocks where it is one in another form; everything else as it is.

    Other forms are Dask collections, arrays stored in chunks (Zarr, HDF5), and memory maps that are larger than half of
    the free memory. Whoever asks :func:`unweave.data.table.is_blocks` of what a user gave asks this first.

    >>> as_blocks([[1.0, 2.0]])
    [[1.0, 2.0]]
    """
    if not (hasattr(X, "__dask_graph__") or _in_chunks(X) or _too_large(X)):
        return X
    from unweave.scale.files import blocks

    return blocks(X)


def _in_chunks(X: Any) -> bool:
    return hasattr(X, "chunks") and hasattr(X, "__getitem__") and len(getattr(X, "shape", ())) == 2


def _too_large(X: Any) -> bool:
    return isinstance(X, np.memmap) and X.ndim == 2 and larger_than_memory(X.nbytes)
