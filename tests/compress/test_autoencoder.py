"""A linear autoencoder spans PCA's subspace by every optimiser, and with ordering finds its axes."""

from __future__ import annotations

import numpy as np
import pytest

import unweave


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(5)
    turn = np.linalg.qr(rng.normal(size=(7, 7)))[0]
    return rng.normal(size=(400, 7)) * [6, 5, 4, 1, 0.8, 0.6, 0.5] @ turn + 3


@pytest.mark.parametrize("tied", [True, False])
def test_it_spans_the_subspace_of_pca(X, tied):
    model, pca = unweave.LinearAutoencoder(3, tied=tied).fit(X), unweave.PCA(3).fit(X)
    assert model.subspace_angle(pca).max() < 1e-4
    assert model.objective_ == pytest.approx(pca.objective_, rel=1e-6)
    assert model.certificate_.kind == "eckart-young" and model.certificate_.gap < 1e-5
    np.testing.assert_allclose(
        model.inverse_transform(model.transform(X)), pca.inverse_transform(pca.transform(X)), atol=1e-3
    )


@pytest.mark.parametrize(
    ("solver", "step"), [("sgd", 1.0), ("momentum", 0.2), ("nesterov", 0.2), ("adagrad", 0.2), ("adam", 0.02)]
)
def test_every_stochastic_optimiser_gets_there(X, solver, step):
    model = unweave.LinearAutoencoder(3, solver=solver, step=step, batch_size=50, max_iter=60).fit(X)
    assert model.subspace_angle(unweave.PCA(3).fit(X)).max() < 0.03
    assert model.n_iter_ == 60 and model.objective_ < 1.001 * unweave.PCA(3).fit(X).objective_


@pytest.mark.parametrize("tied", [True, False])
def test_ordering_finds_the_axes_in_their_order(X, tied):
    model = unweave.LinearAutoencoder(3, tied=tied, ordering=0.1, tol=1e-9).fit(X)
    axes = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    np.testing.assert_allclose(axes, unweave.PCA(3).fit(X).components_, atol=1e-3)
    plain = unweave.LinearAutoencoder(3, tied=tied).fit(X).components_
    plain = plain / np.linalg.norm(plain, axis=1, keepdims=True)
    assert np.abs(plain - axes).max() > 0.1  # without it, some other basis


def test_bad_arguments_are_named(X):
    for given, words in (
        ({"solver": "newton"}, "solver='newton' is not known"),
        ({"schedule": "hasty", "solver": "sgd"}, "schedule='hasty'"),
        ({"step": 0.1}, "not for solver='l-bfgs'"),
        ({"n_components": 8}, "n_components=8 must be at most"),
    ):
        with pytest.raises(ValueError, match=words):
            unweave.LinearAutoencoder(**given).fit(X)
    with pytest.raises(ValueError, match="needs X as one table in memory"):
        unweave.LinearAutoencoder(solver="adam").fit([X[:200], X[200:]])
    with pytest.raises(ValueError, match="same 7 columns"):
        unweave.LinearAutoencoder().fit(X).subspace_angle(np.ones((2, 3)))
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="step"):
        unweave.LinearAutoencoder(solver="sgd", step=1e3).fit(X)


@pytest.mark.parametrize("how", [{}, {"tied": False}, {"ordering": 0.02}])
def test_weights_count_rows_more_than_once(rng, how):
    X, weights = rng.normal(size=(60, 5)) * [5, 4, 3, 1, 1] + 2, rng.integers(0, 4, 60).astype(float)
    more = unweave.LinearAutoencoder(2, random_state=0, **how).fit(np.repeat(X, weights.astype(int), axis=0))
    model = unweave.LinearAutoencoder(2, random_state=0, **how).fit(X, sample_weight=weights)
    assert model.subspace_angle(more).max() < 1e-4
    np.testing.assert_allclose(model.mean_, more.mean_)
    np.testing.assert_allclose(model.objective_, more.objective_, rtol=1e-6)
    np.testing.assert_allclose(model.certificate_.lower_bound, more.certificate_.lower_bound, rtol=1e-9)
    blocks = unweave.LinearAutoencoder(2, random_state=0, **how).fit([X[:20], X[20:]], sample_weight=weights)
    np.testing.assert_allclose(blocks.objective_, model.objective_, rtol=1e-6)
    assert model.certify(X, sample_weight=weights).gap == pytest.approx(model.certificate_.gap, abs=1e-9)
    with pytest.raises(ValueError, match="certify"):
        model.certify(X)


def test_weights_in_mini_batches(rng):
    X, weights = rng.normal(size=(400, 5)) * [5, 4, 3, 1, 1], rng.integers(0, 4, 400).astype(float)
    exact = unweave.LinearAutoencoder(2, random_state=0).fit(X, sample_weight=weights)
    model = unweave.LinearAutoencoder(2, solver="adam", batch_size=40, max_iter=100, random_state=0)
    model.fit(X, sample_weight=weights)
    assert model.objective_ <= 1.01 * exact.objective_
    assert model.subspace_angle(exact).max() < 0.1
