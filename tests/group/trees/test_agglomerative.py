"""Trees from the bottom up, against scipy and the slow reference."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, is_valid_linkage
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist

from tests.reference import linkage as slow
from unweave.group.kmeans.passes import padded
from unweave.group.trees.agglomerative import LINKAGES, Agglomerative
from unweave.group.trees.euclidean import TILE, Single, Ward, neighbours_together, pack
from unweave.group.trees.table import MOST_ROWS, Table
from unweave.group.trees.tree import linkage_of
from unweave.kernels.linkage import leaf_labels, name_joins, nearest_means

every_linkage = pytest.mark.parametrize("linkage", LINKAGES)


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 4 * rng.integers(0, 3, (n, 1))


def all_steps(scheme, state=None) -> dict:
    state = scheme.begin() if state is None else state
    while not scheme.settled(state):
        state, _ = scheme.step(state)
    return state


def same_partition(a, b) -> bool:
    return len(set(zip(a, b))) == len(set(a)) == len(set(b))


@every_linkage
@pytest.mark.parametrize("shape", [(2, 1), (40, 2), (300, 3), (700, 17)])
def test_heights_and_cuts_are_scipys(linkage, shape, dtype):
    X = points(*shape).astype(dtype)
    model = Agglomerative(min(5, len(X)), linkage=linkage).fit(X)
    theirs = scipy_linkage(X.astype(np.float64), linkage)
    assert is_valid_linkage(model.linkage_)
    np.testing.assert_allclose(model.distances_, theirs[:, 2], rtol=1e-9 if dtype is np.float64 else 1e-4)
    assert same_partition(model.labels_, fcluster(theirs, min(5, len(X)), "maxclust"))
    height = float(theirs[len(theirs) // 2, 2]) * 1.0001
    assert same_partition(model.cut(height=height), fcluster(theirs, height, "distance"))


@every_linkage
def test_heights_are_those_of_the_slow_reference(linkage):
    X = points(14, 2, seed=3)
    np.testing.assert_allclose(Agglomerative(linkage=linkage).fit(X).distances_, slow.heights(X, linkage), rtol=1e-10)


def test_single_grows_prims_tree(dtype):
    X = points(200, 3).astype(dtype)
    state = all_steps(Single(X))
    inside, squares = slow.spanning_tree(X)
    assert state["pairs"][:, 0].tolist() == inside[1:]
    np.testing.assert_allclose(state["heights"] ** 2, squares, rtol=1e-4 if dtype is np.float32 else 1e-10)


def test_nearest_means_is_the_obvious_search(dtype):
    rng = np.random.default_rng(1)
    means, sizes = rng.normal(size=(400, 5)).astype(dtype), rng.integers(1, 9, 400).astype(np.float64)
    ward = Ward(means)
    ward.sizes[:] = sizes
    ward._pack(np.arange(400))
    ward._search(np.arange(400))
    for own in range(0, 400, 7):
        cost, _, other = slow.nearest_cluster(ward.means, sizes, own)
        assert ward.partner[own] == other
        assert ward.near[own] == pytest.approx(cost, rel=1e-4 if dtype is np.float32 else 1e-10)


def test_search_takes_the_partner_that_both_agree_on_when_all_are_equally_near(dtype):
    rows = padded(np.eye(6, dtype=dtype))
    tiles = pack(rows, np.arange(6))
    weights, lightest = np.ones(tiles.members.shape), np.ones(1)
    partner, cost = np.empty(6, np.int64), np.empty(6)
    nearest_means(
        tiles.points, tiles.low, tiles.high, tiles.members, weights, lightest, 0.999, rows, np.arange(6), np.ones(6),
        partner, cost, 0, 6,
    )  # fmt: skip
    assert partner.tolist() == [1, 0, 3, 2, 5, 4]
    np.testing.assert_allclose(cost, 2.0)


def test_tree_and_labels_of_joins_are_the_obvious_ones():
    rng = np.random.default_rng(2)
    roots, pairs = list(range(50)), []
    while len(roots) > 7:
        a, b = rng.choice(roots, 2, replace=False).tolist()
        pairs.append((a, b))
        roots.remove(b)
    tree = np.zeros((49, 4))
    name_joins(np.array(pairs), tree)
    wanted = slow.named_joins(pairs, 50)
    assert tree[:43, [0, 1, 3]].tolist() == [list(row) for row in wanted]
    labels = np.empty(50, np.int64)
    leaf_labels(tree[:43, :2].astype(np.int64), labels)
    assert labels.tolist() == slow.labels_after(pairs, 50)


def test_a_tree_that_is_none_is_refused():
    model = Agglomerative(2).fit(points(10, 2))
    model.linkage_[0, 0] = 99.0
    with pytest.raises(ValueError, match="not a tree"):
        model.cut(n_clusters=3)


@pytest.mark.parametrize("linkage", ["ward", "average", "complete"])
def test_one_and_two_threads_agree_to_the_bit(linkage, two_threads, dtype):
    X = points(600, 4).astype(dtype)
    one, two = two_threads(lambda: Agglomerative(3, linkage=linkage).fit(X))
    assert np.array_equal(one.linkage_, two.linkage_)


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "cosine", "correlation"])
@pytest.mark.parametrize("linkage", ["single", "complete", "average"])
def test_other_metrics(linkage, metric):
    X = np.random.default_rng(0).random((60, 4))
    model = Agglomerative(linkage=linkage, metric=metric).fit(X)
    np.testing.assert_allclose(model.distances_, scipy_linkage(pdist(X, metric), linkage)[:, 2], atol=1e-12)
    assert np.array_equal(model.predict(X), model.labels_)


@given(st.integers(1, 60), st.integers(1, 5), st.sampled_from(LINKAGES), st.integers(1, 3))
def test_any_table_with_ties_gives_a_valid_tree(n, d, linkage, levels):
    X = np.random.default_rng(n).integers(0, levels + 1, (n, d)).astype(float)
    model = Agglomerative(1, linkage=linkage).fit(X)
    Z = model.linkage_
    assert Z.shape == (n - 1, 4) and np.isfinite(Z).all() and (np.diff(Z[:, 2]) >= 0).all()
    if n > 1:
        assert is_valid_linkage(Z) and Z[-1, 3] == n
    if linkage == "single" and n > 1:
        np.testing.assert_allclose(Z[:, 2], scipy_linkage(X, linkage)[:, 2])


@pytest.mark.parametrize("X", [np.zeros((300, 3)), np.eye(200), (1.5 ** np.arange(100.0))[:, None]])
@every_linkage
def test_hard_tables_end_quickly(X, linkage):
    model = Agglomerative(1, linkage=linkage).fit(X)
    assert model.n_iter_ < 200 and np.isfinite(model.linkage_).all()


def test_order_of_tiles_is_a_permutation_of_neighbours():
    X = points(1000, 2)
    order = neighbours_together(X)
    assert np.array_equal(np.sort(order), np.arange(1000))
    spread = [np.ptp(X[order[i : i + TILE]], axis=0).prod() for i in range(0, 1000, TILE)]
    assert np.mean(spread) < 0.5 * np.ptp(X, axis=0).prod()


@every_linkage
def test_a_fit_goes_on_from_a_checkpoint(linkage, tmp_path):
    X = points(500, 3)
    whole = Agglomerative(4, linkage=linkage).fit(X)
    path = tmp_path / "tree"
    half = Agglomerative(4, linkage=linkage, checkpoint=path, callback=lambda p: p.iteration == 1).fit(X)
    assert path.exists() and np.isinf(half.distances_).any() and is_valid_linkage(half.linkage_)
    rest = Agglomerative(4, linkage=linkage, checkpoint=path).fit(X)
    np.testing.assert_array_equal(rest.linkage_, whole.linkage_)
    assert not path.exists()


def test_state_from_elsewhere_is_brought_about_again():
    X = points(300, 2)
    for make in (lambda: Ward(X), lambda: Single(X), lambda: Table(X, "average", "euclidean")):
        first = make()
        state, left = first.step(first.begin())
        assert 1 < left < 300
        resumed, fresh = all_steps(make(), state), all_steps(make())
        np.testing.assert_array_equal(linkage_of(resumed), linkage_of(fresh))


def test_new_rows_and_anomalies():
    X = np.vstack([points(50, 2) * 0.1, points(50, 2) * 0.1 + 20])
    for linkage in LINKAGES:
        model = Agglomerative(2, linkage=linkage).fit(X)
        assert np.array_equal(model.predict(X), model.labels_)
        near, far = model.anomaly_score(np.array([X[0] + 0.01, [500.0, 500.0]]))
        assert near < far and np.isfinite(model.anomaly_score(X)).all()
    assert (Agglomerative(2, linkage="single").fit(X).anomaly_score(X) > 0).all()


def test_objective_is_that_of_the_labels():
    X = points(80, 3)
    model = Agglomerative(3).fit(X)
    wanted = sum(((X[model.labels_ == c] - X[model.labels_ == c].mean(axis=0)) ** 2).sum() for c in range(3))
    assert model.objective_ == pytest.approx(0.5 * wanted)
    assert model.codes_.shape == (80, 3) and model.history_.objective[-1] == 1


def test_fewer_distinct_rows_than_clusters_gives_fewer_and_says_so():
    X = np.repeat([[0.0], [5.0]], 4, axis=0)
    with pytest.warns(UserWarning, match="only 2 rows differ"):
        model = Agglomerative(3).fit(X)
    assert model.labels_.tolist() == [0] * 4 + [1] * 4
    with pytest.warns(UserWarning, match="only 1 rows differ"):
        assert set(Agglomerative(2, linkage="single").fit(np.ones((5, 2))).labels_) == {0}


def test_one_row_is_one_cluster():
    model = Agglomerative(1).fit([[1.0, 2.0]])
    assert model.labels_.tolist() == [0] and model.linkage_.shape == (0, 4) and model.predict([[3.0, 4.0]]) == [0]


@pytest.mark.parametrize(
    "options, X, says",
    [
        ({"n_clusters": 9}, np.eye(3), "n_samples=3 should be >= n_clusters=9"),
        ({"linkage": "best"}, np.eye(3), "linkage='best'"),
        ({"metric": "cosine"}, np.eye(3), "needs metric='euclidean'"),
        ({"metric": "far", "linkage": "single"}, np.eye(3), "metric='far'"),
        ({"height": -1.0}, np.eye(3), "height"),
        ({}, [[np.nan, 1.0], [1.0, 2.0]], "TableImputer"),
        ({}, np.array([[1e30], [1.0]], np.float32), "rescale X"),
        ({"linkage": "average", "metric": "cosine"}, np.zeros((3, 2)), "not defined for some rows"),
    ],
)
def test_bad_input_is_refused_in_words(options, X, says):
    with pytest.raises(ValueError, match=says):
        Agglomerative(**options).fit(X)


def test_sparse_and_too_many_rows_are_refused_in_words():
    with pytest.raises(TypeError, match="sparse"):
        Agglomerative().fit(sp.eye_array(4).tocsr())
    with pytest.raises(ValueError, match="ward"):
        Agglomerative(linkage="average").fit(np.zeros((MOST_ROWS + 1, 1)))
    with pytest.raises(ValueError, match="one of the two"):
        Agglomerative().fit(np.eye(3)).cut()


def test_dendrogram_is_the_plot():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    for n in (8, 120):
        figure = Agglomerative(3).fit(points(n, 2)).plot()
        axis = figure.axes[0]
        drawn = sum(len(c.get_paths()) for c in axis.collections)
        assert drawn == min(n, 50) - 1 and "ward" in axis.get_ylabel()
        pyplot.close(figure)
