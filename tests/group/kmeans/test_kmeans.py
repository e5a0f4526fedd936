"""KMeans: metrics, starts, weights, what stands for odd tables, and the errors."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import unweave
from tests.tables import blobs


def same_groups(a, b):
    return len(np.unique(a)) == len(np.unique(b)) == len(np.unique(np.column_stack([a, b]), axis=0))


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_cosine_groups_directions_whatever_their_length(stored, dtype, rng):
    X, _ = blobs(dtype=dtype)
    X = X * rng.lognormal(0, 2, size=(len(X), 1)).astype(dtype)
    model = unweave.KMeans(5, metric="cosine").fit(stored(X))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1, rtol=1e-5)
    cosines = unit @ model.cluster_centers_.T
    np.testing.assert_array_equal(model.labels_, cosines.argmax(axis=1))
    np.testing.assert_allclose(model.objective_, (1 - cosines.max(axis=1)).sum(), rtol=1e-4)
    np.testing.assert_allclose(model.transform(stored(X)), 1 - cosines, atol=1e-5)
    np.testing.assert_allclose(model.anomaly_score(stored(X)), 1 - cosines.max(axis=1), atol=1e-5)
    assert (np.diff(model.history_.objective) <= 1e-6 * model.objective_).all()
    again = unweave.KMeans(5, metric="cosine").fit(stored(X * 2))
    np.testing.assert_array_equal(model.labels_, again.labels_)
    means = np.array([unit[model.labels_ == t].mean(axis=0) for t in range(5)])
    np.testing.assert_allclose(model.cluster_centers_, means / np.linalg.norm(means, axis=1)[:, None], atol=2e-3)


def test_cosine_refuses_rows_without_direction_and_holes():
    X, _ = blobs()
    with pytest.raises(ValueError, match="row 3 of X is all zeros"):
        unweave.KMeans(2, metric="cosine").fit(np.vstack([X[:3], np.zeros((1, 4)), X]))
    with pytest.raises(ValueError, match="every entry observed"):
        unweave.KMeans(2, metric="cosine", missing="nan").fit(np.where(X > 5, np.nan, X))
    with pytest.raises(ValueError, match="no direction"):
        unweave.KMeans(2, metric="cosine", init=np.zeros((2, 4))).fit(X)


@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array, lambda X: np.asarray(X, bool)])
def test_hamming_finds_majorities(stored, rng):
    patterns = rng.random((4, 24)) < 0.5
    labels = np.arange(240) % 4
    flips = rng.random((240, 24)) < 0.1
    X = (patterns[labels] ^ flips).astype(float)
    model = unweave.KMeans(4, metric="hamming").fit(stored(X))
    assert {tuple(row) for row in model.cluster_centers_ == 1} == {tuple(row) for row in patterns}
    assert set(np.unique(model.cluster_centers_)) <= {0.0, 1.0}
    differ = (X[:, None] != model.cluster_centers_).sum(axis=2)
    np.testing.assert_array_equal(model.labels_, differ.argmin(axis=1))
    np.testing.assert_allclose(model.transform(stored(X)), differ)
    np.testing.assert_allclose(model.anomaly_score(stored(X)), differ.min(axis=1))
    assert model.inertia_ == differ.min(axis=1).sum()
    assert (np.diff(model.history_.objective) <= 0).all()


def test_a_tie_keeps_the_former_value_and_the_first_centre():
    X = np.array([[0.0, 0], [0, 1]])
    for start, kept in (([[0.0, 0]], 0), ([[0.0, 1]], 1)):
        model = unweave.KMeans(1, metric="hamming", init=np.array(start)).fit(X)
        assert model.cluster_centers_[0, 1] == kept and model.inertia_ == 1
    both = unweave.KMeans(2, metric="hamming", init=np.array([[0.0, 0], [1, 1]])).fit(np.array([[0.0, 0], [1, 1]]))
    assert both.predict([[0.0, 1], [1, 0]]).tolist() == [0, 0]
    with pytest.raises(ValueError, match="zeros and ones"):
        unweave.KMeans(1, metric="hamming").fit([[0.5], [1]])
    with pytest.raises(ValueError, match="init must hold zeros and ones"):
        unweave.KMeans(1, metric="hamming", init=[[0.5, 1]]).fit(X)


@pytest.mark.parametrize("metric", ["cosine", "hamming"])
def test_blocks_under_a_metric(metric, rng):
    X = (rng.random((90, 8)) < np.repeat([[0.9] * 4 + [0.1] * 4, [0.1] * 4 + [0.9] * 4], 45, axis=0)).astype(float)
    X[:, 0] = 1
    X = X[rng.permutation(90)]
    model = unweave.KMeans(2, metric=metric)
    for part in np.array_split(X, 3):
        model.partial_fit(part)
    assert same_groups(model.predict(X), unweave.KMeans(2, metric=metric).fit(X).labels_)


@pytest.mark.parametrize("init", ["k-means++", "farthest", "random", "partition"])
@pytest.mark.parametrize("kind", ["dense", "sparse", "holes"])
def test_every_start_on_every_table(init, kind):
    X, labels = blobs()
    table, missing = {"dense": (X, None), "sparse": (sp.csr_array(X), None), "holes": (X.copy(), "nan")}[kind]
    if kind == "holes":
        table[::9, 1] = np.nan
    model = unweave.KMeans(5, init=init, missing=missing).fit(table)
    assert same_groups(model.labels_, labels)
    assert unweave.KMeans(5, init=init, missing=missing, repair=False).fit(table).inertia_ >= model.inertia_ * (
        1 - 1e-9
    )


def test_clusters_are_numbered_by_their_centres_so_seeds_agree():
    X, _ = blobs()
    fits = [unweave.KMeans(5, random_state=seed).fit(X) for seed in range(4)]
    for fit in fits:
        assert (np.diff(fit.cluster_centers_[:, 0]) > 0).all()
        np.testing.assert_array_equal(fit.labels_, fits[0].labels_)


def test_weights_are_repetitions():
    X, _ = blobs(120)
    weights = np.random.default_rng(0).integers(0, 4, 120)
    heavy = unweave.KMeans(5).fit(X, sample_weight=weights)
    repeated = unweave.KMeans(5).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(heavy.inertia_, repeated.inertia_)
    np.testing.assert_array_equal(heavy.predict(X), repeated.predict(X))
    with pytest.raises(ValueError, match="zero"):
        unweave.KMeans(2).fit(X, sample_weight=np.zeros(120))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        unweave.KMeans(2).fit(X, sample_weight=-np.ones(120))


def test_fewer_distinct_rows_than_clusters_warns_and_answers():
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 6, axis=0)
    for table in (X, sp.csr_array(X)):
        with pytest.warns(ConvergenceWarning, match="only 2 of n_clusters=4"):
            model = unweave.KMeans(4).fit(table)
        assert len(np.unique(model.labels_)) == 2 and model.inertia_ == pytest.approx(0)
        assert np.isfinite(model.cluster_centers_).all()
    one = unweave.KMeans(1).fit([[3.0, 4.0]])
    assert one.cluster_centers_.tolist() == [[3.0, 4.0]] and one.inertia_ == 0 and one.n_parameters_ == 3
    with pytest.raises(ValueError, match="n_clusters"):
        unweave.KMeans(3).fit([[1.0], [2.0]])


@pytest.mark.parametrize(
    ("scale", "kind"), [(1e20, np.float32), (1e-30, np.float32), (1e40, np.float64), (1e-40, np.float64)]
)
def test_squares_that_leave_their_type_are_an_error(scale, kind):
    X, _ = blobs()
    with pytest.raises(ValueError, match="rescale X"):
        unweave.KMeans(3).fit((X * scale).astype(kind))


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_large_and_small_values_in_float32(scale):
    X, labels = blobs(dtype=np.float32)
    assert same_groups(unweave.KMeans(5).fit(X * np.float32(scale)).labels_, labels)


def test_unknown_words_are_named():
    X, _ = blobs()
    for word, message in ({"metric": "manhattan"}, "metric="), ({"init": "best"}, "init="), ({"init": X[:2]}, "shape"):
        with pytest.raises(ValueError, match=message):
            unweave.KMeans(3, **word).fit(X)


def test_save_and_load(tmp_path):
    X, _ = blobs()
    model = unweave.KMeans(3, metric="cosine").fit(X)
    loaded = unweave.load(model.save(tmp_path / "m.unweave"))
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()
    assert loaded.anomaly_score(X).tobytes() == model.anomaly_score(X).tobytes()


@given(
    st.integers(1, 12), st.integers(1, 3), st.integers(1, 12), st.integers(0, 3),
    st.sampled_from(["euclidean", "cosine", "hamming"]),
    st.sampled_from(["k-means++", "farthest", "random", "partition"]),
)  # fmt: skip
def test_any_small_table_gives_a_finite_answer(n, m, k, levels, metric, init):
    rng = np.random.default_rng(n * 100 + m * 10 + k)
    X = rng.integers(0, 1 + min(levels, 1) if metric == "hamming" else 1 + levels, size=(n, m)).astype(float)
    X[:, 0] += metric == "cosine"
    k = min(k, n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = unweave.KMeans(k, metric=metric, init=init).fit(X)
    assert np.isfinite(model.cluster_centers_).all() and model.labels_.max() < k
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    total = unweave.KMeans(1, metric=metric).fit(X).inertia_
    assert model.inertia_ <= total + 1e-9
    assert np.isfinite(model.anomaly_score(X)).all()
