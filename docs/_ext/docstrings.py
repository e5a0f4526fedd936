"""Let docstrings be plain text: signs that reStructuredText would read as markup are taken as they stand.

Docstrings are read in a terminal first, where ``codes_``, ``|u|`` and ``2*k`` are what they look like. Sphinx would
take ``codes_`` for a link and ``|u|`` for a substitution; this extension puts a backslash before such signs outside of
literals, blocks and examples.
"""

from __future__ import annotations

import re

# Spans that keep their meaning: ``code``, :role:`target`, `name`.
KEPT = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`\n]+`)")
TRAILING = re.compile(r"(?<=\w)_(?!\w)")


def plain(line: str) -> str:
    r"""Return a line of a docstring in which signs of markup mean themselves.

    >>> plain("codes_ and ``codes_``, |u| * 2")
    'codes\\_ and ``codes_``, \\|u\\| \\* 2'
    """
    bullet = re.match(r"\s*\* ", line)
    if bullet:
        return bullet[0] + plain(line[bullet.end() :])
    parts = KEPT.split(line)
    parts[::2] = [TRAILING.sub(r"\\_", part).replace("|", r"\|").replace("*", r"\*") for part in parts[::2]]
    return "".join(parts)


def plain_lines(lines: list[str]) -> list[str]:
    """Return the lines of a docstring, with blocks of code, doctests and tables left alone."""
    done, block = [], None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if block is not None and line.strip() and indent <= block:
            block = None
        text = line.lstrip()
        is_code = block is not None or text.startswith((">>>", "...", "..", "=====", "-----", "+--"))
        done.append(line if is_code else plain(line))
        if block is None and line.rstrip().endswith("::"):
            block = indent
    return done


def with_heading(lines: list[str]) -> list[str]:
    """Return the lines with the heading Examples before a doctest that follows a list of parameters or attributes.

    In a terminal a blank line is enough; numpydoc would take the doctest for one more parameter.
    """
    if "Examples" in lines:
        return lines
    underlined = [i for i, line in enumerate(lines) if i and line and set(line) == {"-"} and lines[i - 1].strip()]
    first = next(
        (i for i, line in enumerate(lines) if underlined and i > underlined[0] and line.startswith(">>>")), None
    )
    if first is None:
        return lines
    return [*lines[:first], "Examples", "--------", *lines[first:]]


def process(app, what, name, obj, options, lines) -> None:
    """Rewrite a docstring in place before numpydoc reads it."""
    lines[:] = plain_lines(with_heading(lines))


def setup(app) -> dict:
    """Ask to see docstrings before numpydoc does."""
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True}
