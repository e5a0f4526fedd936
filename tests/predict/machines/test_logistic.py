"""Kernel logistic regression: the same as logistic regression where the kernel is linear, and honest about its gap."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel

import unweave
from unweave.predict import Gaussian, KernelLogistic, Linear, Spectrum, Trees
from unweave.predict.machines import logistic


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    return (
        X,
        (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=90) > 0.3).astype(int),
        np.digitize(X[:, 0], [-0.5, 0.5]),
    )


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("ridge", [0.1, 3.0])
def test_a_linear_kernel_is_logistic_regression(cases, many, ridge):
    X, y = cases[0], cases[2 if many else 1]
    ours = KernelLogistic(Linear(), ridge=ridge, tol=1e-12).fit(X, y)
    theirs = LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=5000).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)), atol=1e-10)
    assert (ours.predict(X) == theirs.predict(X)).all() and ours.decision_function(X).shape == (
        (90, 3) if many else (90,)
    )


@pytest.mark.parametrize("many", [False, True])
def test_the_weights_of_rows_are_what_is_left_of_their_targets(cases, many):
    X, y = cases[0], cases[2 if many else 1]
    weights = np.random.default_rng(1).uniform(0.5, 2, 90)
    model = KernelLogistic(Gaussian(), ridge=0.5, tol=1e-13).fit(X, y, sample_weight=weights)
    left = weights[:, None] * (np.eye(len(model.classes_))[y] - model.predict_proba(X))
    found = model.dual_coef_ if many else np.hstack([-model.dual_coef_, model.dual_coef_])
    np.testing.assert_allclose(0.5 * found, left, atol=1e-5)
    np.testing.assert_allclose(left.sum(axis=0), 0, atol=1e-8)  # the intercept is at its best
    assert model.sparsity_ == 1 - len(model.support_) / 90


def test_shares_as_targets_are_rows_of_these_weights(cases):
    X = cases[0]
    shares = np.random.default_rng(2).dirichlet(np.ones(3), 90)
    soft = KernelLogistic(Gaussian(), tol=1e-12).fit(X, shares)
    hard = KernelLogistic(Gaussian(), tol=1e-12).fit(np.tile(X, (3, 1)), np.repeat([0, 1, 2], 90), shares.T.ravel())
    np.testing.assert_allclose(soft.predict_proba(X), hard.predict_proba(X), atol=1e-5)
    assert soft.classes_.tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:stopped after max_iter")
@pytest.mark.parametrize("rows", [90, 1100])  # conjugate gradients without and with a preconditioner
def test_the_gap_holds_wherever_the_fit_ends(rows):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(rows, 3))
    y = (np.abs(X).sum(axis=1) + 0.3 * rng.normal(size=rows) > 2.2).astype(int)
    best = KernelLogistic(Gaussian(), tol=1e-12).fit(X, y)
    assert best.certificate_.gap <= 1e-10
    K, f = Gaussian()(X), best.decision_function(X) - best.intercept_
    value = np.logaddexp(0, f + best.intercept_).sum() - y @ (f + best.intercept_) + 0.5 * best.dual_coef_[:, 0] @ f
    assert best.objective_ == pytest.approx(value, rel=1e-10)
    np.testing.assert_allclose(K @ best.dual_coef_[:, 0], f, atol=1e-9)
    for steps in (1, 2):
        early = KernelLogistic(Gaussian(), max_iter=steps).fit(X, y)
        assert early.certificate_.lower_bound <= best.objective_ + 1e-9 <= early.objective_ + 2e-9
        assert early.certificate_.kind == "duality"


def test_landmarks_of_all_rows_are_the_whole_table_and_few_come_near(cases, monkeypatch):
    X, y, _ = cases
    whole = KernelLogistic(Gaussian(), tol=1e-12).fit(X, y)
    every = KernelLogistic(Gaussian(), landmarks=90, tol=1e-12, random_state=0).fit(X, y)
    np.testing.assert_allclose(every.predict_proba(X), whole.predict_proba(X), atol=1e-4)
    few = KernelLogistic(Gaussian(2.0), landmarks=30, random_state=0).fit(X, y)
    assert len(few.rows_) == len(few.dual_coef_) <= 30
    full = KernelLogistic(Gaussian(2.0)).fit(X, y)
    assert np.abs(few.predict_proba(X) - full.predict_proba(X)).max() < 0.05
    monkeypatch.setattr(logistic, "MOST_ROWS", 80)
    monkeypatch.setattr(logistic, "_LANDMARKS", 20)
    assert len(KernelLogistic(Gaussian(), random_state=0).fit(X, y).rows_) <= 20
    with pytest.raises(ValueError, match="landmarks need the rows"):
        KernelLogistic("precomputed", landmarks=5).fit(Gaussian()(X), y)


def test_a_table_that_is_given_is_the_kernel(cases, tmp_path):
    X, y, _ = cases
    asked = KernelLogistic(Gaussian(), tol=1e-12).fit(X, y)
    given = KernelLogistic("precomputed", tol=1e-12).fit(Gaussian()(X), y)
    np.testing.assert_allclose(given.predict_proba(Gaussian()(X[:9], X)), asked.predict_proba(X[:9]), atol=1e-8)
    named = KernelLogistic("rbf", tol=1e-12).fit(X, y)
    function = KernelLogistic(rbf_kernel, tol=1e-12).fit(X, y)
    assert named.kernel_.rate == pytest.approx(1 / (4 * X.var())) and function.score(X, y) > 0.7
    loaded = unweave.load(asked.save(tmp_path / "m.unweave"))
    np.testing.assert_array_equal(loaded.predict_proba(X), asked.predict_proba(X))


def test_strings_and_trees_are_told(tmp_path):
    texts, y = ["abab", "baba", "ccdd", "dcdc"] * 3, ["a", "a", "c", "c"] * 3
    model = KernelLogistic(Spectrum(2)).fit(texts, y)
    assert model.predict(["abba", "ccd"]).tolist() == ["a", "c"]
    loaded = unweave.load(model.save(tmp_path / "m.unweave"))
    np.testing.assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
    trees = [("S", "a"), ("S", ("T", "b"))] * 4
    assert KernelLogistic(Trees()).fit(trees, [0, 1] * 4).score(trees, [0, 1] * 4) == 1


def indefinite(A, B):
    """No inner product: minus distances."""
    return -np.sqrt(np.maximum(((A[:, None] - B) ** 2).sum(axis=2), 0))


@pytest.mark.parametrize("rows", [60, 1050])
def test_a_kernel_that_is_none_is_told_with_its_eigenvalue(rows):
    X = np.random.default_rng(0).normal(size=(rows, 1))
    smallest = np.linalg.eigvalsh(indefinite(X, X))[0]
    y = (X[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match=re.escape(f"semidefinite: the smallest eigenvalue is {smallest:.3g}")):
        KernelLogistic(indefinite).fit(X, y)
    with pytest.raises(ValueError, match=re.escape(f"add {-smallest:.3g} to its diagonal")):
        KernelLogistic("precomputed").fit(indefinite(X, X), y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelLogistic(indefinite, landmarks=20, random_state=0).fit(X, y)
    repaired = indefinite(X[:60], X[:60]) + 1.001 * -smallest * np.eye(60)
    assert KernelLogistic("precomputed").fit(repaired, y[:60]).score(repaired, y[:60]) >= 0


def test_targets_that_cannot_be_learned(cases):
    X = cases[0]
    for y, told in (
        (np.zeros(90), "1 class only"),
        (np.where(np.arange(90) < 3, np.nan, 1.0), "NaN"),
        (np.full((90, 2), 0.7), "each row adding up to one"),
        (np.full((90, 2), np.nan), "NaN or infinity"),
        (np.arange(89), "89"),
    ):
        with pytest.raises(ValueError, match=told):
            KernelLogistic().fit(X, y)
    with pytest.raises(ValueError, match="ridge must be above 0"):
        KernelLogistic(ridge=0).fit(X, cases[1])
    every = KernelLogistic(Gaussian(), ridge=0.01).fit(X[:12], np.arange(12))  # a class for every row
    assert (every.predict(X[:12]) == np.arange(12)).all()
    with pytest.raises(ValueError, match="nothing of the class 1 in rows that weigh something"):
        KernelLogistic().fit(X, cases[1], sample_weight=(cases[1] == 0).astype(float))
    with pytest.raises(ValueError, match="each row adding up to one"):
        KernelLogistic().fit(X[:3], np.eye(3)[:, :2] * 0.5)


@pytest.mark.filterwarnings("ignore:stopped after max_iter")
def test_the_bits_do_not_depend_on_the_number_of_threads(two_threads):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(1030, 3)), rng.integers(0, 3, 1030)
    one, two = two_threads(lambda: KernelLogistic(Gaussian(), random_state=0, max_iter=3).fit(X, y).dual_coef_)
    np.testing.assert_array_equal(one, two)
