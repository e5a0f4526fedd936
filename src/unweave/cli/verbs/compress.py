"""``unweave compress``: fewer columns that keep most of the table."""

from __future__ import annotations

from unweave.cli.choose import enough_variance, wanted
from unweave.cli.say import Speaker
from unweave.cli.work import Job, finish, read_line, read_table
from unweave.data.recipe import prepare


def run(settings) -> int:
    speaker = Speaker(settings)
    return finish(job(settings, speaker))


def job(settings, speaker: Speaker) -> Job:
    """PCA of dense tables, truncated SVD of sparse ones."""
    from unweave import PCA, TruncatedSVD

    table = read_table(settings, speaker)
    if table.missing == "zeros":
        raise ValueError(
            f"{settings.file} holds ratings, most of them unknown: use `unweave complete`, or --missing none if what "
            "is not stored is zero"
        )
    ready, recipe = prepare(table, scale=settings.scale)
    for note in recipe.notes:
        speaker.note(note)
    centred = not ready.sparse
    k = wanted(settings.k, ready, lambda t: enough_variance(t, centred=centred), min(ready.shape), speaker.note)
    name, cls = ("TruncatedSVD", TruncatedSVD) if ready.sparse else ("PCA", PCA)
    model = cls(k, random_state=settings.seed, missing=ready.missing)
    holes = f", missing={ready.missing!r}" if ready.missing else ""
    lines = [
        read_line(settings),
        f"ready, recipe = unweave.prepare(table, scale={settings.scale!r})",
        f"model = unweave.{name}({k}, random_state={settings.seed}{holes}).fit(ready)",
        "codes = model.transform(ready)",
    ]
    return Job(settings, speaker, table, ready, recipe, model, k, lines)
