"""Run ``unweave compress``: describe a table, a picture, a sound or a tensor by fewer numbers."""

from __future__ import annotations

from collections.abc import Callable

from unweave.cli.compressing.pictures import job_of_picture
from unweave.cli.compressing.tables import job_of_table
from unweave.cli.compressing.ways import sort_of, way_of
from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, carry_out, named, read_known

_JOBS: dict[str, Callable[..., Job]] = {"picture": job_of_picture}  # of all other sorts of data job_of_table


def run(settings: Settings) -> int:
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Fit what --model names, or what suits the data."""
    instead = f"use `unweave complete {named(settings)}`, or --missing none if what is not stored is zero"
    table = read_known(settings, speaker, instead)
    sort = sort_of(table)
    way = way_of(settings.way, sort)
    return _JOBS.get(sort, job_of_table)(settings, speaker, table, way)
