"""``unweave group``: rows that are alike."""

from __future__ import annotations

from unweave.cli.choose import silhouette, wanted
from unweave.cli.say import Speaker
from unweave.cli.work import Job, finish, holes, read_known, read_line
from unweave.cli.work import ready as make_ready


def run(settings) -> int:
    speaker = Speaker(settings)
    return finish(job(settings, speaker))


def job(settings, speaker: Speaker) -> Job:
    """k-means, on columns brought to one scale."""
    from unweave import KMeans

    table = read_known(settings, speaker, "give --missing none if what is not stored is zero")
    ready, recipe, prepared = make_ready(settings, speaker, table)
    k = wanted(settings.k, ready, lambda t: silhouette(t, t.missing), ready.shape[0], speaker.note)
    model = KMeans(k, random_state=settings.seed, missing=ready.missing)
    lines = [
        read_line(settings),
        prepared,
        f"model = unweave.KMeans({k}, random_state={settings.seed}{holes(ready)}).fit(ready)",
        "groups = model.labels_",
    ]
    return Job(settings, speaker, table, ready, recipe, model, k, lines)
