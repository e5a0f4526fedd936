"""Compress sound: several recordings of the same moments are unmixed into the sources that they have in common."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.cli.compressing.ways import Way, most_of
from unweave.cli.options import Settings
from unweave.cli.say import Speaker
from unweave.cli.work import Job, asked_count, read_line
from unweave.data.named import NamedTable
from unweave.report.answer import Answer, answer
from unweave.report.answers import left_out
from unweave.report.numbers import counted, percent, readable

_LOUD = 0.9  # of the loudest that a wav file can hold: where the peak of every source is put
_MOST = 64  # sources that are written as sound


def job_of_sound(settings: Settings, speaker: Speaker, table: NamedTable, way: Way) -> Job:
    """Fit the model to moments × channels as they are, and write each source as sound."""
    if table.shape[1] < 2:
        raise ValueError(
            f"{settings.file} is sound of one channel, which holds no second one to tell sources apart by: give all "
            "recordings of the same moments, as in `unweave compress one.wav two.wav`"
        )
    k = None if settings.k in ("", "auto") else asked_count(settings, table, most_of(way, table))
    arguments = way.arguments(settings, table, k)
    lines = [read_line(settings), f"model = {way.written(arguments)}.fit(table)", "codes = model.transform(table)"]
    return Job(
        settings, speaker, table, table, None, way.make(arguments), lines, found=_found, beside=_sounds,
        signals=_seen, leave_out=("matrix", "rows", "scatter"), kept={"rate": table.rate},
    )  # fmt: skip


def _sources(job: Job) -> NDArray:
    if "sources" not in job.scratch:
        job.scratch["sources"] = np.asarray(job.model.transform(job.ready), dtype=np.float64)
    return job.scratch["sources"]


def _found(job: Job) -> Answer:
    """Say how many sources there are, and in which channel each is the loudest."""
    of_model, table = answer(job.model, job.ready), job.table
    loadings = getattr(job.model, "mixing_", None)
    loadings = np.asarray(job.model.components_.T if loadings is None else loadings, dtype=np.float64)
    names = _channels(job)
    loudness = np.abs(loadings) * _sources(job).std(axis=0)
    sources: list[dict[str, Any]] = [
        {"source": j + 1, "loudest in": names[int(loudness[:, j].argmax())], "share": float(share)}
        for j, share in enumerate((loudness**2).sum(axis=0) / max(float((loudness**2).sum()), 1e-300))
    ]
    rows = [[str(one["source"]), one["loudest in"], percent(one["share"])] for one in sources[:20]]
    seconds = table.shape[0] / float(table.rate or 1)
    headline = f"{counted(len(sources), 'source')} in {counted(table.shape[1], 'channel')} of {readable(seconds)} s"
    equal = "Each source is a wav file beside; order and loudness are not in the data, so all are equally loud."
    lines = [*left_out(len(sources), "sources"), equal]
    header = ["source", "loudest in", "share of the energy"]
    return Answer(headline, header, rows, lines, of_model.certificate, {"sources": sources, "seconds": seconds})


def _seen(job: Job) -> dict[str, dict]:
    """The waves of channels and sources, for the page."""
    from unweave.report.signal_panels import wave_facts

    sources, X = _sources(job), np.asarray(job.table.X, dtype=np.float64)
    named = [f"source {j + 1}" for j in range(sources.shape[1])]
    lanes = {"The channels": (_channels(job), X), "The sources": (named, sources)}
    return {"waves": wave_facts(job.table.rate or 1.0, lanes)}


def _channels(job: Job) -> list[str]:
    return job.table.columns or [f"channel {j + 1}" for j in range(job.table.shape[1])]


def _sounds(job: Job) -> dict[str, bytes]:
    """Each source as a wav file of 16 bits, its peak nearly as loud as can be."""
    from scipy.io import wavfile

    found = {}
    for j, source in enumerate(_sources(job).T[:_MOST]):
        peak = float(np.abs(source).max()) or 1.0
        file = io.BytesIO()
        wavfile.write(file, round(job.table.rate or 1), np.rint(32767 * _LOUD * source / peak).astype(np.int16))
        found[f"source-{j + 1}.wav"] = file.getvalue()
    return found
