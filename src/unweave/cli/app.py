"""List the verbs of the command line and their options; what they do is in `verbs/`, one file each."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from unweave import __version__
from unweave.cli import options, synonyms
from unweave.cli.first_use import showing_compiling
from unweave.cli.interrupt import EXIT, NOTHING, Interrupted

app = typer.Typer(
    name="unweave",
    help="Find the structure of a table: X ≈ U·Z. One command, one file in, answers and pictures out.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

JOBS = "Jobs"
MODELS = "Saved models"


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code; wrong usage is reported here and gives 2."""
    words = synonyms.understood(arguments)
    verbs = [command.name or "" for command in app.registered_commands] + ["warmup"]
    meant = synonyms.suggestion(words[0], verbs) if words else None
    if meant is not None:
        print(f"unweave: there is no verb {words[0]!r}; did you mean `unweave {meant}`?", file=sys.stderr)
        return 2
    try:
        code = app(args=words, prog_name="unweave", standalone_mode=True)
    except SystemExit as end:
        code = end.code
    return code if isinstance(code, int) else 0


def verb(name: str, parameters: dict[str, Any], *, panel: str, summary: str, examples: list[str]) -> None:
    """Register ``verbs/<name>.py``: its ``run(settings)`` gets the parameters as :class:`options.Settings`."""

    def call(**given: Any) -> None:
        settings = options.settings_of(name, given)
        try:
            with showing_compiling(settings.quiet or settings.as_json):
                code = import_module(f"unweave.cli.verbs.{name}").run(settings)
        except (KeyboardInterrupt, Interrupted) as end:
            print(f"unweave: {str(end) or NOTHING}", file=sys.stderr)
            code = EXIT
        raise typer.Exit(code or 0)

    kinds = {key: kind for key, (kind, _) in parameters.items()}
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
            for key, (kind, default) in parameters.items()
        ]
    )
    call.__annotations__ = kinds
    call.__name__ = name
    shown = "\n\n".join(f"[bold]$ unweave {line}[/bold]" for line in examples)
    command: Callable = app.command(name, help=f"{summary}\n\n{shown}", short_help=summary, rich_help_panel=panel)
    command(call)


def _version(asked: bool) -> None:
    if asked:
        print(f"unweave {__version__}")
        raise typer.Exit()


@app.callback()
def top(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Take the options that stand before any verb."""


@app.command(rich_help_panel="Other", short_help="Compile every kernel once and keep it on disk.")
def warmup(quiet: Annotated[bool, typer.Option(help="Say only what failed, and the total.")] = False) -> None:
    """Fit every estimator on tiny tables, so that every kernel is compiled and kept on disk.

    A later process then starts without compiling.
    """
    from unweave.cli.warmup import warmup as compile_all

    raise typer.Exit(compile_all(quiet=quiet))


verb(
    "describe", options.FILE | options.READING | options.MEMORY | options.SPEAKING, panel=JOBS,
    summary="What is in a file: shape, types, holes, and the job it suggests.",
    examples=["describe wine.csv"],
)  # fmt: skip
verb(
    "plan",
    options.FILE | options.JOB | options.COUNT | options.READING | options.COLUMNS | options.WORKERS | options.SPEAKING,
    panel=JOBS,
    summary="Which method would run on a file, why, and what it would cost.",
    examples=["plan ratings.csv --job complete -k 20", "plan 'part-*.parquet' --job group --workers 4 --memory 2GB"],
)  # fmt: skip
verb(
    "compress", options.FILE | options.WAY | options.WORK | options.WORKERS, panel=JOBS,
    summary="Fewer numbers that keep most of a table, a picture, a sound or a tensor (PCA, waves, ICA, CP).",
    examples=["compress wine.csv", "compress counts.mtx -k 50 --out small", "compress wine.csv --ignore year",
              "compress photo.png --model haar -k 12"],
)  # fmt: skip
verb(
    "complete", options.FILE | options.WORK | options.TITLES, panel=JOBS,
    summary="Fill in what is missing: holes in a table, or ratings nobody gave.",
    examples=["complete ratings.csv -k 20", "complete holes.csv --out filled"],
)  # fmt: skip
verb(
    "group", options.FILE | options.WORK | options.WORKERS, panel=JOBS,
    summary="Put rows that are alike into groups (k-means).",
    examples=["group wine.csv", "group wine.csv -k 3 --columns alcohol,hue",
              "group may.csv june.csv --as code=category", "group 'part-*.parquet' -k 20 --workers 4 --memory 2GB"],
)  # fmt: skip
verb(
    "explain", options.FILE | options.WORK | options.WORKERS, panel=JOBS,
    summary="Parts that pictures, texts and tables are made of (NMF).",
    examples=["explain faces/ -k 20", "explain notes.txt -k 10 --out topics"],
)  # fmt: skip
verb(
    "topics", options.FILE | options.TOPICS | options.WORKERS, panel=JOBS,
    summary="Topics of texts or counts of words (LDA), with a map to look at.",
    examples=["topics letters/ -k 20 --out topics", "topics notes.txt -k 10 --lines"],
)  # fmt: skip
verb(
    "recommend", options.SOURCE | options.USERS | options.WORK | options.TITLES, panel=JOBS,
    summary="The best new items for users, from clicks, purchases or ratings, or from a saved model.",
    examples=["recommend clicks.csv", "recommend ratings.csv ann bob -n 5 --titles films.csv",
              "recommend clicks-recommend/model.unweave ann bob -n 5"],
)  # fmt: skip
verb(
    "roles", options.ROLES, panel=JOBS,
    summary="Roles out of who may do what: the fewest, or few in spite of noise.",
    examples=["roles access.csv --attributes users.csv", "roles access.csv --noise",
              "roles access.csv --roles 20 --out mined", "roles --diff may-roles june-roles"],
)  # fmt: skip
verb(
    "embed", options.CORPUS, panel=JOBS,
    summary="A vector for each word of texts, near each other where they are used alike, with a map to look at.",
    examples=["embed corpus.txt", "embed letters/ -k 200 --model skip-gram --out words",
              "embed reviews.csv --columns text --format word2vec"],
)  # fmt: skip
verb(
    "predict", options.FILE | options.PREDICT, panel=JOBS,
    summary="Tell one column from the others: which class, or what number, and how sure that is.",
    examples=["predict houses.csv --target price", "predict customers.csv --target left --new june.csv",
              "predict wine.csv --target quality --task numbers --out judged"],
)  # fmt: skip
verb(
    "segment", options.ONE_FILE | options.PICTURE | options.FORCE | options.SPEAKING, panel=JOBS,
    summary="A picture in few colours, each segment in its mean.",
    examples=["segment photo.jpg -k 8 --out few.png"],
)  # fmt: skip
verb(
    "transform",
    options.MODEL | options.FILE | options.WRITING | options.FORCE | options.READING | options.MEMORY
    | options.SPEAKING,
    panel=MODELS,
    summary="Codes, groups or predictions of the rows of another file.",
    examples=["transform wine-group/model.unweave new.csv --out groups.csv",
              "transform notes-topics/model.unweave new.txt --lines"],
)  # fmt: skip
verb(
    "similar", options.SIMILAR, panel=MODELS,
    summary="The words nearest to a word, or to several, by their vectors.",
    examples=["similar corpus-embed paris", "similar glove.6B.50d.txt paris berlin --without london -n 5"],
)  # fmt: skip
verb(
    "analogy", options.ANALOGY, panel=MODELS,
    summary="What is to C as B is to A, by the vectors of words.",
    examples=["analogy glove.6B.50d.txt man king woman"],
)  # fmt: skip
verb(
    "show", options.MODEL | options.TOP | options.SPEAKING, panel=MODELS,
    summary="The answer of a saved model in the terminal.",
    examples=["show wine-compress/model.unweave"],
)  # fmt: skip
verb(
    "report", options.MODEL | options.PAGE | options.FORCE | options.SPEAKING, panel=MODELS,
    summary="Write the report of a saved model anew.",
    examples=["report wine-group/model.unweave --out wine.html"],
)  # fmt: skip
