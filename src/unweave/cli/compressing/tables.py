"""Compress tables, sparse ones and folders of pictures."""

from __future__ import annotations

from unweave.cli.compressing.ways import Way, number_of
from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, named, read_line
from unweave.cli.work import ready as make_ready
from unweave.data.named import NamedTable


def job_of_table(settings: Settings, speaker: Speaker, table: NamedTable, way: Way) -> Job:
    """Fit the model to the table, with its columns brought to one scale unless they are a signal."""
    lines, recipe = [read_line(settings)], None
    if way.signals and settings.scale == "auto" and table.numeric and not _columns_chosen(settings):
        ready, taken = table, "table"
        speaker.note("columns stay as they are: a basis takes each row for a signal")
    else:
        ready, recipe, prepared = make_ready(settings, speaker, table)
        lines, taken = [*lines, prepared], "ready"
    if ready.missing and not way.holes:
        raise ValueError(
            f"{settings.file} has holes, and --model {way.name} takes none: fill them by `unweave complete "
            f"{named(settings)}`, or use --model pca"
        )
    k, notes = number_of(way, settings, ready, way.usual, "each row")
    for note in notes:
        speaker.note(note)
    arguments = way.arguments(settings, ready, k)
    lines += [f"model = {way.written(arguments)}.fit({taken})", f"codes = model.transform({taken})"]
    return Job(settings, speaker, table, ready, recipe, way.make(arguments), lines, recode=way.recode)


def _columns_chosen(settings: Settings) -> bool:
    return bool(settings.columns or settings.ignore or settings.kinds)
