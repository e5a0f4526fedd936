"""Top-N search against a full sort."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tests.reference import top as slow
from unweave.linalg import scores as top
from unweave.linalg.scores import top_columns


def whole_factors(rng, n, m, k, dtype):
    """Small whole numbers: every product is exact, and there are many ties."""
    return rng.integers(-2, 3, (n, k)).astype(dtype), rng.integers(-2, 3, (k, m)).astype(dtype)


@pytest.mark.parametrize("n", [1, 3, 10, 47, 60])
def test_agrees_with_a_full_sort_ties_included(rng, dtype, n):
    U, Z = whole_factors(rng, 31, 47, 4, dtype)
    seen = sp.random_array((31, 47), density=0.3, rng=rng, format="csr")
    for known in (None, seen):
        for columns in (None, np.array([40, 3, 3, 7, 11, 0]), np.arange(44, 2, -1)):
            places, values = top_columns(U, Z, n, seen=known, columns=columns)
            expected = slow.top_columns(U, Z, n, known, columns)
            assert np.array_equal(places, expected[0]) and np.array_equal(values, expected[1])
            assert values.dtype == dtype
            places, values = top_columns(sp.csr_array(U), Z, n, seen=known, columns=columns)
            assert np.array_equal(places, expected[0]) and np.array_equal(values, expected[1])
            assert values.dtype == dtype


def test_agrees_with_a_full_sort_over_several_tiles_and_blocks(rng, monkeypatch, dtype):
    monkeypatch.setattr(top, "_ROWS", 8)
    monkeypatch.setattr(top, "_COLUMNS", 37)
    U, Z = whole_factors(rng, 50, 300, 3, dtype)
    seen = sp.random_array((50, 300), density=0.5, rng=rng, format="csr")
    places, values = top_columns(U, Z, 12, seen=seen)
    expected = slow.top_columns(U, Z, 12, seen)
    assert np.array_equal(places, expected[0]) and np.array_equal(values, expected[1])


def test_one_and_two_threads_agree_to_the_bit(rng, two_threads, dtype):
    U, Z = rng.standard_normal((700, 16)).astype(dtype), rng.standard_normal((16, 5000)).astype(dtype)
    seen = sp.random_array((700, 5000), density=0.01, rng=rng, format="csr")
    one, two = two_threads(lambda: top_columns(U, Z, 10, seen=seen))
    assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])


def test_entries_of_seen_may_be_in_any_order(rng):
    U, Z = whole_factors(rng, 1, 6, 2, float)
    seen = sp.csr_array((np.ones(3), np.array([5, 0, 2]), np.array([0, 3])), shape=(1, 6))
    places, _ = top_columns(U, Z, 6, seen=seen)
    assert sorted(places[0]) == [-1, -1, -1, 1, 3, 4]


def test_nothing_left_is_marked():
    places, values = top_columns(np.ones((2, 1)), np.ones((1, 3)), 2, seen=sp.csr_array(np.ones((2, 3))))
    assert (places == -1).all() and (values == -np.inf).all()
    places, values = top_columns(np.ones((2, 1)), np.ones((1, 3)), 2, columns=np.array([], int))
    assert (places == -1).all() and (values == -np.inf).all()


def test_no_users():
    places, values = top_columns(np.ones((0, 1)), np.ones((1, 3)), 2)
    assert places.shape == values.shape == (0, 2)


def test_a_score_that_is_not_a_number_is_never_chosen():
    places, _ = top_columns(np.ones((1, 1)), np.array([[np.nan, 1.0, -np.inf]]), 3)
    assert places.tolist() == [[1, -1, -1]]
