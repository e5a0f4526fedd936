"""The nuclear norm is convex: every model of it ends at the one best value, or its certificate says how far it may be.

The tables are small, narrow and wide, since a rank can reach the width of such a table and fall again.
"""

from __future__ import annotations

import numpy as np
import pytest

import unweave
from tests.reference.nuclear import thresholding, weighted_best, weighted_objective
from unweave.complete import SingularValueThresholding, SoftImpute
from unweave.penalties import Nuclear

SHAPES = [(13, 3), (3, 13), (40, 5), (5, 40), (9, 9), (8, 1), (1, 8)]
DTYPES = [np.float64, np.float32]


def problem(shape, seed):
    """A table of noise, half of it seen, and a strength: numbers without a structure have the largest ranks."""
    rng = np.random.default_rng([*shape, seed])
    X, seen = rng.normal(size=shape), rng.random(shape) < 0.5
    seen.flat[rng.integers(seen.size)] = True
    return np.where(seen, X, 0), seen.astype(float), 10 ** rng.uniform(-2, 0.7), rng


def judged(model, X, weights, tau, best, dtype):
    """No more than a ten-thousandth above the best, or else no more than the certificate admits."""
    M = model.codes_.astype(np.float64) @ model.components_
    above = weighted_objective(X, weights, M, tau) / best - 1
    assert above <= max(1e-4, model.certificate_.gap * (1 + 1e-6))
    assert model.certificate_.gap <= 1e-2 or dtype == np.float32
    return above


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_soft_impute_ends_at_the_best_on_tables_of_every_shape(shape, dtype):
    for seed in range(4):
        X, seen, tau, _ = problem(shape, seed)
        best = weighted_objective(X, seen, weighted_best(X, seen, tau), tau)
        table = np.where(seen, X, np.nan).astype(dtype)
        assert judged(SoftImpute(strength=tau).fit(table), X, seen, tau, best, dtype) <= 1e-4


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_factorization_with_the_nuclear_norm_ends_there_too_with_weights_and_without(shape, dtype):
    for seed, weighted in ((0, False), (1, True)):
        X, weights, tau, rng = problem(shape, seed)
        more = {"missing": "nan"}
        if weighted:
            more, weights = {"loss": "weighted"}, rng.uniform(0.2, 2, shape)
        best = weighted_objective(X, weights, weighted_best(X, weights, tau), tau)
        table = (X if weighted else np.where(weights, X, np.nan)).astype(dtype)
        model = unweave.Factorization(min(shape), codes=Nuclear(tau), max_iter=2000, tol=1e-7, **more)
        given = {"weights": weights.astype(dtype)} if weighted else {}
        judged(model.fit(table, **given), X, weights, tau, best, dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_thresholding_agrees_with_the_entries_at_the_least_cost(shape, dtype):
    for seed in range(2):
        X, seen, _, _ = problem(shape, seed)
        model = SingularValueThresholding().fit(np.where(seen, X, np.nan).astype(dtype))
        M = thresholding(X, seen.astype(bool), model.tau_, 1.9, 4000)
        best = model.tau_ * np.linalg.norm(M, "nuc") + 0.5 * np.square(M).sum()
        missed = np.linalg.norm(seen * (M - X)) / np.linalg.norm(X)
        assert model.certificate_.lower_bound <= best * (1 + 1e-5 + 10 * missed)
        assert model.objective_ <= best * (1 + 1e-4 + model.certificate_.gap + 10 * missed)
        assert model.residual_ <= 1e-4 or model.certificate_.gap > 1e-4
