"""Lists the formats and finds out which one a file is in.

The content decides, and the name of the file only where the content leaves a choice. Readers are loaded when they are
asked, so that listing formats costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from unweave.data.readers.source import ReadError, Source

# In the order in which content is asked: magic bytes first, then the narrowest descriptions, prose last.
_MODULES = (
    "sound",
    "images",
    "spreadsheets",
    "statistics",
    "frames",
    "arrays",
    "sparse.matrix_market",
    "sparse.bags",
    "sparse.libsvm",
    "ratings.read",
    "sparse.transactions",
    "csv.read",
    "text",
)

_FORMATS: dict[str, tuple[str, str]] = {
    "csv": ("csv.read", "cells between commas, semicolons, bars or spaces"),
    "tsv": ("csv.read", "cells between tabs"),
    "ndjson": ("frames", "one JSON object per line"),
    "json": ("frames", "an array of JSON objects"),
    "excel": ("spreadsheets", "a sheet of an Excel workbook (FILE.xlsx:SHEET picks one); needs unweave[excel]"),
    "spss": ("statistics", "SPSS (.sav, .zsav); needs unweave[stats]"),
    "stata": ("statistics", "Stata (.dta); needs unweave[stats]"),
    "parquet": ("frames", "Apache Parquet"),
    "npy": ("arrays", "one NumPy array"),
    "npz": ("arrays", "an archive of NumPy arrays (FILE.npz:NAME picks one), or a sparse matrix of SciPy's"),
    "images": ("images", "a PNG, JPEG, TIFF, GIF, BMP or WebP image, or a folder of them"),
    "wav": ("sound", "a sound: one row for each sample, one column for each channel"),
    "matrix-market": ("sparse.matrix_market", "MatrixMarket, sparse or dense"),
    "triples": ("ratings.read", "user, item, value and maybe a time on each line"),
    "pairs": ("ratings.read", "a user and what belongs to it on each line: a 0/1 table"),
    "transactions": ("sparse.transactions", "one basket of item numbers per line (FIMI): a 0/1 table"),
    "uci-bag": ("sparse.bags", "bag of words as the UCI repository writes it"),
    "lda-c": ("sparse.bags", "bag of words as lda-c writes it"),
    "libsvm": ("sparse.libsvm", "a label and column:value pairs on each line"),
    "text": ("text", "plain text: a file, a folder, or one document per line"),
}
_BY_NAME = {
    "csv": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "jsonl": "ndjson",
    "ndjson": "ndjson",
    "json": "json",
    "mtx": "matrix-market",
    "svm": "libsvm",
    "libsvm": "libsvm",
    "txt": "text",
    "md": "text",
}
# A name that says "cells" rules out what looks like cells with some missing.
_NOT_CELLS = {"transactions", "text", "lda-c"}
_FOREIGN = {
    b"%PDF": "a PDF document; export its tables as CSV",
    b"\x89HDF": "an HDF5 file; save the array with numpy.save",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"SQLite format 3": "an SQLite database; export a table as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel or Word file; save it as CSV or .xlsx",
    b"PK\x03\x04": "a zip archive; unpack it",
    b"\x80\x02": "a pickle, which is never loaded; save the array with numpy.save",
    b"\x80\x03": "a pickle, which is never loaded; save the array with numpy.save",
    b"\x80\x04": "a pickle, which is never loaded; save the array with numpy.save",
    b"\x80\x05": "a pickle, which is never loaded; save the array with numpy.save",
}


# Formats that users registered: name → (reader, the question whether a file is in it).
_ADDED: dict[str, tuple[Callable[..., Any], Callable[[bytes, str], bool]]] = {}


def register(name: str, about: str, looks_like: Callable[[bytes, str], bool]) -> Callable:
    """Make a format of your own known to `unweave.read`; ``docs/contributing.md`` shows one.

    Use it as a decorator of the reader, a function of a `Source` and `Options` that returns a `NamedTable`.
    ``looks_like(head, file_name)`` is asked before all formats of the package.
    """
    if name in _FORMATS and name not in _ADDED:
        raise ValueError(f"there is a format {name!r} already: give yours another name")

    def enter(reader: Callable[..., Any]) -> Callable[..., Any]:
        _FORMATS[name], _ADDED[name] = ("", about), (reader, looks_like)
        return reader

    return enter


def formats() -> dict[str, str]:
    """Return the names of all formats with a line about each.

    >>> formats()["parquet"]
    'Apache Parquet'
    """
    return {name: about for name, (_, about) in _FORMATS.items()}


def module(name: str) -> Any:
    """Import a module of this folder."""
    return import_module(f"unweave.data.readers.{name}")


def modules_in_order() -> list[Any]:
    """Return the modules with a function `looks_like`, in the order in which they are to be asked."""
    return [module(name) for name in _MODULES]


def reader(name: str) -> Callable[..., Any]:
    """Return the function that reads a format."""
    if name not in _FORMATS:
        raise ValueError(f"format={name!r} is not known; use 'auto' or one of {', '.join(_FORMATS)}")
    return _ADDED[name][0] if name in _ADDED else module(_FORMATS[name][0]).FORMATS[name]


# -- telling the format of a file --------------------------------------------------------------------------------------


def detect_format(source: Source) -> str:
    """Return the name of the format of a file; ReadError lists all of them if none fits.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mystery")
    ...     _ = path.write_text("x\\ty\\n1\\t2\\n")
    ...     detect_format(Source(path))
    'tsv'
    """
    if source.is_folder:
        return _detect_in_folder(source)
    head = source.head()
    text = _text_head(source, head)
    suffix = source.inner_name.rpartition(".")[2].lower()
    cells = _BY_NAME.get(suffix) in ("csv", "tsv")
    for name, (_, looks_like) in _ADDED.items():
        if looks_like(text, source.inner_name):
            return name
    for candidate in modules_in_order():
        found = candidate.looks_like(text, source.inner_name)
        if found is not None and not (cells and found in _NOT_CELLS):
            return found
    return _by_name_or_refuse(source, head, text, suffix)


def _text_head(source: Source, head: bytes) -> bytes:
    """Return the head as UTF-8 if it is text in another known encoding, else as it is."""
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    if not wide and source.encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return head
    try:
        with source.open_utf8() as file:
            return file.read(len(head))
    except ReadError:
        return head


def _by_name_or_refuse(source: Source, head: bytes, text: bytes, suffix: str) -> str:
    for magic, words in _FOREIGN.items():
        if head.startswith(magic):
            raise ReadError(source.name, f"is {words}")
    if suffix in _BY_NAME and b"\0" not in text:
        return _BY_NAME[suffix]
    known = ", ".join(formats())
    raise ReadError(source.name, f"the format cannot be told from the content; say format= one of {known}")


def _detect_in_folder(source: Source) -> str:
    """Tell a folder of texts from a folder of images by the files in it."""
    from unweave.data.readers.images import SUFFIXES

    pictures = texts = 0
    try:
        for path in source.path.rglob("*"):
            pictures += path.suffix.lower() in SUFFIXES
            texts += path.suffix.lower() == ".txt"
    except OSError as error:
        raise source.failure(error) from None
    if pictures and texts:
        raise ReadError(source.name, "the folder holds both images and texts; say format='images' or format='text'")
    if pictures or texts:
        return "images" if pictures else "text"
    raise ReadError(source.name, "is a folder without *.txt files or images; name one file in it")
