"""The small pieces of a page: pictures, ticks, knees, places of labels, sentences."""

from __future__ import annotations

import base64
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave.report import png
from unweave.report.svg import (
    apart,
    curve,
    look_of,
    marker,
    nice_ticks,
    power_captions,
    power_ticks,
    running_total,
    scree,
    tick_captions,
    whole_ticks,
)
from unweave.report.table_facts import clear_knee
from unweave.report.view import look, moments
from unweave.report.words import seconds


def decoded(uri: str) -> np.ndarray:
    Image = pytest.importorskip("PIL.Image")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(uri.split(",")[1]))).convert("RGB"))


def test_a_picture_survives_png():
    values = np.array([[0.0, 0.5, 1.0], [np.nan, 2.0, -1.0]])
    colours = png.palette(signed=False)
    pixels = decoded(png.data_uri(png.quantise(values, 0.0, 1.0)))
    assert pixels.shape == (2, 3, 3)
    wanted = [[0, 127, 254], [png.MISSING, 254, 0]]
    assert np.array_equal(pixels, colours[np.array(wanted)])


def test_signed_pictures_are_pale_at_zero_and_coloured_ones_stay_so():
    pixels = decoded(png.data_uri(png.quantise(np.array([[-1.0, 0.0, 1.0]]), -1.0, 1.0)))
    assert pixels[0, 1].min() > 240 and pixels[0, 0, 0] > pixels[0, 0, 2] and pixels[0, 2, 2] > pixels[0, 2, 0]
    photo = np.random.default_rng(0).random((4, 5, 3))
    assert np.allclose(decoded(png.data_uri(png.quantise(photo, 0.0, 1.0))), photo * 254, atol=1)


@pytest.mark.parametrize("size", [[2], [0, 3], [3, 3], [10**6, 10**6], [-1, -4]])
def test_pictures_whose_size_lies_are_refused(size):
    picture = {"size": size, "low": 0.0, "high": 1.0, "levels": base64.b64encode(b"1234").decode()}
    with pytest.raises(ValueError, match="picture"):
        png.data_uri(picture)


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12))
def test_ticks_lie_inside_and_read_apart(low, span):
    high = low + span
    if high - low < 1e-9 * max(abs(low), abs(high), 1e-9):
        return
    found = nice_ticks(low, high)
    assert 1 <= len(found) <= 12
    slack = 1e-6 * (high - low)
    assert all(low - slack <= tick <= high + slack for tick in found)
    captions, _ = tick_captions(found)
    if high - low > 1e-5 * max(abs(low), abs(high)):
        assert len(set(captions)) == len(captions)


@given(st.floats(-9, 9), st.floats(0.2, 12))
def test_logarithmic_ticks_lie_inside(first, decades):
    low, high = 10.0**first, 10.0 ** (first + decades)
    found = power_ticks(low, high)
    assert all(0.99 * low <= tick <= 1.01 * high for tick in found)
    assert len(set(power_captions(found))) == len(found) <= 12


def test_whole_ticks_are_whole():
    assert whole_ticks(1, 4) == [1.0, 2.0, 3.0, 4.0]
    assert whole_ticks(1, 300) == [50.0, 100.0, 150.0, 200.0, 250.0, 300.0]


def test_the_knee_is_where_a_spectrum_bends():
    assert clear_knee(np.array([10, 9, 8, 1, 0.9, 0.8, 0.7, 0.6])) == 3
    assert clear_knee(np.linspace(1, 0.1, 10)) is None
    assert clear_knee(np.array([1.0, 0.5])) is None and clear_knee(np.ones(9)) is None


@given(st.lists(st.tuples(st.floats(80, 400), st.floats(40, 270)), min_size=1, max_size=20))
def test_numbers_at_centres_never_overlap(places):
    put = apart(places)
    for i, (x, y) in enumerate(put):
        assert all(abs(x - a) >= 20 - 1e-9 or abs(y - b) >= 16 - 1e-9 for a, b in put[:i])


def test_forty_nine_groups_look_different():
    assert len({look_of(group) for group in range(49)}) == 49
    assert len({marker(look_of(group)[1], 5, 5) for group in range(7)}) == 7


def test_charts_take_the_extremes():
    for ys in ([1.0, 1.0], [1e300, 1.0], [0.0, 0.0], [-5.0, 3.0], [1e-300, 1e-308]):
        assert "<svg" in curve([1, 2], ys, "x", "y", "title")
    assert scree([0.0, 0.0, 0.0], None, 2, "of it") and running_total([1.0], 1, "of it")
    with pytest.raises(ValueError, match="axis"):
        curve([1, 2], [math.inf, 1.0], "x", "y", "title")


def test_a_log_scale_is_used_when_it_helps():
    assert "log scale" in curve([1, 2, 3], [1000.0, 10, 1], "x", "y", "title")
    assert "log scale" not in curve([1, 2, 3], [10.0, 5, 4], "x", "y", "title")


def test_durations():
    assert [seconds(v) for v in (0.0123, 5, 61, 300)] == ["0.012 s", "5 s", "61 s", "5.0 min"]


def test_a_view_tells_unknown_from_zero():
    import scipy.sparse as sp

    class Model:
        missing = "zeros"

    view = look(Model(), sp.csr_array(np.array([[1.0, 0], [0, 2]])))
    assert np.array_equal(np.isnan(view.dense(np.arange(2))), [[False, True], [True, False]])
    assert not view.complete
    Model.missing = None
    assert look(Model(), sp.csr_array(np.array([[1.0, 0], [0, 2]]))).complete
    mean, spread, counts = moments(np.array([[1.0, np.nan], [3.0, np.nan]]))
    assert mean.tolist() == [2, 0] and spread.tolist() == [1, 0] and counts.tolist() == [2, 0]
