"""The sweep over atoms against its slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import atoms as slow
from unweave.updates.atoms import sweep_atoms


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("k", [1, 3, 8, 21])
def test_a_sweep_is_what_each_atom_in_turn_would_be(rng, k, nonnegative):
    U = rng.normal(size=(200, k)) * (rng.random((200, k)) < 0.3)
    U[:, 0] = 0  # nobody uses this one: it stays
    X, Z = rng.normal(size=(200, 7)), rng.normal(size=(k, 7))
    Z /= np.maximum(1, np.linalg.norm(Z, axis=1, keepdims=True))
    known = slow.sweep(U.T @ U, U.T @ X, Z, 0.8, nonnegative)
    new = Z.copy()
    sweep_atoms(U.T @ U, U.T @ X, new, 0.8, nonnegative)
    np.testing.assert_allclose(new, known, rtol=1e-9, atol=1e-12)
    assert np.array_equal(new[0], Z[0]) and np.linalg.norm(new[1:], axis=1).max(initial=0) <= 0.8 * (1 + 1e-12)
