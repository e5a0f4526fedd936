"""Do what all jobs share: read, prepare, fit, write, and say what was done."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from unweave.cli.options import READING, Settings
from unweave.cli.output import write_files
from unweave.cli.say import Speaker
from unweave.data.named import NamedTable
from unweave.data.recipe import Recipe, prepare


@dataclass
class Job:
    """Hold a file under way to an answer: the table as read and as the model takes it, and the model."""

    settings: Settings
    speaker: Speaker
    table: NamedTable
    ready: NamedTable
    recipe: Recipe | None
    model: Any
    lines: list[str] = field(default_factory=list)  # Python that does the same
    extra: dict[str, Any] = field(default_factory=dict)  # more for the JSON
    later: Callable[[Job], dict[str, Any]] | None = None  # more tables to write, by file name, once the model is fitted


def read_table(settings: Settings, speaker: Speaker) -> NamedTable:
    """Read the file as a table and say what was decided."""
    from unweave.data.readers import read

    table = read(settings.file, **reading(settings))
    n, m = table.shape
    things = ("document", "word") if table.kind == "text" else ("row", "column")
    sizes = " × ".join(f"{size:,} {thing}{'' if size == 1 else 's'}" for size, thing in zip((n, m), things))
    speaker.line(f"{settings.file}: {sizes} ({table.kind})")
    for note in table.notes:
        speaker.note(note)
    return table


def read_known(settings: Settings, speaker: Speaker, instead: str) -> NamedTable:
    """Read a table of which most is known; ratings are refused with what to do `instead`."""
    table = read_table(settings, speaker)
    if table.missing == "zeros":
        raise ValueError(f"{settings.file} holds ratings, most of them unknown: {instead}")
    return table


def ready(
    settings: Settings, speaker: Speaker, table: NamedTable, *, centre: bool = True
) -> tuple[NamedTable, Recipe, str]:
    """Prepare the table for a model, say what was decided, and give the recipe and the Python that does the same."""
    prepared, recipe = prepare(table, scale=settings.scale, centre=centre)
    for note in recipe.notes:
        speaker.note(note)
    more = "" if centre else ", centre=False"
    return prepared, recipe, f"ready, recipe = unweave.prepare(table, scale={settings.scale!r}{more})"


def holes(table: NamedTable) -> str:
    """Write the argument `missing` as Python, where it is needed."""
    return f", missing={table.missing!r}" if table.missing else ""


def asked_count(settings: Settings, table: NamedTable, most: int) -> int | str:
    """Return the number of components asked for, or "auto", which a model finds out in its fit.

    A number that the table cannot have is an error.
    """
    if settings.k == "auto":
        return "auto"
    if int(settings.k) > most:
        raise ValueError(f"-k {settings.k} is too many for {table.source or 'this table'}: at most {most}")
    return int(settings.k)


def reading(settings: Settings) -> dict[str, Any]:
    """Return the options of the command line as arguments of :func:`unweave.read`, where they are not the defaults."""
    given: dict[str, Any] = {}
    for name, (_, default) in READING.items():
        value = getattr(settings, name)
        if value != default:
            given[name] = None if name in ("missing", "stop_words") and value == "none" else value
    if given.get("names") == "none":
        given["names"] = False
    if "," in (given.get("stop_words") or ""):
        given["stop_words"] = [word.strip() for word in given["stop_words"].split(",")]
    return given


def read_line(settings: Settings) -> str:
    """Write the Python that reads the file the same way."""
    more = "".join(f", {name}={value!r}" for name, value in reading(settings).items())
    return f"table = unweave.read({str(settings.file)!r}{more})"


def finish(job: Job) -> int:
    """Fit the model, write the result, and say what came out."""
    speaker, settings = job.speaker, job.settings
    show_bar = not settings.quiet and not settings.as_json and sys.stderr.isatty()
    job.model.set_params(checkpoint=settings.checkpoint, verbose=show_bar)
    if settings.max_iter is not None:
        job.model.set_params(max_iter=settings.max_iter)
    began = time.perf_counter()
    with speaker.hearing():
        job.model.fit(job.ready)
    seconds = time.perf_counter() - began
    job.model.set_params(checkpoint=None, verbose=False)
    say_choice(job)
    speaker.line(f"{type(job.model).__name__}, {seconds:.2f} s: {job.model.history_.stopped}")
    speaker.line(f"  {job.model.certificate_}")
    folder = settings.out or Path(f"{stem(settings.file)}-{settings.verb}")
    files = write_files(job, folder)
    speaker.line(f"{folder}/ has {', '.join(files)}")
    speaker.result(summary(job, seconds, folder, files))
    return 0


def say_choice(job: Job) -> None:
    """Say which number of components the model chose and why, where it was left to the model."""
    choice = getattr(job.model, "choice_", None)
    for text in [] if choice is None else [choice.reason, choice.note]:
        if text:
            job.speaker.note(text)


def count_of(model: Any) -> int:
    """Count the components of a fitted model, those that carry biases left aside."""
    from unweave.report.view import components_of

    return len(components_of(model))


def stem(path: Path) -> str:
    """Strip a file name of its suffixes."""
    name = path.resolve().name
    while "." in name.lstrip(".") and len(Path(name).suffix) <= 9:
        name = Path(name).stem
    return name or "table"


def summary(job: Job, seconds: float, folder: Path, files: list[str]) -> dict[str, Any]:
    """Collect what a program wants to know of a fit."""
    model, certificate = job.model, job.model.certificate_
    return {
        "verb": job.settings.verb, "file": str(job.settings.file), "rows": job.ready.shape[0],
        "columns": job.ready.shape[1], "model": type(model).__name__, "components": count_of(model),
        "objective": float(model.objective_), "iterations": int(model.n_iter_), "stopped": model.history_.stopped,
        "certificate": {"kind": certificate.kind, "gap": finite(certificate.gap), "words": str(certificate)},
        "seconds": round(seconds, 4), "out": str(folder), "files": files, **job.extra,
    }  # fmt: skip


def finite(value) -> float | None:
    """Make a number fit for JSON, which knows no infinity."""
    return float(value) if value is not None and np.isfinite(value) else None


def command_line(settings: Settings) -> str:
    """Write the command as it would be typed again."""
    words = ["unweave", settings.verb, str(settings.file)]
    words += ["-k", str(settings.k)] if settings.k != "auto" else []
    return shlex.join(words)
