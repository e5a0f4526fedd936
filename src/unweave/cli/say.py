"""Say messages to people on stderr and results to programs on stdout."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unweave.cli.options import Settings

# Arguments of unweave.read, unweave.prepare and of models that are options here: messages name them as they are typed.
_ARGUMENTS = (
    "encoding|limit|format|names|missing|delimiter|dtype|lines|stop_words|min_documents|max_words|scale|columns|ignore|"
    "max_iter|checkpoint|unknown"
)
_ARGUMENT = re.compile(rf"\b({_ARGUMENTS})=(\[[^\]]*\]|\S*\w'?)?")
_WORDS = [
    (re.compile(r"\bn_(?:components|clusters|topics|states)=\s?"), "-k "),
    (re.compile(r"\bn_(?:components|clusters|topics|states)\b"), "-k"),
    (re.compile(r"\brandom_state=?"), "--seed "),
    (re.compile(r"\bmax_iter=(\d+) (?=iterations|sweeps)"), r"\1 "),
    (re.compile(r"\braise max_iter(?: or tol)?"), "raise --max-iter"),
    (re.compile(r"\bkinds=\{['\"]?([^'\":]+)['\"]?: ?['\"]?(\w+)['\"]?[^}]*\}"), r"--as \1=\2"),
    (re.compile(r"\btext=(['\"])(.+?)\1"), r"--as \2=prose"),
    (re.compile(r"\blower min_count\b"), "lower --min-count"),
    (re.compile(r", or give read_corpus\(.*\) in place of texts"), ""),
    (re.compile(r"^X (?=is|has|holds|contains|must)"), "the table "),
    (re.compile(r": give a number$|; raise share$"), "; give -k a number"),
]


class Speaker:
    """Say what a verb has to say: notes and results for people unless quiet, one JSON object when asked."""

    def __init__(self, settings: Settings):
        self.quiet, self.as_json = settings.quiet, settings.as_json
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Say a decision or a warning, which is also part of the JSON."""
        self.notes.append(as_typed(text))
        self.line(f"  {self.notes[-1]}")

    def line(self, text: str = "") -> None:
        """Print a line on stderr."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def table(self, title: str, header: list[str], rows: list[list[str]]) -> None:
        """Draw a small table on stderr by rich; cells are plain text, never markup."""
        if self.quiet or self.as_json or not rows:
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(title=title or None, title_justify="left", header_style="bold")
        for name in header:
            drawn.add_column(name, overflow="fold")
        for row in rows:
            drawn.add_row(*(Text(printable(cell)) for cell in row))
        Console(stderr=True).print(drawn)

    def answer(self, found: dict[str, Any]) -> None:
        """Say what a model has found: its headline, a small table and further sentences."""
        self.line()
        self.line(found["headline"])
        self.table("", found["header"], found["rows"])
        for line in [*found["lines"], found["certificate"]]:
            if line:
                self.line(printable(line))
        self.line()

    def result(self, values: dict[str, Any]) -> None:
        """Print the outcome as JSON on stdout, when asked for."""
        if self.as_json:
            json.dump({**values, "notes": self.notes}, sys.stdout, indent=2, default=_plain, ensure_ascii=False)
            sys.stdout.write("\n")

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Turn warnings raised inside into notes."""
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", UserWarning)
            yield
        for text in dict.fromkeys(str(w.message) for w in heard if issubclass(w.category, UserWarning)):
            self.note(text)


def as_typed(text: str) -> str:
    """Rewrite a sentence of the library with options in place of arguments.

    >>> as_typed("say lines=True, encoding='latin-1' or stop_words=None")
    "say --lines, --encoding 'latin-1' or --stop-words none"
    >>> as_typed("n_clusters=3 by groups; give n_components a number")
    '-k 3 by groups; give -k a number'
    >>> as_typed("use columns=['a', 'b'], kinds={'when': 'date'} or scale='unit'; raise max_iter or tol")
    "use --columns a,b, --as when=date or --scale 'unit'; raise --max-iter"
    >>> as_typed("X is too small (4×2) to hide blocks: give a number")
    'the table is too small (4×2) to hide blocks; give -k a number'
    """
    for pattern, typed in _WORDS:
        text = pattern.sub(typed, text)
    return _ARGUMENT.sub(_option, text)


def _option(found: re.Match) -> str:
    name, value = found[1].replace("_", "-"), found[2] or ""
    if name == "lines":
        return "--no-lines" if value == "False" else "--lines"
    if value.startswith("["):
        value = ",".join(part.strip().strip("'\"") for part in value[1:-1].split(","))
    return f"--{name} {'none' if value == 'None' else value}".rstrip()


def printable(text: str) -> str:
    """Replace the control characters of a text that could move the cursor of a terminal."""
    return "".join(c if c.isprintable() or c == "\xa0" else "�" for c in str(text))


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
