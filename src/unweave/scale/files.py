"""Tables as row blocks, from wherever users have them: files, arrays, memory maps, Zarr, Dask."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unweave.data.arguments import whole
from unweave.data.readers.several import every_path
from unweave.data.readers.source import Options, ReadError
from unweave.data.storage import is_matrix
from unweave.scale.arrays import (
    array_blocks,
    float_type,
    is_chunked,
    is_zarr_folder,
    picked_columns,
    zarr_array,
)
from unweave.scale.block_source import Blocks, BlockSource, Reader
from unweave.scale.door import as_blocks
from unweave.scale.memory import bytes_of, free_memory, larger_than_memory
from unweave.scale.opened import OpenedFile, open_file

__all__ = ["as_blocks", "blocks", "free_memory", "larger_than_memory"]

_MEMORY = 64 << 20  # bytes of a block


def blocks(
    source: Any,
    *,
    rows: int | None = None,
    memory: int | str | None = None,
    columns: Sequence[str | int] | str | None = None,
    dtype: str | None = None,
    format: str = "auto",
    names: str | int | bool | None = "auto",
    delimiter: str | None = None,
    header: bool | str = "auto",
    encoding: str = "utf-8",
) -> BlockSource:
    """Cut a table that need not fit in memory into row blocks, which `fit` and `transform` read when they need them.

    Parameters
    ----------
    source : path, pattern, list of paths, array or Dask collection
        - Files, as a path, a pattern such as ``"part-*.parquet"`` or a list. Parquet, plain CSV and .npy files are cut
          into blocks; a file of any other kind that :func:`unweave.read` reads as numbers (sparse .npz, MatrixMarket,
          packed CSV) is one block. No block spans two files, and all files need the same columns, in any order.
        - NumPy's memory maps, arrays (dense or sparse), Zarr arrays or folders, HDF5 datasets.
        - Dask arrays and data frames, whose chunks or partitions are the blocks.
    rows : int, optional
        Rows of a block; so many as take `memory` unless told.
    memory : int or str, optional
        Bytes of a block ("64MB", the default is 64 MiB). A fit holds a few blocks at a time.
    columns : list of str or int, optional
        Those to read, by name, or by number where they have no names; all unless told.
    dtype : "float64" or "float32", optional
        Of the numbers. Unless told float32 stays float32 where all columns are; everything else becomes float64.
    format, names, delimiter, header, encoding
        How files are read, as of :func:`unweave.read`. A first column that names the rows is left out, as there.

    Returns
    -------
    BlockSource
        A sequence: ``len(blocks)``, ``blocks[i]`` reads block i as an array (empty cells are NaN) or CSR array, and
        ``blocks.fetch(i)`` is a small function that reads it wherever it is called. It holds no data of files.

    Raises
    ------
    ReadError
        A ValueError of one sentence, with the file and the remedy.

    Notes
    -----
    CSV files are read through once, to find where blocks begin; files of other kinds are opened only. A text column
    after the first is an error: name the columns to read. Where a file changes after it was opened, reading a block
    says so. Parquet files are read fastest where a row group is no larger than a block.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import unweave
    >>> X = np.random.default_rng(0).random((100, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i in range(2):
    ...         np.save(pathlib.Path(folder, f"part-{i}.npy"), X[50 * i : 50 * i + 50])
    ...     table = unweave.blocks(f"{folder}/part-*.npy", rows=25)
    ...     model = unweave.PCA(2).fit(table)
    >>> table
    <4 blocks of 25 rows × 4 columns from 2 files>
    >>> bool(np.allclose(model.components_, unweave.PCA(2).fit(X).components_))
    True
    """
    if isinstance(source, BlockSource):
        raise TypeError("source is a sequence of blocks already: give what it was made from to cut it anew")
    limit = _MEMORY if memory is None else bytes_of(memory)
    asked = None if rows is None else whole(rows, "rows", 1)

    def size(width: int, dtype: np.dtype) -> int:
        return asked or max(1, limit // (dtype.itemsize * max(1, width)))

    columns = [columns] if isinstance(columns, str) else columns
    if columns is not None and not len(columns):
        raise ValueError("columns is empty: name at least one, or leave it out for all")
    if dtype is not None:
        float_type(None, dtype)
    if hasattr(source, "__dask_graph__"):
        from unweave.scale.collections import DaskBlocks

        return DaskBlocks(source, asked, columns, dtype)
    if is_chunked(source) or is_matrix(source):
        return array_blocks(source, size, columns, dtype)
    if not isinstance(source, str | os.PathLike | list | tuple):
        raise TypeError(
            f"source is a {type(source).__name__}: give a path, a pattern, a list of paths, an array, a memory map, "
            "a Zarr array or a Dask collection"
        )
    if isinstance(source, list | tuple) and any(not isinstance(path, str | os.PathLike) for path in source):
        raise TypeError("source is a list of other things than paths: a list of tables is given to fit as it is")
    paths = [os.fspath(path) for path in every_path(source)]
    if len(paths) == 1 and is_zarr_folder(paths[0]):
        return _said_to_be(array_blocks(zarr_array(os.path.abspath(paths[0])), size, columns, dtype), paths[0])
    options = Options(names=names, delimiter=delimiter, header=header, encoding=encoding)
    return _file_blocks(paths, format, options, columns, dtype, size)


def _said_to_be(found: Blocks, path: str) -> Blocks:
    """The same blocks, said to come from a path."""
    found.origin = os.path.basename(path.rstrip("/"))
    return found


# -- files -------------------------------------------------------------------------------------------------------------


def _file_blocks(
    paths: list[str], format: str, options: Options, columns: Any, dtype: Any, size: Callable[[int, np.dtype], int]
) -> Blocks:
    opened: list[OpenedFile] = []
    for path in paths:
        opened.append(open_file(path, format, options, opened[0] if opened else None))
    first = opened[0]
    wanted = _wanted(first, columns)
    numbers = [_places(file, first, wanted, columns is not None) for file in opened]
    single = all(file.single(places) for file, places in zip(opened, numbers, strict=True))
    out = float_type(np.dtype(np.float32 if single else np.float64), dtype)
    readers: list[Reader] = []
    sizes: list[int | None] = []
    for file, places in zip(opened, numbers, strict=True):
        for reader, n in file.cut(places, out.name, size(len(wanted), out)):
            readers.append(reader)
            sizes.append(n)
    if not readers:
        raise ReadError(paths[0], "holds no rows, nor does any other file; there is nothing to read")
    names = None if first.names is None else [first.names[j] for j in wanted]
    origin = os.path.basename(paths[0]) if len(paths) == 1 else f"{len(paths):,} files"
    return Blocks(readers, names, len(wanted), sizes, origin)


def _wanted(first: OpenedFile, columns: Any) -> list[int]:
    """The places of the columns to read, in the first file."""
    usable = [j for j in range(first.width) if j != first.named and j not in first.words]
    if columns is None:
        odd = [j for j in first.words if j != first.named]
        if odd:
            numbers = ", ".join(repr(first.label(j)) for j in usable[:5]) + (", …" if len(usable) > 5 else "")
            remedy = f"name those of numbers, columns=[{numbers}]" if usable else "give a table of numbers"
            raise ReadError(first.name, f"the column {first.label(odd[0])!r} holds {first.words[odd[0]]}; {remedy}")
        if not usable:
            raise ReadError(first.name, "holds no columns of numbers; there is nothing to work on")
        return usable
    if first.names is None:
        places = picked_columns(columns, first.width) or []
    else:
        places = [_place(first, name) for name in columns]
    for j in places:
        if j in first.words:
            raise ReadError(
                first.name, f"the column {first.label(j)!r} holds {first.words[j]}; leave it out of columns="
            )
    return places


def _place(file: OpenedFile, name: str | int) -> int:
    assert file.names is not None
    if name in file.names:
        return file.names.index(str(name))
    shown = ", ".join(map(repr, file.names[:8])) + (", …" if len(file.names) > 8 else "")
    raise ReadError(file.name, f"there is no column {name!r} for columns=; the columns are {shown}")


def _places(file: OpenedFile, first: OpenedFile, wanted: list[int], chosen: bool) -> list[int]:
    """Where the columns that are read from the first file are in another."""
    if file is first:
        return wanted
    if (file.names is None) != (first.names is None) or (file.names is None and file.width != first.width):
        raise ReadError(file.name, f"has {_shape(file)}, where {first.name} has {_shape(first)}; give the same columns")
    if file.names is None or first.names is None:
        return wanted
    names = [first.names[j] for j in wanted]
    lost = [name for name in names if name not in file.names]
    more = [] if chosen else [name for name in file.names if name not in first.names]
    if lost or more:
        told = f"lacks {', '.join(map(repr, lost[:5]))}" if lost else f"has {', '.join(map(repr, more[:5]))} besides"
        raise ReadError(file.name, f"{told}, unlike {first.name}; give files of the same columns, or columns=[...]")
    places = [file.names.index(name) for name in names]
    for j in places:
        if j in file.words:
            raise ReadError(
                file.name,
                f"the column {file.label(j)!r} holds {file.words[j]}, and numbers in {first.name}; make them alike, or "
                "choose other columns, columns=[...]",
            )
    return places


def _shape(file: OpenedFile) -> str:
    return (
        f"{file.width:,} columns without names"
        if file.names is None
        else f"columns {', '.join(map(repr, file.names[:5]))}"
    )
