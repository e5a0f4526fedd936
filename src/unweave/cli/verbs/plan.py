"""Run ``unweave plan``: say which method would run, why, and what it would cost; nothing is written."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from unweave.cli.options import JOB_NAMES, Settings
from unweave.cli.say import Speaker
from unweave.cli.verbs.describe import suggest
from unweave.cli.whole import asks_for_workers, n_slices
from unweave.cli.work import Job, count_of, n_rows, read_some, say_choice
from unweave.report.numbers import readable_bytes

_TRIAL = 4  # iterations that are run to see how long one takes


def run(settings: Settings) -> int:
    settings = _job_first(settings)
    speaker = Speaker(settings)
    silent = Speaker(Settings("plan", quiet=True))
    chosen = settings.job
    if not chosen:
        chosen, why = suggest(read_some(settings))
        speaker.note(f"job: {chosen} ({why})")
    job = import_module(f"unweave.cli.verbs.{chosen}").job(replace(settings, verb=chosen), speaker)
    job.model.set_params(verbose=False)
    most = getattr(job.model, "max_iter", 1) or job.model._default_max_iter()
    tried = job.ready.with_(whole=None)  # the rows that are here are enough to see how long one takes
    with silent.hearing():
        job.model.set_params(callback=lambda progress: progress.iteration >= _TRIAL).fit(tried, **job.fit_with)
    say_choice(job)
    seconds, done = float(job.model.history_.seconds[-1]), len(job.model.history_)
    one = seconds / done if done == 1 else float(np.diff(job.model.history_.seconds).min())  # the first one warms up
    stopped = "callback" in job.model.history_.stopped
    job.model.plan_.problem = job.model.plan_.problem.replace(f"{tried.shape[0]}×", f"{n_rows(job.ready)}×", 1)
    speaker.line(str(job.model.plan_))
    told: dict[str, Any] = {"max_iter": most if stopped else done}
    if job.ready.whole is not None or asks_for_workers(settings):
        told |= _in_blocks(job, speaker, one / max(tried.shape[0], 1), most if stopped else done)
    else:
        told |= {"bytes": memory(job), "seconds_an_iteration": one}
        speaker.line(f"Memory: about {readable_bytes(told['bytes'])} for the table, the factors and room to work in")
        if stopped:
            speaker.line(
                f"Time: {one:.3g} s per iteration (measured), at most {most} iterations: under {one * most:.3g} s"
            )
        else:
            speaker.line(f"Time: {seconds:.3g} s (measured: it was done after {done} iterations)")
    speaker.result({"verb": "plan", "file": str(settings.file), "job": chosen, "components": count_of(job.model),
                    "model": type(job.model).__name__, "plan": job.model.plan_.as_dict(), **told})  # fmt: skip
    return 0


def _job_first(settings: Settings) -> Settings:
    """Take ``plan group wine.csv``, which is how one says it, as ``plan wine.csv --job group``."""
    first, *others = settings.files
    if settings.job or str(first) not in JOB_NAMES or not others or first.exists():
        return settings
    return replace(settings, job=str(first), file=others[0], files=others)


def _in_blocks(job: Job, speaker: Speaker, seconds_a_row: float, iterations: int) -> dict[str, Any]:
    """Say what the fit costs in blocks, before anything of it is run."""
    from unweave.parallel import get_num_threads
    from unweave.scale.cost import cost_of, family_of

    settings, ready = job.settings, job.ready
    number = ready.X.dtype.itemsize
    blocks = n_slices(settings) if ready.whole is None else ready.whole.n_blocks(ready.shape[1], number)
    workers = settings.workers or (_there(settings.cluster) if settings.cluster else 0)
    cost = cost_of(
        family_of(job.model, complete=ready.missing is None or ready.whole is not None),
        (n_rows(ready), ready.shape[1]), count_of(job.model), blocks=blocks, workers=workers,
        stored=ready.X.nnz if ready.sparse else None, dtype=ready.X.dtype, iterations=iterations,
        # The trial ran on all threads of this process, and a worker has one.
        seconds_a_row=seconds_a_row * (get_num_threads() if workers else 1),
    )  # fmt: skip
    if ready.whole is not None:
        speaker.line(f"The table is {ready.whole.words}")
    for line in [f"at most {iterations} iterations", *cost.lines()]:
        speaker.line(f"  {line}")
    return {"cost": cost.as_dict()}


def _there(address: str) -> int:
    """Count the workers of a cluster."""
    from unweave.scale.cluster import count_workers

    return count_workers(address)


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
