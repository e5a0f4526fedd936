"""What pages show of pictures and sounds, and curves that one score would flatten."""

from __future__ import annotations

import re

import numpy as np
import pytest

import unweave
from unweave.report import gather, render
from unweave.report.png import levels_of
from unweave.report.signal_panels import picture_facts, wave_facts, waves


def test_pictures_are_kept_as_they_are_or_as_means_of_squares(rng):
    grey, colour = rng.integers(0, 256, (30, 40)).astype(float), rng.integers(0, 256, (30, 40, 3)).astype(float)
    for pixels in (grey, colour):
        found = picture_facts(pixels, pixels[::-1], 255.0)
        shown = pixels if pixels.ndim == 3 else np.dstack([pixels] * 3)
        assert found["step"] == 1
        np.testing.assert_allclose(levels_of(found["before"]) * (255 / 254), shown, atol=0.6)
        np.testing.assert_array_equal(levels_of(found["after"]), levels_of(found["before"])[::-1])
    large = np.kron(rng.integers(0, 256, (300, 401)).astype(float), np.ones((2, 2)))
    found = picture_facts(large, large, 255.0)
    assert found["step"] == 3 and found["before"]["size"] == [200, 267, 3], "three pixels fit into each that is drawn"
    np.testing.assert_allclose(float(levels_of(found["before"])[0, 0, 0]) * 255 / 254, large[:3, :3].mean(), atol=0.6)


def test_waves_hold_the_extremes_of_every_stretch():
    t = np.arange(9000)
    sound = np.column_stack([np.sin(t / 50.0), np.zeros(9000)])
    sound[4321, 0] = -7.0
    found = wave_facts(3000.0, {"heard": (["<b>", "silence"], sound)})
    assert found["seconds"] == 3 and not found["some"]
    low, high = found["lanes"]["heard"][0][1]
    assert (
        len(low) == len(high) == 400 and low[4321 * 400 // 9000] == -1 and max(high) == pytest.approx(1 / 7, abs=0.01)
    )
    drawn = waves({"waves": found})
    assert drawn.count("<polygon") == 2 and "<b>" not in drawn and "&lt;b&gt;" in drawn
    points = re.findall(r'points="([^"]*)"', drawn)[1].split()
    assert len(points) == 800 and len({point.split(",")[1] for point in points}) == 2, "silence is a thin line"


def test_fewer_moments_than_stretches_and_more_sounds_than_are_drawn(rng):
    found = wave_facts(10.0, {"a": ([str(j) for j in range(11)], rng.normal(size=(7, 11)))})
    assert len(found["lanes"]["a"]) == 8 and found["some"] and len(found["lanes"]["a"][0][1][0]) == 7
    assert "The first 8 of each" in waves({"waves": found})


def test_a_core_consistency_far_below_zero_does_not_flatten_the_curve(rng):
    X = np.einsum("ir,jr,kr->ijk", *(rng.random((n, 2)) for n in (6, 7, 8))) + 0.01 * rng.normal(size=(6, 7, 8))
    model = unweave.CP("auto", random_state=0).fit(X)
    facts = gather(model, X)
    facts["choice"]["scores"][-1] = -5e8
    page = render(facts)
    assert "×10" not in page.split("Why 2 components?")[1].split("</section>")[0] and "Below 0 it is drawn at 0" in page
