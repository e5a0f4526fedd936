"""Run ``unweave plan``: say which method would run, why, and what it would cost; nothing is written."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np

from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.verbs.describe import readable_bytes, suggest
from unweave.cli.work import Job, count_of, read_table, say_choice

_TRIAL = 4  # iterations that are run to see how long one takes


def run(settings: Settings) -> int:
    speaker = Speaker(settings)
    silent = Speaker(Settings("plan", quiet=True))
    chosen = settings.job
    if not chosen:
        chosen, why = suggest(read_table(settings, silent))
        speaker.note(f"job: {chosen} ({why})")
    job = import_module(f"unweave.cli.verbs.{chosen}").job(replace(settings, verb=chosen), speaker)
    job.model.set_params(verbose=False)
    most = job.model.max_iter or job.model._default_max_iter()
    with silent.hearing():
        job.model.set_params(callback=lambda progress: progress.iteration >= _TRIAL).fit(job.ready, **job.fit_with)
    say_choice(job)
    seconds, done = float(job.model.history_.seconds[-1]), len(job.model.history_)
    one = seconds / done if done == 1 else float(np.diff(job.model.history_.seconds).min())  # the first one warms up
    stopped = "callback" in job.model.history_.stopped
    needed = memory(job)
    speaker.line(str(job.model.plan_))
    speaker.line(f"Memory: about {readable_bytes(needed)} for the table, the factors and room to work in")
    if stopped:
        speaker.line(f"Time: {one:.3g} s per iteration (measured), at most {most} iterations: under {one * most:.3g} s")
    else:
        speaker.line(f"Time: {seconds:.3g} s (measured: it was done after {done} iterations)")
    speaker.result({"verb": "plan", "file": str(settings.file), "job": chosen, "components": count_of(job.model),
                    "model": type(job.model).__name__, "plan": job.model.plan_.as_dict(), "bytes": needed,
                    "seconds_an_iteration": one, "max_iter": most if stopped else done})  # fmt: skip
    return 0


def memory(job: Job) -> int:
    """Estimate the bytes of the table, twice the factors, and one block of rows to work in."""
    X, (n, m) = job.ready.X, job.ready.shape
    if job.ready.sparse:
        table = 2 * (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)  # by rows and by columns
    elif job.ready.numeric:
        table = X.nbytes * (2 if job.ready.missing else 1)
    else:
        table = 16 * n * m
    return int(table + 2 * 8 * count_of(job.model) * (n + m) + 8 * min(n, 4096) * m)
