"""Reads NumPy's npy and npz files and SciPy's sparse npz files; no pickles, and sizes are checked before allocation."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.build import canonical, dense_table
from unweave.data.readers.source import Options, ReadError, Source
from unweave.data.tensor import SparseTensor

_SPARSE_KEYS = {"data", "format", "shape"}
_PARTS = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


def read_npy(source: Source, options: Options) -> NamedTable:
    """Read one array, of two dimensions or (a tensor) more."""
    with source.open() as file:
        known = None if source.compressed else source.size()
        return array_table(source, options, read_array(source, file, known))


def read_npz(source: Source, options: Options) -> NamedTable:
    """Read an archive: an array, one of several (``file.npz:name``, or the only tensor), a sparse matrix or tensor."""
    # An archive is read from its end, which a packed stream cannot.
    with io.BytesIO(source.everything()) if source.compressed else source.open() as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                if members.keys() >= _SPARSE_KEYS and options.member is None:
                    parts = {name: _member(source, archive, info) for name, info in members.items()}
                    return sparse_table(source, options, parts)
                if options.member is None and (lists := _listed_keys(members)) is not None:
                    coords, values, shape = (_member(source, archive, members[name]) for name in lists)
                    return listed_table(source, options, coords.T if "data" in lists else coords, values, shape)
                return array_table(
                    source, options, _member(source, archive, _choose(source, options, archive, members))
                )
        except ReadError:
            raise
        except Exception as error:  # zipfile fails in many ways on damaged archives
            words = f"the npz archive is damaged ({_reason(error)}); get the file again"
            raise ReadError(source.name, words) from None


FORMATS = {"npy": read_npy, "npz": read_npz}


def looks_like(head: bytes, name: str) -> str | None:
    """Tell npy files by their first bytes, and npz files by a zip archive whose first member is an array.

    >>> looks_like(b"\\x93NUMPY\\x01", "a"), looks_like(b"PK\\x03\\x04", "a.zip")
    ('npy', None)
    """
    if head.startswith(b"\x93NUMPY"):
        return "npy"
    zipped = head.startswith(b"PK\x03\x04")
    return "npz" if zipped and (name.lower().endswith(".npz") or b".npy" in head[30:300]) else None


def _only_tensor(source: Source, archive: zipfile.ZipFile, members: dict) -> zipfile.ZipInfo | None:
    """Find the one array with three or more sides, where all others are labels, tables and the like."""
    found = []
    for info in members.values():
        try:
            with archive.open(info) as file:
                if len(npy_header(source, file)[0]) > 2:  # type: ignore[arg-type]
                    found.append(info)
        except ReadError:  # no array: it is listed among what may be named
            continue
    return found[0] if len(found) == 1 else None


def _choose(
    source: Source, options: Options, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]
) -> zipfile.ZipInfo:
    shown = ", ".join(map(repr, list(members)[:8])) + (", …" if len(members) > 8 else "")
    if options.member is not None:
        if options.member not in members:
            raise ReadError(source.name, f"has no array {options.member!r}; the arrays are {shown}")
        return members[options.member]
    if len(members) == 1:
        return next(iter(members.values()))
    if not members:
        raise ReadError(source.name, "the archive is empty; there is nothing to read")
    if (tensor := _only_tensor(source, archive, members)) is not None:
        return tensor
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
    """Read one array in npy format from a file of `size` bytes (None if unknown, then `limit` decides)."""
    shape, fortran, dtype, start = npy_header(source, file)
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


def npy_header(source: Source, file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype, int]:
    """Read shape, whether columns are stored one after the other, type, and the byte at which the numbers begin."""
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
    """Check that an array is a matrix or a tensor of numbers, and wrap it."""
    if values.dtype.kind not in "buif":
        what = {"c": "complex numbers", "U": "words", "S": "words", "V": "records", "M": "dates", "m": "durations"}
        found = what.get(values.dtype.kind, str(values.dtype))
        raise ReadError(source.name, f"holds {found}; save an array of real numbers instead")
    if values.ndim > 2:
        return tensor_table(source, options, values)
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


# -- tensors -----------------------------------------------------------------------------------------------------------

# Names under which lists of coordinates, their values and the shape are saved: ours, those of `sparse` (whose
# coordinates have a row for each side, not for each entry), those of pyttb.
_LISTED = (("coords", "values", "shape"), ("coords", "data", "shape"), ("subs", "vals", "shape"))


def tensor_table(source: Source, options: Options, values: NDArray, **more: Any) -> NamedTable:
    """Wrap an array of three or more sides, for models that take tensors."""
    if not values.size:
        raise ReadError(
            source.name, f"the tensor has a side of length 0 ({_by(values.shape)}); there is nothing to read"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        X = np.ascontiguousarray(values, dtype=options.dtype)
    if np.isinf(X).any():
        at = ", ".join(map(str, np.argwhere(np.isinf(X))[0]))
        raise ReadError(source.name, f"the number at ({at}) is infinite or too large; use NaN if it is missing")
    holes = int(np.isnan(X).sum())
    if holes and options.missing is None:
        raise ReadError(source.name, "an entry is NaN, and missing=None allows none; leave missing= out")
    notes = [f"a tensor of {_by(X.shape)}" + (f"; {holes:,} entries are missing (NaN)" if holes else "")]
    missing = "zeros" if options.missing == "zeros" else "nan" if holes or options.missing == "nan" else None
    return NamedTable(X, kind="tensor", missing=missing, notes=notes, source=source.name, **more)


def _listed_keys(members: dict[str, zipfile.ZipInfo]) -> tuple[str, ...] | None:
    return next((names for names in _LISTED if members.keys() >= set(names)), None)


def listed_table(source: Source, options: Options, coords: NDArray, values: NDArray, shape: NDArray) -> NamedTable:
    """Make a tensor of coordinates, values and a shape; every coordinate is checked against the shape."""
    if shape.ndim != 1 or shape.dtype.kind not in "iu" or not 0 < len(shape) <= 64 or coords.ndim != 2:
        raise ReadError(source.name, "is not a list of coordinates: coords must be a table and shape a list of lengths")
    if len(shape) < 3:
        raise ReadError(source.name, "is a list of coordinates of a table; save it with scipy.sparse.save_npz")
    try:
        with np.errstate(over="ignore"):
            X = SparseTensor(coords, values.reshape(-1).astype(options.dtype), tuple(int(side) for side in shape))
    except (ValueError, TypeError, OverflowError) as error:
        raise ReadError(source.name, f"the list of coordinates is not valid ({str(error)[:160]})") from None
    missing = "zeros" if options.missing == "zeros" else None
    what = "unknown (missing='zeros')" if missing else "zeros"
    notes = [f"a tensor of {_by(X.shape)} with {X.nnz:,} stored entries; those not stored are {what}"]
    return NamedTable(X, kind="tensor", missing=missing, notes=notes, source=source.name)


def _by(shape) -> str:
    return "×".join(map(str, shape))


# -- sparse matrices of SciPy's save_npz -------------------------------------------------------------------------------


def sparse_table(source: Source, options: Options, parts: dict[str, NDArray]) -> NamedTable:
    """Make a CSR table of the arrays in the archive."""
    arrangement = _format_name(parts["format"])
    if arrangement not in _PARTS:
        raise ReadError(source.name, f"is a sparse matrix in the format {arrangement!r}; save it with .tocsr() first")
    try:
        X = _build_sparse(source, arrangement, parts, options.dtype)
    except ReadError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as error:
        words = f"the sparse matrix is not valid ({str(error)[:120] or type(error).__name__}); save it again with scipy"
        raise ReadError(source.name, words) from None
    missing = "zeros" if options.missing == "zeros" else None
    if not np.isfinite(X.data).all():
        if np.isinf(X.data).any() or options.missing != "zeros":
            raise ReadError(source.name, "a stored entry is NaN or infinite; leave entries out if they are missing")
        X.data[np.isnan(X.data)] = 0
        X.eliminate_zeros()
    what = "unknown (missing='zeros')" if missing else "zeros"
    notes = [f"sparse: {X.nnz:,} stored entries; those not stored are {what}"]
    return NamedTable(X, missing=missing, notes=notes, source=source.name)


def _format_name(value: NDArray) -> str:
    item: Any = value.item() if value.ndim == 0 else ""
    return item.decode("ascii", "replace") if isinstance(item, bytes) else str(item)


def _build_sparse(source: Source, arrangement: str, parts: dict[str, NDArray], dtype: str) -> sp.csr_array:
    data, indices = parts["data"], [parts[name] for name in _PARTS[arrangement]]
    if data.dtype.kind not in "buif" or data.ndim != 1:
        raise ReadError(source.name, f"the entries are {data.dtype}, not a list of real numbers; save real numbers")
    if any(index.dtype.kind not in "iu" for index in indices):
        raise ValueError("indices are not whole numbers")
    n, m = (int(side) for side in parts["shape"])
    # A wide promise with few entries would make CSR allocate a pointer for each row.
    if min(n, m) < 1 or max(n, m) > min(2**31 - 1, 10_000_000 + 1000 * data.size):
        raise ReadError(source.name, f"announces a shape of {n}×{m} for {data.size} entries; check the file")
    with np.errstate(over="ignore"):
        values = data.astype(dtype)
    if arrangement == "coo":
        found = sp.coo_array((values, tuple(indices)), shape=(n, m))
    else:
        kind = sp.csr_array if arrangement == "csr" else sp.csc_array
        found = kind((values, *indices), shape=(n, m))
        found.check_format(full_check=True)
    return canonical(found, dtype)
