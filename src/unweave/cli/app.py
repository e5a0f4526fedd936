"""List the verbs of the command line and their options; what they do is in `verbs/`, one file each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from unweave import __version__
from unweave.cli import options

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
    try:
        code = app(args=arguments, prog_name="unweave", standalone_mode=True)
    except SystemExit as end:
        code = end.code
    return code if isinstance(code, int) else 0


def verb(name: str, parameters: dict[str, Any], *, panel: str, summary: str, examples: list[str]) -> None:
    """Register ``verbs/<name>.py``: its ``run(settings)`` gets the parameters as :class:`options.Settings`."""

    def call(**given: Any) -> None:
        code = import_module(f"unweave.cli.verbs.{name}").run(options.Settings(verb=name, **given))
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
    "describe", options.FILE | options.READING | options.SPEAKING, panel=JOBS,
    summary="What is in a file: shape, types, holes, and the job it suggests.",
    examples=["describe wine.csv"],
)  # fmt: skip
verb(
    "plan", options.FILE | options.JOB | options.COUNT | options.READING | options.SPEAKING, panel=JOBS,
    summary="Which method would run on a file, why, and what it would cost.",
    examples=["plan ratings.csv --job complete -k 20"],
)  # fmt: skip
verb(
    "compress", options.FILE | options.WORK, panel=JOBS,
    summary="Fewer columns that keep most of the table (PCA, truncated SVD).",
    examples=["compress wine.csv", "compress counts.mtx -k 50 --out small"],
)  # fmt: skip
verb(
    "complete", options.FILE | options.WORK, panel=JOBS,
    summary="Fill in what is missing: ratings, or a table with holes.",
    examples=["complete ratings.csv -k 20", "complete holes.csv --out filled"],
)  # fmt: skip
verb(
    "group", options.FILE | options.WORK, panel=JOBS,
    summary="Put rows that are alike into groups (k-means).",
    examples=["group wine.csv -k 3", "group wine.csv -k auto --scale none"],
)  # fmt: skip
verb(
    "explain", options.FILE | options.WORK, panel=JOBS,
    summary="Parts of pictures and tables, topics of texts (NMF).",
    examples=["explain faces/ -k 20", "explain notes.txt -k 10 --out topics"],
)  # fmt: skip
verb(
    "topics", options.FILE | options.TOPICS, panel=JOBS,
    summary="Topics of texts or counts of words (LDA), with a map to look at.",
    examples=["topics letters/ -k 20 --out topics", "topics notes.txt -k 10 --lines"],
)  # fmt: skip
verb(
    "segment", options.FILE | options.PICTURE | options.SPEAKING, panel=JOBS,
    summary="A picture in few colours, each segment in its mean.",
    examples=["segment photo.jpg -k 8 --out few.png"],
)  # fmt: skip
verb(
    "transform", options.MODEL | options.FILE | options.WRITING | options.READING | options.SPEAKING, panel=MODELS,
    summary="Codes (or groups) of the rows of another file.",
    examples=["transform wine-group/model.unweave new.csv --out groups.csv",
              "transform notes-topics/model.unweave new.txt --lines"],
)  # fmt: skip
verb(
    "recommend", options.MODEL | options.USERS | options.SPEAKING, panel=MODELS,
    summary="The best items for some users, under a saved model of ratings.",
    examples=["recommend ratings-complete/model.unweave ann bob -n 5"],
)  # fmt: skip
verb(
    "show", options.MODEL | options.TOP | options.SPEAKING, panel=MODELS,
    summary="A saved model in the terminal: what it is, how good, its components.",
    examples=["show wine-compress/model.unweave"],
)  # fmt: skip
verb(
    "report", options.MODEL | options.PAGE | options.SPEAKING, panel=MODELS,
    summary="Write the report of a saved model anew.",
    examples=["report wine-group/model.unweave --out wine.html"],
)  # fmt: skip
