"""Run ``unweave explain``: find parts of pictures and tables, and topics of texts."""

from __future__ import annotations

import numpy as np

from unweave.cli.interrupt import Ending
from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, asked_count, carry_out, holes, named, read_line, read_texts, refuse_ratings
from unweave.cli.work import ready as make_ready
from unweave.data.storage import stored

_COUNTED = ("text", "counts", "pairs")


def run(settings: Settings) -> int:
    return carry_out(job, settings)


def job(settings: Settings, speaker: Speaker) -> Job:
    """Fit NMF, by KL to counts and by squares otherwise; parts may subtract where the table has negative numbers."""
    from unweave import NMF, Factorization
    from unweave.report.answer import chosen_words
    from unweave.select import auto_count

    table, told = read_texts(settings, speaker)
    refuse_ratings(table, settings, f"use `unweave complete {named(settings)}`")
    counted = table.kind in _COUNTED
    ready, recipe, prepared = make_ready(settings, speaker, table, centre=False)
    k = asked_count(settings, ready, min(ready.shape))
    X = stored(ready.X)
    shared = dict(random_state=settings.seed, missing=ready.missing)
    if X.size and np.nanmin(X) < 0:
        speaker.note("some numbers are negative: amounts are kept non-negative, the parts themselves may subtract")
        model = Factorization(codes="nonnegative", components="l2-ball", **shared)
        if k == "auto":  # which this model leaves to others
            with Ending("interrupted while the number of parts was looked for: nothing was written; give -k a number"):
                choice = auto_count(model, ready, "n_components")
            for line in chosen_words(choice):
                speaker.note(line)
            k = choice.best
        model.set_params(n_components=k)
        made = f"unweave.Factorization({k}, codes='nonnegative', components='l2-ball', random_state={settings.seed}"
    else:
        loss = "kl" if counted else "squared"
        model = NMF(k, loss=loss, **shared)
        made = f"unweave.NMF({k!r}, loss={loss!r}, random_state={settings.seed}"
    lines = [
        read_line(settings, **told),
        prepared,
        f"model = {made}{holes(ready)}).fit(ready)",
    ]
    return Job(settings, speaker, table, ready, recipe, model, lines, kept=told)
