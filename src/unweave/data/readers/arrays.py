"""NumPy's npy and npz files, without pickled objects; sizes are checked before anything is allocated."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.finish import dense_table
from unweave.data.readers.npz_sparse import SPARSE_KEYS, sparse_table
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source


def read_npy(source: Source, options: Options) -> NamedTable:
    """One array of two dimensions."""
    with source.open() as file:
        known = None if source.compressed else source.size()
        return array_table(source, options, read_array(source, file, known))


def read_npz(source: Source, options: Options) -> NamedTable:
    """An archive with one array, with several of which ``file.npz:name`` names one, or a sparse matrix of SciPy's."""
    # An archive is read from its end, which a packed stream cannot.
    with io.BytesIO(source.everything()) if source.compressed else source.open() as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                if members.keys() >= SPARSE_KEYS and options.member is None:
                    parts = {name: _member(source, archive, info) for name, info in members.items()}
                    return sparse_table(source, options, parts)
                return array_table(source, options, _member(source, archive, _choose(source, options, members)))
        except ReadError:
            raise
        except Exception as error:  # zipfile fails in many ways on damaged archives
            words = f"the npz archive is damaged ({_reason(error)}); get the file again"
            raise ReadError(source.name, words) from None


FORMATS = {"npy": read_npy, "npz": read_npz}


def looks_like(head: bytes, name: str) -> str | None:
    """npy files have a magic string; a zip archive is npz if its first member is an array.

    >>> looks_like(b"\\x93NUMPY\\x01", "a"), looks_like(b"PK\\x03\\x04", "a.zip")
    ('npy', None)
    """
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    zipped = head.startswith(b"PK\x03\x04")
    return "npz" if zipped and (name.lower().endswith(".npz") or b".npy" in head[30:300]) else None


def _choose(source: Source, options: Options, members: dict[str, zipfile.ZipInfo]) -> zipfile.ZipInfo:
    shown = ", ".join(map(repr, list(members)[:8])) + (", …" if len(members) > 8 else "")
    if options.member is not None:
        if options.member not in members:
            raise ReadError(source.name, f"has no array {options.member!r}; the arrays are {shown}")
        return members[options.member]
    if len(members) == 1:
        return next(iter(members.values()))
    if not members:
        raise ReadError(source.name, "the archive is empty; there is nothing to read")
    example = f"{source.name}:{next(iter(members))}"
    raise ReadError(source.name, f"holds {len(members)} arrays ({shown}); name one of them, as in {example!r}")


def _member(source: Source, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> NDArray:
    # Deflate cannot shrink below 1/1032, so a larger ratio is a lie; the declared size is also what may be allocated.
    if info.file_size > source.memory_limit or info.file_size > 1100 * info.compress_size + 4096:
        words = f"the array {info.filename!r} unpacks to {info.file_size:,} bytes; if that is meant, raise limit="
        raise ReadError(source.name, words)
    with archive.open(info) as file:
        return read_array(source, file, info.file_size)  # type: ignore[arg-type]


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:100]


def read_array(source: Source, file: BinaryIO, size: int | None) -> NDArray:
    """One array in npy format from a file of `size` bytes (None if unknown, then `limit` decides)."""
    shape, fortran, dtype, start = _header(source, file)
    if dtype.hasobject:
        raise ReadError(
            source.name, "holds Python objects, which are never unpickled; save an array of numbers instead"
        )
    n = 1
    for side in shape:
        n *= side
    if n * dtype.itemsize > (source.memory_limit if size is None else size - start):
        held = "the limit" if size is None else f"the {size - start:,} that the file holds"
        words = f"the header announces {n * dtype.itemsize:,} bytes, more than {held}; get the file again"
        raise ReadError(source.name, words)
    # Not np.fromfile: the bytes may come from an archive or a packed stream.
    values = np.empty(n, dtype=dtype)
    view, done = values.view(np.uint8).data if values.nbytes else memoryview(b""), 0
    while done < len(view):
        got = file.readinto(view[done : done + (1 << 24)])  # type: ignore[attr-defined]
        if not got:
            raise ReadError(source.name, f"ends after {done:,} of {len(view):,} bytes of numbers; get the file again")
        done += got
    return values.reshape(shape[::-1]).T if fortran else values.reshape(shape)


def _header(source: Source, file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    from numpy.lib import format as npy

    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(file)
        if version not in readers:
            raise ValueError("it has named fields or a version of the format that is not known")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of headers written by Python 2
            shape, fortran, dtype = readers[version](file)
        start = file.tell()
    except ReadError:
        raise
    except Exception as error:  # whatever a hostile header makes of the parser
        words = f"the header of the array is not valid ({_reason(error)}); save it again with numpy.save"
        raise ReadError(source.name, words) from None
    if any(side < 0 for side in shape):
        raise ReadError(source.name, f"the header announces the shape {shape}; get the file again")
    return shape, fortran, dtype, start


def array_table(source: Source, options: Options, values: NDArray, **more: Any) -> NamedTable:
    """Check that an array is a matrix of numbers, and wrap it."""
    if values.dtype.kind not in "buif":
        what = {"c": "complex numbers", "U": "words", "S": "words", "V": "records", "M": "dates", "m": "durations"}
        found = what.get(values.dtype.kind, str(values.dtype))
        raise ReadError(source.name, f"holds {found}; save an array of real numbers instead")
    if values.ndim != 2:
        remedy = "reshape it to (rows, columns) first"
        raise ReadError(source.name, f"the array has {values.ndim} dimensions, not two; {remedy}")
    with np.errstate(over="ignore", invalid="ignore"):
        X = np.ascontiguousarray(values, dtype=options.dtype)
        holes = bool(np.isnan(X).any())
        infinite = np.isinf(X)
    if infinite.any():
        row, column = map(int, np.argwhere(infinite)[0])
        words = f"the number in row {row + 1}, column {column + 1} is infinite or too large"
        raise ReadError(source.name, f"{words}; use NaN if it is missing")
    return dense_table(source, options, X, holes=holes, **more)
