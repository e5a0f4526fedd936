"""Run ``unweave topics``: find the topics of texts (LDA), list them in a table, and draw a map of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, carry_out, named, read_line, read_texts, refuse_ratings, usual_count
from unweave.cli.work import ready as make_ready
from unweave.data.named import NamedTable
from unweave.data.storage import stored

MAP = "topics.html"
_WORDS = 10


def run(settings: Settings) -> int:
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Fit LDA to the counts of words; other tables of whole numbers that are not negative count as such."""
    from unweave.explain.topics.lda import LDA

    table, told = read_texts(settings, speaker)
    refuse_ratings(table, settings, f"topics are of words; use `unweave complete {named(settings)}`")
    _refuse_measurements(table, settings)
    # Counts are what they are: brought to one scale they would no longer say how often a word occurs.
    ready, recipe, prepared = make_ready(replace(settings, scale="none"), speaker, table, centre=False)
    k, closing = usual_count(settings, ready, max(ready.shape), "topics")
    lines = [
        read_line(settings, **told),
        prepared,
        f"model = unweave.LDA({k!r}, random_state={settings.seed}).fit(ready)",
        "print(model.describe())",
    ]
    model = LDA(k, random_state=settings.seed)
    return Job(settings, speaker, table, ready, recipe, model, lines, later=_topics, kept=told, closing=closing)


def _topics(job: Job) -> dict[str, Any]:
    """Make the table of topics; the map is written beside it."""
    import polars

    from unweave.report.topic_map import write_topic_map

    job.extra["map"] = str(write_topic_map(job.model, job.folder / MAP, job.ready))
    job.closing.append(f"the topic map is {job.extra['map']}")
    found = job.model.describe(_WORDS)
    job.extra["topics"] = [{"topic": row.topic, "share": row.share, "words": row.words} for row in found]
    columns = {"topic": [row.topic for row in found], "share": [row.share for row in found]}
    return {"topics.csv": polars.DataFrame({**columns, "words": [" ".join(row.words) for row in found]})}


def _refuse_measurements(table: NamedTable, settings: Settings) -> None:
    """Raise for a table that is neither of texts nor of counts, with the verbs that suit it."""
    files = named(settings)
    if table.kind == "table":
        X = stored(table.X) if table.numeric else np.full(1, 0.5)
        known = X[~np.isnan(X)]
        if not (known.size and (known >= 0).all() and (np.round(known) == known).all()):
            raise ValueError(
                f"{settings.file} is a table of measurements, not of texts or counts of words, which topics are made "
                f"of: use `unweave group {files}` for rows that are alike, or `unweave explain {files}` for its parts"
            )
    if table.missing:
        raise ValueError(
            f"{settings.file} has holes: topics are of counts of words; use `unweave complete {files}` first"
        )
