"""Pictures: segments, palettes and the bytes they save."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from unweave.group import images
from unweave.group.images import quantize, segment

RED, BLUE, WHITE = (200, 10, 10), (10, 10, 200), (250, 250, 250)


def flag(height=30, width=45, noise=6):
    """Three upright stripes with a little noise, and which stripe each pixel is of."""
    rng = np.random.default_rng(0)
    stripe = np.broadcast_to(np.arange(width) * 3 // width, (height, width))
    colours = np.array([RED, WHITE, BLUE])[stripe] + rng.integers(-noise, noise + 1, (height, width, 3))
    return colours.clip(0, 255).astype(np.uint8), stripe


def one_to_one(a, b):
    return len(np.unique(a)) == len(np.unique(b)) == len({*zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)})


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32, np.float64])
def test_stripes_are_segments(kind):
    pixels, stripe = flag()
    scaled = (pixels * np.uint16(257)) if kind is np.uint16 else pixels if kind is np.uint8 else pixels / 255
    labels = segment(scaled.astype(kind), 3)
    assert labels.shape == stripe.shape and labels.dtype == np.int32 and one_to_one(labels, stripe)


def test_place_parts_what_colour_does_not():
    pixels = np.full((40, 40), 100, np.uint8)
    with_place = segment(pixels, 2, position=1.0)
    assert (segment(pixels, 2) == 0).all(), "one colour is one segment"
    assert abs(np.bincount(with_place.ravel()) - 800).max() <= 80
    pixels, stripe = flag()
    assert one_to_one(segment(pixels, 3, position=0.1), stripe)


def test_palette_bytes_and_error():
    pixels, stripe = flag()
    few = quantize(pixels, 3)
    assert one_to_one(few.indices, stripe) and few.indices.dtype == np.uint8
    np.testing.assert_array_equal(few.image, few.palette[few.indices])
    assert few.image.dtype == few.palette.dtype == np.uint8 and few.image.shape == pixels.shape
    for colour in (RED, WHITE, BLUE):
        assert np.abs(few.palette.astype(int) - colour).sum(axis=1).min() <= 6
    assert few.bytes_before == 30 * 45 * 3 and few.bytes_after == 9 + -(-30 * 45 * 2 // 8)
    more = quantize(pixels, 16)
    errors = [float(((q.image.astype(float) - pixels) ** 2).mean()) for q in (few, more)]
    assert errors[1] < errors[0] < 20


@pytest.mark.parametrize("shape", [(8, 9), (8, 9, 1), (8, 9, 3), (8, 9, 4)])
def test_as_many_colours_as_there_are_is_exact(shape, rng):
    pixels = rng.integers(0, 256, shape, dtype=np.uint8)
    q = quantize(pixels, 500)
    np.testing.assert_array_equal(q.image, pixels)
    assert len(q.palette) == len(np.unique(pixels.reshape(72, -1), axis=0))
    assert quantize(pixels, 1).palette.shape[0] == 1
    floats = rng.random(shape)
    assert quantize(floats, 5).image.dtype == np.float64 and len(quantize(floats, 5).palette) == 5


def test_a_large_picture_is_learned_from_a_sample(monkeypatch):
    pixels, stripe = flag(60, 90)
    monkeypatch.setattr(images, "_FITTED", 300)
    monkeypatch.setattr(images, "_BLOCK", 1000)
    assert one_to_one(segment(pixels, 3, random_state=1), stripe)
    assert one_to_one(quantize(pixels, 3).indices, stripe)


def test_same_bits_on_one_and_two_threads(two_threads):
    pixels, _ = flag(200, 300)
    first, second = two_threads(lambda: quantize(pixels, 12))
    assert first.image.tobytes() == second.image.tobytes()


@pytest.mark.parametrize(
    ("image", "error", "message"),
    [
        (np.zeros((3, 3, 2), np.uint8), ValueError, "image must be"),
        (np.zeros(9, np.uint8), ValueError, "image must be"),
        (np.zeros((0, 4, 3), np.uint8), ValueError, "image must be"),
        (np.zeros((3, 3), int), TypeError, "uint8"),
        (np.full((3, 3), np.nan), ValueError, "finite"),
    ],
)
def test_what_is_no_picture(image, error, message):
    for call in (segment, quantize):
        with pytest.raises(error, match=message):
            call(image, 2)


@pytest.mark.parametrize("image", [np.zeros((1, 1), np.uint8), np.ones((1, 1, 4), np.uint16), np.full((1, 1, 3), 0.5)])
def test_one_pixel_is_a_picture(image):
    few = quantize(image, 16)
    np.testing.assert_array_equal(few.image, image)
    assert few.image.shape == image.shape and len(few.palette) == 1
    assert segment(image, 5, position=1.0).tolist() == [[0]]


def test_no_copies_of_a_large_picture():
    pixels = np.random.default_rng(0).integers(0, 256, (2000, 1500, 3), dtype=np.uint8)
    quantize(pixels[:40, :40], 4)
    tracemalloc.start()
    few = quantize(pixels, 4)
    labels = segment(pixels, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    kept = few.image.nbytes + few.indices.nbytes + labels.nbytes
    assert peak - kept < 20e6, "numbers of the pixels alone would be 24 MB, the picture in float64 72 MB"


def test_bad_counts_and_places():
    pixels, _ = flag()
    with pytest.raises(ValueError, match="n_clusters"):
        segment(pixels, 0)
    with pytest.raises(TypeError, match="n_colors"):
        quantize(pixels, 2.5)
    with pytest.raises(ValueError, match="position"):
        segment(pixels, 2, position=-1.0)
