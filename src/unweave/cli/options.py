"""Define the options of the command line, each once, and the settings that a verb gets from them."""

from __future__ import annotations

import csv
import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

Parameters = dict[str, tuple[Any, Any]]
_REQUIRED = inspect.Parameter.empty

_READ, _TEXTS, _OUT, _SAY = "Reading", "Reading texts", "Result", "Messages"
_JOBS = ("compress", "complete", "group", "explain", "topics", "recommend")
_KINDS = ("number", "count", "flag", "category", "date", "year", "id", "order", "prose")
_SCALES, _MISSING = ("auto", "none", "standard", "unit"), ("auto", "nan", "zeros", "none")


@dataclass(frozen=True)
class Settings:
    """Hold what was asked on the command line; an option that a verb does not take keeps the value here."""

    verb: str
    file: Path = Path()  # the first of `files`
    files: list[Path] = field(default_factory=list)
    model: Path = Path()
    out: Path | None = None
    force: bool = False
    k: Any = "auto"
    job: str = ""
    seed: int = 0
    scale: str = "auto"
    checkpoint: Path | None = None
    max_iter: int | None = None
    users: list[str] = field(default_factory=list)
    n: int = 10
    unknown: str = "error"
    titles: Path | None = None
    top: int | None = None
    position: float = 0.0
    as_json: bool = False
    quiet: bool = False
    format: str = "auto"
    missing: str = "auto"
    names: str = "auto"
    delimiter: str = ""
    encoding: str = "utf-8"
    limit: int | None = None
    dtype: str = "float64"
    lines: bool | None = None
    stop_words: str = "english"
    min_documents: int = 2
    max_words: int = 20000
    columns: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)


def _one_of(*allowed: str):
    def check(value: str) -> str:
        if value not in allowed:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(allowed)}")
        return value

    return check


def _count(value: str) -> str:
    if value != "auto" and not (value.isdigit() and int(value) > 0):
        raise typer.BadParameter(f"{value!r} is neither a whole number from 1 nor 'auto'")
    return value


def _names(value: str | None) -> list[str]:
    """Split names with commas between; one that holds a comma stands in double quotes."""
    return [] if not value else [name.strip() for name in next(csv.reader([value], skipinitialspace=True))]


def _kinds(values: list[str]) -> dict[str, str]:
    """Read NAME=KIND pairs."""
    kinds = {}
    for value in values:
        name, equals, kind = value.rpartition("=")
        if not equals or not name or kind not in _KINDS:
            raise typer.BadParameter(f"{value!r} is not NAME=KIND with a kind of {', '.join(_KINDS)}")
        kinds[name] = kind
    return kinds


def settings_of(verb: str, given: dict[str, Any]) -> Settings:
    """Make the settings of a verb of what was typed."""
    values = dict(given)
    if values.get("files"):
        values["file"] = values["files"][0]
    values["users"] = list(values.get("users") or [])
    for name in ("columns", "ignore"):
        if name in values:
            values[name] = _names(values[name])
    if "kinds" in values:
        values["kinds"] = _kinds(values["kinds"] or [])
    return Settings(verb=verb, **values)


def _share(text: str):
    return typer.Option(help=text, rich_help_panel=_READ)


_DATA = "The data: CSV, Parquet, npy, MatrixMarket, text, images, …"
FILE: Parameters = {
    "files": (
        Annotated[list[Path], typer.Argument(metavar="FILE...", help=f"{_DATA} Several files are read as one.")],
        _REQUIRED,
    )
}
ONE_FILE: Parameters = {"file": (Annotated[Path, typer.Argument(metavar="FILE", help="The picture.")], _REQUIRED)}
SOURCE: Parameters = {
    "file": (Annotated[Path, typer.Argument(metavar="FILE|MODEL", help="Who took or rated what (user,item[,rating]), "
                                            "or a model saved by `recommend` or `complete` (*.unweave).")], _REQUIRED),
}  # fmt: skip
MODEL: Parameters = {
    "model": (Annotated[Path, typer.Argument(metavar="MODEL", help="A saved model (*.unweave).")], _REQUIRED)
}
FILES: Parameters = {
    "format": (Annotated[str, _share("Format of the file; 'auto' tells it by its content.")], "auto"),
    "missing": (
        Annotated[
            str,
            typer.Option(
                help="What an unknown entry looks like: auto, nan, zeros (what a sparse file does not store), none.",
                callback=_one_of(*_MISSING), rich_help_panel=_READ,
            ),
        ],
        "auto",
    ),
    "names": (Annotated[str, _share("Column of the row names: its name, 'auto' or 'none'.")], "auto"),
    "delimiter": (Annotated[str, _share("Between the fields of a text file; found out unless given.")], ""),
    "encoding": (Annotated[str, _share("Of text files.")], "utf-8"),
    "limit": (Annotated[int | None, typer.Option(help="Most bytes that a packed file may unpack to.", min=1,
                                                 rich_help_panel=_READ)], None),
    "dtype": (
        Annotated[str, typer.Option(help="float64 or float32.", callback=_one_of("float64", "float32"),
                                    rich_help_panel=_READ)],
        "float64",
    ),
}  # fmt: skip
TEXT: Parameters = {
    "lines": (Annotated[bool | None, typer.Option("--lines/--no-lines", rich_help_panel=_TEXTS, show_default=False,
                                                  help="Whether every line is a document; found out unless given.")],
              None),
    "stop_words": (Annotated[str, typer.Option(help="Words to leave out: a language (english, german, …), several with "
                                               "commas between, or none.", rich_help_panel=_TEXTS)], "english"),
    "min_documents": (Annotated[int, typer.Option(min=1, help="Leave out words in fewer documents.",
                                                  rich_help_panel=_TEXTS)], 2),
    "max_words": (Annotated[int, typer.Option(min=1, help="Keep the most frequent words.", rich_help_panel=_TEXTS)],
                  20000),
}  # fmt: skip
READING: Parameters = FILES | TEXT  # every verb that reads a file takes texts too
COLUMNS: Parameters = {
    "columns": (Annotated[str | None, _share("Use these columns alone: names with commas between.")], None),
    "ignore": (Annotated[str | None, _share("Leave these columns out: names with commas between.")], None),
    "kinds": (Annotated[list[str] | None, typer.Option("--as", metavar="NAME=KIND", rich_help_panel=_READ,
                                                       help=f"What a column is: {', '.join(_KINDS)}; once each.")],
              None),
}  # fmt: skip
FORCE: Parameters = {
    "force": (Annotated[bool, typer.Option("--force", help="Replace results that are there already.",
                                           rich_help_panel=_OUT)], False),
}  # fmt: skip
COUNT: Parameters = {
    "k": (Annotated[str, typer.Option("-k", "--components", callback=_count, metavar="N|auto",
                                      help="How many groups, axes, parts or topics; 'auto' finds out.")], "auto"),
}  # fmt: skip
JOB: Parameters = {
    "job": (Annotated[str, typer.Option(help="compress, complete, group, explain, topics or recommend; the file "
                                        "suggests one.",
                                        callback=_one_of("", *_JOBS))], ""),
}  # fmt: skip
SPEAKING: Parameters = {
    "as_json": (Annotated[bool, typer.Option("--json", help="The result as JSON on stdout.", rich_help_panel=_SAY)],
                False),
    "quiet": (Annotated[bool, typer.Option("--quiet", "-q", help="No messages but errors.", rich_help_panel=_SAY)],
              False),
}  # fmt: skip
FITTING: Parameters = {
    "out": (Annotated[Path | None, typer.Option(help="Folder for the result; FILE-VERB unless given, numbered if "
                                                "taken.",
                                                rich_help_panel=_OUT)], None),
    "seed": (Annotated[int, typer.Option(help="Seed of what is drawn at random.", min=0)], 0),
    "scale": (Annotated[str, typer.Option(help="Columns to one scale: auto, none, standard (mean 0, spread 1), unit "
                                          "(spread 1).", callback=_one_of(*_SCALES), rich_help_panel=_READ)], "auto"),
    "checkpoint": (Annotated[Path | None, typer.Option(help="Save the fit under way here; a killed command given again "
                                                       "goes on.", rich_help_panel=_OUT)], None),
    "max_iter": (Annotated[int | None, typer.Option(help="The most iterations.", min=1)], None),
}  # fmt: skip
TITLES: Parameters = {
    "titles": (Annotated[Path | None, typer.Option(help="CSV file with titles of the items: ids in its first column.",
                                                   rich_help_panel=_READ)], None),
}  # fmt: skip
WORK: Parameters = COUNT | FITTING | FORCE | READING | COLUMNS | SPEAKING
TOPICS: Parameters = {name: option for name, option in WORK.items() if name != "scale"}
WRITING: Parameters = {
    "out": (Annotated[Path | None, typer.Option(help="CSV file for the codes, '-' for stdout.", rich_help_panel=_OUT)],
            None),
}  # fmt: skip
PAGE: Parameters = {
    "out": (Annotated[Path | None, typer.Option(help="The page; report.html beside the model unless given.",
                                                rich_help_panel=_OUT)], None),
}  # fmt: skip
USERS: Parameters = {
    "users": (Annotated[list[str] | None, typer.Argument(metavar="[USER...]", help="Ids as in the file (positions "
                                                         "where there are none); without any a few examples.")], None),
    "n": (Annotated[int, typer.Option("-n", "--items", help="Items for each user.", min=1)], 10),
    "unknown": (Annotated[str, typer.Option(help="What users get whom the model does not know: error, or popular.")],
                "error"),
}  # fmt: skip
TOP: Parameters = {
    "top": (Annotated[int | None, typer.Option(help="List so many columns of each component too.", min=1)], None),
}
PICTURE: Parameters = {
    "k": (Annotated[int, typer.Option("-k", "--segments", min=1, help="How many segments.")], 8),
    "position": (Annotated[float, typer.Option(min=0, help="Weight of a pixel's place beside its colour.")], 0.0),
    "seed": (Annotated[int, typer.Option(min=0, help="Seed of what is drawn at random.")], 0),
    "out": (Annotated[Path | None, typer.Option(help="The PNG; FILE-segments.png unless given.")], None),
}
