"""Compress a tensor: a few components, each with one vector for every side."""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.cli.compressing.ways import Way
from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, asked_count, read_line
from unweave.data.named import NamedTable


def job_of_tensor(settings: Settings, speaker: Speaker, table: NamedTable, way: Way) -> Job:
    """Fit the model to the tensor as it is; the vectors of every side are written as a table."""
    most = int(np.prod(table.shape, dtype=float)) // max(table.shape)  # no tensor of this shape needs more
    arguments = way.arguments(settings, table, asked_count(settings, table, most))
    lines = [read_line(settings), f"model = {way.written(arguments)}.fit(table)", "codes = model.transform(table)"]
    return Job(settings, speaker, table, table, None, way.make(arguments), lines, later=_factors)


def _factors(job: Job) -> dict[str, Any]:
    """The vectors of all sides below each other: the side (from 1), the place along it (from 0), each component."""
    import polars

    frames = []
    for side, F in enumerate(job.model.factors_, 1):
        n, k = np.shape(F)
        values = {f"component {r + 1}": np.asarray(F)[:, r] for r in range(k)}
        frames.append(polars.DataFrame({"side": np.full(n, side), "place": np.arange(n), **values}))
    weights = polars.DataFrame({"component": np.arange(1, len(job.model.weights_) + 1), "weight": job.model.weights_})
    return {"factors.csv": polars.concat(frames), "weights.csv": weights}
