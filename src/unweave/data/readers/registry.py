"""Every format by name: where its reader lives and what it is, without loading any of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

# In the order in which content is asked: magic bytes first, then the narrowest descriptions, prose last.
_MODULES = (
    "images",
    "parquet",
    "arrays",
    "matrix_market",
    "ndjson",
    "bags",
    "libsvm",
    "triples",
    "transactions",
    "delimited",
    "text",
)

_FORMATS: dict[str, tuple[str, str]] = {
    "csv": ("delimited", "cells between commas, semicolons, bars or spaces"),
    "tsv": ("delimited", "cells between tabs"),
    "ndjson": ("ndjson", "one JSON object a line"),
    "parquet": ("parquet", "Apache Parquet"),
    "npy": ("arrays", "one NumPy array"),
    "npz": ("arrays", "an archive of NumPy arrays (FILE.npz:NAME picks one), or a sparse matrix of SciPy's"),
    "images": ("images", "a PNG, JPEG, TIFF, GIF, BMP or WebP image, or a folder of them"),
    "matrix-market": ("matrix_market", "MatrixMarket, sparse or dense"),
    "triples": ("triples", "user, item, value and maybe a time on each line"),
    "pairs": ("triples", "a user and what belongs to it on each line: a 0/1 table"),
    "transactions": ("transactions", "one basket of item numbers a line (FIMI): a 0/1 table"),
    "uci-bag": ("bags", "bag of words as the UCI repository writes it"),
    "lda-c": ("bags", "bag of words as lda-c writes it"),
    "libsvm": ("libsvm", "a label and column:value pairs on each line"),
    "text": ("text", "plain text: a file, a folder, or one document a line"),
}


def formats() -> dict[str, str]:
    """Names of all formats with a line about each.

    >>> formats()["parquet"]
    'Apache Parquet'
    """
    return {name: about for name, (_, about) in _FORMATS.items()}


def module(name: str) -> Any:
    """A module of this folder."""
    return import_module(f"unweave.data.readers.{name}")


def sniffers() -> list[Any]:
    """Modules with a function `looks_like`, in the order in which they are to be asked."""
    return [module(name) for name in _MODULES]


def reader(name: str) -> Callable[..., Any]:
    """The function that reads a format."""
    if name not in _FORMATS:
        raise ValueError(f"format={name!r} is not known; use 'auto' or one of {', '.join(_FORMATS)}")
    return module(_FORMATS[name][0]).FORMATS[name]
