"""Two penalties at once, and how penalties are found."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from unweave.penalties import L1, PENALTIES, Both, ElasticNet, NonNegative, Ridge, Simplex, get_penalty


def test_order_does_not_matter():
    F = np.random.default_rng(0).standard_normal((4, 3))
    assert np.array_equal(Both("l1", "nonnegative").prox(F, 0.2), Both(NonNegative(), L1()).prox(F, 0.2))
    assert get_penalty(["l1", "nonnegative"]).name == "nonnegative+l1"


def test_simplex_stands_for_both():
    F = np.random.default_rng(0).standard_normal((40, 3))
    assert np.array_equal(Both("nonnegative", "simplex").prox(F), Simplex().prox(F))


def test_unit_norm_of_rows_without_a_positive_entry():
    pair = get_penalty(("nonnegative", "unit-norm"))
    F = np.array([[-3.0, -1.0, -2.0], [0.0, 0.0, 0.0], [-1.0, 3.0, 4.0]])
    assert pair.prox(F) == pytest.approx(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.6, 0.8]]))


def test_terms_for_coordinate_descent():
    assert get_penalty(("nonnegative", ElasticNet(2.0, 0.25))).separable_terms() == (0.5, 1.5, True)
    assert get_penalty(("nonnegative", Ridge(3.0))).separable_terms() == (0.0, 3.0, True)
    assert get_penalty(("nonnegative", "simplex")).separable_terms() is None
    assert get_penalty("free").separable_terms() == (0.0, 0.0, False)
    assert get_penalty("cone").separable_terms() is None


@pytest.mark.parametrize("pair", [
    ("l1", "ridge"), ("nonnegative", "orthonormal"), ("nonnegative", "nuclear"), ("simplex", "sparse"),
    ("nonnegative", "fixed"), ("nonnegative", "hull"),
])  # fmt: skip
def test_other_pairs_are_refused_with_what_is_allowed(pair):
    with pytest.raises(ValueError, match=f"codes: {pair[0]} and {pair[1]} cannot be combined.*ridge, l1, elastic-net"):
        get_penalty(pair)


def test_three_are_refused():
    with pytest.raises(ValueError, match="components: one penalty or two can be given, got 3"):
        get_penalty(("nonnegative", "l1", "ridge"), "components")


def test_nested_parameters_can_be_searched():
    pair = Both(NonNegative(), L1(0.5))
    assert clone(pair).set_params(second__strength=2.0).separable_terms() == (2.0, 0.0, True)
    assert pair.second.strength == 0.5
    with pytest.raises(ValueError, match=r"codes: .*strength"):
        get_penalty(pair.set_params(second__strength=-1.0))


def test_unknown_names_list_the_known_and_the_nearest():
    with pytest.raises(
        ValueError, match=r"components: unknown penalty 'non_negative'.*free, .*Did you mean 'nonnegative'"
    ):
        get_penalty("non_negative", "components")
    with pytest.raises(ValueError, match="Did you mean 'one-hot'"):
        get_penalty("one_hot")
    with pytest.raises(ValueError, match="codes must be the name of a penalty"):
        get_penalty(3)


def test_the_names():
    names = (
        "free nonnegative simplex one-hot orthonormal unit-norm boolean l1-ball l2-ball sparse hull cone fixed ridge l1"
    )
    assert list(PENALTIES) == [*names.split(), "elastic-net", "nuclear", "smooth"]
