"""Squares of images."""

from __future__ import annotations

import numpy as np
import pytest

import unweave


@pytest.mark.parametrize("shape", [(20, 17), (9, 12, 3)])
@pytest.mark.parametrize("step", [1, 3, 8])
@pytest.mark.parametrize("size", [8, (4, 6), 1])
def test_squares_make_the_image_again(rng, shape, step, size):
    image = rng.normal(size=shape)
    step = min(step, size if isinstance(size, int) else min(size))
    rows = unweave.patches(image, size, step)
    np.testing.assert_allclose(unweave.from_patches(rows, shape, size, step), image)


def test_squares_are_where_they_are_said_to_be(rng):
    image = rng.normal(size=(10, 11))
    rows = unweave.patches(image, (3, 4), 2)
    np.testing.assert_array_equal(rows[0], image[:3, :4].ravel())
    np.testing.assert_array_equal(rows[-1], image[-3:, -4:].ravel())


def test_means_where_they_overlap_and_holes():
    rows = np.array([[1.0, 2.0], [4.0, np.nan]])
    np.testing.assert_array_equal(unweave.from_patches(rows, (1, 3), (1, 2)), [[1.0, 3.0, np.nan]])


def test_whole_numbers_and_float32():
    assert unweave.patches(np.zeros((9, 9), np.uint8)).dtype == np.float64
    rows = unweave.patches(np.zeros((9, 9), np.float32))
    assert rows.dtype == np.float32 and unweave.from_patches(rows, (9, 9)).dtype == np.float32


def test_refusals_name_the_argument():
    with pytest.raises(ValueError, match="size=8 is larger"):
        unweave.patches(np.zeros((4, 20)))
    with pytest.raises(ValueError, match="image must be"):
        unweave.patches(np.zeros(5))
    with pytest.raises(ValueError, match="rows must have the shape"):
        unweave.from_patches(np.zeros((3, 64)), (9, 9))
    with pytest.raises(TypeError, match="real numbers"):
        unweave.patches(np.zeros((9, 9), complex))


def test_decibels():
    assert unweave.psnr([[1.0]], [[1.0]]) == np.inf
    black, white = np.zeros((2, 2), np.uint8), np.full((2, 2), 255, np.uint8)
    assert unweave.psnr(white, black) == 0.0
