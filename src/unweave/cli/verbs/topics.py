"""Run ``unweave topics``: find the topics of texts (LDA), list them in a table, and draw a map of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, asked_count, count_of, finish, read_known, read_line, stem
from unweave.cli.work import ready as make_ready

MAP = "topics.html"
_WORDS = 10


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    made = job(settings, speaker)
    code = finish(made)
    rows = [[str(row["topic"]), f"{row['share']:.1%}", " ".join(row["words"])] for row in made.extra["topics"]]
    speaker.table(f"{count_of(made.model)} topics", ["topic", "share", "words"], rows)
    speaker.line(f"the topic map is {made.extra['map']}")
    return code


def job(settings: Settings, speaker: Speaker) -> Job:
    """Fit LDA to the counts of words; other tables of numbers that are not negative count as such."""
    from unweave.explain.topics.lda import LDA

    table = read_known(settings, speaker, "topics are of counts of words; use `unweave complete`")
    if table.missing:
        raise ValueError(f"{settings.file} has holes: topics are of counts of words; use `unweave complete` first")
    # Counts are what they are: brought to one scale they would no longer say how often a word occurs.
    ready, recipe, prepared = make_ready(replace(settings, scale="none"), speaker, table, centre=False)
    k = asked_count(settings, ready, max(ready.shape))
    lines = [
        read_line(settings),
        prepared,
        f"model = unweave.LDA({k!r}, random_state={settings.seed}).fit(ready)",
        "print(model.describe())",
    ]
    model = LDA(k, random_state=settings.seed)
    return Job(settings, speaker, table, ready, recipe, model, lines, later=_topics)


def _topics(job: Job) -> dict[str, Any]:
    """Make the table of topics; the map is written beside it."""
    import polars

    from unweave.report.topic_map import write_topic_map

    folder = job.settings.out or Path(f"{stem(job.settings.file)}-{job.settings.verb}")
    job.extra["map"] = str(write_topic_map(job.model, folder / MAP, job.ready))
    found = job.model.describe(_WORDS)
    job.extra["topics"] = [{"topic": row.topic, "share": row.share, "words": row.words} for row in found]
    columns = {"topic": [row.topic for row in found], "share": [row.share for row in found]}
    return {"topics.csv": polars.DataFrame({**columns, "words": [" ".join(row.words) for row in found]})}
