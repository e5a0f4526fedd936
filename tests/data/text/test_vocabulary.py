"""Which terms become columns."""

import math

import numpy as np
import pytest

from unweave.data.text.vocabulary import Limits, Tally, choose, documents_asked, given_vocabulary

TERMS = ["d", "c", "b", "a"]
TALLY = Tally(np.array([4, 2, 2, 1]), np.array([9, 5, 5, 7]))


def chosen(**limits):
    return choose(TALLY, 4, Limits(**limits), lambda numbers: [TERMS[i] for i in numbers])[0]


def test_limits():
    assert chosen() == ["a", "b", "c", "d"]
    assert chosen(min_df=2) == ["b", "c", "d"] and chosen(min_df=0.5) == ["b", "c", "d"]
    assert chosen(max_df=0.9) == ["a", "b", "c"] and chosen(max_df=1) == ["a"]
    assert chosen(min_count=6) == ["a", "d"]
    assert chosen(max_words=3) == ["a", "b", "d"]  # b before c: equally frequent, first in the alphabet


def test_limits_that_leave_nothing_say_what_to_do():
    with pytest.raises(ValueError, match=r"no word is left of 4: .* lower min_df or min_count, or raise max_df"):
        chosen(min_count=100)
    with pytest.raises(ValueError, match="of 4; lower min_df or raise max_df"):
        chosen(min_df=3, max_df=2)
    with pytest.raises(ValueError, match="hold no word"):
        choose(Tally.empty(), 4, Limits(), lambda numbers: [])


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, ValueError), (1.5, ValueError), (math.nan, ValueError), ("1", TypeError), (True, TypeError)],
)
def test_bad_limits(value, error):
    with pytest.raises(error, match="min_df"):
        documents_asked(value, "min_df", 10, math.ceil)


def test_shares_of_documents_round_inwards():
    assert documents_asked(0.25, "min_df", 9, math.ceil) == 3 and documents_asked(0.25, "max_df", 9, math.floor) == 2


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([], ValueError, "empty"),
        (["a", "a"], ValueError, "twice"),
        ("abc", TypeError, "list"),
        ([1], TypeError, "texts"),
        ({"a": 0, "b": 2}, ValueError, "without a gap"),
        (7, TypeError, "list"),
    ],
)
def test_bad_vocabularies(given, error, words):
    with pytest.raises(error, match=words):
        given_vocabulary(given)
