"""``unweave group``: rows that are alike."""

from __future__ import annotations

from unweave.cli.choose import silhouette, wanted
from unweave.cli.say import Speaker
from unweave.cli.work import Job, finish, read_line, read_table
from unweave.data.recipe import prepare


def run(settings) -> int:
    speaker = Speaker(settings)
    return finish(job(settings, speaker))


def job(settings, speaker: Speaker) -> Job:
    """k-means, on columns brought to one scale."""
    from unweave import KMeans

    table = read_table(settings, speaker)
    if table.missing == "zeros":
        raise ValueError(
            f"{settings.file} holds ratings, most of them unknown; groups need known columns: give --missing none if "
            "what is not stored is zero"
        )
    ready, recipe = prepare(table, scale=settings.scale)
    for note in recipe.notes:
        speaker.note(note)
    k = wanted(settings.k, ready, lambda t: silhouette(t, t.missing), ready.shape[0], speaker.note)
    model = KMeans(k, random_state=settings.seed, missing=ready.missing)
    holes = f", missing={ready.missing!r}" if ready.missing else ""
    lines = [
        read_line(settings),
        f"ready, recipe = unweave.prepare(table, scale={settings.scale!r})",
        f"model = unweave.KMeans({k}, random_state={settings.seed}{holes}).fit(ready)",
        "groups = model.labels_",
    ]
    return Job(settings, speaker, table, ready, recipe, model, k, lines)
