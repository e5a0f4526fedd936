"""The one door to torch: imported when needed, on one thread, or an error that says which extra to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from unweave.registry import lacking


@contextmanager
def torch_for(name: str) -> Iterator[Any]:
    """Hand out torch, on one thread: sums of several threads depend on how many there are.

    Parameters
    ----------
    name : str
        The estimator that needs it, for the error.
    """
    if lack := lacking(name):
        raise ImportError(lack)
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield torch
    finally:
        torch.set_num_threads(threads)
