"""Run ``unweave compress``: describe a table, a picture, a sound or a tensor by fewer numbers."""

from __future__ import annotations

from collections.abc import Callable

from unweave.cli.compressing.pictures import job_of_picture
from unweave.cli.compressing.sounds import job_of_sound
from unweave.cli.compressing.tables import job_of_table
from unweave.cli.compressing.tensors import job_of_tensor
from unweave.cli.compressing.ways import sort_of, way_of
from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, carry_out, named, read_anything, refuse_ratings, say_table, some_of_many

# By the sort of data; all others are tables.
_JOBS: dict[str, Callable[..., Job]] = {"picture": job_of_picture, "sound": job_of_sound, "tensor": job_of_tensor}


def run(settings: Settings) -> int:
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Fit what --model names, or what suits the data."""
    some = some_of_many(settings)
    table = read_anything(settings, colour=True) if some is None else some
    say_table(table, settings, speaker)
    sort = sort_of(table)
    if sort != "tensor":
        instead = f"use `unweave complete {named(settings)}`, or --missing none if what is not stored is zero"
        refuse_ratings(table, settings, instead)
    return _JOBS.get(sort, job_of_table)(settings, speaker, table, way_of(settings.way, sort))
