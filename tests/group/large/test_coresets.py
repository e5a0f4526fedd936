"""Lightweight coresets: the right chances, unbiased costs, the same rows however they are cut into blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import unweave
from tests.reference import coreset as slow
from unweave.group.kmeans import KMeans
from unweave.group.kmeans.lloyd import assign
from unweave.group.large.coresets import coreset
from unweave.kernels.large import chances, weighted_sums


@pytest.fixture
def X(rng, dtype):
    centres = 4 * rng.normal(size=(6, 3))
    return (centres[rng.integers(6, size=5000)] + rng.normal(size=(5000, 3)) + 100).astype(dtype)


def cost(X, centres, weights=None):
    squares = assign(X.astype(np.float64), np.asarray(centres, np.float64))[1]
    return float(squares.sum() if weights is None else squares @ weights)


def test_kernels_agree_with_their_twins(X, rng):
    weights = rng.random(len(X))
    origin, sums = X[0].astype(np.float64), np.zeros(3)
    total = weighted_sums(X, origin, weights, 1, sums, 0, len(X))
    expected, squares = slow.weighted_sums(X, origin, weights)
    np.testing.assert_allclose(sums, expected, rtol=1e-10)
    assert total == pytest.approx(squares, rel=1e-12)
    mean = expected / weights.sum() + origin
    spread = (weights * ((X.astype(np.float64) - mean) ** 2).sum(axis=1)).sum()
    q = np.full(len(X), np.nan)
    chances(X, mean, weights, 1, 0.5 / weights.sum(), 0.5 / spread, q, 0, 4000)
    np.testing.assert_allclose(q[:4000], slow.chances(X, weights)[:4000], rtol=1e-9)
    assert np.isnan(q[4000:]).all()


def test_weights_are_one_over_m_times_the_chance(X):
    few = coreset(X, 300)
    q = slow.chances(X, np.ones(len(X)))
    times = few.weights * 300 * q[few.rows]
    np.testing.assert_allclose(times, times.round(), rtol=1e-6)
    assert times.sum() == pytest.approx(300)
    assert np.array_equal(few.points, X[few.rows]) and few.points.dtype == X.dtype
    assert (np.diff(few.rows) > 0).all()


def test_rows_are_drawn_as_often_as_their_chance_says(rng):
    X = rng.normal(size=(10, 2)) * np.arange(1, 11)[:, None]
    q, seen = slow.chances(X, np.ones(10)), np.zeros(10)
    for seed in range(800):
        few = coreset(X, 4, random_state=seed)
        seen[few.rows] += few.weights * 4 * q[few.rows]
    np.testing.assert_allclose(seen / 3200, q, atol=0.03)


def test_costs_are_kept_up_to_the_documented_error(rng):
    X = rng.normal(size=(20_000, 4)) * 3
    few, total = coreset(X, 2000), cost(X, X.mean(axis=0)[None])
    for k in (1, 5, 20):
        centres = X[rng.choice(len(X), k, replace=False)]
        exact = cost(X, centres)
        assert abs(cost(few.points, centres, few.weights) - exact) <= 0.1 * 0.5 * (exact + total)


def test_blocks_maps_and_frames_give_the_same_rows(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    whole = coreset(X, 200, random_state=3)
    frame = pd.DataFrame(X, columns=list("abc"))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    blocks = [X[:1], X[1:1], X[1:3000], X[3000:]]
    for other in (blocks, mapped, frame, sp.csr_array(X), X.tolist()):
        few = coreset(other, 200, random_state=3)
        assert np.array_equal(few.rows, whole.rows)
        np.testing.assert_allclose(few.weights, whole.weights, rtol=1e-5)


def test_threads_agree_to_the_bit(rng, two_threads):
    X = rng.normal(size=(100_000, 4)).astype(np.float32)
    one, two = two_threads(lambda: coreset(X, 500))
    assert np.array_equal(one.rows, two.rows) and np.array_equal(one.weights, two.weights)


def test_a_weight_is_so_many_copies(X, rng):
    weights = rng.integers(0, 4, len(X))
    few = coreset(X, 3000, sample_weight=weights)
    assert (weights[few.rows] > 0).all()
    repeated, centres = np.repeat(X, weights, axis=0), X[:5]
    assert cost(few.points, centres, few.weights) == pytest.approx(cost(repeated, centres), rel=0.1)
    assert few.weights.sum() == pytest.approx(weights.sum(), rel=0.05)


def test_a_table_no_longer_than_m_is_its_own_coreset(X, rng):
    points, weights = coreset(X[:50], 50)
    assert np.array_equal(points, X[:50]) and (weights == 1).all()
    weights = np.r_[0.0, rng.random(49) + 0.1]
    few = coreset(X[:50], 80, sample_weight=weights)
    assert np.array_equal(few.rows, np.arange(1, 50)) and np.array_equal(few.weights, weights[1:])


def test_copies_of_one_row_have_even_chances():
    few = coreset(np.full((1000, 2), 0.3), 10)
    assert few.weights.sum() == pytest.approx(1000) and (few.points == 0.3).all()


@given(st.integers(1, 60), st.integers(1, 80), st.integers(0, 5), st.floats(-1e6, 1e6))
def test_weights_are_positive_and_finite_for_any_table(n, m, seed, shift):
    X = np.random.default_rng(seed).normal(size=(n, 2)).round(1) + shift
    few = coreset(X, m, random_state=seed)
    assert 1 <= len(few) <= min(n, m)
    assert np.isfinite(few.weights).all() and (few.weights > 0).all()
    assert few.weights.sum() <= 2 * n * 1.001


@pytest.mark.parametrize(
    ("X", "m", "options", "words"),
    [
        ([], 5, {}, "empty"),
        ([np.empty((0, 2))], 5, {}, "0 sample"),
        ([np.ones((3, 2)), np.ones((3, 3))], 2, {}, "block 1|3 columns|columns"),
        ([np.ones((3, 2)), np.full((3, 2), np.nan)], 2, {}, "NaN"),
        (np.array([[1.0], [np.nan]]), 1, {}, "NaN"),
        (np.ones((3, 2)), 0, {}, "m must be at least 1"),
        (np.ones((3, 2)), 2, {"sample_weight": [0, 0, 0]}, "sample_weight"),
        (np.ones((3, 2)), 2, {"sample_weight": [1, -1, 0]}, "sample_weight"),
        (np.ones((3, 2)), 2, {"sample_weight": [1, np.nan, 0]}, "sample_weight"),
        (np.ones((3, 2)), 2, {"sample_weight": [1, 1]}, "sample_weight"),
        (np.ones((3, 2)), 2, {"sample_weight": [1, 1, 1, 1]}, "sample_weight"),
    ],
)
def test_bad_input_is_named(X, m, options, words):
    with pytest.raises(ValueError, match=words):
        coreset(X, m, **options)


def test_m_must_be_whole():
    with pytest.raises(TypeError, match="m must be a whole number"):
        coreset(np.ones((3, 2)), 1.5)


def through(X, k, m, weights=None):
    return unweave.KMeans(k, coreset=m).fit(X, sample_weight=weights)


def test_kmeans_through_a_coreset_is_nearly_as_good(X):
    model, full = through(X, 6, 600), unweave.KMeans(6).fit(X)
    assert model.inertia_ <= 1.03 * full.inertia_
    assert model.inertia_ == pytest.approx(cost(X, model.cluster_centers_), rel=1e-4)
    assert np.array_equal(model.labels_, model.predict(X)) and model.codes_.shape == (5000, 6)
    assert "coreset" in str(model.plan_)


def test_kmeans_through_a_coreset_counts_weights(X, rng):
    weights = rng.random(len(X))
    model = through(X, 6, 600, weights)
    assert model.inertia_ == pytest.approx(cost(X, model.cluster_centers_, weights), rel=1e-4)


def test_kmeans_through_too_small_or_impossible_a_coreset_says_so(X):
    with pytest.raises(ValueError, match="coreset=3 must be at least n_clusters=6"):
        through(X, 6, 3)
    with pytest.raises(ValueError, match="coreset needs a dense X"):
        through(sp.csr_array(X), 6, 600)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "hamming"])
def test_kmeans_through_a_coreset_of_blocks_is_that_of_the_table(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) + 6 * rng.integers(1, 4, size=(600, 1))
    X = (X > 12).astype(float) if metric == "hamming" else X
    model = KMeans(3 if metric != "hamming" else 2, coreset=100, metric=metric)
    whole = clone(model).fit(X)
    blocks = [X[:250], X[250:251], X[251:]]
    parts = clone(model).fit(blocks)
    np.testing.assert_allclose(parts.cluster_centers_, whole.cluster_centers_)
    assert np.array_equal(parts.labels_, whole.labels_) and parts.codes_ is None
    assert parts.inertia_ == pytest.approx(whole.inertia_) and parts.score(blocks) == pytest.approx(-parts.inertia_)
    weights = rng.random(600)
    heavy = clone(model).fit(blocks, sample_weight=weights)
    assert heavy.inertia_ == pytest.approx(clone(model).fit(X, sample_weight=weights).inertia_)


def test_the_number_may_be_left_open_beside_a_coreset():
    X = np.random.default_rng(0).normal(size=(300, 2)) + 20 * np.arange(300)[:, None] % 60
    model = KMeans("auto", coreset=60).fit(X)
    assert len(model.cluster_centers_) == model.choice_.best
