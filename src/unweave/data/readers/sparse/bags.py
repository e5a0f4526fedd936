"""Reads bags of words (how often each word is in each document) as UCI and lda-c write them, with their vocabulary."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.readers.build import Built, check_bytes, check_shape, from_entries, missing_of
from unweave.data.readers.lines import Block, WholeNumbers, blocks, head_lines, whole_numbers
from unweave.data.readers.source import Options, ReadError, Source

_ONE, _THREE = re.compile(r"[0-9]{1,18}\s*"), re.compile(r"\s*(-?[0-9]+\s+){2}-?[0-9]+\s*")
_LDA = re.compile(r"[0-9]{1,9}( [0-9]+:[0-9]+)*\s*")
_SHORTEST = len("1 1 1\n")


def read_uci(source: Source, options: Options) -> NamedTable:
    """Read documents × words: three header lines (documents, words, entries) and then ``document word count``.

    Documents and words are numbered from 1. ``vocab.NAME.txt`` beside ``docword.NAME.txt`` gives the columns names.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "docword.tiny.txt")
    ...     _ = path.write_text("2\\n3\\n2\\n1 3 5\\n2 1 1\\n")
    ...     _ = pathlib.Path(folder, "vocab.tiny.txt").write_text("apple\\nbee\\ncat\\n")
    ...     read_uci(Source(path), Options())
    NamedTable(2×3 counts, columns 'apple', 'bee', 'cat')
    """
    header: tuple[int, int, int] | None = None
    parts: list[NDArray] = []
    seen = 0
    for block in blocks(source):
        numbers = whole_numbers(source, block)
        if header is None:
            header, numbers = _uci_header(source, numbers)
        _need_three(source, numbers)
        parts.append(_uci_entries(source, numbers, header))
        seen += len(parts[-1])
        if seen > header[2]:
            line = numbers.line_of(-1)
            raise ReadError(source.name, f"the header promises {header[2]} entries, but there are more", line)
    if header is None or seen < header[2]:
        promised = header[2] if header else "documents, words and"
        raise ReadError(source.name, f"the header promises {promised} entries, but there are {seen}; the file is cut")
    entries = np.concatenate(parts)
    rows, columns, counts = (entries[:, i] for i in range(3))
    shape = header[0], header[1]
    built = from_entries(rows, columns, counts.astype(float), shape, merge="sum", dtype=options.dtype)
    return _counts(source, built, _uci_vocabulary(source), options)


def _uci_header(source: Source, numbers: WholeNumbers) -> tuple[tuple[int, int, int], WholeNumbers]:
    if len(numbers.counts) < 3 or not (numbers.counts[:3] == 1).all():
        raise ReadError(source.name, "the first three lines must be the numbers of documents, words and entries", 1)
    documents, words, entries = (int(value) for value in numbers.values[:3])
    check_bytes(source, _SHORTEST * entries, f"{entries} entries", 3)
    check_shape(source, (documents, words), entries, 1 if documents > words else 2)
    rest = WholeNumbers(numbers.block, numbers.values[3:], numbers.starts[3:], numbers.ends[3:], numbers.counts[3:])
    return (documents, words, entries), rest


def _need_three(source: Source, numbers: WholeNumbers) -> None:
    wrong = (numbers.counts != 3) & (numbers.counts != 0)
    if wrong.any():
        where = int(np.argmax(wrong))
        found, line = int(numbers.counts[where]), numbers.line_of(int(numbers.counts[:where].sum()))
        raise ReadError(source.name, f"{found} numbers where three are expected (document, word, count)", line)


def _uci_entries(source: Source, numbers: WholeNumbers, header: tuple[int, int, int]) -> NDArray:
    """Return rows of (document, word, count), with indices from 0."""
    entries = numbers.values.reshape(-1, 3)
    for i, (what, most) in enumerate(zip(("document", "word"), header)):
        outside = (entries[:, i] < 1) | (entries[:, i] > most)
        if outside.any():
            where = int(np.argmax(outside))
            text = f"{what} {entries[where, i]} is outside 1 … {most}, the {what}s that the header promises"
            raise ReadError(source.name, text, numbers.line_of(3 * where))
    return entries - np.array([1, 1, 0])


def _uci_vocabulary(source: Source) -> list[str] | None:
    name = source.path.name
    if not name.startswith("docword."):
        return None
    stem = name.removeprefix("docword.").split(".txt")[0]
    return words_of(source.path.with_name(f"vocab.{stem}.txt"), source)


def read_lda_c(source: Source, options: Options) -> NamedTable:
    """Read documents × words from lines ``M word:count word:count …``, M the number of words in the document.

    Words count from 0. A vocabulary beside it (:func:`words_beside`) gives the columns names.
    """
    parts: list[tuple[NDArray, NDArray, NDArray]] = []
    documents = 0
    for block in blocks(source):
        numbers = whole_numbers(source, block, also=b":")
        parts.append(_lda_entries(source, numbers, documents))
        documents += len(numbers.counts)
    rows, columns, counts = (np.concatenate([part[i] for part in parts]) for i in range(3))
    words = words_beside(source)
    width = int(columns.max(initial=-1)) + 1
    if words is not None and len(words) < width:
        raise ReadError(source.name, f"word {width - 1} is used, but the vocabulary beside it ends at {len(words) - 1}")
    shape = documents, width if words is None else len(words)
    if shape[1] == 0:
        raise ReadError(source.name, "there is no word in any document; is this an lda-c file?")
    check_shape(source, shape, len(rows))
    built = from_entries(rows, columns, counts.astype(float), shape, merge="sum", dtype=options.dtype)
    return _counts(source, built, words, options)


def _lda_entries(source: Source, numbers: WholeNumbers, first: int) -> tuple[NDArray, NDArray, NDArray]:
    """Return rows, columns and counts of a block whose first line is document `first`."""
    per_line, values = numbers.counts, numbers.values
    heads = np.cumsum(per_line) - per_line
    _refuse_line(source, numbers.block, per_line == 0, "an empty line; a document without words is written 0")
    place = np.arange(len(values)) - np.repeat(heads, per_line)
    data = np.frombuffer(numbers.block.data, np.uint8)
    word = place % 2 == 1
    # A word ends in a colon with its count right behind; no other number does.
    colon = data[numbers.ends] == ord(":")
    joined = np.append(numbers.starts[1:], -1) == numbers.ends + 1
    wrong = (word != colon) | (word & ~joined)
    stray = data == ord(":")
    stray[numbers.ends[colon]] = False
    bad = np.zeros(len(per_line), bool)
    bad[np.repeat(np.arange(len(per_line)), per_line)[wrong]] = True
    bad |= per_line % 2 == 0
    _refuse_line(source, numbers.block, bad, "a line must read M word:count word:count …")
    if stray.any():
        line = numbers.block.line_at(int(np.argmax(stray)))
        raise ReadError(source.name, "a ':' without a word before it; a line must read M word:count …", line)
    _refuse_line(
        source, numbers.block, values[heads] * 2 + 1 != per_line, "the first number is not the number of words"
    )
    rows = np.repeat(np.arange(first, first + len(per_line)), per_line // 2)
    return rows, values[word], values[(place % 2 == 0) & (place > 0)]


def _refuse_line(source: Source, block: Block, wrong: NDArray, message: str) -> None:
    if wrong.any():
        raise ReadError(source.name, message, block.line + int(np.argmax(wrong)))


def _counts(source: Source, built: Built, words: list[str] | None, options: Options) -> NamedTable:
    notes = ["a word that is not listed is not in the document (0)"]
    if built.merged:
        notes.append(f"counts of the same document and word were added up ({built.merged} lines)")
    if words is not None and len(words) != built.X.shape[1]:
        notes.append(f"the vocabulary beside the file has {len(words)} words, not {built.X.shape[1]}: it was left out")
        words = None
    missing = missing_of(options, None)
    return NamedTable(built.X, columns=words, missing=missing, kind="counts", notes=notes, source=source.name)


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "uci-bag" or "lda-c" by the first lines.

    >>> looks_like(b"2\\n3\\n1\\n1 3 5\\n", "docword.txt"), looks_like(b"2 0:1 7:3\\n1 4:1\\n", "ap.dat")
    ('uci-bag', 'lda-c')
    """
    lines = head_lines(head)
    if len(lines) >= 4 and all(_ONE.fullmatch(line) for line in lines[:3]):
        # One line of three numbers is enough: what is wrong further down is told with its line.
        return "uci-bag" if name.startswith("docword.") or _THREE.fullmatch(lines[3]) else None
    return "lda-c" if lines and all(_is_lda_line(line) for line in lines) else None


def _is_lda_line(line: str) -> bool:
    return bool(_LDA.fullmatch(line)) and int(line.split()[0]) == line.count(":")


FORMATS = {"uci-bag": read_uci, "lda-c": read_lda_c}


# -- the list of words that lies beside a file of counts ---------------------------------------------------------------


def words_beside(source: Source) -> list[str] | None:
    """Read the vocabulary beside a file: NAME.vocab, NAME.vocab.txt, NAME.terms, vocab.NAME.txt or vocab.txt.

    The first of these that exists is taken; it has one word per line. None if there is none.
    """
    path = source.path
    stem = path.name.split(".")[0]
    names = [f"{stem}.vocab", f"{stem}.vocab.txt", f"{stem}.terms", f"vocab.{stem}.txt", "vocab.txt"]
    beside = [path.with_suffix(".vocab"), *(path.with_name(name) for name in names)]
    return next((words for file in beside if (words := words_of(file, source)) is not None), None)


def words_of(path: Path, source: Source) -> list[str] | None:
    """Return the lines of a file that is not the source itself, None if there is no such file."""
    if not path.is_file() or path == source.path:
        return None
    return [line.strip() for _, line in Source(path, limit=source.limit, encoding=source.encoding).lines()]
