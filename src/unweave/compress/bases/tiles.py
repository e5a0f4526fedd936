"""Cut a picture into small ones side by side, a row each, and put it together again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.data.named import NamedTable


def tiles(image: Any, size: int = 8) -> NamedTable:
    """Cut a picture into tiles of `size` by `size` pixels: a table with a row for each, from left to right, line by line.

    Where the sides of the picture are no multiples of `size`, its last line and column are repeated until they are;
    :func:`from_tiles` takes that away again. Each model fits the table, and knows that its rows are pictures.

    Parameters
    ----------
    image : array (height, width) or (height, width, channels), or NamedTable
        Brightness, or colours; whatever numbers stand for full. A table that :func:`unweave.read` made of one picture.
    size : int, default=8

    Examples
    --------
    >>> import numpy as np, unweave
    >>> cut = unweave.tiles(np.arange(12.0).reshape(3, 4), 2)
    >>> cut.shape, cut.X[0].tolist()
    ((4, 4), [0.0, 1.0, 4.0, 5.0])
    """
    size = whole(size, "size", 1)
    pixels = _pixels(image)
    height, width = pixels.shape[:2]
    more = [(0, -side % size) for side in (height, width)] + [(0, 0)] * (pixels.ndim - 2)
    padded = np.pad(pixels, more, mode="edge")
    down, across = padded.shape[0] // size, padded.shape[1] // size
    split = padded.reshape(down, size, across, size, *pixels.shape[2:]).swapaxes(1, 2)
    X = np.ascontiguousarray(split).reshape(down * across, -1)
    names = [f"line {i // across + 1}, tile {i % across + 1}" for i in range(len(X))]
    source = image.source if isinstance(image, NamedTable) else ""
    return NamedTable(X, names, kind="images", image=(size, size, *pixels.shape[2:]), source=source)


def from_tiles(rows: Any, shape: tuple[int, ...], size: int = 8) -> NDArray:
    """Put a picture of this shape together again from the tiles that :func:`tiles` cut.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> picture = np.arange(12.0).reshape(3, 4)
    >>> bool((unweave.from_tiles(unweave.tiles(picture, 2), picture.shape, 2) == picture).all())
    True
    """
    size = whole(size, "size", 1)
    rows = np.asarray(rows.X if isinstance(rows, NamedTable) else rows)
    sides = tuple(whole(side, "shape", 1) for side in shape)
    if len(sides) not in (2, 3):
        raise ValueError(f"shape must be (height, width) or (height, width, channels), got {shape!r}")
    down, across = -(-sides[0] // size), -(-sides[1] // size)
    wanted = (down * across, size * size * int(np.prod(sides[2:])))
    if rows.shape != wanted:
        raise ValueError(
            f"a picture of {shape} in tiles of {size} by {size} has the shape {wanted}, and rows has {rows.shape}: give "
            "the shape and the size that it was cut with"
        )
    split = rows.reshape(down, across, size, size, *sides[2:]).swapaxes(1, 2)
    whole_picture = split.reshape(down * size, across * size, *sides[2:])
    return np.ascontiguousarray(whole_picture[: sides[0], : sides[1]])


def _pixels(image: Any) -> NDArray:
    """The pixels of a picture as floats, or an error that says what a picture is."""
    pixels = np.asarray(image.X if isinstance(image, NamedTable) else image)
    if pixels.ndim not in (2, 3) or not pixels.size:
        raise ValueError(
            f"image must be an array (height, width) or (height, width, channels) with pixels in it, got {pixels.shape}"
        )
    if pixels.dtype.kind not in "buif":
        raise TypeError(f"image must hold numbers, got {pixels.dtype}")
    pixels = pixels if pixels.dtype == np.float32 else pixels.astype(np.float64)
    if not np.isfinite(pixels).all():
        raise ValueError("image has pixels that are NaN or infinite: fill them first")
    return pixels
