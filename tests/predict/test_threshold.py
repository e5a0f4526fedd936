"""Threshold networks say what their formula says, on all 2^d inputs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from unweave.predict import parity_network, threshold_network


def all_inputs(d: int) -> np.ndarray:
    return np.array(list(product((0, 1), repeat=d)))


@pytest.mark.parametrize("d", range(1, 13))
def test_parity_is_exact_on_every_input_for_odd_and_even_d(d):
    network, X = parity_network(d), all_inputs(d)
    assert network.hidden.shape == (d + 1, d)
    assert network.output_threshold == (0.5 if d % 2 else -0.5)
    np.testing.assert_array_equal(network.predict(X), X.sum(axis=1) % 2)


@pytest.mark.parametrize(
    "formula, units",
    [
        ("a", 1), ("~a", 1), ("a & b", 1), ("a | b", 2), ("~~a | b", 2), ("a & ~b | c", 2), ("(a & ~b) | c", 2),
        ("(a | b) & (~a | c)", 2), ("(a | b)", 1), ("(a & b & c)", 1), ("a & ~a", 1), ("(a | ~a) & b", 2),
        ("(a & b) | (~a & ~b) | (c & ~d & a)", 3), ("not a and b or c and not d", 2), ("(a | b | ~c) & d & ~b", 3),
        ("a & a | b", 2), ("¬a ∧ b ∨ c", 2),
    ],
)  # fmt: skip
def test_a_formula_is_computed_exactly(formula, units):
    network = threshold_network(formula)
    assert len(network.hidden) == units
    words = formula.replace("~", " not ").replace("&", " and ").replace("|", " or ")
    words = words.replace("¬", " not ").replace("∧", " and ").replace("∨", " or ")
    for row in all_inputs(len(network.inputs)):
        wanted = eval(words.strip(), {}, dict(zip(network.inputs, map(bool, row), strict=True)))
        assert network.predict([row])[0] == wanted, (formula, row)


def test_random_formulas(rng):
    for _ in range(60):
        names = [f"v{i}" for i in range(rng.integers(1, 7))]
        groups = [
            [("~" if rng.random() < 0.5 else "") + name for name in rng.permutation(names)[: rng.integers(1, 7)]]
            for _ in range(rng.integers(1, 6))
        ]
        for inner, outer in (("&", "|"), ("|", "&")):
            network = threshold_network(f" {outer} ".join("(" + f" {inner} ".join(group) + ")" for group in groups))
            X = all_inputs(len(network.inputs))
            of = {name: X[:, i] == 1 for i, name in enumerate(network.inputs)}
            values = [[~of[one[1:]] if one[0] == "~" else of[one] for one in group] for group in groups]
            first, second = (np.logical_and, np.logical_or) if inner == "&" else (np.logical_or, np.logical_and)
            wanted = second.reduce([first.reduce(group) for group in values])
            np.testing.assert_array_equal(network.predict(X), wanted)


@pytest.mark.parametrize(
    "formula", ["", "a &", "(a", "a)", "((a | b) & c)", "a + b", "~(a & b)", "(a | b) & c | d", "a b", "(a & (b | c))"]
)
def test_what_is_no_normal_form_is_refused(formula):
    with pytest.raises(ValueError, match="normal form"):
        threshold_network(formula)


def test_inputs_are_zeros_and_ones():
    network = parity_network(2)
    with pytest.raises(ValueError, match="one column for each of the 2 inputs"):
        network.predict([[1, 0, 1]])
    with pytest.raises(ValueError, match="zeros and ones"):
        network.predict([[1, 0.5]])
    with pytest.raises(TypeError, match="formula must be a text"):
        threshold_network(3)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_columns_of_a_frame_are_told_by_their_names(package):
    frame = pytest.importorskip(package).DataFrame
    network = threshold_network("sun & ~rain")
    assert network.predict(frame({"rain": [0, 1], "town": ["Ulm", "Bern"], "sun": [1, 1]})).tolist() == [1, 0]
    with pytest.raises(ValueError, match="X has no column 'sun': the inputs are sun, rain"):
        network.predict(frame({"rain": [0], "snow": [1]}))
