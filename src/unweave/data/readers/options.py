"""What a caller may say about a file; every reader takes the same object and uses what concerns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_CHOICES: dict[str, tuple] = {
    "missing": ("auto", "nan", "zeros", None),
    "header": ("auto", True, False),
    "dtype": ("float64", "float32"),
    "duplicates": ("mean", "last", "sum", "error"),
    "lines": (None, True, False),
}


@dataclass(frozen=True)
class Options:
    """How to read: :func:`unweave.read` documents each of them.

    Examples
    --------
    >>> Options(missing="nan").dtype
    'float64'
    """

    missing: str | None = "auto"
    names: str | int | bool | None = "auto"
    delimiter: str | None = None
    header: bool | str = "auto"
    encoding: str = "utf-8"
    dtype: str = "float64"
    limit: int | None = None
    member: str | None = None
    duplicates: str = "mean"
    lines: bool | None = None
    stop_words: str | list[str] | None = "english"
    min_documents: int = 2
    max_words: int = 20000

    def __post_init__(self):
        for name, choices in _CHOICES.items():
            value: Any = getattr(self, name)
            if not any(value is choice or (isinstance(value, str) and value == choice) for choice in choices):
                raise ValueError(f"{name}={value!r} is not known; use one of {', '.join(map(repr, choices))}")
        if self.delimiter is not None and not _may_separate(self.delimiter):
            raise ValueError(f"delimiter={self.delimiter!r} must be one character that is no part of cells (or '::')")
        _check_encoding(self.encoding)
        for name in ("min_documents", "max_words"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit must be a positive number of bytes, got {self.limit}")


def _may_separate(delimiter: str) -> bool:
    return len(delimiter) in (1, 2) and not any(c.isalnum() or c in '"\r\n+-.' for c in delimiter)


def _check_encoding(name: str) -> None:
    import codecs

    try:
        text = codecs.lookup(name)._is_text_encoding
    except (LookupError, ValueError, TypeError):
        text = False
    if not text:
        raise ValueError(f"encoding={name!r} is not known; use for instance 'utf-8' or 'latin-1'")
