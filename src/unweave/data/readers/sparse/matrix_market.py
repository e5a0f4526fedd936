"""Reads MatrixMarket files by SciPy's fast reader, after the header was checked."""

from __future__ import annotations

import re
from typing import BinaryIO, NamedTuple

import numpy as np

from unweave.data.named import NamedTable
from unweave.data.readers.build import LARGEST, canonical, check_bytes, check_shape, missing_of
from unweave.data.readers.source import Options, ReadError, Source
from unweave.data.readers.sparse.bags import words_beside
from unweave.data.storage import as_dense

_BANNER = b"%%MatrixMarket"
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric")
_LINE = re.compile(r"Line (\d+): (.*)", re.DOTALL)
_NOT_FINITE = re.compile(r"(?i)\b(nan|inf|infinity)\b")


class Header(NamedTuple):
    """Says what the first lines promise; `line` is the one with the sizes, `entries` the lines that follow it."""

    arrangement: str
    field: str
    symmetry: str
    shape: tuple[int, int]
    entries: int
    line: int


def read_matrix_market(source: Source, options: Options) -> NamedTable:
    """Read a sparse table of a ``coordinate`` file, or a dense one of an ``array`` file.

    Zeros of a coordinate file are data unless ``missing="zeros"`` says that what is not listed is unknown. Entries at
    the same place are added up; a ``pattern`` file is a 0/1 relation. A vocabulary beside a coordinate file
    (:func:`~unweave.data.readers.sparse.bags.words_beside`) gives the columns names.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "a.mtx")
    ...     _ = path.write_text("%%MatrixMarket matrix coordinate real general\\n2 3 1\\n2 3 1.5\\n")
    ...     read_matrix_market(Source(path), Options()).X.toarray().tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.5]]
    """
    header = read_header(source)
    _check_sizes(source, header)
    read = _read(source)
    return _dense(source, read, options) if header.arrangement == "array" else _sparse(source, read, header, options)


def read_header(source: Source) -> Header:
    """Read the banner and the sizes, and check that this reader can take them."""
    with source.open() as file:
        words = file.readline(1024).decode("ascii", "replace").split()
        if not words or words[0].lower() != _BANNER.decode().lower() or len(words) != 5:
            raise ReadError(source.name, "the first line must read %%MatrixMarket matrix coordinate real general", 1)
        what, arrangement, field, symmetry = (word.lower() for word in words[1:])
        _check_banner(source, what, arrangement, field, symmetry)
        line, sizes = 1, b""
        while not sizes.strip() or sizes.startswith(b"%"):
            line, sizes = line + 1, file.readline(1 << 20)
            if not sizes:
                raise ReadError(source.name, "the line with the sizes is missing; the file is cut", line)
    numbers = sizes.split()
    wanted = 3 if arrangement == "coordinate" else 2
    if len(numbers) != wanted or not all(number.isdigit() and len(number) < 19 for number in numbers):
        names = "rows, columns and entries" if wanted == 3 else "rows and columns"
        raise ReadError(source.name, f"the line with the sizes must hold the numbers of {names}", line)
    rows, columns, *rest = (int(number) for number in numbers)
    if symmetry != "general" and rows != columns:
        raise ReadError(source.name, f"a {symmetry} matrix must be square, not {rows}×{columns}", line)
    entries = rest[0] if rest else _stored(rows, columns, symmetry)
    return Header(arrangement, field, symmetry, (rows, columns), entries, line)


def _check_banner(source: Source, what: str, arrangement: str, field: str, symmetry: str) -> None:
    if field == "complex" or symmetry == "hermitian":
        raise ReadError(source.name, "complex numbers are not supported; write real and imaginary parts apart", 1)
    known = what == "matrix" and arrangement in ("coordinate", "array") and field in _FIELDS and symmetry in _SYMMETRIES
    if not known or (arrangement == "array" and field == "pattern"):
        raise ReadError(source.name, f"'{what} {arrangement} {field} {symmetry}' is no kind of matrix that is known", 1)


def _stored(rows: int, columns: int, symmetry: str) -> int:
    """Count the lines of an array file: all entries, or one triangle."""
    return {
        "general": rows * columns,
        "symmetric": rows * (rows + 1) // 2,
        "skew-symmetric": rows * (rows - 1) // 2,
    }[symmetry]


def _check_sizes(source: Source, header: Header) -> None:
    """Compare the promised sizes with the file, before anything is allocated for them."""
    line, entries = header.line, header.entries
    # The shortest line of an array file is a digit and its end; of a coordinate file two digits and a blank besides.
    shortest = 2 if header.arrangement == "array" else 4 if header.field == "pattern" else 6
    # The last line may have no end.
    check_bytes(source, shortest * entries - 1, f"{entries} entries", line)
    if header.arrangement == "coordinate":
        check_shape(source, header.shape, entries, line)
    elif max(header.shape) > LARGEST or min(header.shape) < 1:
        raise ReadError(source.name, f"{header.shape[0]}×{header.shape[1]} is no size that can be read", line)


def _read(source: Source):
    """Let SciPy read the matrix, and turn its errors into ours."""
    from scipy.io import mmread

    try:
        with source.open() as file:
            return mmread(_Guarded(source, file))
    except ReadError:
        raise
    except (ValueError, OverflowError, TypeError, MemoryError) as error:
        found = _LINE.match(str(error))
        line, words = (int(found[1]), found[2]) if found else (None, str(error))
        words = words.strip().rstrip(".") or type(error).__name__
        raise ReadError(
            source.name, f"{words[:1].lower()}{words[1:]}; correct the file or get it again", line
        ) from None


class _Guarded:
    """A stream that SciPy's parser cannot run beyond: the parser looks for line ends as C does.

    A zero byte, or a last line that has no end and more behind its value, crashes it. So zero bytes are refused and a
    last line end is added.
    """

    def __init__(self, source: Source, file: BinaryIO):
        self._source, self._file, self._ended = source, file, False

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if b"\0" in data:
            raise ReadError(
                self._source.name, "there is a zero byte, so this is no MatrixMarket text; get the file again"
            )
        if not data and size and not self._ended:
            self._ended = True
            return b"\n"
        return data


def _sparse(source: Source, read, header: Header, options: Options) -> NamedTable:
    listed = read.nnz
    with np.errstate(over="ignore"):
        X = canonical(read, options.dtype)
    missing = missing_of(options, None)
    _need_finite(source, X.data, header, nan=False)
    notes = ["an entry that is not listed is unknown" if missing else "an entry that is not listed is 0"]
    if listed > X.nnz:
        notes.append(f"{listed - X.nnz} entries at the place of another were added to it")
    if header.field == "pattern":
        X.data[:] = 1
    kind = "pairs" if header.field == "pattern" else "ratings" if missing else "table"
    rows, columns = _names(source, X.shape, notes)
    if columns is not None and kind == "table" and _are_counts(X.data):
        kind = "counts"
    return NamedTable(X, rows, columns, missing=missing, kind=kind, notes=notes, source=source.name)


def _names(source: Source, shape: tuple[int, int], notes: list[str]) -> tuple[list[str] | None, list[str] | None]:
    """Take names of rows or columns from a vocabulary beside the file, and note what became of it."""
    words = words_beside(source)
    if words is None:
        return None, None
    if len(words) == shape[1]:
        notes.append("the vocabulary beside the file names the columns")
        return None, words
    if len(words) == shape[0]:
        notes.append("the vocabulary beside the file names the rows: documents are the columns here, transpose X")
        return words, None
    notes.append(f"the vocabulary beside the file has {len(words)} words, neither {shape[1]} nor {shape[0]}: left out")
    return None, None


def _are_counts(values) -> bool:
    return bool((values >= 0).all() and (values == np.floor(values)).all())


def _dense(source: Source, read, options: Options) -> NamedTable:
    with np.errstate(over="ignore"):
        X = np.ascontiguousarray(as_dense(read), dtype=options.dtype)
    _need_finite(source, X, None, nan=True)
    holes = int(np.isnan(X).sum())
    missing = options.missing if options.missing != "auto" else "nan" if holes else None
    notes = [f"{holes} entries are NaN: unknown"] if holes else []
    return NamedTable(X, missing=missing, notes=notes, source=source.name)


def _need_finite(source: Source, values, header: Header | None, *, nan: bool) -> None:
    wrong = np.isinf(values) if nan else ~np.isfinite(values)
    if not wrong.any():
        return
    word = re.compile(r"(?i)inf") if nan else _NOT_FINITE
    after = header.line if header else 1
    line = next((n for n, text in source.lines() if n > after and not text.startswith("%") and word.search(text)), None)
    remedy = "replace it (NaN is unknown)" if nan else "leave the entry out (missing='zeros' if that means unknown)"
    raise ReadError(source.name, f"a value is not finite; {remedy}", line)


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "matrix-market" if the first word says so.

    >>> looks_like(b"%%MatrixMarket matrix coordinate real general\\n", "a.mtx")
    'matrix-market'
    """
    return "matrix-market" if head[: len(_BANNER)].lower() == _BANNER.lower() else None


FORMATS = {"matrix-market": read_matrix_market}
