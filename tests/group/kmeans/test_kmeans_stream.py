"""k-means that learns block by block, before and after a fit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from unweave import GaussianMixture, KMeans
from unweave.group.kmeans.labels import any_alike

CORNERS = ((0, 0), (5, 0), (0, 5))


def groups(seed: int = 0, n: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(c, 0.7, size=(n, 2)) for c in CORNERS])


def test_a_fit_forgets_what_was_streamed_before():
    X = groups()
    model = KMeans(3).partial_fit(X).fit(X + 1000)
    fitted = model.cluster_centers_.copy()
    model.partial_fit(X[:5] + 1000)
    np.testing.assert_allclose(model.cluster_centers_, fitted, atol=0.1)
    model.set_params(n_clusters=5).fit(X).partial_fit(X)
    assert model.cluster_centers_.shape == (5, 2)


def test_a_stream_after_a_weighted_fit_keeps_the_weights():
    X = np.array([[0.0], [0.0], [10.0], [10.0]])
    model = (
        KMeans(2, init=[[0.0], [10.0]]).fit(X, sample_weight=[1, 1, 99, 99]).partial_fit([[12.0]], sample_weight=[2])
    )
    assert model.cluster_centers_.ravel().tolist() == [0.0, (198 * 10 + 2 * 12) / 200]


def test_everything_speaks_of_the_block_after_the_step():
    X = groups()
    model = KMeans(3).fit(X)
    block = groups(1, 20)[::-1] + 0.5
    model.partial_fit(block)
    assert np.array_equal(model.labels_, model.predict(block)) and model.codes_.shape == (60, 3)
    assert np.array_equal(model.codes_.argmax(axis=1), model.labels_)
    assert model.inertia_ == pytest.approx(-model.score(block)) and model.objective_ == model.inertia_ / 2
    assert model.reconstruction_err_ == pytest.approx(np.sqrt(model.inertia_))
    assert model.certificate_.kind == "none" and model.certificate_.objective == model.objective_
    mixture = GaussianMixture(3).fit(X).partial_fit(block)
    assert mixture.certificate_.objective == mixture.objective_


def test_one_block_at_a_time():
    X = groups()
    for model in (KMeans(3), KMeans(3).fit(X)):
        with pytest.raises(ValueError, match="one block at a time"):
            model.partial_fit([X, X])


@pytest.mark.parametrize("init", ["k-means++", "farthest", "random", "partition"])
@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize("at", [0.0, 0.1])
def test_more_clusters_than_distinct_rows_label_as_they_predict(init, repair, at):
    two = np.repeat([[at, at], [1.0, 1.1]], 10, axis=0)
    for seed in range(5):
        with pytest.warns(ConvergenceWarning, match="only 2 of n_clusters=3"):
            model = KMeans(3, init=init, random_state=seed, repair=repair).fit(two)
        assert np.array_equal(model.labels_, model.predict(two)) and len(np.unique(model.labels_)) == 2
        assert model.inertia_ == pytest.approx(0, abs=1e-12)


def test_alike_means_up_to_rounding():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    assert not any_alike(Z) and any_alike(np.vstack([Z, Z[7] * (1 + 2e-16)]))
    assert not any_alike(np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0]])) and not any_alike(Z[:1])
