"""Compress one picture: its tiles in a basis, the picture that is left, and what every rate would cost."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.cli.compressing.ways import ATOMS, Way, number_of
from unweave.cli.options import Settings
from unweave.cli.output import finite
from unweave.cli.say import Speaker
from unweave.cli.work import Job, read_line
from unweave.compress.bases.compare import LEARNED
from unweave.data.named import NamedTable
from unweave.data.storage import stored
from unweave.report.answer import Answer, answer
from unweave.report.numbers import counted, percent, readable

TILE = 8  # pixels along a side
_DEPTHS: dict[float, Any] = {255.0: np.uint8, 65535.0: np.uint16}  # by the brightest that there can be
_RATES = (0.5, 1, 2)  # of the usual one, at which bases are set side by side
_COLOURED = 1.5  # of the numbers of a grey tile: by custom colours get half of what brightness gets


def job_of_picture(settings: Settings, speaker: Speaker, table: NamedTable, way: Way) -> Job:
    """Cut the picture into tiles, and fit the model to them; each tile keeps its own coefficients of a known basis."""
    pixels, channels = table.picture, table.channels
    size = min(TILE, *pixels.shape[:2])
    ready = tiles_of(table, size, channels)
    speaker.note(f"cut into {ready.shape[0]:,} tiles of {size} by {size} pixels{' in colour' if channels > 1 else ''}")
    usual = way.tiles if channels == 1 or way.model in ATOMS else round(_COLOURED * way.tiles)
    k, notes = number_of(way, settings, ready, usual, f"each tile of {ready.shape[1]}")
    for note in notes:
        speaker.note(note)
    arguments = way.arguments(settings, ready, k) | dict(way.on_tiles)
    lines = [
        read_line(settings, **({"colour": True} if channels > 1 else {})),
        f"tiles = unweave.patches(table.picture, {size}, {size})",
        f"ready = unweave.NamedTable(tiles, kind='images', image={ready.image})",
        f"model = {way.written(arguments)}.fit(ready)",
        "codes = model.transform(ready)",
        f"picture = unweave.from_patches(model.inverse_transform(codes), table.picture.shape, {size}, {size})",
    ]
    beside = [way.name] if way.signals or way.name in LEARNED else []
    return Job(
        settings, speaker, table, ready, None, way.make(arguments), lines, kept={"tiles": size, "channels": channels},
        recode=way.recode, found=_found, later=_rates, beside=_picture, signals=_seen, leave_out=("matrix",),
        scratch={"bases": beside},
    )  # fmt: skip


def tiles_of(table: NamedTable, size: int, channels: int) -> NamedTable:
    """The squares of a picture as a table of pictures, named by their lines; those at the border may overlap others.

    A grey picture has the same number in each of the channels, where several are asked for.
    """
    from unweave import patches

    pixels = table.picture if table.channels == channels else np.stack([table.picture] * channels, axis=-1)
    X = patches(pixels, size, size)
    across = -(-pixels.shape[1] // size)
    names = [f"line {i // across + 1}, tile {i % across + 1}" for i in range(len(X))]
    image = (size, size) if channels == 1 else (size, size, channels)
    return NamedTable(X, names, kind="images", image=image, source=table.source)


def peak_of(X: NDArray) -> float:
    """The brightest that a pixel can be: of one byte, of two, or what there is.

    >>> peak_of(np.array([0.0, 200.0])), peak_of(np.array([0.0, 4000.0])), peak_of(np.array([0.0, 0.5]))
    (255.0, 65535.0, 0.5)
    """
    largest = float(np.max(X))
    if largest <= 1 and bool((np.rint(X) != X).any()):
        return largest
    return 255.0 if largest <= 255 else 65535.0 if largest <= 65535 else largest


def received(job: Job) -> NDArray:
    """The picture as it comes out of its codes, in whole steps of brightness where the picture has such."""
    from unweave import from_patches

    if "received" not in job.scratch:
        rows, size = job.model.inverse_transform(job.model.transform(job.ready)), job.kept["tiles"]
        pixels, peak = from_patches(rows, job.table.picture.shape, size, size), peak_of(job.table.X)
        pixels = np.clip(pixels, min(0.0, float(np.min(job.table.X))), peak)
        job.scratch["received"] = np.rint(pixels) if peak in _DEPTHS else pixels
    return job.scratch["received"]


def comparison(job: Job) -> Any:
    """What the bases cost at several rates, found once for a job."""
    from unweave import compare_bases

    if "comparison" not in job.scratch:
        bases = list(dict.fromkeys([*job.scratch["bases"], "dct", "haar", "pca"]))
        peak = peak_of(job.table.X)
        job.scratch["comparison"] = compare_bases(job.ready, bases, peak=peak, random_state=job.settings.seed)
    return job.scratch["comparison"]


def n_used(codes: Any) -> int:
    """How many numbers of codes are not zero, and so have to be kept."""
    return int(np.count_nonzero(stored(codes)))


def _found(job: Job) -> Answer:
    """Say how good the picture is that is left, and what each basis would reach at the same rate."""
    from unweave import psnr

    of_model, pixels = answer(job.model, job.ready), np.asarray(job.table.picture, dtype=np.float64)
    quality = psnr(received(job), pixels, peak_of(pixels))
    told = "nothing is lost" if math.isinf(quality) else f"{quality:.1f} dB"
    each = n_used(job.model.transform(job.ready)) / job.ready.shape[0]
    found = comparison(job)
    rate = found.usual_rate
    tried = [found.at(part * rate) for part in _RATES]
    size, channels = pixels.shape[:2], job.table.channels
    header = [
        "basis",
        *(f"{counted(part * rate * channels, 'bit')} a pixel" for part in _RATES),
        "indices",
        "the basis",
    ]
    rows = []
    for name in found.at():
        near = min(found.of(name), key=lambda one: abs(one.bits_per_number - rate))
        shares = [percent(bits / near.bits) if bits else "" for bits in (near.index_bits, near.basis_bits)]
        rows.append([name, *(_decibels(at[name]) for at in tried), *shares])
    headline = (
        f"{' × '.join(f'{side:,}' for side in size)} pixels{' in colour' if channels > 1 else ''} in "
        f"{job.ready.shape[0]:,} tiles of {readable(each)} numbers, "
        f"{readable(each * job.ready.shape[0] / math.prod(size))} for each pixel: {told}"
    )
    lines = [
        f"The table: PSNR in decibels at several rates, {found.number_bits} bits for each number that is sent, and the "
        "share of the bits that say which coefficients are kept, and what the basis is "
        f"(at {readable(rate * channels)} bits).",
        "compressed.png is the picture that is left; rates.csv has all rates that were tried.",
    ]
    data = {**of_model.data, "psnr": finite(quality), "rates": found.records()}
    return Answer(headline, header, rows, lines, of_model.certificate, data)


def _decibels(value: float) -> str:
    return "" if math.isnan(value) else "exact" if math.isinf(value) else f"{value:.1f}"


def _rates(job: Job) -> dict[str, Any]:
    return {"rates.csv": comparison(job).frame()}


def _seen(job: Job) -> dict[str, dict]:
    """Both pictures, for the page."""
    from unweave.report.signal_panels import picture_facts

    return {"pictures": picture_facts(job.table.picture, received(job), peak_of(job.table.X))}


def _picture(job: Job) -> dict[str, bytes]:
    """The picture that is left, as PNG: two bytes for each number of a pixel where it had two, else one."""
    from PIL import Image

    pixels, depth = received(job), _DEPTHS.get(peak_of(job.table.X))
    if depth is None:  # brightness in other units is brought to that of a picture of bytes
        low, high = float(pixels.min()), float(pixels.max())
        pixels, depth = np.rint(255 * (pixels - low) / ((high - low) or 1.0)), np.uint8
    file = io.BytesIO()
    Image.fromarray(pixels.astype(depth)).save(file, format="PNG")
    return {"compressed.png": file.getvalue()}
