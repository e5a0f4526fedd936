"""Keep the site offline: a page that would load a script, a style or a font from the network is a warning."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.util import logging

# What a browser loads by itself. Links that a reader may click are fine.
LOADED = re.compile(
    r"""<(?:script|img|iframe)[^>]+src=["'](?:https?:)?//[^"']+|<link[^>]+href=["'](?:https?:)?//[^"']+"""
)
logger = logging.getLogger(__name__)


def loaded_from_afar(html: str) -> list[str]:
    """What a page loads from the network.

    >>> loaded_from_afar('<a href="https://x.org">x</a> <script src="//cdn.net/a.js"></script>')
    ['<script src="//cdn.net/a.js']
    """
    return LOADED.findall(html)


def check(app, error) -> None:
    """Look at every page of a finished build."""
    if error is not None or app.builder.format != "html":
        return
    for path in sorted(Path(app.outdir).rglob("*.html")):
        for found in loaded_from_afar(path.read_text(encoding="utf-8")):
            logger.warning("%s loads from the network: %s", path.name, found)


def setup(app) -> dict:
    """Look once all pages are written."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True}
