"""Segment pictures by colour, and paint them in few colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import generator, number, whole
from unweave.group.kmeans import KMeans
from unweave.group.kmeans.passes import assign
from unweave.parallel import single_blas

_FITTED = 2**17  # pixels that a fit looks at; the others are only given their nearest centre
_BLOCK = 2**18  # pixels turned into numbers at a time


@dataclass(frozen=True)
class Quantized:
    """Hold a picture of few colours.

    Attributes
    ----------
    image : array
        As the picture that went in, every pixel in its colour of the palette.
    palette : array (colours, channels)
    indices : array (height, width)
        Row of the palette for every pixel.
    bytes_before, bytes_after : int
        The array that went in; the palette, and as few whole bits per pixel as tell its rows apart.
    """

    image: NDArray
    palette: NDArray
    indices: NDArray
    bytes_before: int
    bytes_after: int


def segment(image, n_clusters: int, *, position: float = 0.0, random_state=None) -> NDArray[np.int32]:
    """Label every pixel by k-means of its colour, and of its place if `position` is not 0: an array (height, width).

    Minimises Σ |colour − c|² + position² |place − p|², colours from 0 to 1 (numbers of type float are taken as they
    are) and places in units of the longer side. A large picture is learned from 131,072 of its pixels, and no copy of
    it is made: besides the labels (4 bytes per pixel), less than 20 MB. For few large regions take a `position` from
    0.5 to 2.

    Parameters
    ----------
    image : array (height, width), (height, width, 3) or (height, width, 4)
        Whole numbers (uint8, uint16) or finite floats.
    n_clusters : int
        Segments; there are fewer if the pixels have fewer distinct values.
    position : float, default=0.0
    random_state : None, int or generator

    Examples
    --------
    >>> import numpy as np, unweave
    >>> unweave.segment(np.array([[0, 10, 250], [5, 255, 245]], dtype=np.uint8), 2)
    array([[0, 0, 1],
           [0, 1, 1]], dtype=int32)
    """
    pixels = _checked(image)
    k, weight = whole(n_clusters, "n_clusters", 1), number(position, "position")
    with single_blas():
        centres = _centres(pixels, k, weight, random_state)
        return _labels(pixels, centres, weight, np.dtype(np.int32))


def quantize(image, n_colors: int, *, random_state=None) -> Quantized:
    """Paint a picture in the `n_colors` colours that lie nearest to its own in squares (vector quantisation).

    Each pixel becomes a row of a palette, so the picture needs log₂ k bits per pixel instead of 24. The palette has the
    type of the picture and is in the order of its first channel; there are fewer colours if the picture has fewer.

    Parameters
    ----------
    image : array (height, width), (height, width, 3) or (height, width, 4)
        Whole numbers (uint8, uint16) or finite floats. Transparency is a channel like the others.
    n_colors : int
    random_state : None, int or generator

    Examples
    --------
    >>> import numpy as np, unweave
    >>> few = unweave.quantize(np.array([[0, 10, 250, 254]], dtype=np.uint8), 2)
    >>> few.image, few.palette.ravel(), few.bytes_before, few.bytes_after
    (array([[  5,   5, 252, 252]], dtype=uint8), array([  5, 252], dtype=uint8), 4, 3)
    """
    pixels = _checked(image)
    k = whole(n_colors, "n_colors", 1)
    with single_blas():
        centres = _centres(pixels, k, 0.0, random_state) * _top(pixels.dtype)
        if pixels.dtype.kind == "u":
            centres = np.clip(np.rint(centres), 0, np.iinfo(pixels.dtype).max)
        palette = np.unique(centres.astype(pixels.dtype), axis=0)
        indices = _labels(pixels, _unit(palette), 0.0, np.min_scalar_type(len(palette) - 1))
    bits = indices.size * (len(palette) - 1).bit_length()
    shown = palette[indices].reshape(np.shape(image))
    return Quantized(shown, palette, indices, int(pixels.nbytes), int(palette.nbytes + -(-bits // 8)))


def _checked(image) -> NDArray:
    """Check a picture and shape it as (height, width, channels)."""
    pixels = np.asarray(image)
    if pixels.ndim == 2:
        pixels = pixels[:, :, None]
    if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or not pixels.size:
        raise ValueError(
            f"image must be (height, width), (height, width, 3) or (height, width, 4), got {np.shape(image)}"
        )
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8)
    if pixels.dtype.kind not in "uf":
        raise TypeError(f"image must hold uint8, uint16 or floats, got {pixels.dtype}: use image.astype(np.uint8)")
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise ValueError("image must hold finite numbers: replace NaN and infinite pixels")
    return pixels


def _top(dtype: np.dtype) -> float:
    return float(np.iinfo(dtype).max) if dtype.kind == "u" else 1.0


def _unit(colours: NDArray) -> NDArray[np.float32]:
    """Scale colours to numbers of which 1 is the most that their type holds."""
    return colours.astype(np.float32) / np.float32(_top(colours.dtype))


def _features(pixels: NDArray, at: NDArray, position: float) -> NDArray[np.float32]:
    """List colours, and places times their weight, of the pixels with these numbers."""
    height, width, channels = pixels.shape
    colours = _unit(pixels.reshape(-1, channels)[at])
    if position == 0:
        return colours
    places = np.column_stack([at // width, at % width]) * (position / max(height, width))
    return np.hstack([colours, places.astype(np.float32)])


def _centres(pixels: NDArray, k: int, position: float, random_state) -> NDArray[np.float32]:
    """Find centres by k-means of the distinct pixels of an even sample, as heavy as they are frequent."""
    rng, n = generator(random_state), pixels.shape[0] * pixels.shape[1]
    if n <= _FITTED:
        at = np.arange(n)
    else:
        at = ((np.arange(_FITTED) + rng.random(_FITTED)) * (n / _FITTED)).astype(np.int64).clip(0, n - 1)
    rows, weights = _features(pixels, at, position), None
    if position == 0:
        rows, weights = np.unique(rows, axis=0, return_counts=True)
    model = KMeans(min(k, len(rows)), random_state=rng, max_iter=1000).fit(rows, sample_weight=weights)
    return model.cluster_centers_


def _labels(pixels: NDArray, centres: NDArray, position: float, dtype: np.dtype) -> NDArray:
    """Find the nearest centre of every pixel, a block of them at a time."""
    height, width = pixels.shape[:2]
    labels = np.empty(height * width, dtype)
    for start in range(0, len(labels), _BLOCK):
        at = np.arange(start, min(start + _BLOCK, len(labels)))
        labels[at] = assign(_features(pixels, at, position), centres)[0]
    return labels.reshape(height, width)
