"""Show what was compressed: a picture beside what is left of it, recordings beside their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.markup import Markup, plain, tag
from unweave.report.numbers import readable
from unweave.report.panels import note, section
from unweave.report.png import data_uri, quantise
from unweave.report.words import whole

_PIXELS = 120_000  # of a picture on the page: facts are kept in the model's file
_STRETCHES = 400  # of a wave
_WAVES = 8
_HIGH = 56  # of a wave, in units of which it is _STRETCHES wide


def picture_facts(before: NDArray, after: NDArray, peak: float) -> dict:
    """Keep two pictures of one size, (height, width) or (height, width, 3), as bytes; large ones made smaller."""
    step = int(np.ceil(np.sqrt(before.shape[0] * before.shape[1] / _PIXELS)))
    low = min(0.0, float(before.min()))
    sides = {
        name: quantise(_in_colour(_smaller(pixels, step)), low, peak)
        for name, pixels in (("before", before), ("after", after))
    }
    return {**sides, "step": step}


def _smaller(pixels: NDArray, step: int) -> NDArray:
    """The mean of every square of so many pixels a side; what is left over at the border is cut off."""
    high, wide = (side // step for side in pixels.shape[:2])
    if step == 1 or not high or not wide:
        return pixels
    squares = pixels[: high * step, : wide * step].reshape(high, step, wide, step, *pixels.shape[2:])
    return squares.mean(axis=(1, 3))


def _in_colour(pixels: NDArray) -> NDArray:
    return pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def wave_facts(rate: float, lanes: Mapping[str, tuple[Sequence[str], NDArray]]) -> dict:
    """Keep the outline of sounds: a heading for each table of them, names of its columns, moments × columns."""
    moments = max(len(sounds) for _, sounds in lanes.values())
    kept = {
        heading: [[str(name), _outline(sound)] for name, sound in zip(names, sounds.T[:_WAVES], strict=False)]
        for heading, (names, sounds) in lanes.items()
    }
    more = max(sounds.shape[1] for _, sounds in lanes.values()) > _WAVES
    return {"lanes": kept, "seconds": moments / float(rate or 1), "some": more}


def _outline(sound: NDArray) -> list[list[float]]:
    """The least and the largest of every stretch, as shares of the largest amplitude."""
    cut = np.linspace(0, len(sound), min(_STRETCHES, len(sound)) + 1).astype(np.intp)[:-1]
    size = float(np.abs(sound).max(initial=0.0)) or 1.0
    ends = np.minimum.reduceat(sound, cut), np.maximum.reduceat(sound, cut)
    return [[round(float(v) / size, 3) for v in end] for end in ends]


def pictures(facts: dict) -> Markup | None:
    """Draw the picture that was compressed beside the one that is left."""
    found = facts.get("pictures")
    if not found:
        return None
    words = (("before", "the picture"), ("after", "what is left of it"))
    sides = []
    for side, what in words:
        image = tag("img", src=data_uri(found[side]), alt=what, class_="photo")
        sides.append(tag("figure", image, tag("figcaption", tag("b", side.capitalize()), f": {what}")))
    step = int(found["step"])
    how = f"Drawn at one pixel for each square of {whole(step)} by {whole(step)}." if step > 1 else None
    return section("The picture before and after", note(how), tag("div", *sides, class_="pair"))


def waves(facts: dict) -> Markup | None:
    """Draw what was recorded and what was unmixed from it as waves."""
    found = facts.get("waves")
    if not found:
        return None
    sides = []
    for heading, lanes in found["lanes"].items():
        drawn = [_wave(plain(name), low, high) for name, (low, high) in lanes]
        sides.append(tag("div", tag("h3", plain(heading)), *drawn))
    words = f"{readable(float(found['seconds']))} s from left to right, each as loud as it gets."
    words += f" The first {whole(_WAVES)} of each." if found["some"] else ""
    return section("What was heard, and what it was mixed of", note(words), tag("div", *sides, class_="pair"))


def _wave(name: str, low: list[Any], high: list[Any]) -> Markup:
    def y(value: float) -> float:
        return _HIGH / 2 * (1 - min(1.0, max(-1.0, float(value)))) + 1

    least = 0.5 / _HIGH  # silence is a line
    there = [f"{i},{y(v + least):.1f}" for i, v in enumerate(high)]
    back = [f"{i},{y(v - least):.1f}" for i, v in reversed(list(enumerate(low)))]
    shape = tag("polygon", points=" ".join([*there, *back]), class_="column")
    box = f"0 0 {len(high)} {_HIGH + 2}"
    svg = tag("svg", shape, viewBox=box, preserveAspectRatio="none", role="img", aria_label=name, class_="wave")
    return tag("figure", svg, tag("figcaption", name))
