"""Counts the words of plain text: a file of paragraphs, a file with one document per line, or a folder of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from unweave.data.named import NamedTable
from unweave.data.readers.lines import head_lines
from unweave.data.readers.source import Options, ReadError, Source

if TYPE_CHECKING:  # it loads the compiled kernels, which a look at the format does not need
    from unweave.data import text as tx

_LONG_LINE = 5  # words


def read_text(source: Source, options: Options) -> NamedTable:
    """Read a table of documents × words: how often each word is in each document.

    Documents are the ``*.txt`` files of a folder and its folders (rows are named by them), the lines of a file
    (``options.lines``, or no blank line and mostly more than five words per line), or else its paragraphs, which blank
    lines separate (rows are named by the number of their first line). They are streamed: memory holds the counts, and
    not the text.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.txt")
    ...     _ = path.write_text("Bees make honey.\\n\\nHoney is what\\nbees make.\\n")
    ...     table = read_text(Source(path), Options())
    >>> table.columns, table.rows
    (['bees', 'honey', 'make'], ['line 1', 'line 3'])
    """
    names, batches, note = documents_of_source(source, options)
    try:
        table = count(batches, names, options, source.encoding)
    except ReadError:
        raise
    except ValueError as error:
        raise ReadError(source.name, str(error)) from None
    return table.with_(source=source.name, notes=[note, *table.notes])


def count_words(documents: list[str], names: list[str] | None = None, options: Options | None = None) -> NamedTable:
    """Count the words of a list of texts: documents × words, lower case, of two letters or more, without stop words.

    Parameters
    ----------
    documents : list of str
    names : list of str, optional
        Of the documents.
    options : Options, optional
        `stop_words`, `min_documents` (rarer words are left out), `max_words` (the most frequent are kept).

    >>> count_words(["The cat sat.", "A cat, a dog!"], ["one", "two"]).columns
    ['cat']
    """
    from unweave.data.text import documents_of

    return count(documents_of(documents, "text"), names, options or Options(), "utf-8")


def looks_like(head: bytes, name: str) -> str | None:
    """Tell "text" for lines of words: mostly letters and blanks, three words per line or more, not in columns.

    >>> looks_like(b"Bees make honey, and wax.\\n\\nHoney is what they eat.\\n", "notes.txt")
    'text'
    >>> looks_like(b"name,age,town\\nAnn,31,Bath\\nBob,44,York\\n", "people.csv") is None
    True
    """
    if b"\0" in head:
        return None
    lines = [line for line in head_lines(head) if line.strip()]
    text = "".join(lines)
    if not text or sum(c.isalpha() or c == " " for c in text) < 0.75 * len(text):
        return None
    if len(lines) > 1 and any(_columns(lines, separator) for separator in "\t,;|"):
        return None
    return "text" if sum(len(line.split()) for line in lines) >= 3 * len(lines) else None


def _columns(lines: list[str], separator: str) -> bool:
    counts = {line.count(separator) for line in lines}
    return len(counts) == 1 and counts != {0}


# -- documents and their counts ----------------------------------------------------------------------------------------


def count(batches: Iterable[tx.Batch], names: list[str] | None, options: Options, encoding: str) -> NamedTable:
    """Count the words of documents into a table; `names` may fill while the documents are read."""
    from unweave.data import text as tx

    # two letters or more, in any script; unlike in a TextTable, digits and underscores separate words
    cutting = tx.Cutting(digits=False, encoding=encoding, advice="")
    counter = tx.Counter(cutting, tx.Lexicon(tx.stop_words(options.stop_words), None), (1, 1))
    parts, tally, n = tx.survey(counter, batches, keep=True)
    tx.need_documents(n)
    if not (tally.documents >= options.min_documents).any():
        raise ValueError(_nothing_left(counter, n, options))
    limits = tx.Limits(min_df=options.min_documents, max_df=n, max_words=options.max_words)
    words, terms = tx.choose(tally, n, limits, counter.texts)
    columns = np.full(len(tally.documents), -1, np.int32)
    columns[terms] = np.arange(len(words))
    X = tx.lay_out(tx.renamed(parts, columns), len(words), options.dtype)
    rare = int((tally.documents[tally.documents > 0] < options.min_documents).sum())
    notes = [f"words of {n} document{'s' if n > 1 else ''} were counted{_words_left_out(options, rare, len(words))}"]
    empty = int((np.diff(X.indptr) == 0).sum())
    if empty:
        has = "document has" if empty == 1 else "documents have"
        notes.append(f"{empty} {has} none of the {X.shape[1]} words")
    return NamedTable(X, rows=names, columns=words, kind="text", notes=notes)


def _nothing_left(counter: tx.Counter, n: int, options: Options) -> str:
    if counter.count_of_words == 0:
        return "there is no word of two letters or more; is this text?"
    if counter.count_of_terms == 0:
        return "every word is a stop word; say stop_words=None to keep them"
    if n < options.min_documents:
        found = "there is only one" if n == 1 else f"there are {n}"
        words = f"no word can be in {options.min_documents} documents, for {found}; use min_documents=1"
    else:
        words = f"no word is in {options.min_documents} of the {n} documents; use a smaller min_documents"
    return words if options.lines else f"{words}, or say lines=True if each line is a document"


def _words_left_out(options: Options, rare: int, kept: int) -> str:
    kinds = []
    if isinstance(options.stop_words, str):
        kinds.append(f"{options.stop_words.capitalize()} stop words")
    elif options.stop_words is not None:
        kinds.append("the given stop words")
    if rare:
        kinds.append(f"{rare} words in fewer than {options.min_documents} documents")
    if kept == options.max_words:
        kinds.append(f"all but the {kept} most frequent")
    return f"; left out: {', '.join(kinds)}" if kinds else ""


def documents_of_source(source: Source, options: Options) -> tuple[list[str], Iterable[tx.Batch], str]:
    """Return the names, which fill as the documents are read, the documents, and a note."""
    return _folder(source, options) if source.is_folder else _file(source, options)


def _folder(source: Source, options: Options) -> tuple[list[str], Iterable[tx.Batch], str]:
    from unweave.data import text as tx

    paths = tx.text_files(source.path)
    names = [path.relative_to(source.path).with_suffix("").as_posix() for path in paths]
    note = f"each of {len(paths)} files is a document" if len(paths) > 1 else "the only file is a document"
    return names, tx.batches_of_files(paths, options.limit), note


def _file(source: Source, options: Options) -> tuple[list[str], Iterable[tx.Batch], str]:
    from unweave.data import text as tx

    by_line = _line_is_document(source) if options.lines is None else options.lines
    names: list[str] = []

    def texts() -> Iterator[str]:
        for number, text in _filled_lines(source) if by_line else _paragraphs(source.lines()):
            names.append(f"line {number}")
            yield text
        if not names:
            raise ReadError(source.name, "there is no text but blanks; is this the right file?")

    note = (
        "each line is a document (lines=False to part them by blank lines)"
        if by_line
        else "blank lines part documents (lines=True if each line is one)"
    )
    return names, tx.documents_of(texts(), "text"), note


def _filled_lines(source: Source) -> Iterator[tuple[int, str]]:
    return ((number, text) for number, text in source.lines() if text.strip())


def _line_is_document(source: Source) -> bool:
    """Tell whether each line is a document: no blank line but at the end, and most lines have more than five words."""
    filled = long = 0
    for number, text in _filled_lines(source):
        filled += 1
        if number != filled:
            return False
        long += len(text.split(maxsplit=_LONG_LINE)) > _LONG_LINE
    return filled > 1 and 2 * long > filled


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the number of the first line and the text of what stands between blank lines."""
    first, held = 0, list[str]()
    for number, text in lines:
        if text.strip():
            first = first if held else number
            held.append(text)
        elif held:
            yield first, "\n".join(held)
            held = []
    if held:
        yield first, "\n".join(held)


FORMATS = {"text": read_text}
