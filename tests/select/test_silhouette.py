"""Silhouettes: the kernel and its twin, both storages, sampling, and what is refused."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import silhouette as reference
from unweave.kernels.silhouette import TILE, WIDTH, mean_distances
from unweave.select import silhouette, silhouette_rows


def blobs(rng, n, m, k, dtype=np.float64):
    labels = rng.integers(k, size=n)
    return (5 * rng.standard_normal((k, m))[labels] + rng.standard_normal((n, m))).astype(dtype), labels


def test_kernel_is_its_twin(rng, dtype):
    counts = [1, 70, 200, 64]
    labels = np.repeat(np.arange(4), counts)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    X = rng.standard_normal((len(labels), 2 * WIDTH)).astype(dtype)
    queries = rng.permutation(len(labels))[:40].astype(np.int64)
    total, inside, nearest = np.zeros(40), np.zeros(40), np.full(40, np.inf)
    for first, last in ((0, 101), (101, len(labels))):  # a cluster may be cut anywhere
        mean_distances(X, queries, labels[queries], offsets, first, last, total, inside, nearest, 0, 40)
    truth = np.array([reference.mean_distances(X, labels, i) for i in queries])
    rtol = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(inside, truth[:, 0], rtol=rtol)
    np.testing.assert_allclose(nearest, truth[:, 1], rtol=rtol)
    assert not total.any()


@pytest.mark.parametrize("m", [1, 3, 8, 16, 17, 80])
def test_rows_are_the_reference(rng, dtype, m):
    X, labels = blobs(rng, 300, m, 4, dtype)
    labels[:5] = 7  # names need not be 0, 1, 2
    rtol = 2e-4 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(silhouette_rows(X, labels), reference.silhouettes(X, labels), rtol=rtol, atol=rtol)


def test_sklearn_agrees_and_float32_far_from_zero_keeps_its_digits(rng):
    from sklearn.metrics import silhouette_samples

    X, labels = blobs(rng, 500, 5, 6)
    np.testing.assert_allclose(silhouette_rows(X, labels), silhouette_samples(X, labels), atol=1e-7)
    shifted = (X + 1000).astype(np.float32)
    exact = reference.silhouettes(shifted, labels)
    np.testing.assert_allclose(silhouette_rows(shifted, labels), exact, atol=1e-5)


def test_sparse_is_dense(rng):
    X, labels = blobs(rng, 200, 30, 3)
    X[rng.random(X.shape) < 0.7] = 0
    np.testing.assert_allclose(silhouette_rows(sp.csr_array(X), labels), reference.silhouettes(X, labels), atol=1e-7)


@pytest.mark.parametrize("m", [6, 100])
def test_threads_agree_to_the_bit(rng, two_threads, dtype, m):
    X, labels = blobs(rng, 3 * TILE, m, 5, dtype)
    one, two = two_threads(lambda: silhouette_rows(X, labels))
    np.testing.assert_array_equal(one, two)


def test_noise_rows_are_as_if_they_were_not_there(rng):
    X, labels = blobs(rng, 120, 3, 3)
    labels[::4] = -1
    kept = labels >= 0
    rows = silhouette_rows(X, labels)
    assert not rows[~kept].any()
    np.testing.assert_allclose(rows[kept], reference.silhouettes(X[kept], labels[kept]), atol=1e-12)
    assert silhouette(X, labels) == pytest.approx(rows[kept].mean())


def test_a_sample_is_near_the_whole_and_repeats(rng):
    X, labels = blobs(rng, 2000, 4, 5)
    whole = silhouette(X, labels)
    sampled = silhouette(X, labels, 400, random_state=3)
    spread = silhouette_rows(X, labels).std() / 400**0.5
    assert abs(sampled - whole) < 5 * spread and sampled != whole
    assert sampled == silhouette(X, labels, 400, random_state=3)
    assert silhouette(X, labels, 5000) == whole


@pytest.mark.parametrize("m", [4, 90])
def test_memory_grows_with_rows_not_with_their_square(rng, m):
    X, labels = blobs(rng, 6000, m, 3, np.float32)
    silhouette(X[:300], labels[:300])
    tracemalloc.start()
    silhouette(X, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6000 * 6000 * 8 / 4  # a quarter of the distances


@pytest.mark.parametrize(
    ("X", "labels", "answer"),
    [
        ([[1.0], [1.0], [1.0]], [0, 1, 1], 0.0),  # duplicates only
        ([[1.0], [2.0]], [0, 0], 0.0),  # one cluster
        ([[1.0], [2.0]], [0, 1], 0.0),  # everybody alone
        ([[1.0]], [0], 0.0),
    ],
)
def test_degenerate_clusterings_have_silhouette_zero(X, labels, answer):
    assert silhouette(X, labels) == answer


def test_what_is_refused(rng):
    X = rng.standard_normal((5, 2))
    with pytest.raises(ValueError, match="labels must hold one label"):
        silhouette(X, [0, 1])
    with pytest.raises(ValueError, match="no cluster"):
        silhouette(X, [-1] * 5)
    with pytest.raises(ValueError, match="sample"):
        silhouette(X, [0, 0, 1, 1, 1], 0)
    with pytest.raises(ValueError, match="NaN"):
        silhouette(np.full((3, 2), np.nan), [0, 1, 1])
    with pytest.raises(ValueError, match="overflow"):
        silhouette(np.full((3, 2), 1e30, np.float32), [0, 1, 1])


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-1, 3)), min_size=2, max_size=25))
def test_any_small_table_equals_the_reference(points):
    X, labels = np.array([[float(p)] for p, _ in points]), np.array([c for _, c in points])
    if (labels == -1).all():
        labels[0] = 0
    rows = silhouette_rows(X, labels)
    np.testing.assert_allclose(rows, reference.silhouettes(X, labels), atol=1e-12)
    assert (np.abs(rows) <= 1).all()


@pytest.mark.parametrize("dtype, scale", [(np.float32, 2.0**-90), (np.float64, 2.0**-600)])
@pytest.mark.parametrize("m", [3, 90])
def test_a_table_of_any_scale_has_the_same_silhouette(rng, dtype, scale, m):
    X, labels = blobs(rng, 60, m, 3, dtype)
    tiny = X * dtype(scale)
    wanted = silhouette(X, labels)
    assert wanted > 0.3 and silhouette(tiny, labels) == pytest.approx(wanted, rel=1e-5)
    assert silhouette(sp.csr_array(tiny), labels) == pytest.approx(wanted, rel=1e-5)
