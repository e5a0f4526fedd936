"""Read and write files of vectors: word2vec's text and binary, GloVe's text, fastText's .vec, and our own.

Nothing a file says is believed: sizes in its first line are held against its length before anything is allocated.
Vectors in text go through the compiled reader of numbers in pieces; a piece that it does not understand is read line by
line, which also words the errors.
"""

from __future__ import annotations

import gzip
import mmap
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.data import container
from unweave.data.atomic import replace_file
from unweave.data.container import Contents, DamagedFileError
from unweave.data.readers.source import ReadError, Source

if TYPE_CHECKING:
    from unweave.embed.vectors import Vectors

FORMATS = ("unweave", "word2vec", "word2vec-binary", "glove", "fasttext")
_BY_ENDING = {".txt": "word2vec", ".vec": "fasttext", ".bin": "word2vec-binary"}
_PIECE = 1 << 20  # bytes of text read as one
_COMPILED = 4 << 20  # from here on the compiled reader pays, whose loading takes a third of a second
_HEAD = 1 << 16
_LONGEST = 2000  # bytes of a word in a binary file
_FEW, _ROWS = 4096, 1 << 14
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
_FOREIGN = {
    b"\xba\x16\x4f\x2f": "is a model of fastText; give the .vec file that stands beside it",
    b"\x80": "is a pickle, which is never loaded; save the vectors with save_word2vec_format",
    b"PK\x03\x04": "is a zip archive; unpack it",
    b"\x93NUMPY": "is an array without words; make Vectors(words, numpy.load(path))",
}


def read(path: str | os.PathLike, *, encoding: str = "utf-8", limit: int | None = None) -> Vectors:
    """As :meth:`Vectors.read` says."""
    from unweave.embed.vectors import Vectors

    source = Source(path, limit=limit, encoding=encoding)
    head = source.head(_HEAD)
    if head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= container.MOST_HEADER:
        return _read_own(source)
    for magic, words in _FOREIGN.items():
        if head.startswith(magic):
            raise ReadError(source.name, words)
    with _Bytes(source) as data:
        shape = _shape(source, data, head)
        symbols, array = (_read_binary if shape.binary else _read_text)(source, data, shape)
    if not symbols:
        raise ReadError(source.name, "holds no vectors; there is nothing to read")
    first: dict[str, int] = {}
    for i, word in enumerate(symbols):
        first.setdefault(word, i)
    if len(first) < len(symbols):
        lost = len(symbols) - len(first)
        again = next(word for i, word in enumerate(symbols) if first[word] != i)
        warnings.warn(
            f"{source.name}: {lost} words come again ({again!r}, say): the first vector is kept", stacklevel=3
        )
        symbols, array = list(first), array[list(first.values())]
    return Vectors(symbols, array)


class _Bytes:
    """The bytes of a file: mapped into memory, or unpacked."""

    def __init__(self, source: Source):
        self._source = source
        self._mapped: mmap.mmap | None = None

    def __enter__(self) -> Any:
        if self._source.compressed:
            return self._source.everything()
        with self._source.open() as file:
            self._mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._mapped

    def __exit__(self, *_: object) -> None:
        if self._mapped is not None:
            self._mapped.close()


class _Shape(NamedTuple):
    """What the beginning of a file says: how many vectors (None if nothing), how long, and how they are written."""

    announced: int | None
    width: int
    begin: int  # the byte after the first line, if that says sizes
    binary: bool
    separator: bytes


def _shape(source: Source, data: Any, head: bytes) -> _Shape:
    line = head.partition(b"\n")[0].rstrip(b" \t\r")
    separator = b"\t" if b"\t" in line and b" " not in line else b" "
    cells = line.split(separator)
    if len(cells) == 2 and all(cell.isdigit() and len(cell) < 13 for cell in cells):
        count, width = map(int, cells)
        begin = head.find(b"\n") + 1
        after = head[begin:] if begin else b""
        binary = any(byte in _CONTROLS for byte in after)
        second = after.partition(b"\n")[0].rstrip(b" \t\r").split(separator)
        if binary or width == 1 or len(second) != 2:
            least = count * (4 * width + 1 if binary else 2 * width)
            if width < 1 or least > len(data):
                words = f"its first line announces {count:,} vectors of {width:,} numbers"
                raise ReadError(source.name, f"{words}, but the file has {len(data):,} bytes; get it again", 1)
            return _Shape(count, width, begin, binary, separator)
    if len(cells) < 2 or not all(map(_is_number, cells[1:])):
        if len(line) == len(head) > 1 << 15:
            raise ReadError(source.name, "the first line does not end; this is no file of vectors", 1)
        words = "the first line must be the number of vectors and their length, or a word and its numbers"
        raise ReadError(source.name, f"is no file of vectors: {words}", 1)
    return _Shape(None, len(cells) - 1, 0, False, separator)


def _is_number(cell: bytes) -> bool:
    try:
        return b"_" not in cell and float(cell) is not None
    except ValueError:
        return False


# -- text --------------------------------------------------------------------------------------------------------------


def _read_text(source: Source, data: Any, shape: _Shape) -> tuple[list[str], NDArray[np.float32]]:
    pieces = list(_pieces(data, shape.begin))
    read_piece = _compiled_reader(shape) if len(data) >= _COMPILED else None
    found: list[tuple[list[str], NDArray]] = []

    def work(start: int, stop: int) -> list[tuple[bytes, NDArray] | None]:
        return [read_piece(data[begin:end]) for begin, end in pieces[start:stop]] if read_piece else [None]

    line = 1 + (shape.announced is not None)
    for at, parsed in enumerate(done for several in parallel.run(work, len(pieces), 1) for done in several):
        text = data[slice(*pieces[at])]
        if parsed is None:
            words, values = _read_lines(source, text, shape, line, last=at == len(pieces) - 1)
        else:
            words, values = _decoded(source, parsed[0].split(b"\n")[:-1], line), parsed[1]
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
        if not (finite := np.isfinite(single).all(axis=1)).all():
            words_ = "a number is NaN, infinite or too large; leave the word out"
            raise ReadError(source.name, words_, line + int(np.argmin(finite)))
        found.append((words, single))
        line += text.count(b"\n")
    symbols = [word for words, _ in found for word in words]
    if shape.announced is not None and len(symbols) != shape.announced:
        words_ = f"its first line announces {shape.announced:,} vectors, but it has {len(symbols):,}"
        raise ReadError(source.name, f"{words_}; get it again, or correct the first line")
    return symbols, np.vstack([values for _, values in found] or [np.empty((0, shape.width), np.float32)])


def _pieces(data: Any, begin: int) -> Iterator[tuple[int, int]]:
    while begin < len(data):
        end = data.find(b"\n", min(begin + _PIECE, len(data)))
        end = len(data) if end < 0 else end + 1
        yield begin, end
        begin = end


def _compiled_reader(shape: _Shape) -> Callable[[bytes], tuple[bytes, NDArray] | None]:
    from unweave.kernels.numbers import read_rows

    def read_piece(text: bytes) -> tuple[bytes, NDArray] | None:
        text = text.replace(b"\r\n", b"\n") if b"\r" in text else text
        ends = shape.separator + b"\n"
        text = text.replace(ends, b"\n") if ends in text else text
        text = text if text.endswith(b"\n") else text + b"\n"
        rows = text.count(b"\n")
        if rows * shape.width > len(text):
            return None
        values = np.empty((rows, shape.width))
        labels, unsure = np.empty(len(text) + 1, np.uint8), np.empty((_FEW, 3), np.int64)
        raw, by_eights = np.frombuffer(text, np.uint8), np.frombuffer(text, np.uint64, count=len(text) // 8)
        done, wrong, holes, listed, end = read_rows(
            raw,
            by_eights,
            shape.width,
            ord(shape.separator),
            ord("."),
            values.reshape(-1).view(np.uint64),
            labels,
            unsure,
        )
        if wrong >= 0 or holes or done != rows:
            return None
        for k, first, after in unsure[:listed]:
            values.reshape(-1)[k] = float(text[first:after])
        return labels[:end].tobytes(), values

    return read_piece


def _read_lines(source: Source, text: bytes, shape: _Shape, line: int, last: bool) -> tuple[list[str], NDArray]:
    """Read a piece line by line; a word may hold separators, since its numbers are counted from the right."""
    words, rows = [], []
    lines = text.split(b"\n")
    lines = lines[:-1] if text.endswith(b"\n") else lines
    while last and lines and not lines[-1].strip():
        lines.pop()
    for number, raw in enumerate(lines, line):
        cells = raw.rstrip(b"\r").rstrip(shape.separator).rsplit(shape.separator, shape.width)
        if len(cells) != shape.width + 1:
            wrong = f"{max(0, len(cells) - 1)} numbers where {shape.width} are expected"
            raise ReadError(source.name, f"{wrong}; the file is damaged or cut off", number)
        try:
            if any(b"_" in cell for cell in cells[1:]):
                raise ValueError
            rows.append([float(cell) for cell in cells[1:]])
        except ValueError:
            strange = next(cell for cell in cells[1:] if not _is_number(cell))
            shown = strange[:30].decode("utf-8", "replace")
            raise ReadError(source.name, f"{shown!r} is not a number; the file is damaged", number) from None
        words.append(cells[0])
    return _decoded(source, words, line), np.array(rows, dtype=np.float64).reshape(len(rows), shape.width)


def _decoded(source: Source, words: list[bytes], line: int | None) -> list[str]:
    try:
        return b"\n".join(words).decode(source.encoding).split("\n") if words else []
    except UnicodeDecodeError:
        for i, word in enumerate(words):
            try:
                word.decode(source.encoding)
            except UnicodeDecodeError:
                what = f"the word {word[:20]!r} is not {source.encoding} text"
                remedy = "say which it is, for instance encoding='latin-1'"
                raise ReadError(source.name, f"{what}; {remedy}", None if line is None else line + i) from None
        raise


# -- binary ------------------------------------------------------------------------------------------------------------


def _read_binary(source: Source, data: Any, shape: _Shape) -> tuple[list[str], NDArray[np.float32]]:
    count, size, at = shape.announced or 0, 4 * shape.width, shape.begin
    array, words = np.empty((count, shape.width), np.float32), []
    for i in range(count):
        end = data.find(b" ", at, at + _LONGEST)
        word = data[at : max(end, at)].lstrip(b"\n")
        if end < 0 or b"\n" in word or end + 1 + size > len(data):
            cut = end + 1 + size > len(data) or len(data) - at < _LONGEST
            what = "ends within a vector" if cut else "has no word"
            raise ReadError(source.name, f"vector {i + 1:,} of {count:,} {what} (at byte {at:,}); get the file again")
        words.append(word)
        array[i] = np.frombuffer(data[end + 1 : end + 1 + size], "<f4")
        at = end + 1 + size
    if bytes(data[at : at + _LONGEST]).strip():
        raise ReadError(source.name, f"has more than the {count:,} vectors it announces (from byte {at:,} on)")
    for start in range(0, count, _ROWS):
        finite = np.isfinite(array[start : start + _ROWS]).all(axis=1)
        if not finite.all():
            raise ReadError(source.name, f"vector {start + int(np.argmin(finite)) + 1:,} holds NaN or infinity")
    return _decoded(source, words, None), array


# -- our own -----------------------------------------------------------------------------------------------------------


def _read_own(source: Source) -> Vectors:
    from unweave.embed.vectors import Vectors
    from unweave.persist.codec import Decoder

    try:
        contents = Contents(source.path)
        if contents.note.get("kind") == "model":
            return _of_model(source)
        if contents.note.get("kind") != "vectors":
            raise DamagedFileError(f"{source.name} holds no vectors")
        contents.check(contents.small())
        held = Decoder(contents.array).decode(contents.note["vectors"])
        return Vectors(held["symbols"], held["array"], held["counts"])
    except DamagedFileError as error:
        raise ReadError(source.name, f"{str(error).removeprefix(source.name).strip()}; get the file again") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ReadError(source.name, f"is damaged or was not written by unweave ({str(error)[:100]})") from None


def _of_model(source: Source) -> Vectors:
    from unweave.embed.vectors import Vectors
    from unweave.persist import load

    model = load(source.path)
    found = getattr(model, "vectors_", None)
    if not isinstance(found, Vectors):
        raise DamagedFileError(f"{source.name} is a {type(model).__name__}, which has no vectors of words")
    return found


# -- writing -----------------------------------------------------------------------------------------------------------


def write(vectors: Vectors, path: str | os.PathLike, format: str = "auto") -> Path:
    """As :meth:`Vectors.write` says."""
    path = Path(path)
    ending = Path(path.stem if path.suffix == ".gz" else path.name).suffix
    name = _BY_ENDING.get(ending.lower(), "unweave") if format == "auto" else format
    if name not in FORMATS:
        raise ValueError(f"format={format!r} is not known; use 'auto' or one of {', '.join(map(repr, FORMATS))}")
    if name == "unweave":
        return _write_own(vectors, path)
    _check_words(vectors)
    work = _write_binary if name == "word2vec-binary" else _write_text
    opened: Any = gzip.open if path.suffix == ".gz" else open

    def fill(temporary: str) -> None:
        with opened(temporary, "wb") as file:
            if name != "glove":
                file.write(f"{len(vectors)} {vectors.n_components}\n".encode())
            work(vectors, file)

    return replace_file(path, fill)


def _write_own(vectors: Vectors, path: Path) -> Path:
    from unweave.persist.codec import Encoder

    if path.suffix == ".gz":
        raise ValueError(f"path={str(path)!r}: our own format is mapped into memory and is not packed; drop the .gz")
    encoder = Encoder()
    held = {"symbols": vectors.symbols, "array": vectors.array, "counts": vectors.counts}
    note = {"kind": "vectors", "format": 1, "vectors": encoder.encode(held, "vectors")}
    container.write(path, encoder.finish(), note)
    return path


def _check_words(vectors: Vectors) -> None:
    for symbol in vectors.symbols:
        if not isinstance(symbol, str) or not symbol or symbol != "".join(symbol.split()):
            why = "is no word" if not isinstance(symbol, str) else "is empty or holds a blank"
            raise ValueError(f"the symbol {symbol!r:.40} {why}, which this format cannot hold: use format='unweave'")


def _write_text(vectors: Vectors, file: Any) -> None:
    import polars as pl

    for start in range(0, len(vectors), _ROWS):
        rows = np.ascontiguousarray(vectors.array[start : start + _ROWS])
        table = pl.DataFrame(rows, schema=[f"{j}" for j in range(rows.shape[1])])
        table.insert_column(0, pl.Series("word", vectors.symbols[start : start + _ROWS], dtype=pl.String))
        file.write(table.write_csv(None, include_header=False, separator=" ", quote_style="never").encode())


def _write_binary(vectors: Vectors, file: Any) -> None:
    for start in range(0, len(vectors), _ROWS):
        rows = vectors.array[start : start + _ROWS].astype("<f4")
        words = vectors.symbols[start : start + _ROWS]
        file.write(
            b"".join(word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, rows, strict=True))
        )
