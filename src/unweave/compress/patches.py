"""Cut images into small squares, and put squares back together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unweave.data.arguments import whole


def patches(image: ArrayLike, size: int | tuple[int, int] = 8, step: int = 1) -> NDArray:
    """Every square of an image as a row: of `size` pixels a side, `step` pixels apart.

    The last square of each row and column is there even where the step would leave out the border, so that every pixel
    is in at least one.

    Parameters
    ----------
    image : array (height, width) or (height, width, channels)
    size : int or (int, int), default=8
    step : int, default=1

    Returns
    -------
    array (squares, height of one · width of one · channels)
        Whole numbers become float64; NaN (missing pixels) stays.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> unweave.patches(np.arange(12).reshape(3, 4), size=2, step=2).tolist()
    [[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0], [4.0, 5.0, 8.0, 9.0], [6.0, 7.0, 10.0, 11.0]]
    """
    pixels = _image(image)
    (high, wide), tall, broad = _sides(size, pixels.shape), *_corners(pixels.shape, size, step)
    views = np.lib.stride_tricks.sliding_window_view(pixels, (high, wide), axis=(0, 1))[tall][:, broad]
    if pixels.ndim == 3:
        views = np.moveaxis(views, 2, -1)
    return np.ascontiguousarray(views).reshape(len(tall) * len(broad), -1)


def from_patches(rows: ArrayLike, shape: tuple[int, ...], size: int | tuple[int, int] = 8, step: int = 1) -> NDArray:
    """The image of that shape whose squares these rows are; where squares overlap, their mean.

    `size` and `step` are those that :func:`patches` was given. NaN in a square is left out of the mean; a pixel of
    which nothing is known is NaN.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> image = np.arange(12.0).reshape(3, 4)
    >>> bool((unweave.from_patches(unweave.patches(image, 2), image.shape, 2) == image).all())
    True
    """
    shape = tuple(int(side) for side in shape)
    if len(shape) not in (2, 3):
        raise ValueError(f"shape must be (height, width) or (height, width, channels), got {shape}")
    (high, wide), tall, broad = _sides(size, shape), *_corners(shape, size, step)
    squares = np.asarray(rows)
    want = (len(tall) * len(broad), high * wide * int(np.prod(shape[2:])))
    if squares.shape != want:
        raise ValueError(
            f"rows must have the shape {want} for an image {shape}, size={size}, step={step}; got {squares.shape}"
        )
    squares = squares.reshape(len(tall), len(broad), high, wide, *shape[2:])
    seen = np.isfinite(squares)
    total, count = np.zeros(shape), np.zeros(shape)
    for i in range(high):
        for j in range(wide):
            where = np.ix_(tall + i, broad + j)
            total[where] += np.where(seen[:, :, i, j], squares[:, :, i, j], 0)
            count[where] += seen[:, :, i, j]
    image = np.full(shape, np.nan)
    np.divide(total, count, out=image, where=count > 0)
    return image.astype(squares.dtype if squares.dtype == np.float32 else np.float64)


def psnr(image: ArrayLike, truth: ArrayLike, peak: float | None = None) -> float:
    """How close an image is to the true one, in decibels: 10·log₁₀(peak²/mean squared error); higher is better.

    `peak` is the span of pixel values: 255 for whole numbers of one byte, otherwise the largest less the smallest pixel
    of the true image unless given.

    Examples
    --------
    >>> import numpy as np, unweave
    >>> round(unweave.psnr([[0.0, 0.9]], [[0.0, 1.0]]), 2)
    23.01
    """
    true = np.asarray(truth)
    if np.shape(image) != true.shape:
        raise ValueError(f"image has the shape {np.shape(image)}, truth {true.shape}: they must be the same")
    if peak is None:
        peak = 255.0 if true.dtype == np.uint8 else float(true.max() - true.min())
    error = float(np.mean(np.square(np.asarray(image, dtype=np.float64) - true.astype(np.float64))))
    return float("inf") if error == 0 else float(10 * np.log10(peak**2 / error)) if peak > 0 else float("-inf")


def _image(image: ArrayLike) -> NDArray:
    pixels = np.asarray(image)
    if pixels.ndim not in (2, 3) or not pixels.size:
        raise ValueError(f"image must be (height, width) or (height, width, channels), got the shape {pixels.shape}")
    if pixels.dtype.kind not in "buif":
        raise TypeError(f"image must hold real numbers, got {pixels.dtype}")
    return pixels if pixels.dtype in (np.float32, np.float64) else pixels.astype(np.float64)


def _sides(size, shape: tuple[int, ...]) -> tuple[int, int]:
    high, wide = size if isinstance(size, tuple) else (size, size)
    high, wide = whole(high, "size", 1), whole(wide, "size", 1)
    if high > shape[0] or wide > shape[1]:
        raise ValueError(f"size={size} is larger than the image ({shape[0]}×{shape[1]}): choose smaller squares")
    return high, wide


def _corners(shape: tuple[int, ...], size, step: int) -> tuple[NDArray, NDArray]:
    """Where squares begin, the last ones at the border."""
    step = whole(step, "step", 1)
    firsts = (
        np.union1d(np.arange(0, side - length + 1, step), [side - length])
        for side, length in zip(shape, _sides(size, shape), strict=False)
    )
    tall, broad = firsts
    return tall, broad
