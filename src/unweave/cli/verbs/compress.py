"""``unweave compress``: fewer columns that keep most of the table."""

from __future__ import annotations

from unweave.cli.choose import enough_variance, wanted
from unweave.cli.say import Speaker
from unweave.cli.work import Job, finish, holes, read_known, read_line
from unweave.cli.work import ready as make_ready


def run(settings) -> int:
    speaker = Speaker(settings)
    return finish(job(settings, speaker))


def job(settings, speaker: Speaker) -> Job:
    """PCA of dense tables, truncated SVD of sparse ones."""
    from unweave import PCA, TruncatedSVD

    table = read_known(settings, speaker, "use `unweave complete`, or --missing none if what is not stored is zero")
    ready, recipe, prepared = make_ready(settings, speaker, table)
    centred = not ready.sparse
    k = wanted(settings.k, ready, lambda t: enough_variance(t, centred=centred), min(ready.shape), speaker.note)
    name, cls = ("TruncatedSVD", TruncatedSVD) if ready.sparse else ("PCA", PCA)
    model = cls(k, random_state=settings.seed, missing=ready.missing)
    lines = [
        read_line(settings),
        prepared,
        f"model = unweave.{name}({k}, random_state={settings.seed}{holes(ready)}).fit(ready)",
        "codes = model.transform(ready)",
    ]
    return Job(settings, speaker, table, ready, recipe, model, k, lines)
