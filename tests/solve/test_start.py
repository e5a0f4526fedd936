"""Where a fit begins: singular vectors of partly observed tables are rough, and nearly as good as exact ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.losses import Squared
from unweave.objectives import Observed
from unweave.penalties import Free, NonNegative
from unweave.solve.problem import Problem
from unweave.solve.start import make_start
from unweave.solve.svd import truncated_svd


@pytest.fixture
def ratings():
    """A table of rank 6 and noise, a tenth of it observed, too large for LAPACK to be the first choice."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((700, 6)) @ rng.standard_normal((6, 600)) + 0.3 * rng.standard_normal((700, 600)))
    return sp.csr_array(np.where(rng.random(X.shape) < 0.1, X, 0))


def kept(X, Z):
    """Share of ‖X‖² in the span of the rows of Z."""
    Q = np.linalg.qr(Z.T)[0]
    return np.linalg.norm(X @ Q) ** 2 / sp.linalg.norm(X) ** 2


def test_a_rough_start_keeps_nearly_what_the_exact_one_keeps(ratings):
    problem = Problem(6, Squared(), Free(), Free())
    codes, Z = make_start(Observed(ratings, Squared()), problem, "svd", np.random.default_rng(0))
    exact = truncated_svd(ratings.toarray(), 6, method="full").Vt
    assert codes is None and Z.shape == (6, 600)
    assert 0.98 * kept(ratings, exact) <= kept(ratings, Z) <= kept(ratings, exact) + 1e-12


def test_same_bits_on_any_threads(ratings, two_threads):
    problem = Problem(6, Squared(), NonNegative(), NonNegative())
    (U1, Z1), (U2, Z2) = two_threads(
        lambda: make_start(Observed(ratings, Squared()), problem, "nndsvd", np.random.default_rng(0))
    )
    assert np.array_equal(U1, U2) and np.array_equal(Z1, Z2)
    assert U1.min() >= 0 and Z1.min() >= 0 and U1.max() > 0


def test_more_components_than_the_table_has_dimensions():
    X = sp.csr_array(np.arange(12.0).reshape(4, 3))
    _, Z = make_start(Observed(X, Squared()), Problem(5, Squared(), Free(), Free()), "svd", np.random.default_rng(0))
    assert Z.shape == (5, 3) and np.isfinite(Z).all() and (np.abs(Z).max(axis=1) > 0).all()
