"""Each optimiser against its formula written out, and on problems whose minimum is known."""

from __future__ import annotations

import numpy as np
import pytest

import unweave
from unweave.solve.optimise import SGD, AdaGrad, Adam, Momentum, Nesterov, constant, cosine, exponential, inverse


def slow_steps(kind: str, x: float, gradients: list[float], step: float, decay: float) -> float:
    """The methods as they are written in their papers, for one number."""
    v = squares = 0.0
    for t, g in enumerate(gradients, 1):
        if kind == "sgd":
            way = g
        elif kind == "momentum":
            v = 0.9 * v + g
            way = v
        elif kind == "nesterov":
            v = 0.9 * v + g
            way = g + 0.9 * v
        elif kind == "adagrad":
            squares += g * g
            way = g / (squares**0.5 + 1e-10)
        else:
            v, squares = 0.9 * v + 0.1 * g, 0.999 * squares + 0.001 * g * g
            way = (v / (1 - 0.9**t)) / ((squares / (1 - 0.999**t)) ** 0.5 + 1e-8)
        x = x - step * way - step * decay * x
    return x


@pytest.mark.parametrize("kind", [SGD, Momentum, Nesterov, AdaGrad, Adam])
@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_a_rule_is_its_formula(kind, decay):
    rule, gradients = kind(step=0.07, decay=decay), [1.0, -2.0, 0.5, 3.0]
    x, memory = np.array([1.5]), rule.begin(np.array([1.5]))
    for g in gradients:
        x, memory = rule.move(x, np.array([g]), memory, 1.0)
    assert x[0] == pytest.approx(slow_steps(kind.__name__.lower(), 1.5, gradients, 0.07, decay), rel=1e-12)


def test_schedules_shorten():
    for schedule, last in ((constant, 1.0), (inverse, 1 / 11), (exponential, 0.001), (cosine, 0.0)):
        shares = [schedule(epoch, 10) for epoch in range(11)]
        assert shares[0] == 1.0 and shares[-1] == pytest.approx(last) and shares == sorted(shares, reverse=True)


def rosenbrock(x):
    value = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    return value, np.array([-2 * (1 - x[0]) - 400 * x[0] * (x[1] - x[0] ** 2), 200 * (x[1] - x[0] ** 2)])


def test_l_bfgs_goes_through_a_bent_valley_and_never_rises():
    found = unweave.minimise(rosenbrock, [-1.2, 1.0], tol=1e-9)
    np.testing.assert_allclose(found.x, [1, 1], atol=1e-8)
    assert len(found.history) < 60 and np.all(np.diff(found.history.objective) <= 0)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(300, 4))
    y = (A @ [1.0, -2, 0.5, 0] + 0.5 * rng.normal(size=300) > 0).astype(float)

    def logistic(w, chosen=None):
        B, z = (A, y) if chosen is None else (A[chosen], y[chosen])
        p = 1 / (1 + np.exp(-B @ w))
        return float(np.mean(np.logaddexp(0, B @ w) - z * (B @ w)) + 0.005 * w @ w), B.T @ (p - z) / len(z) + 0.01 * w

    return logistic


@pytest.mark.parametrize(
    ("solver", "step"), [("sgd", 2.0), ("momentum", 0.3), ("nesterov", 0.3), ("adagrad", 0.5), ("adam", 0.1)]
)
def test_mini_batches_end_near_the_minimum_of_all_rows(rows, solver, step):
    best = unweave.minimise(rows, np.zeros(4), n_rows=300, tol=1e-10)
    given = {"solver": solver, "step": step, "schedule": "cosine", "n_rows": 300, "max_iter": 150}
    found = unweave.minimise(rows, np.zeros(4), **given)
    assert found.value == pytest.approx(best.value, abs=1e-4)
    again = unweave.minimise(rows, np.zeros(4), **given)
    assert np.array_equal(found.x, again.x)


def test_weight_decay_is_a_ridge_for_plain_steps(rows):
    def unpenalised(w, chosen=None):
        value, gradient = rows(w, chosen)
        return value - 0.005 * w @ w, gradient - 0.01 * w

    more = {"solver": "sgd", "step": 1.0, "n_rows": 300, "batch_size": 300, "max_iter": 400}
    np.testing.assert_allclose(
        unweave.minimise(unpenalised, np.zeros(4), decay=0.01, **more).x,
        unweave.minimise(rows, np.zeros(4), **more).x,
        rtol=1e-10,
    )


def test_bad_arguments_are_named(rows):
    with pytest.raises(ValueError, match="solver='newton'"):
        unweave.minimise(rosenbrock, [0, 0], solver="newton")
    with pytest.raises(ValueError, match="gradient of 3 numbers"):
        unweave.minimise(rosenbrock, [0.0, 0, 0])
    with pytest.raises(ValueError, match="x0 must be finite"):
        unweave.minimise(rosenbrock, [0, np.nan])
