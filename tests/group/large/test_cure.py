"""CURE: bent clusters that k-means cuts, found from a sample, and rows labelled in blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score, roc_auc_score

import unweave
from tests.reference import cure as slow
from unweave.group.large.blocks import open_rows
from unweave.group.large.cure import CURE, Merging, draw_rows
from unweave.solve.iterate import Loop, iterate


def rings(n, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    label = rng.integers(2, size=n)
    angle = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(label, 3.0, 1.0) + 0.1 * rng.normal(size=n)
    return (radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])).astype(dtype), label


@pytest.mark.parametrize("shape", ["moons", "rings"])
def test_bent_clusters_are_found_where_kmeans_cuts_them(shape):
    X, label = make_moons(4000, noise=0.06, random_state=0) if shape == "moons" else rings(4000)
    model = CURE(2, n_representatives=30).fit(X)
    assert adjusted_rand_score(label, model.labels_) > 0.98
    assert adjusted_rand_score(label, unweave.KMeans(2).fit(X).labels_) < 0.6


@pytest.mark.parametrize(("k", "most", "shrink"), [(1, 3, 0.2), (3, 1, 0.5), (4, 4, 0.0), (5, 10, 0.3), (2, 2, 1.0)])
def test_merging_agrees_with_its_twin(rng, k, most, shrink):
    X = rng.normal(size=(40, 2))
    merging = Merging(X, k, most, shrink, 0)
    loop = Loop(max_iter=merging.most_steps(), tol=None, ending="done")
    state, _ = iterate(merging, merging.begin(), loop)
    assert adjusted_rand_score(slow.merge(X, k, most, shrink), state["labels"]) == 1.0
    assert state["left"] == k and state["merges"] == 40 - k


def test_no_shrinking_and_all_rows_as_representatives_is_single_linkage(rng):
    from scipy.cluster.hierarchy import fcluster, linkage

    X = rng.normal(size=(120, 3))
    model = CURE(6, n_representatives=120, shrink=0, outliers=0).fit(X)
    assert adjusted_rand_score(fcluster(linkage(X, "single"), 6, "maxclust"), model.labels_) == 1.0


def test_outliers_do_not_take_a_cluster():
    X, label = rings(2000)
    X[:20] = np.random.default_rng(1).uniform(-30, 30, (20, 2))
    good = CURE(2, n_representatives=30).fit(X)
    assert adjusted_rand_score(label[20:], good.labels_[20:]) > 0.98
    strict = CURE(2, n_representatives=30, outliers=0).fit(X)
    assert adjusted_rand_score(label[20:], strict.labels_[20:]) < 0.1
    assert good.anomaly_score([[25.0, 25.0]])[0] > 20


def test_blocks_and_maps_give_the_same_model(tmp_path):
    X, label = rings(20_000, dtype=np.float32)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    array, map_, blocks = (CURE(2, sample=500).fit(x) for x in (X, mapped, [X[:7], X[7:7], X[7:]]))
    for other in (map_, blocks):
        assert np.array_equal(array.representatives_, other.representatives_)
        assert other.labels_ is None and np.array_equal(other.predict(X), array.labels_)
    assert np.array_equal(array.predict([X[:5], X[5:]]), array.labels_)
    assert np.array_equal(CURE(2, sample=500).fit_predict(mapped), array.labels_)
    assert array.representatives_.dtype == np.float32 and adjusted_rand_score(label, array.labels_) > 0.95


def test_every_row_is_as_likely_in_the_sample():
    X, seen = np.arange(20.0)[:, None], np.zeros(20)
    for seed in range(600):
        rows = draw_rows(open_rows(CURE(), [X[:3], X[3:11], X[11:]], reset=True), 5, np.random.default_rng(seed))
        assert len(np.unique(rows)) == 5
        seen[rows[:, 0].astype(int)] += 1
    np.testing.assert_allclose(seen / 600, 0.25, atol=0.07)


def test_threads_agree_to_the_bit(two_threads):
    X, _ = rings(3000)
    one, two = two_threads(lambda: CURE(2, sample=800).fit(X))
    assert np.array_equal(one.representatives_, two.representatives_) and np.array_equal(one.labels_, two.labels_)


def test_a_checkpoint_resumes_to_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr("unweave.group.large.cure._WORK", 1 << 20)
    X, _ = rings(600)
    whole, path, seen = CURE(2).fit(X), tmp_path / "merging.checkpoint", []

    def interrupt(progress):
        if progress.iteration == 2 and not seen:
            seen.append(1)
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 2"):
        CURE(2, checkpoint=path, callback=interrupt).fit(X)
    resumed = CURE(2, checkpoint=path).fit(X)
    assert np.array_equal(whole.representatives_, resumed.representatives_) and not path.exists()


@given(st.integers(1, 40), st.integers(1, 6), st.integers(1, 4), st.floats(0, 1), st.floats(0, 1), st.integers(0, 3))
def test_any_small_table_ends_with_k_clusters(n, k, many, shrink, outliers, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2)).round(0)
    model = CURE(k, n_representatives=many, shrink=shrink, outliers=outliers)
    if n < k:
        with pytest.raises(ValueError, match="n_clusters"):
            model.fit(X)
        return
    model.fit(X)
    assert model.cluster_centers_.shape == (k, 2) and np.isfinite(model.representatives_).all()
    assert ((model.labels_ >= 0) & (model.labels_ < k)).all()
    assert np.bincount(model.representative_labels_, minlength=k).max() <= many


def test_duplicates_and_a_single_row_have_an_answer():
    with pytest.warns(UserWarning, match="too few distinct"):
        model = CURE(3).fit(np.full((50, 2), 0.1))
    assert np.allclose(model.cluster_centers_, 0.1) and model.objective_ == pytest.approx(0)
    assert CURE(1).fit([[1.0, 2.0]]).labels_.tolist() == [0]


def test_sparse_rows_are_taken():
    X, _ = rings(500)
    X[X < 0] = 0
    assert np.array_equal(CURE(3).fit(sp.csr_array(X)).labels_, CURE(3).fit(X).labels_)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([], {}, "empty"),
        ([np.empty((0, 2))], {}, "0 sample"),
        ([np.ones((9, 2)), np.ones((3, 3))], {}, "columns"),
        ([np.ones((9, 2)), np.full((3, 2), np.nan)], {}, "NaN"),
        (np.ones((3, 2)), {"n_clusters": 4}, "n_samples=3 should be >= n_clusters=4"),
        (np.ones((30, 2)), {"sample": 1}, "sample=1 must be at least n_clusters=2"),
        (np.ones((30, 2)), {"shrink": 1.5}, "shrink must be between 0 and 1"),
        (np.ones((30, 2)), {"outliers": -0.1}, "outliers"),
        (np.ones((30, 2)), {"n_representatives": 0}, "n_representatives"),
    ],
)
def test_bad_input_is_named(X, options, words):
    with pytest.raises(ValueError, match=words):
        CURE(**{"n_clusters": 2, **options}).fit(X)


@pytest.mark.parametrize("columns, share", [(2, 0.1), (2, 0.3), (6, 0.05)])
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_stranger_than_clusters(columns, share, seed, dtype):
    rng = np.random.default_rng(seed)
    X = 6 * rng.uniform(-1, 1, (4, columns))[rng.integers(4, size=1200)] + 0.5 * rng.normal(size=(1200, columns))
    noise = rng.uniform(-10, 10, (int(1200 * share), columns))
    rows = np.concatenate([X, noise]).astype(dtype)
    strange = np.arange(len(rows)) >= len(X)
    model = CURE(4, sample=800).fit(rows)
    assert roc_auc_score(strange, model.anomaly_score(rows)) > 0.93
    far = np.full((1, columns), 1e3, dtype)
    assert model.anomaly_score(far)[0] > model.anomaly_score(rows).max()
    blocks = [rows[:7], rows[7:7], rows[7:]]
    assert np.array_equal(model.anomaly_score(blocks), model.anomaly_score(rows))


def test_strangeness_of_a_sampled_row_does_not_count_the_row_itself():
    X = np.arange(12.0)[:, None]
    model = CURE(1, sample=12).fit(X)
    assert model.anomaly_score([[0.0], [5.5]]).tolist() == [10.0, 4.5]
    assert CURE(1).fit([[1.0], [4.0]]).anomaly_score([[1.0], [0.0]]).tolist() == [3.0, 4.0]
