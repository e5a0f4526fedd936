"""Elbow and knee of curves whose bend is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave.select import elbow, knee

KS = np.arange(1, 11)


@pytest.mark.parametrize("find", [elbow, knee])
@pytest.mark.parametrize("corner", [3, 5, 8])
def test_a_corner_is_found_falling_and_rising(find, corner):
    falling = np.where(corner >= KS, 100.0 - 10 * KS, 100.0 - 10 * corner - 0.1 * (KS - corner))
    assert find(KS, falling) == corner
    assert find(KS, -falling) == corner
    assert find(KS[::-1], falling[::-1]) == corner
    assert find(KS, 1e-9 * falling) == corner


def test_elbow_of_an_exact_rank_is_not_fooled_by_rounding():
    scores = [100, 30, 1e-13, 3e-14, 1e-16, 2e-16]
    assert elbow(range(1, 7), scores) == 3


def test_elbow_weighs_uneven_steps_by_their_length():
    assert elbow([1, 2, 3, 10, 20], [100, 60, 20, 6, 0]) == 3


def test_knee_of_the_paper():
    # Satopää et al., section II: y = -1/x + 5 has its knee near x = 0.22 on [0.1, 1], the second of ten points.
    x = np.arange(10)
    y = [-5.0, 0.0, 5 / 3, 2.5, 3.0, 10 / 3, 3.5714, 3.75, 3.8889, 4.0]
    assert knee(x, y) == 2


def test_sensitivity_passes_over_small_bends():
    # Three small bends at 2, 4 and 6 on the way to the large one at 8.
    scores = np.array([100, 80, 78, 58, 56, 36, 34, 4, 3, 2.0])
    assert knee(KS, scores, sensitivity=0.0) < knee(KS, scores, sensitivity=3.0)


@pytest.mark.parametrize("find", [elbow, knee])
def test_what_is_refused(find):
    with pytest.raises(ValueError, match="at least 3"):
        find([1, 2], [3, 1])
    with pytest.raises(ValueError, match="finite"):
        find([1, 2, 3], [3, np.nan, 1])
    with pytest.raises(ValueError, match="once"):
        find([1, 2, 2], [3, 2, 1])
    with pytest.raises(ValueError, match="same length"):
        find([1, 2, 3], [3, 2])


@given(st.lists(st.floats(-1e6, 1e6), min_size=3, max_size=15))
def test_any_curve_has_an_answer_among_its_numbers(scores):
    ks = list(range(2, 2 + len(scores)))
    assert elbow(ks, scores) in ks and knee(ks, scores) in ks


def test_a_flat_curve():
    assert knee([2, 3, 4, 5], [1.0] * 4) == 2
    assert elbow([2, 3, 4, 5], [1.0] * 4) == 3
