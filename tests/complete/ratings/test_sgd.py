"""Stochastic gradient descent: its kernel, its schedules, and that it comes near to least squares."""

import numpy as np
import pytest

import unweave
from tests.complete.ratings.test_matrix_completion import error, planted
from tests.reference import sgd as slow
from unweave.complete import SGD
from unweave.kernels.sgd import descend_block


def test_the_kernel_is_the_plain_loop(dtype, rng):
    users, items = rng.integers(0, 12, 80).astype(np.int32), rng.integers(0, 9, 80).astype(np.int32)
    values = rng.normal(size=80).astype(dtype)
    fast = [rng.normal(size=(n, 5)).astype(dtype) for n in (12, 9)] + [np.zeros((n, 5), dtype) for n in (12, 9)]
    plain = [a.astype(np.float64) for a in fast]
    ridges = rng.random(12).astype(dtype), rng.random(9).astype(dtype)
    order = rng.permutation(80)
    descend_block(users, items, values, order, *fast, *ridges, dtype(0.3), dtype(0.05), dtype(0.4), 4, 3)
    slow.descend_block(users, items, values, order, *plain, *ridges, 0.3, 0.05, 0.4, 4, 3)
    for a, b in zip(fast, plain, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4 if dtype == np.float32 else 1e-12)


def test_it_comes_near_to_least_squares(rng):
    X, truth, known = planted(rng)
    squares = unweave.MatrixCompletion(3, max_iter=100).fit(X)
    descent = unweave.MatrixCompletion(3, ridge=squares.ridge_, solver="sgd").fit(X)
    assert error(descent, truth, known) < 1.15 * error(squares, truth, known)
    assert "gradient" in descent.plan_.solver and descent.history_.stopped == "nothing changes any more"


@pytest.mark.parametrize("how", [SGD(momentum=0.5, learning_rate=0.01), SGD(schedule="exponential", decay=0.02),
                                 SGD(schedule="constant", early_stopping=0)])  # fmt: skip
def test_momentum_and_schedules(how, rng):
    X, truth, known = planted(rng)
    model = unweave.MatrixCompletion(3, ridge=0.75, solver=how, max_iter=60).fit(X)
    assert model.history_.objective[-1] < 0.6 * model.history_.objective[0]
    assert error(model, truth, known) < truth.std()
    assert (model.n_iter_ == 60) or how.early_stopping


@pytest.mark.parametrize("ridge", [1e3, 1e8])
def test_a_strong_ridge_does_not_make_it_run_away(ridge, rng):
    X, _, _ = planted(rng, n=60, m=40)
    model = unweave.MatrixCompletion(2, ridge=ridge, solver="sgd", max_iter=5).fit(X)
    assert np.abs(model.complete(X) - X.data.mean()).max() < 0.1 * X.data.std()


def test_same_answer_on_one_and_two_threads(rng, two_threads):
    X, _, _ = planted(rng, n=100, m=50)
    one, two = two_threads(lambda: unweave.MatrixCompletion(2, ridge=1.0, solver="sgd", max_iter=5).fit(X).components_)
    assert np.array_equal(one, two)


@pytest.mark.parametrize(("bad", "says"), [({"momentum": 1.0}, "momentum"), ({"schedule": "cosine"}, "cosine"),
                                           ({"learning_rate": -1}, "learning_rate"),
                                           ({"early_stopping": 0.5}, "early_stopping")])  # fmt: skip
def test_settings_that_make_no_sense(bad, says, rng):
    with pytest.raises((ValueError, TypeError), match=says):
        unweave.MatrixCompletion(2, ridge=1.0, solver=SGD(**bad)).fit(planted(rng, n=30, m=20)[0])
