"""Reads images by Pillow: one file becomes a matrix of grey values or colours, a folder one flattened image per row."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.build import dense_table
from unweave.data.readers.source import Options, ReadError, Source

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
_KINDS = ["PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP"]
_MAGIC = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*")
_MOST_PIXELS = 1 << 28


def read_images(source: Source, options: Options) -> NamedTable:
    """Read one image as a matrix of grey values or colours, or a folder of images of one size, one per row."""
    if source.is_folder:
        return _read_folder(source, options)
    with source.open() as file:
        pixels, lost = _decode(source, source.name, file, options.colour)
    if pixels.ndim == 3 and (pixels == pixels[:, :, :1]).all():
        pixels = pixels[:, :, 0]  # saved in colour, but grey everywhere
    channels = 1 if pixels.ndim == 2 else pixels.shape[2]
    words = "grey values" if channels == 1 else "red, green and blue, those of a pixel side by side"
    notes = [f"a single image: the table is its {words}, one row of pixels per row", *lost]
    X = pixels.reshape(len(pixels), -1).astype(options.dtype)
    return dense_table(source, options, X, holes=False, kind="images", channels=channels, notes=notes)


FORMATS = {"images": read_images}


def looks_like(head: bytes, name: str) -> str | None:
    """Tell PNG, JPEG, GIF, TIFF, BMP and WebP images by their first bytes.

    >>> looks_like(b"\\xff\\xd8\\xff\\xe0", "a"), looks_like(b"BMI,age\\n", "a.csv")
    ('images', None)
    """
    bmp = head.startswith(b"BM") and head[6:10] == b"\0\0\0\0"
    webp = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
    return "images" if head.startswith(_MAGIC) or bmp or webp else None


def image_files(folder: Path) -> list[Path]:
    """List the files of a folder and its subfolders that are named like images, in order of their names."""
    return sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())


def _read_folder(source: Source, options: Options) -> NamedTable:
    files = image_files(source.path)
    if not files:
        raise ReadError(source.name, f"the folder holds no images ({', '.join(sorted(SUFFIXES))})")
    names = [path.relative_to(source.path).as_posix() for path in files]
    shapes = [_shape(source, path, name) for path, name in zip(files, names)]
    for name, shape in zip(names, shapes):
        if shape[:2] != shapes[0][:2]:
            words = f"{name} has {shape[0]}×{shape[1]} pixels and {names[0]} has {shapes[0][0]}×{shapes[0][1]}"
            raise ReadError(source.name, f"{words}; bring all images to one size")
    colour = any(len(shape) == 3 for shape in shapes)
    image = (*shapes[0][:2], 3) if colour else shapes[0][:2]
    width = int(np.prod(image))
    if len(files) * width * np.dtype(options.dtype).itemsize > source.memory_limit:
        raise ReadError(source.name, f"{len(files):,} images of {width:,} numbers exceed the limit; raise limit=")
    X = np.empty((len(files), width), dtype=options.dtype)
    decided: dict[str, None] = {}
    for i, (path, name) in enumerate(zip(files, names)):
        with path.open("rb") as file:
            pixels, lost = _decode(source, name, file, colour)
        if colour and pixels.ndim == 2:
            pixels = np.stack([pixels] * 3, axis=-1)
        decided |= dict.fromkeys(lost)
        if pixels.shape != image:
            raise ReadError(source.name, f"{name} is not of the size that its header says; replace the image")
        X[i] = pixels.reshape(-1)
    notes = [f"{len(files)} {'colour' if colour else 'grey'} images of {image[0]}×{image[1]} pixels, one per row"]
    notes += decided
    return dense_table(source, options, X, holes=False, rows=names, kind="images", image=image, notes=notes)


def _open(source: Source, name: str, file: BinaryIO) -> Any:
    """Open an image, and check its size before it is decoded."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(file, formats=_KINDS)
    except Image.DecompressionBombError:
        raise _too_large(source, name) from None
    except Exception as error:  # decoders fail in many ways on damaged files
        raise _damaged(source, name, error) from None
    if image.width * image.height > min(_MOST_PIXELS, source.memory_limit // 8):
        raise _too_large(source, name)
    return image


def _shape(source: Source, path: Path, name: str) -> tuple[int, ...]:
    try:
        with path.open("rb") as file:
            image = _open(source, name, file)
            return (image.height, image.width, 3) if _has_colour(image) else (image.height, image.width)
    except OSError as error:
        raise _damaged(source, name, error) from None


def _has_colour(image: Any) -> bool:
    return image.mode not in ("1", "L", "LA", "La", "I", "F", "I;16", "I;16B", "I;16L")


def _decode(source: Source, name: str, file: BinaryIO, colour: bool) -> tuple[NDArray, list[str]]:
    """Decode grey values (height, width), or red, green and blue (height, width, 3), and say what is left out.

    With `colour` images that have colours keep them.
    """
    image = _open(source, name, file)
    lost = _left_out(image)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if colour and _has_colour(image):
                image = image.convert("RGB")
            elif image.mode not in ("L", "I", "F", "I;16", "I;16B", "I;16L"):
                image = image.convert("RGB").convert("L") if _has_colour(image) else image.convert("L")
            pixels = np.asarray(image)
    except ReadError:
        raise
    except Exception as error:
        raise _damaged(source, name, error) from None
    if pixels.dtype.kind == "f" and not np.isfinite(pixels).all():
        raise ReadError(source.name, f"a pixel of {name} is NaN or infinite; replace the image")
    return pixels, lost


def _left_out(image: Any) -> list[str]:
    """Say what of an image is not in the table: transparency, and digits beyond 8 bits that the decoder drops."""
    words = []
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        words.append("transparency is left out: pixels count as if nothing shone through")
    deep = any("16" in str(part[3:]) for part in image.tile)
    if deep and image.mode not in ("I", "I;16", "I;16B", "I;16L"):
        words.append("16 bits a colour are read as 8")
    elif deep:
        words.append("16 bits a pixel: grey values up to 65535")
    return words


def _too_large(source: Source, name: str) -> ReadError:
    return ReadError(source.name, f"the image {name} has too many pixels; make it smaller or raise limit=")


def _damaged(source: Source, name: str, error: Exception) -> ReadError:
    if isinstance(error, ReadError):
        return error
    reason = (str(error).splitlines() or [type(error).__name__])[0][:100]
    return ReadError(source.name, f"the image {Path(name).name} cannot be decoded ({reason}); save it again")
