"""Reads a file or folder: a path in, a table with names out."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from unweave.data.named import NamedTable
from unweave.data.readers.detect import detect_format, reader
from unweave.data.readers.several import every_path, stack
from unweave.data.readers.source import Options, ReadError, Source

_URL = re.compile(r"[a-z][a-z0-9+.-]+://", re.IGNORECASE)
_MEMBER = re.compile(r"(.+\.(?:npz|xlsx|xlsm|xls|ods)):([^/\\:]+)", re.IGNORECASE | re.DOTALL)
_NO_FOLDER = "is a folder where a file is expected; name one file in it"


def read(
    path: str | os.PathLike | Sequence[str | os.PathLike],
    *,
    format: str = "auto",
    text: str | None = None,
    missing: str | None = "auto",
    names: str | int | bool | None = "auto",
    delimiter: str | None = None,
    header: bool | str = "auto",
    encoding: str = "utf-8",
    dtype: str = "float64",
    limit: int | None = None,
    duplicates: str = "mean",
    colour: bool = False,
    lines: bool | None = None,
    stop_words: str | list[str] | None = "english",
    min_documents: int = 2,
    max_words: int = 20000,
) -> NamedTable:
    """Read a local file or folder into a table with the names of its rows and columns.

    Parameters
    ----------
    path : str or path
        A file, maybe packed as .gz, .xz or .zst; ``archive.npz:name`` for one array of several; a folder of images or
        of ``*.txt`` files; ``book.xlsx:sheet`` for a sheet that is not the first. Several files of the same columns,
        as a list or as a pattern such as ``"sales-*.csv"``, become one table, one below the other.
    format : str
        "auto" tells the format by the content; :func:`unweave.data.readers.formats` lists the names.
    text : str, optional
        A column of texts in a table: its words are counted, as with :meth:`NamedTable.texts`.
    missing : "auto", "nan", "zeros" or None
        What is unknown. "auto": empty cells and NaN in tables, what is not stored in ratings, nothing in counts. "nan":
        the same, also if nothing is missing here. "zeros": zeros, stored or not. None: nothing, and a hole is an error.
    names : "auto", column name, column number, or None
        The column with names of rows. "auto" takes the first column if it holds words that do not repeat.
    delimiter : str, optional
        Between cells, if it should not be found out.
    header : "auto", True or False
        Whether the first line names the columns.
    encoding : str
        Of text, such as "latin-1"; a byte order mark in the file wins.
    dtype : "float64" or "float32"
        Of the numbers.
    limit : int, optional
        The most bytes that may be unpacked or allocated because a file says so; by default 16 GiB, and for packed files
        no more than 250 times their size plus 64 MiB.
    duplicates : "mean", "last", "sum" or "error"
        What to make of ratings of one user for one item.
    colour : bool
        A single image: keep red, green and blue of each pixel, side by side (see :attr:`NamedTable.picture`), where it
        has colours, instead of its grey values. Folders of images keep their colours anyway.
    lines : bool, optional
        Text: whether every line is a document; by default found out.
    stop_words : str, list of str or None
        Text: words that are left out: a language such as "english", several languages, or words.
    min_documents, max_words : int
        Text: words in fewer documents are left out, and only the most frequent are kept.

    Returns
    -------
    NamedTable
        Its `notes` say in words what was decided.

    Raises
    ------
    ReadError
        A ValueError of one sentence that names the file, the line when there is one, and the remedy.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from unweave.data.readers import read
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "people.csv")
    ...     _ = path.write_text("name,age,height\\nAnn,31,1.7\\nBob,,1.8\\n")
    ...     table = read(path)
    >>> table, table.rows, table.missing
    (NamedTable(2×2 table, columns 'age', 'height'), ['Ann', 'Bob'], 'nan')
    >>> table.X
    array([[31. ,  1.7],
           [ nan,  1.8]])
    """
    options = Options(
        missing=missing,
        names=names,
        delimiter=delimiter,
        header=header,
        encoding=encoding,
        dtype=dtype,
        limit=limit,
        duplicates=duplicates,
        colour=colour,
        lines=lines,
        stop_words=stop_words,
        min_documents=min_documents,
        max_words=max_words,
    )
    table = stack([_read_one(one, format, options) for one in every_path(path)])
    if text is None:
        return table
    return table.texts(text, stop_words=stop_words, min_documents=min_documents, max_words=max_words)


def _read_one(path: str | os.PathLike, format: str, options: Options) -> NamedTable:
    source, options = open_source(path, options)
    name = detect_format(source) if format == "auto" else format
    work = reader(name)
    if source.is_folder and name not in ("text", "images"):
        raise ReadError(source.name, _NO_FOLDER)
    try:
        return work(source, options)
    except OSError as error:
        raise source.failure(error) from None


def open_source(path: str | os.PathLike, options: Options) -> tuple[Source, Options]:
    """Open the source, and note the member of an archive that the path may name."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be the path of a local file, got {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        text = os.fsdecode(text)
    if _URL.match(text) and not os.path.exists(text):
        raise ReadError(text, "only local files are read; download it first")
    if not text:
        raise ReadError("''", "the path is empty; name a file")
    member = _MEMBER.fullmatch(text)
    if member and not os.path.exists(text):
        text, options = member[1], replace(options, member=member[2])
    return Source(text, limit=options.limit, encoding=options.encoding), options
