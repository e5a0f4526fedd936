"""A picture is cut into tiles, and put together again to the last pixel."""

from __future__ import annotations

import numpy as np
import pytest

import unweave


@pytest.mark.parametrize("shape", [(8, 8), (1, 1), (9, 17), (8, 3), (5, 7, 3), (6, 4, 4)], ids=str)
@pytest.mark.parametrize("size", [1, 3, 8])
def test_tiles_go_back(shape, size, rng):
    picture = rng.random(shape)
    cut = unweave.tiles(picture, size)
    assert cut.shape == (-(-shape[0] // size) * -(-shape[1] // size), size * size * int(np.prod(shape[2:])))
    assert cut.image == (size, size, *shape[2:])
    np.testing.assert_array_equal(unweave.from_tiles(cut, shape, size), picture)
    first = cut.X[0].reshape(cut.image)[: shape[0], : shape[1]]
    np.testing.assert_array_equal(first, picture[:size, :size])


def test_edges_are_repeated():
    assert unweave.tiles([[1.0, 2.0, 3.0]], 2).X.tolist() == [[1, 2, 1, 2], [3, 3, 3, 3]]


def test_bytes_become_floats_and_single_precision_stays():
    assert unweave.tiles(np.ones((4, 4), np.uint16), 2).X.dtype == np.float64
    assert unweave.tiles(np.ones((4, 4), np.float32), 2).X.dtype == np.float32


@pytest.mark.parametrize(
    "picture, size, error, said",
    [
        (np.ones(4), 2, ValueError, "image must be an array"),
        (np.ones((0, 4)), 2, ValueError, "with pixels in it"),
        (np.full((2, 2), np.nan), 2, ValueError, "NaN"),
        (np.array([["a"]]), 2, TypeError, "must hold numbers"),
        (np.ones((2, 2)), 0, ValueError, "size must be at least 1"),
        (np.ones((2, 2)), 1.5, TypeError, "size"),
    ],
)
def test_what_is_no_picture_is_refused(picture, size, error, said):
    with pytest.raises(error, match=said):
        unweave.tiles(picture, size)


def test_tiles_of_another_picture_are_refused():
    cut = unweave.tiles(np.ones((8, 8)), 4)
    with pytest.raises(ValueError, match="give the shape and the size"):
        unweave.from_tiles(cut, (8, 9), 4)
    with pytest.raises(ValueError, match="shape must be"):
        unweave.from_tiles(cut, (8,), 4)
