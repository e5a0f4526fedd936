"""Run ``unweave group``: put rows that are alike into groups."""

from __future__ import annotations

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, asked_count, carry_out, holes, named, read_known, read_line
from unweave.cli.work import ready as make_ready


def run(settings: Settings) -> int:
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Fit k-means to columns brought to one scale."""
    from unweave import KMeans

    instead = f"use `unweave recommend {named(settings)}`, or --missing none if what is not stored is zero"
    table = read_known(settings, speaker, instead)
    if table.kind == "text":
        raise ValueError(
            f"{settings.file} is text: for what its documents are about use `unweave topics {named(settings)}`"
        )
    if table.prose is not None:
        speaker.note(f"for what the texts of {table.prose!r} are about use `unweave topics {named(settings)}`")
    ready, recipe, prepared = make_ready(settings, speaker, table)
    k = asked_count(settings, ready, ready.shape[0])
    model = KMeans(k, random_state=settings.seed, missing=ready.missing)
    lines = [
        read_line(settings),
        prepared,
        f"model = unweave.KMeans({k!r}, random_state={settings.seed}{holes(ready)}).fit(ready)",
        "groups = model.labels_",
    ]
    return Job(settings, speaker, table, ready, recipe, model, lines)
