"""Where the ticks of an axis stand, and what is written beside them."""

from __future__ import annotations

import math

from unweave.report.words import superscript


def nice(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from `low` to `high`, about `about` of them.

    >>> nice(0, 97)
    [0.0, 20.0, 40.0, 60.0, 80.0]
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    raw = span / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999), 10 * power)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step + 0.0 for i in range(first, min(last, first + 50) + 1)]


def whole(low: float, high: float, about: int = 6) -> list[float]:
    """Round whole numbers: for iterations and counts.

    >>> whole(1, 16)
    [5.0, 10.0, 15.0]
    """
    raw = max(1.0, (high - low) / about)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)] or [low]


def powers(low: float, high: float) -> list[float]:
    """Ticks of a logarithmic axis: powers of ten, with 2 and 5 between them when few fit."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / 6))
    steps = (1,) if last - first > 3 else (1, 2, 5)
    ticks = [m * 10.0**p for p in range(first, last + 1, every) for m in steps]
    return [tick for tick in ticks if low * 0.999 <= tick <= high * 1.001]


def captions(ticks: list[float]) -> tuple[list[str], str]:
    """What stands beside the ticks, and the power of ten that all are to be multiplied by ("" if none).

    >>> captions([0.0, 1e6, 2e6])
    (['0', '1', '2'], '×10⁶')
    """
    most = max((abs(tick) for tick in ticks), default=0.0)
    power = 0
    if most and not 1e-2 <= most < 1e5:
        power = 3 * math.floor(math.log10(most) / 3)
    scaled = [tick / 10.0**power for tick in ticks]
    digits = 0
    while digits < 8 and (
        any(abs(value - round(value, digits)) > 1e-6 * max(abs(value), 1e-9) for value in scaled)
        or len({round(value, digits) for value in scaled}) < len(set(scaled))
    ):
        digits += 1
    return [f"{value:,.{digits}f}".replace("-", "−") for value in scaled], f"×10{superscript(power)}" if power else ""


def power_captions(ticks: list[float]) -> list[str]:
    """What stands beside the ticks of a logarithmic axis."""
    out = []
    for tick in ticks:
        power = math.floor(math.log10(tick) + 1e-9)
        lead = round(tick / 10.0**power)
        if -3 < power < 5:
            out.append(f"{tick:,.{max(0, -power)}f}")
        else:
            out.append(f"{lead if lead != 1 else ''}{'×' if lead != 1 else ''}10{superscript(power)}")
    return out
