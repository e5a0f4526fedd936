"""The number of groups left to the data."""

import numpy as np
import pytest

import unweave

CORNERS = ((0, 0), (4, 0), (0, 4), (4, 4))


def clusters(rng):
    return np.concatenate([rng.normal(corner, 0.3, size=(60, 2)) for corner in CORNERS])


MODELS = [
    unweave.KMeans("auto"),
    unweave.GaussianMixture("auto"),
    unweave.Agglomerative("auto"),
    unweave.Divisive("auto"),
    unweave.SpectralClustering("auto"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_auto_finds_four_clusters_and_says_why(model, rng, tmp_path):
    X = clusters(rng)
    model.fit(X)
    assert model.choice_.best == 4 and len(np.unique(model.labels_)) == 4
    assert any("=4 by" in reason for reason in model.plan_.reasons)
    loaded = unweave.load(model.save(tmp_path / "m.unweave"))
    assert loaded.choice_.scores == model.choice_.scores
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_the_number_chosen_for_one_table_is_not_kept_for_the_next(rng):
    model = unweave.KMeans("auto").fit(clusters(rng))
    model.fit(np.concatenate([rng.normal(c, 0.1, size=(40, 2)) for c in ((0, 0), (5, 5))]))
    assert model.choice_.best == 2 and len(model.cluster_centers_) == 2


@pytest.mark.parametrize("model", [unweave.KMeans("some"), unweave.GaussianMixture("some")])
def test_another_word_is_refused(model, rng):
    with pytest.raises(ValueError, match="must be a whole number or 'auto', got 'some'"):
        model.fit(clusters(rng))


def test_a_stream_needs_a_number(rng):
    with pytest.raises(ValueError, match="give partial_fit a number"):
        unweave.KMeans("auto").partial_fit(clusters(rng))


def test_a_coreset_gives_nearly_the_same_objective(rng):
    X = rng.normal(size=(20_000, 4)) + 3 * rng.integers(0, 2, size=(20_000, 4))
    whole, few = unweave.KMeans(8).fit(X), unweave.KMeans(8, coreset=2000).fit(X)
    assert whole.inertia_ <= few.inertia_ < 1.05 * whole.inertia_
    assert few.labels_.shape == (20_000,) and np.isclose(-few.score(X), few.inertia_)
    with pytest.raises(ValueError, match="coreset=4 must be at least n_clusters=8"):
        unweave.KMeans(8, coreset=4).fit(X)
