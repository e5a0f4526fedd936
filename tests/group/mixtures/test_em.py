"""EM as a scheme: the worked number, the bound that never falls, and the kernels beneath it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.reference import gaussian as reference
from unweave.group.mixtures.em import EM
from unweave.kernels.gaussian import covariances_range, products_range
from unweave.linalg.gaussian import Scratch, responsibilities
from unweave.solve.iterate import Loop, iterate


def grades() -> EM:
    """P = (½, μ, 2μ, ½ − 3μ), 20 students with A or B, 10 with C, 10 with D."""

    def expect(state):
        mu = state["mu"]
        bound = 20 * math.log(0.5 + mu) + 10 * math.log(2 * mu) + 10 * math.log(0.5 - 3 * mu)
        return {"b": 20 * mu / (0.5 + mu)}, bound

    def maximise(state):
        return {"mu": (state["b"] + 10) / (6 * (state["b"] + 20))}

    return EM(expect, maximise, lambda em, rng, trial: em.state_with({"mu": 0.0, "b": 0.0}))


def test_the_grades_of_the_catalogue():
    em = grades()
    state, path = em.begin(), []
    state, history = iterate(em, state, Loop(max_iter=40, tol=0.0))
    em, again = grades(), grades().begin()
    for _ in range(4):
        again, _ = em.step(again)
        path.append(again["mu"])
    np.testing.assert_allclose(path, [0.0833, 0.09375, 0.0947, 0.0948], atol=6e-5)
    assert state["b"] == pytest.approx(3.187, abs=1e-3)
    assert (np.diff(history.objective) <= 0).all()


def test_a_step_that_would_lower_the_bound_is_not_taken():
    def first(em, rng, trial):
        return em.state_at({"x": -1.25})

    em = EM(lambda p: ({"s": p["x"]}, -(p["x"] ** 2)), lambda state: {"x": state["s"] + 1.0}, first)
    state = em.begin()
    found = []
    for _ in range(4):
        state, objective = em.step(state)
        found.append(objective)
    assert found == [0.0625] * 4 and state["x"] == -0.25 and state["gain"] == 0.0


def test_a_revival_is_kept_only_if_the_bound_does_not_fall():
    def expect(parameters):
        return {"s": 0.0}, parameters["x"]

    tried = []

    def revive(state, parameters, trial):
        tried.append(trial)
        return {"x": -1.0}

    em = EM(expect, lambda state: {"x": 2.0}, lambda em, rng, trial: em.state_at({"x": 1.0}), revive)
    state = em.begin()
    for _ in range(6):
        state, _ = em.step(state)
    assert state["x"] == 2.0 and tried == [0, 1, 2]


def test_products_of_columns_agree_with_the_twin(rng, dtype):
    X, shift = rng.normal(size=(9, 4)).astype(dtype), rng.normal(size=4)
    F = np.empty((15, 6))
    products_range(X, shift, F, 2, 8)
    np.testing.assert_allclose(F, reference.products(X[2:8], shift), rtol=1e-12)


def test_responsibilities_agree_with_the_twin_and_survive_extremes(rng):
    L, weights = rng.normal(size=(5, 30)), rng.random(30)
    shares, logs = reference.responsibilities(L, weights)
    found = L.copy()
    np.testing.assert_allclose(responsibilities(found, weights), logs, rtol=1e-12)
    np.testing.assert_allclose(found, shares, rtol=1e-12)
    far = np.array([[-1e5, 1e5], [-2e5, 1e5]])
    np.testing.assert_allclose(responsibilities(far), [-1e5, 1e5 + np.log(2)])
    np.testing.assert_allclose(far, [[1, 0.5], [0, 0.5]])


def test_responsibilities_are_zero_or_numbers_of_full_precision(rng):
    """Subnormal numbers made a step of EM two and a half times as slow on some processors."""
    L = rng.uniform(-1000, 0, size=(6, 500))
    L[:, 0] = np.nan, 0, 0, 0, 0, 0
    responsibilities(L)
    assert np.isnan(L[:, 0]).all(), "what is no number is not hidden"
    shares = L[:, 1:]
    assert ((shares == 0) | (shares > 1e-210)).all() and (shares == 0).any()
    np.testing.assert_allclose(shares.sum(axis=0), 1)


def test_covariances_of_holes_agree_with_the_twin(rng):
    A = rng.normal(size=(5, 5))
    precision = A @ A.T + np.eye(5)
    unit = 1 / np.sqrt(np.diag(precision))
    precision *= np.outer(unit, unit)
    seen, weights = rng.random((40, 5)) < 0.6, rng.random(40)
    order = np.lexsort(np.packbits(seen, axis=1).T)
    seen, weights = np.ascontiguousarray(seen[order]), weights[order]
    found = np.zeros((5, 5))
    covariances_range(seen, precision, weights, found, 0, 40)
    np.testing.assert_allclose(found, reference.covariances(seen, precision, weights), rtol=1e-9, atol=1e-12)


def test_scratch_is_contiguous_and_kept():
    scratch = Scratch((3, 10))
    a = scratch.columns(10)
    assert a.flags.c_contiguous and np.shares_memory(a, scratch.columns(4)) and scratch.columns(4).flags.c_contiguous
