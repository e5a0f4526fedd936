"""Make small pictures: numbers to 255 levels, levels to colours, colours to PNG, with nothing but zlib."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

MISSING = 255  # the level of an entry that is not known
_LARGEST = 4_000_000

# Ends and middles of the colour scales: one hue for amounts, vermillion to blue about zero for signed numbers.
_AMOUNTS = ("f7fbff", "d6e6f4", "abcfe6", "6aaed6", "3787c0", "105ba4", "08306b")
_SIGNED = ("7a3300", "d55e00", "f0a860", "f8f8f6", "74b4dc", "0072b2", "003e66")
_UNKNOWN = "b8b8b8"


def quantise(values: NDArray, low: float, high: float) -> dict:
    """Turn a table of numbers into a picture that fits into JSON: a byte each, from `low` to `high`, 255 for NaN."""
    span = high - low if high > low else 1.0
    with np.errstate(invalid="ignore"):
        scaled = np.clip((np.asarray(values, dtype=np.float64) - low) / span, 0, 1)
    levels = np.where(np.isnan(scaled), MISSING, np.round(np.nan_to_num(scaled) * 254)).astype(np.uint8)
    return {
        "size": list(levels.shape),
        "low": float(low),
        "high": float(high),
        "levels": base64.b64encode(levels.tobytes()).decode("ascii"),
    }


def levels_of(picture: dict) -> NDArray[np.uint8]:
    """Decode the bytes of a picture made by :func:`quantise`; raises ValueError when they do not fit its size."""
    size = tuple(int(side) for side in picture["size"])
    if not 2 <= len(size) <= 3 or min(size) < 1 or np.prod(size, dtype=float) > _LARGEST:
        raise ValueError(f"a picture of size {size} cannot be drawn")
    raw = base64.b64decode(picture["levels"], validate=True)
    if len(raw) != int(np.prod(size)):
        raise ValueError(f"a picture of size {size} has {len(raw)} bytes")
    return np.frombuffer(raw, dtype=np.uint8).reshape(size)


def data_uri(picture: dict) -> str:
    """Write a picture as the address of an image that needs no file."""
    levels = levels_of(picture)
    if levels.ndim == 3 and levels.shape[2] in (3, 4):
        levels = np.ascontiguousarray(levels[:, :, :3])
        encoded = encode(levels)
    else:
        levels = levels.reshape(levels.shape[:2])
        encoded = encode(levels, palette(signed=float(picture["low"]) < 0 < float(picture["high"])))
    return "data:image/png;base64," + base64.b64encode(encoded).decode("ascii")


def palette(signed: bool) -> NDArray[np.uint8]:
    """Make 256 colours: a scale of 255, then the colour of what is not known."""
    anchors = np.array([_rgb(colour) for colour in (_SIGNED if signed else _AMOUNTS)], dtype=np.float64)
    at = np.linspace(0, len(anchors) - 1, 255)
    scale = np.column_stack([np.interp(at, np.arange(len(anchors)), anchors[:, c]) for c in range(3)])
    return np.vstack([np.round(scale), [_rgb(_UNKNOWN)]]).astype(np.uint8)


def encode(pixels: NDArray[np.uint8], colours: NDArray[np.uint8] | None = None) -> bytes:
    """Encode as PNG an array (height, width, 3), or (height, width) indices into `colours`."""
    height, width = pixels.shape[:2]
    kind = 2 if colours is None else 3
    rows = pixels.reshape(height, -1)
    raw = np.hstack([np.zeros((height, 1), np.uint8), rows]).tobytes()
    parts = [b"\x89PNG\r\n\x1a\n", _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))]
    if colours is not None:
        parts.append(_chunk(b"PLTE", colours.tobytes()))
    return b"".join([*parts, _chunk(b"IDAT", zlib.compress(raw, 6)), _chunk(b"IEND", b"")])


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[:2], 16), int(colour[2:4], 16), int(colour[4:], 16)
