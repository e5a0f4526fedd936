"""The list of words that lies beside a file of counts."""

from __future__ import annotations

from pathlib import Path

from unweave.data.readers.source import Source


def words_beside(source: Source) -> list[str] | None:
    """The words of the first of NAME.vocab, NAME.vocab.txt, NAME.terms, vocab.NAME.txt and vocab.txt, one a line."""
    path = source.path
    stem = path.name.split(".")[0]
    names = [f"{stem}.vocab", f"{stem}.vocab.txt", f"{stem}.terms", f"vocab.{stem}.txt", "vocab.txt"]
    beside = [path.with_suffix(".vocab"), *(path.with_name(name) for name in names)]
    return next((words for file in beside if (words := words_of(file, source)) is not None), None)


def words_of(path: Path, source: Source) -> list[str] | None:
    """The lines of a file that is not the source itself, None if there is no such file."""
    if not path.is_file() or path == source.path:
        return None
    return [line.strip() for _, line in Source(path, limit=source.limit, encoding=source.encoding).lines()]
