"""Plain text as counts of words: a file of paragraphs, a file with one document a line, a folder of files."""

from __future__ import annotations

from unweave.data.named import NamedTable
from unweave.data.readers.blocks import head_lines
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source


def read_text(source: Source, options: Options) -> NamedTable:
    """Documents × words: how often each word is in each document.

    Documents are the ``*.txt`` files of a folder and its folders (rows are named by them), the lines of a file
    (``options.lines``, or no blank line and mostly more than five words a line), or else its paragraphs, which blank
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
    from unweave.data.readers.text_counts import count, documents_of_source

    names, batches, note = documents_of_source(source, options)
    try:
        table = count(batches, names, options, source.encoding)
    except ReadError:
        raise
    except ValueError as error:
        raise ReadError(source.name, str(error)) from None
    return table.with_(source=source.name, notes=[note, *table.notes])


def count_words(documents: list[str], names: list[str] | None = None, options: Options | None = None) -> NamedTable:
    """Documents × words of a list of texts; words are lower case, of two letters at the least, stop words left out.

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
    from unweave.data.readers.text_counts import count
    from unweave.data.text import documents_of

    return count(documents_of(documents, "text"), names, options or Options(), "utf-8")


def looks_like(head: bytes, name: str) -> str | None:
    """The format "text" for lines of words: mostly letters and blanks, three words a line or more, not in columns.

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


FORMATS = {"text": read_text}
