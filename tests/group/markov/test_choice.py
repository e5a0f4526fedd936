"""The number of states, left to the data."""

import numpy as np
import pytest

from tests.group.markov.chains import planted, staying, symbols_of
from unweave.group.markov.model import HiddenMarkov


@pytest.mark.parametrize("k", [3, 5])
def test_numbers_of_states_are_found_for_rows(k):
    X, _, _, _ = planted(np.random.default_rng(k), 1200, stay=0.9, apart=3.0, k=k, d=k)
    assert HiddenMarkov("auto").fit(X).n_components_ == k


@pytest.mark.parametrize("k", [3, 5])
def test_numbers_of_states_are_found_for_symbols(k):
    transition = 0.9 * np.eye(k) + 0.1 * np.roll(np.eye(k), 1, axis=1)
    X, _ = symbols_of(np.random.default_rng(k), transition, 0.7 * np.eye(k, 8) + 0.3 / 8, 1500)
    assert HiddenMarkov("auto", emission="discrete").fit(X).n_components_ == k


CIRCLE = np.roll(np.eye(5), 1, axis=1)
WEAK = {
    "circle": (1000, lambda rng: (0.85 * np.eye(5) + 0.15 * CIRCLE, rng.dirichlet(np.full(10, 0.5), 5))),
    "dice": (600, lambda rng: (np.array([[0.95, 0.05], [0.1, 0.9]]), np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]]))),
    "near": (800, lambda rng: (staying(rng, 3, 0.9), rng.dirichlet(np.ones(12), 3))),
    "alternate": (600, lambda rng: (np.array([[0.1, 0.9], [0.9, 0.1]]), np.array([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]))),
    "noisy": (800, lambda rng: (0.8667 * np.eye(4) + 0.0333, 0.5 * np.eye(4, 6) + 0.5 / 6)),
    "one": (800, lambda rng: (np.ones((1, 1)), rng.dirichlet(np.ones(12), 1))),
}  # fmt: skip


@pytest.mark.parametrize("kind", WEAK)
def test_numbers_of_states_are_found_where_states_show_nearly_the_same_symbols(kind):
    n, make = WEAK[kind]
    rng = np.random.default_rng(2)
    transition, shown = make(rng)
    transition = transition / transition.sum(axis=1, keepdims=True)
    X, _ = symbols_of(rng, transition, shown, n)
    assert HiddenMarkov("auto", emission="discrete").fit(X).n_components_ == len(transition)
