"""Choosing between models: rings, Gaussians, outliers, scikit-learn's models, interruption, bad input."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import AgglomerativeClustering
from sklearn.cluster import KMeans as Peer
from sklearn.metrics import adjusted_rand_score

from unweave import Agglomerative, GaussianMixture, KMeans, SpectralClustering
from unweave.select import GaussianGap, Separation, best_model


def room():
    return {
        "k-means": KMeans(),
        "mixture": GaussianMixture(),
        "single": Agglomerative(linkage="single"),
        "ward": Agglomerative(),
        "spectral": SpectralClustering(),
    }


def rings(rng):
    turn = rng.uniform(0, 2 * np.pi, 400)
    radius = np.repeat([1.0, 3.0], 200) + 0.1 * rng.standard_normal(400)
    return radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), np.repeat([0, 1], 200)


def cigars(rng):
    X = np.concatenate([rng.standard_normal((200, 2)) * (2, 0.4) + (0, y) for y in (0, 3, 6)])
    return X, np.repeat([0, 1, 2], 200)


def overlapping(rng):
    centres = ((0, 0), (3.2, 0), (0, 3.2), (3.2, 3.2))
    return np.concatenate([rng.normal(c, 0.8, (100, 2)) for c in centres]), np.repeat(np.arange(4), 100)


@pytest.mark.parametrize(
    ("make", "by", "least"), [(rings, "separation", 0.99), (cigars, "gaussian", 0.95), (overlapping, "gaussian", 0.75)]
)
def test_the_shape_of_the_clusters_decides(make, by, least, rng):
    X, truth = make(rng)
    choice = best_model(room(), X, len(np.unique(truth)))
    assert choice.by == by
    labels = getattr(choice.best_estimator, "labels_", None)
    labels = choice.best_estimator.predict(X) if labels is None else labels
    assert adjusted_rand_score(truth, labels) > least
    assert set(choice.measured[choice.best]) == {"gaussian", "separation"}
    assert choice.scores[choice.best] == max(choice.scores.values())


def test_the_silhouette_would_take_balls_for_rings(rng):
    X, _ = rings(rng)
    assert best_model(room(), X, 2, by="silhouette").best != best_model(room(), X, 2).best


def test_outliers_as_clusters_are_worth_nothing(rng):
    X = np.concatenate([rng.normal(c, 0.5, (60, 2)) for c in ((0, 0), (3, 0))] + [[[40.0, 40.0]]])
    choice = best_model(room(), X, 2, by="separation")
    assert choice.scores["single"] < 0.1 and choice.scores[choice.best] > 0.5 and choice.best != "single"


def separation_by_hand(X, labels, k, near):
    """Every pair, slowly."""
    count = np.zeros((k, k))
    for i, row in enumerate(X):
        gaps = np.linalg.norm(X - row, axis=1)
        gaps[i] = np.inf
        for j in np.argsort(gaps)[:near]:
            count[labels[i], labels[j]] += 1
            count[labels[j], labels[i]] += 1
    stays = [count[c, c] / count[c].sum() if count[c].sum() else 0 for c in range(k)]
    return (sum(stays) - 1) / (k - 1)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 8))
def test_separation_is_its_formula(seed, k, near):
    rng = np.random.default_rng(seed)
    X, labels = rng.standard_normal((30, 3)), rng.integers(0, k, 30)
    score = Separation(near).score(X, labels, k)
    assert score == pytest.approx(separation_by_hand(X, labels, k, near))
    assert -1 / (k - 1) - 1e-12 <= score <= 1
    assert Separation(near).score(sp.csr_array(X), labels, k) == pytest.approx(score)


def test_random_labels_have_no_separation(rng):
    X = rng.standard_normal((3000, 2))
    assert abs(Separation().score(X, rng.integers(0, 4, 3000))) < 0.02
    assert Separation().score(X, np.zeros(3000, int)) == 0.0


def test_a_cluster_that_was_not_found_costs(rng):
    X = np.concatenate([rng.normal(c, 0.3, (50, 2)) for c in (0, 9)])
    labels = np.repeat([0, 1], 50)
    assert Separation().score(X, labels) == 1.0
    assert Separation().score(X, labels, 3) == pytest.approx(0.5)


def test_the_gap_is_the_divergence_from_gaussians(rng):
    """A uniform square is log(πe/6) nats a row from the Gaussian of its variance; a Gaussian is none from itself."""
    labels = np.zeros(20_000, int)
    assert GaussianGap().score(rng.standard_normal((20_000, 2)), labels) == pytest.approx(0, abs=0.03)
    square = GaussianGap().score(rng.uniform(size=(20_000, 2)), labels)
    assert square == pytest.approx(-np.log(np.pi * np.e / 6), abs=0.03)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_units_do_not_matter(rng, scale):
    X, truth = cigars(rng)
    for measure in (Separation(), GaussianGap()):
        assert measure.score(X * scale, truth) == pytest.approx(measure.score(X, truth), rel=1e-6)


def test_duplicates_constants_and_sparse_tables_go_by_separation(rng):
    X = np.repeat([[0.0, 0.0], [5.0, 5.0]], 20, axis=0)
    for table in (X, np.column_stack([rng.standard_normal(40), np.ones(40)]), sp.csr_array(X)):
        assert GaussianGap().score(table, np.repeat([0, 1], 20)) == -np.inf
    choice = best_model([KMeans(), Agglomerative(linkage="single")], X, 2)
    assert choice.by == "separation" and choice.scores[choice.best] == 1.0
    assert best_model([KMeans()], sp.csr_array(X), 2).scores == {"KMeans()": 1.0}


def test_other_criteria_and_models_of_scikit_learn(rng):
    X, _ = rings(rng)
    models = [Peer(n_init=3, random_state=0), AgglomerativeClustering(linkage="single")]
    choice = best_model(models, X, 2)
    assert choice.best == "AgglomerativeClustering(linkage='single')" and choice.best_estimator.n_clusters == 2
    assert set(best_model(models, X, 2, by="stability", random_state=0).scores) == {str(model) for model in models}
    fewest = best_model([KMeans(2), GaussianMixture(2)], X, by="bic")
    assert not fewest.larger_is_better and fewest.scores[fewest.best] == min(fewest.scores.values())


def test_names_words_and_own_numbers(rng):
    X, _ = rings(rng)
    choice = best_model([KMeans(2), KMeans(2), KMeans(3)], X)
    assert list(choice.scores) == ["KMeans(n_clusters=2)", "KMeans(n_clusters=2) #2", "KMeans(n_clusters=3)"]
    assert choice.table()["best"].count(True) == 1 and choice.best in choice.reason and "← best" in str(choice)


def test_the_models_are_left_alone_and_threads_do_not_matter(rng, two_threads):
    X, _ = cigars(rng)
    model = KMeans(5)
    one, two = two_threads(lambda: best_model([model, GaussianMixture()], X, 3))
    assert one.measured == two.measured and one.best == two.best
    assert model.n_clusters == 5 and not hasattr(model, "labels_")


def test_the_callback_and_ctrl_c_keep_what_was_scored(rng):
    X, _ = rings(rng)
    choice = best_model(room(), X, 2, callback=lambda progress: progress.iteration == 2)
    assert list(choice.scores) == ["k-means", "mixture"] and choice.best_estimator is None

    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        assert best_model(room(), X, 2, callback=interrupt).best_estimator is None


def test_a_model_that_cannot_is_skipped():
    X = np.arange(8.0).reshape(-1, 1)
    choice = best_model([KMeans(), SpectralClustering(n_neighbors=0)], X, 2)
    assert list(choice.skipped) == ["SpectralClustering(n_neighbors=0)"] and choice.best == "KMeans()"
    assert "not scored" in str(choice)


@pytest.mark.parametrize(
    ("models", "options", "error", "words"),
    [
        ([], {}, ValueError, "at least one"),
        (3, {}, TypeError, "models must be"),
        ([KMeans], {}, TypeError, "estimator"),
        ([KMeans()], {"n_components": 0}, ValueError, "n_components"),
        ([KMeans()], {"n_components": 99}, ValueError, "n_clusters"),
        ([KMeans()], {"by": "elbow"}, ValueError, "not models"),
        ([KMeans()], {"by": "beauty"}, ValueError, "beauty"),
        ([KMeans()], {"by": Separation(0)}, ValueError, "n_neighbors"),
        ([KMeans()], {"callback": 1}, TypeError, "callback"),
    ],
)
def test_bad_input(models, options, error, words):
    with pytest.raises(error, match=words):
        best_model(models, np.arange(12.0).reshape(-1, 1) ** 2, **({"n_components": 2} | options))


def test_missing_entries_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        best_model([KMeans()], [[1.0], [np.nan], [2.0]], 2)
