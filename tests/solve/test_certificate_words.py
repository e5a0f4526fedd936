"""A certificate is a sentence that somebody can use, also where the bound is far away."""

from __future__ import annotations

import pytest

from unweave.solve.certificate import bounded


@pytest.mark.parametrize("kind", ["duality", "eckart-young"])
def test_a_bound_that_says_little_is_told_as_two_numbers_and_not_as_a_percentage(kind):
    far = str(bounded(kind, 1e-9, 250.0, 250.0))
    assert "lies between" in far and "250" in far and "says little" in far and "%" not in far
    near = str(bounded(kind, 200.0, 250.0, 250.0))
    assert near.startswith("Within 25 % of the best")
