"""The distance between clusterings: the best relabelling, unequal numbers of labels, points without a label."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unweave.select import clustering_distance

LABELS = st.integers(1, 9).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 3))


def brute(a, b):
    """Over all injections of the labels of b into those of a and four spare ones."""
    names_a, names_b = [*set(a), *"wxyz"], list(set(b))
    agree = max(
        sum(x == dict(zip(names_b, chosen))[y] for x, y in zip(a, b))
        for chosen in itertools.permutations(names_a, len(names_b))
    )
    return 1 - agree / len(a)


@given(LABELS)
def test_it_is_the_best_of_all_relabellings_and_a_distance(three):
    a, b, c = three
    d = clustering_distance
    assert d(a, b) == pytest.approx(brute(a, b))
    assert d(a, b) == pytest.approx(d(b, a))
    assert d(a, c) <= d(a, b) + d(b, c) + 1e-12
    assert 0 <= d(a, b) < 1


def test_one_moved_point_counts_once():
    a = np.repeat([0, 1], 5)
    b = a.copy()
    b[0] = 1
    assert clustering_distance(a, b) == pytest.approx(0.1)


def test_labels_without_a_partner_disagree():
    assert clustering_distance([0, 0, 0, 0], [0, 0, 0, 1]) == pytest.approx(0.25)
    assert clustering_distance(range(4), [0] * 4) == pytest.approx(0.75)


@pytest.mark.parametrize(
    "b",
    [
        [4, 4, -1, 9],
        np.array([4, 4, np.nan, 9]),
        ["u", "u", None, "v"],
        np.ma.array([4, 4, 5, 9], mask=[0, 0, 1, 0]),
    ],
    ids=["minus one", "nan", "none", "masked"],
)
def test_points_missing_on_one_side_are_left_out(b):
    assert clustering_distance([0, 0, 0, 1], b) == 0.0
    assert clustering_distance(b, [0, 1, 0, 2]) == pytest.approx(1 / 3)


def test_what_is_refused():
    with pytest.raises(ValueError, match="same points"):
        clustering_distance([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="in common"):
        clustering_distance([0, -1], [-1, 0])
    with pytest.raises(ValueError, match="at least one"):
        clustering_distance([], [])
    with pytest.raises(ValueError, match="one label for each point"):
        clustering_distance([[0, 1]], [[0, 1]])
    with pytest.raises(TypeError, match="labels"):
        clustering_distance([1j, 2], [0, 1])
