"""Write HTML that names from outside cannot break."""

from __future__ import annotations

from html import escape
from typing import Any

_VOID = ("img", "meta", "br", "input")
_LONGEST = 200
_KEPT = "\N{NO-BREAK SPACE}"  # between a number and its unit


class Markup(str):
    """Hold text that is HTML already; anything else is escaped before it enters a page."""


def plain(value: Any, longest: int = _LONGEST) -> str:
    """Write `value` as one printable line of at most `longest` characters.

    Control characters, direction overrides and halves of surrogate pairs become U+FFFD: they could hide or reverse what
    follows, or make a page that cannot be encoded.

    >>> plain("tab\\there, \\u202eevil, " + "x" * 500, 20)
    'tab here, \ufffdevil, xx…'
    """
    text = str(value)[: 4 * longest]
    text = "".join(c if c.isprintable() or c == _KEPT else " " if c.isspace() else "\ufffd" for c in text)
    text = " ".join(text.split(" "))
    return text if len(text) <= longest else text[: longest - 1] + "…"


def clean(value: Any) -> Markup:
    """Write `value` as escaped text."""
    return value if isinstance(value, Markup) else Markup(escape(plain(value, 100_000), quote=True))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """Write an element; ``class_`` is written ``class``, other underscores hyphens, and None leaves an attribute out.

    >>> print(tag("p", "1 < 2", class_="note", title='"'))
    <p class="note" title="&quot;">1 &lt; 2</p>
    """
    given = [(key.rstrip("_").replace("_", "-"), value) for key, value in attributes.items() if value is not None]
    opened = name + "".join(f' {key}="{escape(plain(value, 10_000_000), quote=True)}"' for key, value in given)
    if name in _VOID:
        return Markup(f"<{opened}>")
    return Markup(f"<{opened}>{join(children)}</{name}>")


def join(children: Any, between: str = "") -> Markup:
    """Write escaped children one after the other; None and empty strings vanish."""
    return Markup(between.join(clean(child) for child in children if child is not None and child != ""))


def label(value: Any, short: str | None = None) -> Markup:
    """Write a name from the data, or what is left of it when it is too long, with up to 200 characters on hover.

    ``bdi`` keeps right-to-left names from reordering the numbers beside them.
    """
    text = plain(value) or "(no name)"
    return tag("span", tag("bdi", short or text), class_="name", title=text)


def lines(text: Any) -> Markup:
    """Write text of several lines, for ``pre``."""
    return Markup("\n".join(clean(line) for line in str(text)[:20_000].splitlines()))
