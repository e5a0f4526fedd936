"""Sampling: draws follow their posterior, means predict well, and the spread is honest."""

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.complete.ratings.test_matrix_completion import error, planted
from tests.reference import gibbs as slow
from unweave.complete.ratings.gibbs import draw_hyper, draw_rows
from unweave.losses import Squared
from unweave.objectives import Observed


def test_rows_are_drawn_as_written_out(rng):
    X, known = rng.normal(size=(40, 15)), rng.random((40, 15)) < 0.4
    known[7] = False
    H, A = rng.normal(size=(15, 4)), rng.normal(size=(4, 4))
    hyper = {"precision": A @ A.T + np.eye(4), "mean": rng.normal(size=4)}
    rows, columns = np.nonzero(known)
    table = Observed(sp.csr_array((X[known], (rows, columns)), shape=X.shape), Squared()).by_row
    for normal in (np.zeros((40, 4)), rng.normal(size=(40, 4))):
        expected = slow.draw_rows(X, known, H, hyper["precision"], hyper["precision"] @ hyper["mean"], 2.5, normal)
        np.testing.assert_allclose(draw_rows(table, table.data, H, hyper, 2.5, normal), expected, atol=1e-10)


def test_hyperparameters_gather_round_the_truth(rng):
    root = np.array([[1.0, 0.0], [0.8, 0.5]])
    F = rng.normal(size=(4000, 2)) @ root.T + [3.0, -1.0]
    draws = [draw_hyper(F, rng) for _ in range(200)]
    np.testing.assert_allclose(np.mean([d["mean"] for d in draws], axis=0), [3, -1], atol=0.05)
    np.testing.assert_allclose(np.mean([np.linalg.inv(d["precision"]) for d in draws], axis=0), root @ root.T, atol=0.1)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(3)
    X, truth, known = planted(rng)
    return X, truth, known, unweave.MatrixCompletion(6, solver="gibbs", max_iter=120).fit(X)


def test_the_mean_of_draws_predicts_better_than_the_best_ridge(fitted):
    X, truth, known, model = fitted
    assert error(model, truth, known) < error(unweave.MatrixCompletion(6, max_iter=100).fit(X), truth, known)
    assert model.history_.stopped == "all sweeps were made" and len(model.draws_["alphas"]) == 96


def test_the_spread_is_honest(fitted):
    X, truth, known, model = fitted
    users, items = np.nonzero(~known)
    pick = np.random.default_rng(0).choice(len(users), 4000, replace=False)
    users, items = users[pick], items[pick]
    off = truth[users, items] - model.predict(users, items)
    std = model.predict_std(users, items)
    spread = np.sqrt(std**2 - model.noise_**2)
    assert 0.4 < model.noise_ < 0.6, "ratings were made with a noise of one half"
    assert 0.85 < np.mean(np.abs(off) < 1.96 * spread) < 0.99
    with pytest.raises(ValueError, match="solver='gibbs'"):
        unweave.MatrixCompletion(2, ridge=1.0, tol=1e-2).fit(X).predict_std(0, 0)


def test_codes_of_new_rows_are_those_of_the_fit(fitted):
    X, _, _, model = fitted
    np.testing.assert_allclose(model.transform(X[3:6]), model.codes_[3:6], atol=1e-10)
    one = model.fold_in(list(zip(X[[4]].indices.tolist(), X[[4]].data.tolist(), strict=True)))
    np.testing.assert_allclose(one.code, model.codes_[4], atol=1e-10)
    np.testing.assert_allclose(model.predict(4, 7), model.codes_[4] @ model.components_[:, 7])
    ids, scores = model.recommend(4, n=5)
    assert not set(ids.tolist()) & set(X[[4]].indices.tolist()) and np.all(np.diff(scores) <= 0)


def test_same_draws_on_one_and_two_threads(two_threads):
    X, _, _ = planted(np.random.default_rng(1), n=150, m=60)
    one, two = two_threads(lambda: unweave.MatrixCompletion(3, solver="gibbs", max_iter=10).fit(X).components_)
    assert np.array_equal(one, two)


def test_a_stopped_sampler_is_usable_and_a_killed_one_goes_on(tmp_path):
    X, _, _ = planted(np.random.default_rng(1), n=150, m=60)
    early = unweave.MatrixCompletion(3, solver="gibbs", max_iter=40, callback=lambda p: p.iteration == 3).fit(X)
    assert np.isfinite(early.predict(0, 0))

    class Stop(Exception):
        pass

    def fail(progress):
        if progress.iteration == 5:
            raise Stop

    path = tmp_path / "run.ckpt"
    with pytest.raises(Stop):
        unweave.MatrixCompletion(3, solver="gibbs", max_iter=12, checkpoint=path, callback=fail).fit(X)
    resumed = unweave.MatrixCompletion(3, solver="gibbs", max_iter=12, checkpoint=path).fit(X)
    plain = unweave.MatrixCompletion(3, solver="gibbs", max_iter=12).fit(X)
    np.testing.assert_array_equal(resumed.components_, plain.components_)


def test_saved_draws_predict_the_same(fitted, tmp_path):
    _, _, _, model = fitted
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    assert again.predict_std(3, 4) == model.predict_std(3, 4) and again.predict(3, 4) == model.predict(3, 4)
    with pytest.raises(ValueError, match="fit again"):
        model.partial_fit(fitted[0])
