"""Run ``unweave segment``: draw a picture in segments, each in its mean colour."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unweave.cli.options import Settings
from unweave.cli.output import write_bytes
from unweave.cli.place import file_for
from unweave.cli.say import Speaker


def run(settings: Settings) -> int:
    from unweave.group.images import segment
    from unweave.report.png import encode

    speaker = Speaker(settings)
    if settings.k > 256:
        raise ValueError(f"a PNG with a palette holds at most 256 segments, got -k {settings.k}")
    target = file_for(settings.out, Path(f"{settings.file.stem}-segments.png"), settings.force)
    pixels = _pixels(settings.file)
    with speaker.hearing():
        labels = segment(pixels, settings.k, position=settings.position, random_state=settings.seed)
    colours, shares = _means(pixels, labels)
    picture = encode(labels.astype(np.uint8), colours)
    write_bytes(target, picture)
    error = float(np.mean((pixels - colours[labels].astype(np.float64)) ** 2))
    quality = "exact" if error == 0 else f"{10 * math.log10(255**2 / error):.1f} dB"
    rows = [[str(t), "#" + colours[t].tobytes().hex(), f"{shares[t]:.1%}"] for t in range(len(colours))]
    speaker.table(f"{len(colours)} segments", ["segment", "colour", "share"], rows)
    speaker.line(f"{target}: {target.stat().st_size / 1e3:.0f} KB, {quality}")
    speaker.result(
        {
            "verb": "segment", "file": str(settings.file), "out": str(target), "segments": len(colours),
            "shares": shares, "colours": colours, "mean_squared_error": error,
        }
    )  # fmt: skip
    return 0


def _pixels(path: Path) -> NDArray[np.uint8]:
    """Read red, green and blue; transparency is dropped."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        if isinstance(error, OSError) and error.strerror:
            raise
        raise ValueError(f"{path}: cannot be read as an image; save it as PNG or JPEG") from None


def _means(pixels: NDArray, labels: NDArray) -> tuple[NDArray[np.uint8], NDArray]:
    """Average the colour of every segment, and take its share."""
    flat, k = labels.ravel(), int(labels.max()) + 1
    counts = np.bincount(flat, minlength=k)
    sums = [np.bincount(flat, pixels[:, :, c].ravel(), k) for c in range(3)]
    means = np.column_stack(sums) / np.maximum(counts, 1)[:, None]
    return np.rint(means).astype(np.uint8), counts / len(flat)
