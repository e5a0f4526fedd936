"""Plain text as counts of words: a file of paragraphs, a file with one document a line, a folder of files."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from unweave.data.named import NamedTable
from unweave.data.readers.blocks import head_lines
from unweave.data.readers.options import Options
from unweave.data.readers.source import ReadError, Source
from unweave.data.readers.sparse_build import canonical

# Two letters or more, in any script; digits and underscores part words.
_WORD = r"(?u)[^\W\d_]{2,}"
_LONG_LINE = 5
_SUFFIX = ".txt"


def read_text(source: Source, options: Options) -> NamedTable:
    """Documents × words: how often each word is in each document.

    Documents are the ``*.txt`` files of a folder and its folders (rows are named by them), the lines of a file
    (``options.lines``, or no blank line and mostly more than five words a line), or else its paragraphs, which blank
    lines separate (rows are named by the number of their first line).

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.txt")
    ...     _ = path.write_text("Bees make honey.\\n\\nHoney is what\\nbees make.\\n")
    ...     table = read_text(Source(path), Options())
    >>> table.columns, table.rows
    (['bees', 'honey', 'make'], ['line 1', 'line 3'])
    """
    if source.is_folder:
        names, documents, note = _folder(source)
    else:
        names, documents, note = _file(source, options)
    try:
        table = count_words(documents, names, options)
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
    options = options or Options()
    if not documents:
        raise ValueError("there is no document; give at least one text")
    vectorizer, X = _counted(documents, options)
    notes = [f"words of {len(documents)} documents were counted; {_left_out(options)}"]
    empty = int((np.diff(X.indptr) == 0).sum())
    if empty:
        notes.append(f"{empty} documents have none of the {X.shape[1]} words")
    words = [str(word) for word in vectorizer.get_feature_names_out()]
    return NamedTable(canonical(X, options.dtype), rows=names, columns=words, kind="text", notes=notes)


def _counted(documents: list[str], options: Options):
    from sklearn.feature_extraction.text import CountVectorizer

    stop = options.stop_words
    vectorizer = CountVectorizer(
        token_pattern=_WORD,
        stop_words=stop if stop is None or isinstance(stop, str) else [word.lower() for word in stop],
        min_df=options.min_documents,
        max_features=options.max_words,
        dtype=np.float64,
    )
    try:
        with warnings.catch_warnings():
            # A stop word that is no word here (don't, 2nd) is of no consequence.
            warnings.filterwarnings("ignore", message="Your stop_words", category=UserWarning)
            return vectorizer, sp.csr_array(vectorizer.fit_transform(documents))
    except ValueError as error:
        if isinstance(stop, str) and stop != "english":
            raise ValueError(f"stop_words={stop!r} is not known; use 'english', None or a list of words") from error
        raise ValueError(_nothing_left(documents, options)) from error


def _nothing_left(documents: list[str], options: Options) -> str:
    if not any(re.search(_WORD, document) for document in documents):
        return "there is no word of two letters or more; is this text?"
    if options.min_documents > 1:
        return (
            f"no word is in {options.min_documents} of the {len(documents)} documents; use a smaller min_documents, or "
            "say lines=True if each line is a document"
        )
    return "every word is a stop word; say stop_words=None to keep them"


def _left_out(options: Options) -> str:
    kinds = [f"all but the {options.max_words} most frequent"]
    if options.min_documents > 1:
        kinds.insert(0, f"words in fewer than {options.min_documents} documents")
    if options.stop_words is not None:
        kinds.insert(0, "English stop words" if options.stop_words == "english" else "the given stop words")
    return f"left out: {', '.join(kinds)}"


def _folder(source: Source) -> tuple[list[str], list[str], str]:
    paths = sorted(path for path in source.path.rglob("*") if path.suffix.lower() == _SUFFIX and path.is_file())
    if not paths:
        raise ReadError(source.name, "there is no *.txt file in this folder; name a folder of text files")
    names = [path.relative_to(source.path).with_suffix("").as_posix() for path in paths]
    documents, total = [], 0
    for path in paths:
        documents.append(_whole_text(path, source))
        total += len(documents[-1])
        if total > source.memory_limit:
            raise ReadError(source.name, f"the files hold more than {source.memory_limit:,} characters; set limit=")
    return names, documents, f"each of {len(paths)} files is a document"


def _whole_text(path: Path, source: Source) -> str:
    if path.stat().st_size == 0:
        return ""
    limit = source.memory_limit
    return "\n".join(line for _, line in Source(path, limit=limit, encoding=source.encoding).lines())


def _file(source: Source, options: Options) -> tuple[list[str], list[str], str]:
    lines = list(source.lines())
    if not any(text.strip() for _, text in lines):
        raise ReadError(source.name, "there is no text but blanks; is this the right file?")
    one_a_line = _one_a_line([text for _, text in lines]) if options.lines is None else options.lines
    if one_a_line:
        documents = [(number, text) for number, text in lines if text.strip()]
        note = "each line is a document (lines=False to part them by blank lines)"
    else:
        documents = _paragraphs(lines)
        note = "blank lines part documents (lines=True if each line is one)"
    return [f"line {number}" for number, _ in documents], [text for _, text in documents], note


def _one_a_line(lines: list[str]) -> bool:
    """No blank line, but perhaps at the end, and more than half of several lines have more than five words."""
    filled = [bool(line.strip()) for line in lines]
    count = sum(filled)
    if count < 2 or not all(filled[:count]):
        return False
    return 2 * sum(len(line.split()) > _LONG_LINE for line in lines) > count


def _paragraphs(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """(number of the first line, text) of what stands between blank lines."""
    found: list[tuple[int, list[str]]] = []
    inside = False
    for number, text in lines:
        if not text.strip():
            inside = False
        elif inside:
            found[-1][1].append(text)
        else:
            found.append((number, [text]))
            inside = True
    return [(number, "\n".join(parts)) for number, parts in found]


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
