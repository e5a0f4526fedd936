"""Do what all jobs share: read, prepare, fit, write, and say what was found."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave import compiling
from unweave.cli.interrupt import EXIT, Ending, Interrupted, end_by_exception
from unweave.cli.options import PREDICT, READING, ROLES, TEXT, TITLES, WAY, WORK, WORKERS, Settings
from unweave.cli.output import finite, write_files
from unweave.cli.place import folder_for
from unweave.cli.say import Speaker, as_typed
from unweave.cli.whole import opened, rows_to_fit, working
from unweave.data.named import NamedTable
from unweave.data.recipe import Recipe, prepare

if TYPE_CHECKING:
    from unweave.report.answer import Answer


_USUAL = 10  # topics and components of ratings, unless told: a search takes many fits


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
    found: Callable[[Job], Answer] | None = None  # what was found, where the job knows more of it than the model
    signals: Callable[[Job], dict[str, dict]] | None = None  # what the page shows of a picture or a sound
    leave_out: tuple[str, ...] = ()  # panels of the page that say nothing of such data
    beside: Callable[[Job], dict[str, bytes]] | None = None  # other files to write, once the model is fitted
    recode: bool = False  # codes are asked of the model anew, because the fit keeps them in another form
    scratch: dict[str, Any] = field(default_factory=dict)  # what several of these need
    also: Callable[[Job], dict[str, Any]] | None = None  # more to say, and for the JSON, once the model is fitted
    fit_with: dict[str, Any] = field(default_factory=dict)  # what `fit` gets beside the table
    kept: dict[str, Any] = field(default_factory=dict)  # what is saved with the model for `transform`
    closing: list[str] = field(default_factory=list)  # what is said last
    folder: Path = Path()  # where the result goes; known before the fit


def read_table(settings: Settings, speaker: Speaker, **more: Any) -> NamedTable:
    """Read the file, or several as one, and say what was decided; `more` goes to the reader."""
    table = read_quietly(settings, **more)
    say_table(table, settings, speaker)
    return table


def read_quietly(settings: Settings, **more: Any) -> NamedTable:
    """Read the file, or several as one; `more` goes to the reader. A tensor is refused: most jobs work on tables."""
    table = read_anything(settings, **more)
    table.need_two_sides()
    return table


def read_anything(settings: Settings, **more: Any) -> NamedTable:
    """Read the file, or several as one, of any sort of data; `more` goes to the reader."""
    from unweave.data.readers import read

    return read(source(settings), **reading(settings), **more)


def read_some(settings: Settings) -> NamedTable:
    """Read the file, or several as one; of one that is larger than memory some rows, whose `whole` has all."""
    found = some_of_many(settings)
    return read_quietly(settings) if found is None else found


def some_of_many(settings: Settings) -> NamedTable | None:
    """Read some rows of a file that is larger than memory; None if it is not."""
    from unweave.data.readers import Options

    given = {name: value for name, value in reading(settings).items() if name != "format"}
    return opened(settings, Options(**given), source(settings))


def say_table(table: NamedTable, settings: Settings, speaker: Speaker) -> None:
    """Say what was read, and what was decided about it."""
    things = ("document", "word") if table.kind == "text" else ("row", "column")
    shape = table.shape if table.whole is None else (table.whole.n_rows, table.whole.n_columns)
    sizes = " × ".join(
        f"{size:,}" if table.kind == "tensor" else f"{size:,} {thing}{'' if size == 1 else 's'}"
        for size, thing in zip_longest(shape, things, fillvalue="")
    )
    speaker.line(f"{named(settings)}: {sizes} ({table.kind})")
    for note in table.notes:
        speaker.note(note)


def source(settings: Settings) -> Any:
    """Return what is to be read: one path, or a list of several."""
    paths = settings.files or [settings.file]
    return paths[0] if len(paths) == 1 else [str(path) for path in paths]


def named(settings: Settings) -> str:
    """Write the files as they were typed."""
    return shlex.join(map(str, settings.files or [settings.file]))


def read_texts(settings: Settings, speaker: Speaker) -> tuple[NamedTable, dict[str, Any]]:
    """Read a table for a job on texts: a column of prose beside other columns is taken in their place.

    Returns the table, and what the reader was told besides the options.
    """
    table = read_some(settings)
    prose = next((name for name, kind in settings.kinds.items() if kind == "prose"), table.prose)
    if prose is not None:
        table = table if table.whole is None else read_quietly(settings)  # counts of words are small beside the texts
        counting = {name: value for name, value in reading(settings).items() if name in TEXT and name != "lines"}
        table = table.texts(prose, **counting)
    say_table(table, settings, speaker)
    return table, {} if prose is None else {"text": prose}


def read_known(settings: Settings, speaker: Speaker, instead: str) -> NamedTable:
    """Read a table of which most is known; ratings are refused with what to do `instead`."""
    table = read_some(settings)
    say_table(table, settings, speaker)
    refuse_ratings(table, settings, instead)
    return table


def refuse_ratings(table: NamedTable, settings: Settings, instead: str) -> None:
    """Raise for a table of which most is unknown, with what to do `instead`."""
    if table.missing == "zeros":
        raise ValueError(f"{settings.file} holds ratings, most of them unknown: {instead}")


def ready(
    settings: Settings, speaker: Speaker, table: NamedTable, *, centre: bool = True
) -> tuple[NamedTable, Recipe, str]:
    """Prepare the table for a model, say what was decided, and give the recipe and the Python that does the same."""
    more: dict[str, Any] = {"scale": settings.scale} | ({} if centre else {"centre": False})
    more |= {name: getattr(settings, name) for name in ("columns", "ignore", "kinds") if getattr(settings, name)}
    prepared, recipe = prepare(table, **more)
    for note in recipe.notes:
        speaker.note(note)
    given = ", ".join(f"{name}={value!r}" for name, value in more.items())
    return prepared, recipe, f"ready, recipe = unweave.prepare(table, {given})"


def holes(table: NamedTable) -> str:
    """Write the argument `missing` as Python, where it is needed."""
    return f", missing={table.missing!r}" if table.missing else ""


def asked_count(settings: Settings, table: NamedTable, most: int) -> int | str:
    """Return the number of components asked for, or "auto", which a model finds out in its fit, and unless told.

    A number that the table cannot have is an error.
    """
    if settings.k in ("", "auto"):
        return "auto"
    if int(settings.k) > most:
        raise ValueError(f"-k {settings.k} is too many for {table.source or 'this table'}: at most {most}")
    return int(settings.k)


def usual_count(settings: Settings, table: NamedTable, most: int, what: str) -> tuple[int | str, list[str]]:
    """Return the number asked for, or the usual one where a search would take minutes, with a sentence that says so."""
    if settings.k:
        return asked_count(settings, table, most), []
    usual = min(_USUAL, most)
    return usual, [f"{usual} {what} unless you say otherwise: -k {2 * usual}, or -k auto, which tries many numbers"]


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


def read_line(settings: Settings, **told: Any) -> str:
    """Write the Python that reads the file the same way; `told` is what the reader was told besides the options."""
    more = "".join(f", {name}={value!r}" for name, value in {**reading(settings), **told}.items())
    what = source(settings)
    return f"table = unweave.read({what if isinstance(what, list) else str(what)!r}{more})"


def carry_out(make: Callable[[Settings, Speaker], Job], settings: Settings) -> int:
    """Find a place for the result, let `make` read the file and set the job up, and finish it; the exit code."""
    folder = folder_for(settings)  # first of all: reading may take long, too
    job = make(settings, Speaker(settings))
    job.folder = folder
    return finish(job)


def finish(job: Job) -> int:
    """Fit the model, say what it has found, and write the result; the exit code."""
    speaker = job.speaker
    seconds, interrupted = fit(job)
    _say_warnings(job)
    found = answer_of(job)
    # Who asked for something of their own is spared the examples.
    speaker.answer(asdict(found if job.also is None else replace(found, rows=[])))
    job.extra |= job.also(job) if job.also is not None else {}
    speaker.line(f"{type(job.model).__name__}, {seconds:.2f} s: {as_typed(job.model.history_.stopped)}")
    try:
        files, whole = write_files(job, found, hurry=interrupted)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted while writing: {job.folder}/ may lack files") from None
    speaker.line(f"{job.folder}/ has {', '.join(files)}")
    for line in job.closing:
        speaker.line(line)
    if interrupted or not whole:
        speaker.note(f"interrupted: {job.folder}/ has what was reached, without what would have taken longer")
    speaker.result({**summary(job, seconds, files), "headline": found.headline, "answer": found.data})
    return EXIT if interrupted or not whole else 0


def fit(job: Job) -> tuple[float, bool]:
    """Fit the model of a job; the seconds it took without compiling, and whether Ctrl-C ended it early."""
    settings = job.settings
    show_bar = not settings.quiet and not settings.as_json and sys.stderr.isatty()
    searching = "; give -k a number to go without a search" if settings.k in ("", "auto") else ""
    ending = Ending(f"interrupted before there was a model: nothing was written{searching}")
    job.model.set_params(checkpoint=settings.checkpoint, verbose=show_bar, callback=ending.heard)
    if settings.max_iter is not None:
        if "max_iter" not in job.model.get_params():
            raise ValueError(f"{type(job.model).__name__} takes one step: leave out --max-iter")
        job.model.set_params(max_iter=settings.max_iter)
    began = compiling.clock()
    with job.speaker.hearing(), working(settings, job.ready) as by, ending:
        job.model.fit(rows_to_fit(settings, job.ready, job.recipe), **job.fit_with, **by)
    end_by_exception()  # there is a model to write now
    if job.ready.columns is not None and not hasattr(job.model, "feature_names_in_"):
        job.model.feature_names_in_ = np.asarray(job.ready.columns, dtype=object)  # blocks of numbers have no names
    seconds = compiling.clock() - began
    job.model.set_params(checkpoint=None, verbose=False, callback=None)
    return seconds, ending.asked


def answer_of(job: Job) -> Answer:
    """Return what the model has found."""
    if job.found is not None:
        return job.found(job)
    from unweave.report.answer import answer

    return answer(job.model, job.ready, job.recipe)


def _say_warnings(job: Job) -> None:
    """Say what a choice has to add to its number."""
    choice = getattr(job.model, "choice_", None)
    if choice is not None and choice.note:
        job.speaker.note(choice.note)


def say_choice(job: Job) -> None:
    """Say which number of components the model chose and why, where it was left to the model."""
    choice = getattr(job.model, "choice_", None)
    if choice is not None:
        job.speaker.note(f"chosen: {choice.reason}")
        if choice.note:
            job.speaker.note(choice.note)


def count_of(model: Any) -> int:
    """Count the components of a fitted model, those that carry biases left aside."""
    from unweave.report.view import components_of

    return len(model.weights_ if hasattr(model, "factors_") else components_of(model))


def summary(job: Job, seconds: float, files: list[str]) -> dict[str, Any]:
    """Collect what a program wants to know of a fit."""
    model, certificate = job.model, job.model.certificate_
    return {
        "verb": job.settings.verb, "file": str(job.settings.file), "rows": n_rows(job.ready),
        "columns": job.ready.shape[1], "model": type(model).__name__, "components": count_of(model),
        "objective": float(model.objective_), "iterations": int(model.n_iter_), "stopped": model.history_.stopped,
        "certificate": {"kind": certificate.kind, "gap": finite(certificate.gap), "words": str(certificate)},
        "seconds": round(seconds, 4), "out": str(job.folder), "files": files, **job.extra,
    }  # fmt: skip


def n_rows(table: NamedTable) -> int:
    """Count the rows of a table, all of them where only some are here."""
    return table.shape[0] if table.whole is None else table.whole.n_rows


_TYPED = {"k": "-k", "way": "--model"}
_NOT_TYPED = ("as_json", "quiet", "checkpoint", "force", "files")


def command_line(settings: Settings) -> str:
    """Write the command as it would be typed again."""
    words = ["unweave", settings.verb, *map(str, settings.files or [settings.file]), *settings.users]
    usual = Settings(settings.verb)
    for name in WAY | WORK | TITLES | WORKERS | ROLES | PREDICT:
        value = getattr(settings, name)
        if name in _NOT_TYPED or value == getattr(usual, name):
            continue
        if name == "kinds":
            words += [word for column, kind in value.items() for word in ("--as", f"{column}={kind}")]
        elif name == "lines":
            words.append("--lines" if value else "--no-lines")
        else:
            option = _TYPED.get(name, f"--{name.replace('_', '-')}")
            words += [option] if value is True else [option, ",".join(value) if isinstance(value, list) else str(value)]
    return shlex.join(words)
