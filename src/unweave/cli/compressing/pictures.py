"""Compress one picture: its tiles in a basis, the picture that is left, and what every rate would cost."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.cli.compressing.ways import Way, number_of
from unweave.cli.options import Settings
from unweave.cli.output import finite
from unweave.cli.say import Speaker
from unweave.cli.work import Job, read_line
from unweave.data.named import NamedTable
from unweave.report.answer import Answer, answer
from unweave.report.numbers import percent, readable

TILE = 8  # pixels along a side
_USUAL = 8  # coefficients of a tile unless told: one for each eight pixels
_RATES = (0.25, 0.5, 1, 2)  # of the usual one, at which bases are set side by side
_LEARNED_ROWS = 20_000  # tiles beyond which no dictionary is learned only to be compared


def job_of_picture(settings: Settings, speaker: Speaker, table: NamedTable, way: Way) -> Job:
    """Cut the picture into tiles, and fit the model to them; each tile keeps its own coefficients of a known basis."""
    from unweave import tiles

    ready = tiles(table, TILE)
    speaker.note(f"cut into {ready.shape[0]:,} tiles of {TILE} by {TILE} pixels")
    most = ready.shape[1] if way.signals else min(ready.shape)
    k, notes = number_of(way, settings, ready, most, _USUAL, f"each tile of {ready.shape[1]}")
    for note in notes:
        speaker.note(note)
    arguments = way.arguments(settings, ready, k) | ({"per_row": True} if way.signals else {})
    lines = [
        read_line(settings),
        f"ready = unweave.tiles(table, {TILE})",
        f"model = {way.written(arguments)}.fit(ready)",
        "codes = model.transform(ready)",
        f"picture = unweave.from_tiles(model.inverse_transform(codes), table.shape, {TILE})",
    ]
    return Job(
        settings, speaker, table, ready, None, way.make(arguments), lines, kept={"tiles": TILE}, found=_found,
        later=_rates, beside=_picture,
    )  # fmt: skip


def peak_of(X: NDArray) -> float:
    """The brightest that a pixel can be: of one byte, of two, or what there is.

    >>> peak_of(np.array([0.0, 200.0])), peak_of(np.array([0.0, 4000.0])), peak_of(np.array([0.0, 0.5]))
    (255.0, 65535.0, 0.5)
    """
    largest = float(np.max(X))
    if largest <= 1 and bool((X != np.rint(X)).any()):
        return largest
    return 255.0 if largest <= 255 else 65535.0 if largest <= 65535 else largest


def received(job: Job) -> NDArray:
    """The picture as it comes out of its codes."""
    from unweave import from_tiles

    rows = job.model.inverse_transform(job.model.transform(job.ready))
    return from_tiles(rows, job.table.shape, TILE)


def comparison(job: Job) -> Any:
    """What the bases cost at several rates, found once for a job."""
    from unweave import compare_bases

    if "comparison" not in job.scratch:
        kind = getattr(job.model, "kind", "dct")
        bases = list(dict.fromkeys([kind, "dct", "haar", "pca"]))
        if job.ready.shape[0] <= _LEARNED_ROWS and learns_dictionaries():
            bases.append("dictionary")
        job.scratch["comparison"] = compare_bases(job.ready, bases, peak=peak_of(job.table.X), random_state=0)
    return job.scratch["comparison"]


def learns_dictionaries() -> bool:
    from unweave.registry import ESTIMATORS

    return "DictionaryLearning" in ESTIMATORS


def _found(job: Job) -> Answer:
    """Say how good the picture is that is left, and what each basis would reach at the same rate."""
    of_model, pixels = answer(job.model, job.ready), np.asarray(job.table.X, dtype=np.float64)
    error = float(np.mean((pixels - received(job)) ** 2))
    quality = math.inf if error == 0 else 10 * math.log10(peak_of(pixels) ** 2 / error)
    told = "nothing is lost" if math.isinf(quality) else f"{quality:.1f} dB"
    each = getattr(job.model, "numbers_per_row_", None) or len(job.model.components_)
    found = comparison(job)
    rate = found.usual_rate
    tried = [found.at(part * rate) for part in _RATES]
    header = ["basis", *(f"{readable(part * rate)} bits a pixel" for part in _RATES), "indices", "the basis"]
    rows = []
    for name in found.at():
        near = min(found.of(name), key=lambda one: abs(one.bits_per_number - rate))
        shares = [percent(bits / near.bits) if bits else "" for bits in (near.index_bits, near.basis_bits)]
        rows.append([name, *(_decibels(at[name]) for at in tried), *shares])
    headline = (
        f"{' × '.join(f'{side:,}' for side in pixels.shape)} pixels in {job.ready.shape[0]:,} tiles of {readable(each)} "
        f"numbers, {readable(each / job.ready.shape[1])} for each pixel: {told}"
    )
    lines = [
        f"The table: PSNR in decibels at several rates, {found.number_bits} bits for each number that is sent, and the "
        f"share of the bits that say which coefficients are kept, and what the basis is (at {readable(rate)} bits).",
        "compressed.png is the picture that is left; rates.csv has all rates that were tried.",
    ]
    data = {**of_model.data, "psnr": finite(quality), "rates": found.records()}
    return Answer(headline, header, rows, lines, of_model.certificate, data)


def _decibels(value: float) -> str:
    return "" if math.isnan(value) else "exact" if math.isinf(value) else f"{value:.1f}"


def _rates(job: Job) -> dict[str, Any]:
    return {"rates.csv": comparison(job).frame()}


def _picture(job: Job) -> dict[str, bytes]:
    """The picture that is left, as PNG: two bytes a pixel where it had two, else one."""
    from PIL import Image

    pixels, peak = received(job), peak_of(job.table.X)
    if peak not in (255.0, 65535.0):  # brightness in other units is brought to that of a picture
        pixels, peak = 255 * pixels / (peak or 1.0), 255.0
    depth = np.uint16 if peak > 255 else np.uint8
    file = io.BytesIO()
    Image.fromarray(np.rint(np.clip(pixels, 0, peak)).astype(depth)).save(file, format="PNG")
    return {"compressed.png": file.getvalue()}
