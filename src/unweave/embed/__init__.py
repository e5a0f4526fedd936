"""Embed: words and other symbols as vectors, near each other where they are used alike."""

from __future__ import annotations

from unweave.registry import lazily

# Each name is imported when it is asked for: looking words up needs nothing of what learning vectors needs.
_HOMES: dict[str, str] = {}

__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
