"""``unweave explain``: parts of pictures and tables, topics of texts."""

from __future__ import annotations

import numpy as np

from unweave.cli.choose import bend, wanted
from unweave.cli.say import Speaker
from unweave.cli.work import Job, finish, holes, read_known, read_line
from unweave.cli.work import ready as make_ready

_COUNTED = ("text", "counts", "pairs")


def run(settings) -> int:
    speaker = Speaker(settings)
    return finish(job(settings, speaker))


def job(settings, speaker: Speaker) -> Job:
    """NMF: by KL for counts, by squares otherwise; parts that may subtract where the table has negative numbers."""
    from unweave import NMF, Factorization

    table = read_known(settings, speaker, "use `unweave complete`")
    counted = table.kind in _COUNTED
    ready, recipe, prepared = make_ready(settings, speaker, table, centre=False)
    k = wanted(settings.k, ready, bend, min(ready.shape), speaker.note)
    X = ready.X.data if ready.sparse else ready.X
    shared = dict(random_state=settings.seed, missing=ready.missing)
    if X.size and np.nanmin(X) < 0:
        speaker.note("some numbers are negative: amounts are kept non-negative, the parts themselves may subtract")
        model = Factorization(k, codes="nonnegative", components="l2-ball", **shared)
        made = f"unweave.Factorization({k}, codes='nonnegative', components='l2-ball', random_state={settings.seed}"
    else:
        loss = "kl" if counted else "squared"
        model = NMF(k, loss=loss, **shared)
        made = f"unweave.NMF({k}, loss={loss!r}, random_state={settings.seed}"
    lines = [
        read_line(settings),
        prepared,
        f"model = {made}{holes(ready)}).fit(ready)",
    ]
    return Job(settings, speaker, table, ready, recipe, model, k, lines)
