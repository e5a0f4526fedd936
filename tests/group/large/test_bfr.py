"""BFR: k-means in one pass within a stated number of bytes, for rows in any order."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import unweave
from tests.reference import bfr as slow
from unweave.group.large.bfr import BFR
from unweave.group.large.sets import Sets, statistics
from unweave.kernels.large import admit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def mixture(n, d=4, k=5, seed=0, dtype=np.float32, spread=6.0):
    rng = np.random.default_rng(seed)
    label = rng.integers(k, size=n)
    centres = spread * rng.normal(size=(k, d))
    return (centres[label] + rng.normal(size=(n, d))).astype(dtype), label, centres


def test_kernel_agrees_with_its_twin(rng, dtype):
    X = rng.normal(size=(500, 3)).astype(dtype)
    means, scales, origin = rng.normal(size=(4, 3)), rng.random((4, 3)), rng.normal(size=3)
    labels = rng.integers(-1, 4, 500).astype(np.int32)
    expected = slow.admit(X, means, scales, 1.5, origin, labels)
    mine, new = labels.copy(), Sets.empty(4, 3)
    admit(X, means, scales, 1.5, origin, mine, new.counts, new.sums, new.squares, 0, 500)
    for got, want in zip((mine, new.counts, new.sums, new.squares), expected):
        np.testing.assert_allclose(got, want, rtol=1e-10)
    assert 0 < (mine < 0).sum() < 500


def test_statistics_give_means_and_variances_far_from_zero(rng):
    X = rng.normal(size=(4000, 3)) + 1e6
    labels = rng.integers(2, size=4000)
    sets = statistics(X, labels, 2, X.mean(axis=0))
    for j in range(2):
        np.testing.assert_allclose(sets.within[j] / sets.counts[j], X[labels == j].var(axis=0), rtol=1e-6)
    one = sets.merged(np.zeros(2, int), 1)
    np.testing.assert_allclose(one.within[0], ((X - X.mean(axis=0)) ** 2).sum(axis=0), rtol=1e-6)


@pytest.mark.parametrize("order", ["shuffled", "sorted"])
def test_objective_is_that_of_kmeans_in_any_order(order):
    X, label, _ = mixture(60_000)
    X = X[np.argsort(label, kind="stable")] if order == "sorted" else X
    model, full = BFR(5, memory=2**20).fit(X), unweave.KMeans(5).fit(X)
    assert model.inertia_ <= 1.01 * full.inertia_
    assert model.n_iter_ > 3 and sum(list(model.set_sizes_.values())[:3]) == len(X)


def test_blocks_a_map_and_an_array_agree(tmp_path):
    X, _, _ = mixture(30_000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    array, map_, blocks = (BFR(5, memory=2**20).fit(x) for x in (X, mapped, [X[:13], X[13:13], X[13:9000], X[9000:]]))
    assert np.array_equal(array.cluster_centers_, map_.cluster_centers_)
    np.testing.assert_allclose(
        np.sort(blocks.cluster_centers_, axis=0), np.sort(array.cluster_centers_, axis=0), atol=0.1
    )
    assert map_.labels_ is None and blocks.labels_ is None
    assert np.array_equal(map_.predict(mapped), array.labels_)
    assert np.array_equal(array.predict([X[:100], X[100:]]), array.labels_)
    assert np.array_equal(BFR(5, memory=2**20).fit_predict(mapped), array.labels_)
    # No row is read twice, so the objective of a stream is of the sets that rows joined: never below the nearest one's.
    assert array.inertia_ <= map_.inertia_ * (1 + 1e-6) <= 1.02 * array.inertia_
    assert -array.score(mapped) == pytest.approx(array.inertia_, rel=1e-6)


def test_partial_fit_goes_on_where_it_was():
    X, _, _ = mixture(20_000)
    model = BFR(5)
    for start in range(0, len(X), 2000):
        model.partial_fit(X[start : start + 2000])
    assert model._state["rows"] == len(X)
    found = unweave.KMeans(5).fit(X)
    assert -model.score(X) <= 1.01 * found.inertia_


@pytest.mark.parametrize("order", ["shuffled", "sorted", "noise"])
def test_the_stated_bytes_are_kept(tmp_path, order):
    X, label, _ = mixture(400_000, d=8)
    X = X[np.argsort(label, kind="stable")] if order == "sorted" else X
    if order == "noise":
        X = np.random.default_rng(0).standard_cauchy(X.shape).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    del X
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    BFR(5, memory=2**20).fit(mapped[:20_000])  # whatever a map of a file needs is loaded before it is measured
    tracemalloc.start()
    BFR(5, memory=2**22).fit(mapped)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22 < mapped.nbytes / 3


_CHILD = """
import re, sys
import numpy as np
from unweave.group.large.bfr import BFR

def mark(word):
    return 1024 * int(re.search(word + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

X = np.load(sys.argv[1], mmap_mode="r")
BFR(5, memory=2**22).fit(np.array(X[:60_000]))
before = mark("VmRSS")
open("/proc/self/clear_refs", "w").write("5")
BFR(5, memory=2**22).fit(X)
print(mark("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_pages_of_a_mapped_file_do_not_stay_in_memory(tmp_path):
    X, _, _ = mixture(2_000_000, d=8)
    np.save(tmp_path / "X.npy", X)
    run = subprocess.run([sys.executable, "-c", _CHILD, str(tmp_path / "X.npy")], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) < X.nbytes / 4


def test_a_private_map_keeps_its_changes(tmp_path):
    X, _, _ = mixture(5000)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="c")
    mapped[:] += 1
    changed = np.array(mapped)
    BFR(5).fit(mapped)
    assert np.array_equal(mapped, changed)


def test_threads_agree_to_the_bit(two_threads):
    X, _, _ = mixture(100_000, d=3)
    one, two = two_threads(lambda: BFR(5, memory=2**20).fit(X))
    assert np.array_equal(one.cluster_centers_, two.cluster_centers_) and one.inertia_ == two.inertia_


def test_types_stay(dtype):
    X, _, _ = mixture(2000, dtype=dtype)
    model = BFR(5).fit(X)
    assert model.cluster_centers_.dtype == dtype and model.anomaly_score(X).dtype == dtype


def test_stopping_early_keeps_what_was_read():
    X, _, _ = mixture(60_000)
    model = BFR(5, memory=2**20, callback=lambda p: p.iteration == 2).fit([X[:5], X[5:20_000], X[20_000:]])
    assert model.n_iter_ == 2 and model._state["rows"] == 20_000
    tiny = BFR(2, callback=lambda p: True).fit([X[:50], X[50:]])
    assert tiny._state["rows"] == 50 and np.isfinite(tiny.cluster_centers_).all()


def test_a_checkpoint_resumes_to_the_same_bits(tmp_path):
    X, _, _ = mixture(60_000)
    blocks, path, seen = [X[i::4] for i in range(4)], tmp_path / "stream.checkpoint", []
    whole = BFR(5, memory=2**20).fit(blocks)

    def interrupt(progress):
        if progress.iteration == 2 and not seen:
            seen.append(1)
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 2"):
        BFR(5, memory=2**20, checkpoint=path, callback=interrupt).fit(blocks)
    assert path.exists()
    steps: list = []
    resumed = BFR(5, memory=2**20, checkpoint=path, callback=lambda p: steps.append(p.iteration)).fit(blocks)
    assert steps == [2, 3, 4] and not path.exists(), "it is asked about the state that was loaded, too"
    assert np.array_equal(resumed.cluster_centers_, whole.cluster_centers_)


def test_outliers_stay_out_of_the_clusters_until_the_end():
    X, _, _ = mixture(20_000, k=3)
    X[::1000] = 500
    model = BFR(4, memory=2**20).fit(X)
    assert np.abs(model.cluster_centers_ - 500).sum(axis=1).min() < 1
    assert model.anomaly_score(np.full((1, 4), 600.0))[0] > 20 * model.anomaly_score(X[1:2])[0]


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 3), st.floats(0, 5))
def test_any_small_table_gives_finite_centres_and_labels(n, k, seed, threshold):
    X = np.random.default_rng(seed).normal(size=(n, 2)).round(0)
    if n < k:
        with pytest.raises(ValueError, match="n_clusters"):
            BFR(k).fit(X)
        return
    model = BFR(k, threshold=threshold, random_state=seed).fit(X)
    assert np.isfinite(model.cluster_centers_).all() and model.cluster_centers_.shape == (k, 2)
    assert ((model.labels_ >= 0) & (model.labels_ < k)).all() and np.isfinite(model.history_.objective).all()


def test_duplicates_and_a_single_row_have_an_answer():
    model = BFR(3).fit(np.full((200, 2), 0.1, dtype=np.float32))
    assert np.allclose(model.cluster_centers_, 0.1) and model.inertia_ == pytest.approx(0, abs=1e-9)
    assert BFR(1).fit([[1.0, 2.0]]).cluster_centers_.tolist() == [[1.0, 2.0]]


def test_sparse_rows_are_taken():
    X, _, _ = mixture(3000, dtype=np.float64)
    X[X < 0] = 0
    np.testing.assert_allclose(BFR(5).fit(sp.csr_array(X)).cluster_centers_, BFR(5).fit(X).cluster_centers_)


@pytest.mark.parametrize(
    ("X", "options", "words"),
    [
        ([], {}, "empty"),
        ([np.empty((0, 2))], {}, "0 sample"),
        ([np.ones((9, 2)), np.ones((3, 3))], {}, "columns"),
        ([np.ones((9, 2)), np.full((3, 2), np.nan)], {}, "NaN"),
        (np.array([[1.0], [np.inf]]), {}, "infinity"),
        (np.ones((3, 2)), {"n_clusters": 4}, "n_samples=3 should be >= n_clusters=4"),
        (np.ones((30, 2)), {"memory": 1000}, "memory=1000 bytes is too little"),
        (np.ones((30, 2)), {"threshold": -1}, "threshold"),
        (np.ones((30, 2)), {"tightness": float("nan")}, "tightness"),
        (np.full((30, 2), 1e30, np.float32), {}, "overflow"),
    ],
)
def test_bad_input_is_named(X, options, words):
    with pytest.raises(ValueError, match=words):
        BFR(**{"n_clusters": 2, **options}).fit(X)


def test_a_first_block_with_too_few_rows_is_refused():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=5"):
        BFR(5).partial_fit(np.ones((2, 2)))
