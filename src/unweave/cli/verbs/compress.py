"""Run ``unweave compress``: find fewer columns that keep most of the table."""

from __future__ import annotations

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, asked_count, carry_out, holes, named, read_known, read_line
from unweave.cli.work import ready as make_ready


def run(settings: Settings) -> int:
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Fit PCA to dense tables, truncated SVD to sparse ones."""
    from unweave import PCA, TruncatedSVD

    instead = f"use `unweave complete {named(settings)}`, or --missing none if what is not stored is zero"
    table = read_known(settings, speaker, instead)
    ready, recipe, prepared = make_ready(settings, speaker, table)
    k = asked_count(settings, ready, min(ready.shape))
    name, cls = ("TruncatedSVD", TruncatedSVD) if ready.sparse else ("PCA", PCA)
    model = cls(k, random_state=settings.seed, missing=ready.missing)
    lines = [
        read_line(settings),
        prepared,
        f"model = unweave.{name}({k!r}, random_state={settings.seed}{holes(ready)}).fit(ready)",
        "codes = model.transform(ready)",
    ]
    return Job(settings, speaker, table, ready, recipe, model, lines)
