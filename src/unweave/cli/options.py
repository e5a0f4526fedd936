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

_READ, _TEXTS, _LARGE, _OUT, _SAY = "Reading", "Reading texts", "Large tables", "Result", "Messages"
JOB_NAMES = ("compress", "complete", "group", "explain", "topics", "recommend")
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
    k: Any = ""
    job: str = ""
    way: str = ""
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
    noise: bool = False
    max_roles_per_user: int | None = None
    max_permissions_per_role: int | None = None
    separated: Path | None = None
    max_roles: int | None = None
    attributes: Path | None = None
    diff: bool = False
    target: str = ""
    new: Path | None = None
    task: str = "auto"
    memory: int | None = None
    workers: int | None = None
    cluster: str = ""
    window: int = 5
    min_count: int = 0
    epochs: int | None = None
    most: int = 1000
    words: list[str] = field(default_factory=list)
    without: list[str] = field(default_factory=list)
    method: str = "add"


def _one_of(*allowed: str):
    def check(value: str) -> str:
        if value not in allowed:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(allowed)}")
        return value

    return check


def _count(value: str) -> str:
    if value not in ("", "auto") and not (value.isdigit() and int(value) > 0):
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


_LEAST_MEMORY = 10 * 10**6


def _bytes(value: str | None) -> int | None:
    """Read an amount of memory such as 2GB."""
    from unweave.scale.memory import bytes_of

    if not value:
        return None
    try:
        amount = bytes_of(value)
    except ValueError:
        raise typer.BadParameter(f"--memory {value!r} is no amount of memory: write it as 2GB or 500MB") from None
    if amount < _LEAST_MEMORY:
        raise typer.BadParameter(f"--memory {value!r} is too little to work in: give 10MB at least, such as 2GB")
    return amount


def settings_of(verb: str, given: dict[str, Any]) -> Settings:
    """Make the settings of a verb of what was typed."""
    values = dict(given)
    if values.get("files"):
        values["file"] = values["files"][0]
    for name in ("users", "words", "without"):
        values[name] = list(values.get(name) or [])
    for name in ("columns", "ignore"):
        if name in values:
            values[name] = _names(values[name])
    if "memory" in values:
        values["memory"] = _bytes(values["memory"])
    if values.get("workers") and values.get("cluster"):
        raise typer.BadParameter(
            "give --workers, which are started here, or --cluster, which are there already; not both"
        )
    if "kinds" in values:
        values["kinds"] = _kinds(values["kinds"] or [])
    return Settings(verb=verb, **values)


def _option(kind: Any, default: Any, text: str, *flags: str, panel: str | None = None, **more: Any) -> tuple[Any, Any]:
    """Make an option of its type, what it is unless given, and what it says of itself."""
    return Annotated[kind, typer.Option(*flags, help=text, rich_help_panel=panel, **more)], default


def _argument(kind: Any, default: Any, text: str, metavar: str) -> tuple[Any, Any]:
    """Make an argument that stands without a name."""
    return Annotated[kind, typer.Argument(help=text, metavar=metavar)], default


_DATA = "The data: CSV, Parquet, npy, MatrixMarket, text, images, … Several files are read as one."
_RATED = "Who took or rated what (user,item[,rating]), or a model saved by `recommend` or `complete` (*.unweave)."
_USERS = "Ids as in the file (positions where there are none); without any a few examples."
FILE: Parameters = {"files": _argument(list[Path], _REQUIRED, _DATA, "FILE")}
ONE_FILE: Parameters = {"file": _argument(Path, _REQUIRED, "The picture.", "FILE")}
SOURCE: Parameters = {"file": _argument(Path, _REQUIRED, _RATED, "FILE|MODEL")}
MODEL: Parameters = {"model": _argument(Path, _REQUIRED, "A saved model (*.unweave).", "MODEL")}

FILES: Parameters = {
    "format": _option(str, "auto", "Format of the file; 'auto' tells it by its content.", panel=_READ, metavar="NAME"),
    "missing": _option(
        str, "auto", "What an unknown entry looks like: auto, nan, zeros (what a sparse file does not store), none.",
        panel=_READ, metavar="WORD", callback=_one_of(*_MISSING),
    ),
    "names": _option(
        str, "auto", "Column of the row names: its name, 'auto' or 'none'.", panel=_READ, metavar="COLUMN"
    ),
    "delimiter": _option(
        str, "", "Between the fields of a text file; found out unless given.", panel=_READ, metavar="SIGN"
    ),
    "encoding": _option(
        str, "utf-8", "How letters are stored in text files, such as latin-1.", panel=_READ, metavar="NAME"
    ),
    "limit": _option(
        int | None, None, "Most bytes that a packed file may unpack to.", panel=_READ, metavar="BYTES", min=1
    ),
    "dtype": _option(
        str, "float64", "Precision: float64, or float32 for half the memory.", panel=_READ, metavar="TYPE",
        callback=_one_of("float64", "float32"),
    ),
}  # fmt: skip
TEXT: Parameters = {
    "lines": _option(
        bool | None, None, "Whether every line is a document; found out unless given.", "--lines/--no-lines",
        panel=_TEXTS, show_default=False,
    ),
    "stop_words": _option(
        str, "english", "Words to leave out: a language (english, german, …), several with commas between, or none.",
        panel=_TEXTS, metavar="WORDS",
    ),
    "min_documents": _option(int, 2, "Leave out words in fewer documents.", panel=_TEXTS, metavar="N", min=1),
    "max_words": _option(int, 20000, "Keep the most frequent words.", panel=_TEXTS, metavar="N", min=1),
}  # fmt: skip
READING: Parameters = FILES | TEXT  # every verb that reads a file takes texts too
COLUMNS: Parameters = {
    "columns": _option(
        str | None, None, "Use these columns alone: names with commas between.", panel=_READ, metavar="A,B"
    ),
    "ignore": _option(
        str | None, None, "Leave these columns out: names with commas between.", panel=_READ, metavar="A,B"
    ),
    "kinds": _option(
        list[str] | None, None, f"What a column is: {', '.join(_KINDS)}. For several columns give it several times.",
        "--as", panel=_READ, metavar="NAME=KIND",
    ),
}  # fmt: skip
TITLES: Parameters = {
    "titles": _option(
        Path | None, None, "CSV file with titles of the items: ids in its first column.", panel=_READ, metavar="FILE"
    )
}
MEMORY: Parameters = {
    "memory": _option(
        str | None, None, "Memory to work in, such as 2GB (with --workers: of each); half of what is free unless "
        "given. A larger table is worked on in blocks.", panel=_LARGE, metavar="SIZE",
    ),
}  # fmt: skip
WORKERS: Parameters = {
    **MEMORY,
    "workers": _option(
        int | None, None, "Processes to start here that work on blocks of the table; needs unweave\\[scale].",
        panel=_LARGE, metavar="N", min=1,
    ),
    "cluster": _option(
        str, "", "Address of the scheduler of a Dask cluster whose workers do it, such as tcp://host:8786; needs "
        "unweave\\[scale].", panel=_LARGE, metavar="ADDRESS",
    ),
}  # fmt: skip
FORCE: Parameters = {
    "force": _option(bool, False, "Replace results that are there already.", "--force", panel=_OUT)
}  # fmt: skip
COUNT: Parameters = {
    "k": _option(
        str, "", "How many groups, axes, parts or topics; 'auto' finds out. Unless given: auto where that is "
        "quick, 10 for topics and ratings.", "-k", "--components", metavar="N|auto", callback=_count,
    )
}  # fmt: skip
JOB: Parameters = {
    "job": _option(
        str, "", f"{', '.join(JOB_NAMES)}; the file suggests one.", metavar="VERB", callback=_one_of("", *JOB_NAMES)
    )
}  # fmt: skip
WAY: Parameters = {
    "way": _option(
        str, "", "Which model: pca, svd, ica, autoencoder, dictionary, sparse-pca, cp, dct, fourier, haar, or a "
        "wavelet such as db4; the data suggest one.", "--model", metavar="NAME",
    )
}  # fmt: skip
SPEAKING: Parameters = {
    "as_json": _option(bool, False, "The result as JSON on stdout.", "--json", panel=_SAY),
    "quiet": _option(bool, False, "No messages but errors.", "--quiet", "-q", panel=_SAY),
}
SEED: Parameters = {"seed": _option(int, 0, "Seed of what is drawn at random.", metavar="N", min=0)}
FITTING: Parameters = {
    "out": _option(
        Path | None, None, "Folder for the result; FILE-VERB unless given, with a number if that is taken.",
        panel=_OUT, metavar="FOLDER",
    ),
    **SEED,
    "scale": _option(
        str, "auto", "Columns to one scale: auto, none, standard (mean 0, spread 1), unit (spread 1).",
        panel=_READ, metavar="WORD", callback=_one_of(*_SCALES),
    ),
    "checkpoint": _option(
        Path | None, None, "Save the fit under way here; a killed command given again goes on.",
        panel=_OUT, metavar="FILE",
    ),
    "max_iter": _option(int | None, None, "The most iterations.", metavar="N", min=1),
}  # fmt: skip
WORK: Parameters = COUNT | FITTING | FORCE | READING | COLUMNS | SPEAKING
TOPICS: Parameters = {name: option for name, option in WORK.items() if name != "scale"}
ROLES: Parameters = {
    "files": _argument(
        list[Path], _REQUIRED, "Who may do what: lines of user,permission, or a table of 0 and 1. With --diff two "
        "results, the old one and the new one.", "FILE",
    ),
    "k": _option(
        str, "", "So many roles, which may err in some cells; 'auto' (with --noise) finds out. Unless given: the "
        "fewest that grant exactly what is there.", "-k", "--roles", metavar="N|auto", callback=_count,
    ),
    "noise": _option(
        bool, False, "Some grants are accidents: roles by a model of noise, exceptions ranked by surprise.", "--noise"
    ),
    "max_roles_per_user": _option(int | None, None, "The most roles of a user.", metavar="N", min=1),
    "max_permissions_per_role": _option(int | None, None, "The most permissions of a role.", metavar="N", min=1),
    "max_roles": _option(
        int | None, None, "The most roles; what so many cannot grant is left over.", metavar="N", min=1
    ),
    "separated": _option(
        Path | None, None, "CSV file of pairs of permissions that must never be in one role.", metavar="FILE"
    ),
    "attributes": _option(
        Path | None, None, "CSV file about users (department, title, …), ids in its first column: names for roles.",
        panel=_READ, metavar="FILE",
    ),
    "diff": _option(bool, False, "Compare two results of this command instead.", "--diff"),
    **{name: option for name, option in FITTING.items() if name != "scale"},
    **FORCE, **FILES, **SPEAKING,
}  # fmt: skip
PREDICT: Parameters = {
    "target": _option(str, _REQUIRED, "The column to predict from the others.", "--target", metavar="COLUMN"),
    "new": _option(
        Path | None, None, "Another file with the same columns, whose target is to be predicted.", metavar="FILE"
    ),
    "task": _option(
        str, "auto", "What the target is: classes, numbers, or auto, which tells by its values.", metavar="WORD",
        callback=_one_of("auto", "classes", "numbers"),
    ),
    **{name: option for name, option in FITTING.items() if name != "scale"},
    **FORCE, **READING, **COLUMNS, **SPEAKING,
}  # fmt: skip
WRITING: Parameters = {
    "out": _option(Path | None, None, "CSV file for the codes, '-' for stdout.", panel=_OUT, metavar="FILE")
}
PAGE: Parameters = {
    "out": _option(
        Path | None, None, "The page; report.html beside the model unless given.", panel=_OUT, metavar="FILE"
    )
}
USERS: Parameters = {
    "users": _argument(list[str] | None, None, _USERS, "USER"),
    "n": _option(int, 10, "Items for each user.", "-n", "--items", metavar="N", min=1),
    "unknown": _option(
        str, "error", "What users get whom the model does not know: error, or popular.", metavar="WORD",
        callback=_one_of("error", "popular"),
    ),
}  # fmt: skip
TOP: Parameters = {
    "top": _option(int | None, None, "List so many columns of each component too.", metavar="N", min=1)
}  # fmt: skip
PICTURE: Parameters = {
    "k": _option(int, 8, "How many segments.", "-k", "--segments", metavar="N", min=1),
    "position": _option(float, 0.0, "Weight of a pixel's place beside its colour.", metavar="NUMBER", min=0),
    **SEED,
    "out": _option(Path | None, None, "The PNG; FILE-segments.png unless given.", metavar="FILE"),
}
_CORPUS = "Text files, a folder of them (packed or not), or tables with a column of texts."
_ENCODED = {name: FILES[name] for name in ("encoding", "limit")}
CORPUS: Parameters = {
    "files": _argument(list[Path], _REQUIRED, _CORPUS, "CORPUS"),
    "k": _option(str, "", "How many numbers a vector has; 100 unless given.", "-k", "--components", metavar="N",
                 callback=_count),
    "way": _option(str, "auto", "Which model: pmi, skip-gram, cbow, glove; auto takes pmi, and skip-gram from five "
                   "million words on.", "--model", metavar="NAME"),
    "window": _option(int, 5, "How many words before and after a word are its company.", metavar="N", min=1),
    "min_count": _option(int, 0, "Leave out words that occur less often; 5 unless given, 2 in small corpora.",
                         metavar="N", min=0, show_default=False),
    "epochs": _option(int | None, None, "Passes of skip-gram or cbow over the corpus.", metavar="N", min=1),
    "most": _option(int, 1000, "How many words are on the map.", "--map", metavar="N", min=1, max=5000),
    **{name: FITTING[name] for name in ("out", "seed", "checkpoint", "max_iter")},
    **FORCE,
    "format": _option(str, "auto", "Of the vectors: unweave, word2vec, word2vec-binary, glove, fasttext.", panel=_OUT,
                      metavar="NAME"),
    **_ENCODED,
    "delimiter": FILES["delimiter"],
    "columns": _option(str | None, None, "The column of a table that holds the texts.", panel=_READ, metavar="NAME"),
    **SPEAKING,
}  # fmt: skip
_VECTORS = "Vectors: of unweave, word2vec, GloVe or fastText, or a folder that `unweave embed` made."
_NEAREST: Parameters = {
    "file": _argument(Path, _REQUIRED, _VECTORS, "VECTORS"),
    "words": _argument(list[str], _REQUIRED, "Of several words the middle is meant.", "WORD"),
    "n": _option(int, 10, "How many to list.", "-n", metavar="N", min=1),
}  # fmt: skip
SIMILAR: Parameters = {
    **_NEAREST,
    "without": _option(list[str] | None, None, "A word to be far from; may be given several times.", metavar="WORD"),
    "unknown": _option(str, "error", "What to do with words that have no vector: error, or skip.", metavar="WORD",
                       callback=_one_of("error", "skip")),
    **_ENCODED,
    **SPEAKING,
}  # fmt: skip
ANALOGY: Parameters = {
    **_NEAREST,
    "words": _argument(list[str], _REQUIRED, "A B C: what is to C as B is to A?", "A B C"),
    "method": _option(str, "add", "add (b − a + c), or mul (one large cosine hides no small ones).", metavar="WORD",
                      callback=_one_of("add", "mul")),
    **_ENCODED,
    **SPEAKING,
}  # fmt: skip
