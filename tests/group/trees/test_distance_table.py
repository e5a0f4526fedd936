"""The table of all distances: made, joined and searched as the slow reference does it, and scipy's trees from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import pdist, squareform

from tests.group.trees.test_agglomerative import all_steps, points
from tests.reference import linkage as slow
from unweave.group.trees import table as table_scheme
from unweave.group.trees.table import Table, distance_table, squeeze
from unweave.group.trees.tree import linkage_of
from unweave.kernels.linkage_table import follow_chain, join_in_place, mutual_pairs


def condensed(n: int, dtype=np.float64) -> tuple[np.ndarray, np.ndarray]:
    """A random table as a condensed and as a square one."""
    table = np.random.default_rng(n).random(n * (n - 1) // 2).astype(dtype)
    return table, squareform(table)


@pytest.mark.parametrize("n", [2, 5, 40, 130, 300])
def test_distance_table_is_the_obvious_one(n, dtype):
    X = points(n, 5).astype(dtype)
    table, near, order = distance_table(X, "euclidean")
    wanted = squareform(pdist(X.astype(np.float64)))[np.ix_(order, order)]
    tolerance = 1e-12 if dtype is np.float64 else 1e-5
    assert table.dtype == near.dtype == dtype and sorted(order) == list(range(n))
    np.testing.assert_allclose(squareform(table), wanted, rtol=tolerance, atol=tolerance)
    np.testing.assert_array_equal(near, slow.nearest_of_all(squareform(table)))


@pytest.mark.parametrize("rule", [-1, 0, 1])
def test_table_after_joins_is_the_obvious_one(rule, dtype):
    table, square = condensed(90, dtype)
    second = np.arange(90)
    second[[0, 7, 20, 33]] = [89, 8, 61, 40]
    first = np.array([i for i in range(90) if i not in (89, 8, 61, 40)])
    share = np.random.default_rng(0).uniform(0.1, 0.9, len(first)) * (second[first] != first)
    wanted = slow.squeezed(square, first, second[first], share, rule)
    near = squeeze(table, 90, first, second[first], share, rule)
    m = len(first)
    got = squareform(table[: m * (m - 1) // 2])
    np.testing.assert_allclose(got, wanted, rtol=1e-12 if dtype is np.float64 else 1e-5)
    np.testing.assert_array_equal(near, slow.nearest_of_all(got))


@pytest.mark.parametrize("rule", [-1, 0, 1])
@pytest.mark.parametrize("a, b", [(0, 1), (3, 8), (0, 29), (28, 29)])
def test_join_in_place_is_the_obvious_loop(rule, a, b):
    table, square = condensed(30)
    wanted = slow.joined_row(square, range(30), a, b, 0.25, 0.75, rule)
    join_in_place(table, 30, a, b, 0.75, rule)
    got = squareform(table)
    for j, value in wanted.items():
        assert got[a, j] == pytest.approx(value) and np.isinf(got[b, j])
    rest = [j for j in range(30) if j not in (a, b)]
    np.testing.assert_array_equal(got[np.ix_(rest, rest)], square[np.ix_(rest, rest)])


def test_mutual_pairs_are_those_of_the_obvious_search():
    table, square = condensed(200)
    near = slow.nearest_of_all(square)
    pairs = np.empty((100, 2), np.int64)
    found = pairs[: mutual_pairs(table, near, np.argsort(near, kind="stable"), np.zeros(200, np.int8), pairs)]
    assert {tuple(pair) for pair in found.tolist()} == slow.mutual(square)


def test_equally_near_clusters_fall_into_pairs_at_once():
    pairs = np.empty((20, 2), np.int64)
    table, near = np.ones(40 * 39 // 2), np.ones(40)
    assert mutual_pairs(table, near, np.arange(40), np.zeros(40, np.int8), pairs) == 20
    assert sorted(pairs.ravel().tolist()) == list(range(40))


@pytest.mark.parametrize("rule, linkage", [(1, "complete"), (0, "average"), (-1, "single")])
def test_chain_makes_scipys_joins(rule, linkage):
    table, _ = condensed(60)
    wanted = scipy_linkage(table, linkage)[:, 2]
    pairs, heights = np.empty((59, 2), np.int64), np.empty(59)
    follow_chain(table, 60, np.ones(60, np.int64), rule, pairs, heights)
    np.testing.assert_allclose(np.sort(heights), wanted, rtol=1e-12)


@pytest.mark.parametrize("few, small", [(1, 0), (10**6, 0), (16, 10**6)])
@pytest.mark.parametrize("linkage", ["average", "complete"])
def test_rounds_and_chains_build_one_tree(few, small, linkage, monkeypatch):
    X = points(400, 3, seed=5)
    wanted = scipy_linkage(X, linkage)
    monkeypatch.setattr(table_scheme, "_WORTH", few)
    monkeypatch.setattr(table_scheme, "_SMALL", small)
    found = linkage_of(all_steps(Table(X, linkage, "euclidean")))
    np.testing.assert_array_equal(found[:, [0, 1, 3]], wanted[:, [0, 1, 3]])
    np.testing.assert_allclose(found[:, 2], wanted[:, 2], rtol=1e-10)
