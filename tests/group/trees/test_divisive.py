"""Trees from the top down."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import is_valid_linkage

from tests import tables
from unweave.group.trees.divisive import Divisive

blobs = partial(tables.blobs, d=3, k=6, apart=20.0)


def test_finds_groups_that_lie_apart(dtype):
    X, label = blobs(dtype=dtype)
    model = Divisive(6).fit(X)
    assert len(set(zip(model.labels_, label))) == 6
    assert model.cluster_centers_.dtype == dtype


def test_cost_falls_with_every_split_and_is_that_of_the_labels():
    X, _ = blobs()
    model = Divisive(6).fit(X)
    assert (np.diff(model.history_.objective) <= 0).all()
    means = np.array([X[model.labels_ == c].mean(axis=0) for c in range(6)])
    np.testing.assert_allclose(model.cluster_centers_, means)
    assert model.objective_ == pytest.approx(0.5 * ((X - means[model.labels_]) ** 2).sum())


def test_tree_is_valid_and_its_cuts_are_the_smaller_models():
    X, _ = blobs()
    model = Divisive(6).fit(X)
    assert is_valid_linkage(model.linkage_) and (np.diff(model.linkage_[:, 2]) >= 0).all()
    for k in (1, 2, 4, 6):
        fewer = Divisive(k).fit(X)
        assert len(set(zip(model.cut(n_clusters=k), fewer.labels_))) == k


def test_new_rows_walk_down_the_tree():
    X, _ = blobs()
    model = Divisive(6).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    near, far = model.anomaly_score(np.array([X[0], 1000 + X[0]]))
    assert near < far


def test_threads_seeds_and_checkpoints_repeat(two_threads, tmp_path):
    X, _ = blobs()
    one, two = two_threads(lambda: Divisive(6, random_state=1).fit(X))
    assert np.array_equal(one.labels_, two.labels_) and one.objective_ == two.objective_
    path = tmp_path / "split"
    part = Divisive(6, random_state=1, checkpoint=path, callback=lambda p: p.iteration == 1).fit(X)
    assert part.n_clusters_ == 2 and path.exists()
    rest = Divisive(6, random_state=1, checkpoint=path).fit(X)
    assert np.array_equal(rest.labels_, one.labels_) and not path.exists()


@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 6))
def test_any_table_gives_clusters_that_are_not_empty(n, d, k):
    X = np.random.default_rng(n).integers(0, 3, (n, d)).astype(float)
    k = min(k, n)
    distinct = len(np.unique(X, axis=0))
    if distinct < k:
        with pytest.warns(UserWarning, match="rows differ"):
            model = Divisive(k).fit(X)
    else:
        model = Divisive(k).fit(X)
    assert set(model.labels_) == set(range(min(k, distinct)))
    assert np.isfinite(model.cluster_centers_).all()


@pytest.mark.parametrize(
    "options, X, says",
    [
        ({"n_clusters": 5}, np.eye(3), "n_samples=3"),
        ({"n_clusters": 0}, np.eye(3), "n_clusters must be at least 1"),
        ({"n_clusters": 2, "n_init": 0}, np.eye(3), "n_init"),
        ({"n_clusters": 1}, [[np.nan]], "TableImputer"),
    ],
)
def test_bad_input_is_refused_in_words(options, X, says):
    with pytest.raises(ValueError, match=says):
        Divisive(**options).fit(X)


def test_dendrogram_has_a_leaf_for_each_cluster():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    figure = Divisive(6).fit(blobs()[0]).plot()
    assert len(figure.axes[0].get_xticklabels()) == 6
    pyplot.close(figure)
