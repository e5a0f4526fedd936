"""Images as matrices, and folders of images as tables."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from PIL import Image

from tests.data.broken_files import broken, reads_or_refuses
from tests.data.helpers import saved
from unweave.data.readers import ReadError, read


def encoded(pixels, format="PNG", mode=None, **options) -> bytes:
    image = Image.fromarray(pixels) if mode is None else Image.fromarray(pixels).convert(mode)
    return saved(image.save, format, **options)


@pytest.fixture
def grey(rng):
    return rng.integers(0, 256, (6, 8)).astype(np.uint8)


@pytest.mark.parametrize("format", ["PNG", "BMP", "GIF", "TIFF"])
def test_one_image_is_the_matrix_of_its_grey_values(write, grey, format):
    table = read(write("picture", encoded(grey, format)))
    assert table.kind == "images" and table.image is None and table.missing is None
    np.testing.assert_array_equal(table.X, grey)


def test_colour_jpeg_and_sixteen_bits(write, rng, grey):
    colour = rng.integers(0, 256, (6, 8, 3)).astype(np.uint8)
    table = read(write("a.png", encoded(colour)))
    np.testing.assert_array_equal(table.X, np.asarray(Image.fromarray(colour).convert("L")))
    assert np.abs(read(write("a.jpg", encoded(np.full((8, 8), 77, np.uint8), "JPEG"))).X - 77).max() <= 2
    deep = grey.astype(np.uint16) * 200
    np.testing.assert_array_equal(read(write("a.png", encoded(deep))).X, deep)
    assert read(write("a.png", encoded(grey, mode="LA"))).shape == (6, 8)
    assert read(write("a.png", encoded(grey, mode="1"))).X.max() == 255


def test_one_image_keeps_its_colours_where_they_are_asked_for(write, rng, grey):
    colour = rng.integers(0, 256, (6, 8, 3)).astype(np.uint8)
    table = read(write("a.png", encoded(colour)), colour=True)
    assert table.shape == (6, 24) and table.channels == 3 and table.image is None
    np.testing.assert_array_equal(table.picture, colour)
    np.testing.assert_array_equal(read(write("b.png", encoded(colour, mode="P")), colour=True).picture.shape, (6, 8, 3))
    for name, pixels in (("grey.png", grey), ("told-in-colour.png", np.dstack([grey] * 3))):
        table = read(write(name, encoded(pixels)), colour=True)
        assert table.channels == 1
        np.testing.assert_array_equal(table.picture, grey)
    deep = grey.astype(np.uint16) * 200
    np.testing.assert_array_equal(read(write("deep.png", encoded(deep)), colour=True).picture, deep)


def test_a_folder_is_one_image_a_row(write, grey, rng):
    write("set/b.png", encoded(grey))
    folder = write("set/sub/a.PNG", encoded(255 - grey)).parent.parent
    table = read(folder)
    assert table.rows == ["b.png", "sub/a.PNG"] and table.image == (6, 8)
    np.testing.assert_array_equal(table.X, [grey.ravel(), 255 - grey.ravel()])
    colour = rng.integers(0, 256, (6, 8, 3)).astype(np.uint8)
    write("set/c.png", encoded(colour))
    mixed = read(folder)
    assert mixed.image == (6, 8, 3) and mixed.shape == (3, 144)
    np.testing.assert_array_equal(mixed.X[1], colour.ravel())
    write("set/z.png", encoded(grey[:3]))
    with pytest.raises(ReadError, match=r"z.png has 3×8 pixels and b.png has 6×8; bring all images to one size"):
        read(folder)


def test_folders_without_or_with_damaged_images(write, tmp_path, grey):
    (tmp_path / "none").mkdir()
    with pytest.raises(ReadError, match="without"):
        read(tmp_path / "none")
    with pytest.raises(ReadError, match="holds no images"):
        read(tmp_path / "none", format="images")
    folder = write("bad/a.png", encoded(grey)[:50]).parent
    with pytest.raises(ReadError, match=r"the image a.png cannot be decoded"):
        read(folder)


def test_a_bomb_of_pixels_is_refused_before_it_is_decoded(write):
    def piece(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    def bomb(side: int) -> bytes:
        size = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
        return (
            b"\x89PNG\r\n\x1a\n"
            + piece(b"IHDR", size)
            + piece(b"IDAT", zlib.compress(bytes(999)))
            + piece(b"IEND", b"")
        )

    with pytest.raises(ReadError, match=r"too many pixels.*limit="):
        read(write("a.png", bomb(60000)))
    with pytest.raises(ReadError, match=r"too many pixels.*limit="):
        read(write("a.png", bomb(2000)), limit=10**6)


SEEDS = [
    encoded(np.arange(48, dtype=np.uint8).reshape(6, 8), format) for format in ("PNG", "JPEG", "GIF", "BMP", "TIFF")
]


@settings(max_examples=80)
@given(broken(*SEEDS))
def test_spoiled_images_are_read_or_refused(data):
    reads_or_refuses(data, "images")
