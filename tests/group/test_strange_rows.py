"""Trees, graphs and representatives: rows far away, equal rows, and scales whose squares vanish."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from unweave.group.distances import distinct_rows, gap_to_others
from unweave.group.large.cure import CURE
from unweave.group.spectral import SpectralClustering
from unweave.group.spectral.graph import for_copies
from unweave.group.trees.agglomerative import Agglomerative
from unweave.group.trees.divisive import Divisive
from unweave.select import choose

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def three_groups(dtype=np.float64) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 0.7, (60, 2)) for c in ((0, 0), (5, 0), (0, 5))]).astype(dtype)


# -- strange rows ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "cosine", "correlation", "hamming"])
def test_the_gap_is_that_to_the_nearest_other_row(metric):
    X = np.random.default_rng(1).integers(1, 9, (40, 5)).astype(float)
    X = np.unique(X, axis=0)
    table = cdist(X, X, metric)
    np.fill_diagonal(table, np.inf)
    np.testing.assert_allclose(gap_to_others(X, X, metric), table.min(axis=1), atol=1e-12)
    new = X[:7] * 1.5 + np.arange(5)
    np.testing.assert_allclose(gap_to_others(X, new, metric), cdist(new, X, metric).min(axis=1), atol=1e-12)


@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_strangeness_in_a_tree_is_measured_by_its_metric(linkage):
    X = np.abs(three_groups()) + 0.1
    cosine = Agglomerative(2, linkage=linkage, metric="cosine").fit(X)
    same, aside = cosine.anomaly_score([[1.0, 1.0], [100.0, 100.0]]), cosine.anomaly_score([[1.0, -1.0]])
    assert same[0] == pytest.approx(same[1], abs=1e-12) and aside[0] > 10 * same[0]
    city = Agglomerative(2, linkage=linkage, metric="cityblock").fit(X)
    np.testing.assert_allclose(city.anomaly_score([[50.0, 50.0]]), cdist([[50.0, 50.0]], X, "cityblock").min())


def test_a_metric_without_an_answer_is_refused_in_words():
    model = Agglomerative(2, linkage="average", metric="correlation").fit(np.random.default_rng(0).random((9, 4)))
    with pytest.raises(ValueError, match="metric='correlation' is not defined for some rows"):
        model.anomaly_score(np.ones((1, 4)))


@pytest.mark.parametrize("affinity", ["nearest", "rbf"])
def test_rows_far_from_a_graph_are_strange(affinity):
    turn = np.linspace(0, 6.28, 60)
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    model = SpectralClustering(2, affinity=affinity, n_neighbors=5).fit(np.vstack([ring, 3 * ring]))
    near, far = model.anomaly_score([[1.0, 0.01], [50.0, 50.0]])
    assert near < 0.1 and far == pytest.approx(np.hypot(50, 50) - 3, rel=0.01)


def test_rows_like_no_other_are_strange_by_given_affinities():
    W = np.kron(np.eye(2), np.ones((4, 4))) + 0.01
    scores = SpectralClustering(2, affinity="precomputed").fit(W).anomaly_score(np.vstack([W[:1], W[:1] / 100]))
    assert scores[0] == pytest.approx(-W[0].sum()) and scores[1] > scores[0]


# -- equal rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("affinity", ["nearest", "rbf"])
def test_one_row_many_times_is_one_cluster_of_a_graph(affinity):
    with pytest.warns(ConvergenceWarning, match="only 1 rows differ"):
        model = SpectralClustering(3, affinity=affinity).fit(np.ones((20, 3)))
    assert set(model.labels_) == {0} == set(model.predict(np.ones((2, 3)))) and model.n_clusters_ == 1


@quiet
@given(st.integers(2, 30), st.integers(1, 5), st.sampled_from(["nearest", "rbf"]), st.integers(0, 3))
def test_a_graph_never_separates_equal_rows(n, k, affinity, seed):
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(n, 2)), rng.integers(1, 20, n), axis=0)
    rng.shuffle(X)
    model = SpectralClustering(min(k, len(X)), affinity=affinity, n_neighbors=4).fit(X)
    first, node, copies = distinct_rows(X)
    assert (
        np.array_equal(X[first][node], X) and np.array_equal(np.bincount(node), copies) and (np.diff(first) > 0).all()
    )
    assert np.array_equal(model.labels_[first][node], model.labels_)
    assert np.isfinite(model.embedding_).all() and np.isfinite(model.objective_)


def test_a_node_of_equal_rows_weighs_what_they_weigh_together():
    X = np.repeat(three_groups()[::9], np.arange(20) % 3 + 1, axis=0)
    one = SpectralClustering(3, affinity="rbf").fit(X)
    W = np.exp(-one._gamma * cdist(X, X, "sqeuclidean"))
    all_rows = SpectralClustering(3, affinity="precomputed").fit(W)
    np.testing.assert_allclose(one.eigenvalues_, all_rows.eigenvalues_, atol=1e-10)
    assert one.objective_ == pytest.approx(all_rows.objective_)
    np.testing.assert_allclose(one._place(X), one.embedding_, atol=1e-8)
    assert for_copies(W, np.ones(len(W))) is W


def test_representatives_of_equal_rows_say_so():
    with pytest.warns(ConvergenceWarning, match="only 1 of n_clusters=3 clusters hold rows"):
        model = CURE(3).fit(np.ones((20, 3)))
    assert len(set(model.labels_)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CURE(3).fit(np.repeat(np.eye(3), 5, axis=0))


# -- graphs that fall apart --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("affinity, says", [("nearest", "raise n_neighbors or n_clusters"), ("rbf", "lower gamma")])
def test_a_graph_that_falls_apart_names_a_remedy_it_has(affinity, says):
    X = np.repeat([0.0, 1e3, 2e3, 3e3], 20)[:, None] + np.random.default_rng(0).random((80, 1))
    with pytest.warns(ConvergenceWarning, match=f"falls into 4 parts.*{says}"):
        SpectralClustering(2, affinity=affinity, gamma=1.0, n_neighbors=20).fit(X)


def test_one_cluster_and_searches_are_silent_about_parts():
    X = np.repeat([0.0, 1e3, 2e3, 3e3], 20)[:, None] + np.random.default_rng(0).random((80, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SpectralClustering(1).fit(X)
        assert choose(SpectralClustering(), X, range(1, 6), by="silhouette").best == 4


# -- heights instead of numbers ----------------------------------------------------------------------------------------


def test_a_height_leaves_nothing_to_choose(monkeypatch):
    def search(*_):
        raise AssertionError("the height decides")

    X = three_groups()
    model = Agglomerative("auto").fit(X)
    assert model.choice_.best == model.n_clusters_
    monkeypatch.setattr(Agglomerative, "_choose_number", search)
    model.set_params(height=1.0).fit(X)
    assert model.n_clusters_ == Agglomerative(2, height=1.0).fit(X).n_clusters_ > 20
    assert not hasattr(model, "choice_") and "silhouette" not in str(model.plan_)


# -- scales ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype, scale", [(np.float32, 1e-25), (np.float64, 1e-165)])
@pytest.mark.parametrize("model", [Agglomerative(3), Agglomerative(3, linkage="single"), Divisive(3), CURE(3)])
def test_differences_whose_squares_vanish_are_refused(model, dtype, scale):
    X = three_groups()
    with pytest.raises(ValueError, match=r"too small .* rescale X"):
        model.fit((X * scale).astype(dtype))
    assert np.array_equal(model.fit(X * 1e-120).labels_, model.fit(X).labels_)


def test_graphs_and_other_metrics_work_in_float64_whatever_comes_in():
    tiny = (three_groups() * 1e-25).astype(np.float32)
    for model in (SpectralClustering(3), Agglomerative(3, linkage="average", metric="cityblock")):
        assert np.bincount(model.fit(tiny).labels_).min() > 55
        with pytest.raises(ValueError, match=r"too small .* float64"):
            model.fit(three_groups() * 1e-165)


@quiet
def test_a_group_finer_than_squares_is_split_all_the_same():
    X = np.array([[0.0], [1e-30], [2e-30], [5.0]], np.float32)
    model = Divisive(4).fit(X)
    assert np.isfinite(model.cluster_centers_).all() and sorted(np.bincount(model.labels_)) == [1, 1, 1, 1]


def test_a_saved_graph_places_rows_as_before(tmp_path):
    import unweave

    X = np.repeat(three_groups()[::9], 3, axis=0)
    model = SpectralClustering(3).fit(X)
    model.save(tmp_path / "graph")
    again = unweave.load(tmp_path / "graph")
    new = X[:5] + 0.1
    assert np.array_equal(again.predict(new), model.predict(new))
    assert np.array_equal(again.anomaly_score(new), model.anomaly_score(new))
