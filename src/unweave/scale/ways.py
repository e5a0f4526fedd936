"""How each block of a sequence gets to a worker: as a small function that reads it there, or sent once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import getitem
from typing import Any

from unweave.scale.on_worker import Parcel, packed

SMALL = 1 << 20  # bytes that are sent with every task rather than held on a worker


class Ways:
    """A sequence of blocks, and the way of each to a worker, which is found once.

    >>> import numpy as np
    >>> Ways(range(3)).block(1, submit=lambda parcel: "sent")()
    1
    >>> Ways([np.ones(2)]).block(0, submit=lambda parcel: "sent")
    'sent'
    """

    def __init__(self, source: Any):
        self.source = source
        self.ways: dict[int, Any] = {}  # a function or a task for each block
        self.read = getattr(source, "fetch", None)
        # A list would be sent whole to read one block of it; other sequences may be recipes.
        if self.read is None and not isinstance(source, list | tuple) and _size(source) <= SMALL:
            self.read = lambda place: partial(getitem, source, place)

    def block(self, place: int, submit: Callable[[Parcel], Any]) -> Any:
        """A small function that reads the block, or a task that holds it, made by `submit`."""
        if place not in self.ways:
            way = self.source[place] if self.read is None else self.read(place)
            # A function that brings the data along is sent once, as a block is.
            small = hasattr(way, "needs") or (self.read is not None and _size(way) <= SMALL)
            self.ways[place] = way if small else submit(Parcel(packed(way)))
        return self.ways[place]


def _size(source: Any) -> float:
    """Bytes of a sequence as it is sent; without end if it cannot be."""
    try:
        return len(packed(source))
    except Exception:
        return float("inf")
