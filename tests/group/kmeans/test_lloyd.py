"""Accelerated Lloyd against the plain one: the same labels, an exact objective, the same bits on any threads."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import lloyd as slow
from unweave import parallel
from unweave.group.kmeans.lloyd import Lloyd, assign
from unweave.group.kmeans.passes import PassChoice, choose_pass
from unweave.group.kmeans.start import farthest_first, kmeans_plus_plus, random_rows
from unweave.kernels import lloyd as kernels

DTYPES = [np.float32, np.float64]


def clumps(n, d, k, seed, dtype, spread=1.0, shift=0.0):
    rng = np.random.default_rng(seed)
    middles = 3.0 * rng.standard_normal((k, d))
    return (middles[rng.integers(k, size=n)] + spread * rng.standard_normal((n, d)) + shift).astype(dtype)


def check_labels(X, centres, labels, rounding=0.0):
    """Every label is nearest, up to the rounding of a distance in the dtype of X, or that of a cluster left empty."""
    squares = slow.squared_distances(X, centres)
    chosen = squares[np.arange(len(X)), labels]
    scale = np.finfo(X.dtype).eps * np.sqrt(X.shape[1])
    near = chosen <= squares.min(axis=1) * (1 + 8 * scale) + rounding
    empty = np.setdiff1d(np.arange(len(centres)), squares.argmin(axis=1))
    assert np.isin(labels[~near], empty).all() and len(np.unique(labels[~near])) == (~near).sum()


def follow(X, k, start, weights=None, steps=60, scheme=None):
    """Run to convergence; after each step check labels, centres and objective against the plain formulas."""
    w = np.ones(len(X)) if weights is None else weights
    scheme = scheme or Lloyd(X, k, weights)
    state, former = scheme.state_at(start), np.inf
    tolerance = 50 * np.finfo(X.dtype).eps
    for _ in range(steps):
        before = state["centres"].copy()
        state, value = scheme.step(state)
        check_labels(X, before, state["labels"])
        filled = np.bincount(state["labels"], weights=w, minlength=k) > 0
        labels = state["labels"]
        sums = np.zeros((k, X.shape[1]))
        np.add.at(sums, labels, w[:, None] * X.astype(np.float64))
        means = sums[filled] / np.bincount(labels, weights=w, minlength=k)[filled, None]
        np.testing.assert_allclose(state["centres"][filled], means, rtol=tolerance, atol=tolerance * np.abs(X).max())
        np.testing.assert_allclose(value, slow.objective(X, w, state["centres"], labels), rtol=1e-8, atol=1e-300)
        assert value <= former * (1 + 1e-6) + (tolerance * np.abs(X).max()) ** 2 * X.size
        former = value
        if scheme.settled(state):
            break
    assert scheme.settled(state)
    return state, value


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 2, 3, 8, 31, 33, 70])
@pytest.mark.parametrize(("k", "spread"), [(2, 0.3), (13, 1.0), (37, 3.0)])
def test_labels_are_those_of_plain_lloyd(dtype, d, k, spread):
    X = clumps(700, d, 9, seed=d + k, dtype=dtype, spread=spread)
    follow(X, k, random_rows(X, k, np.random.default_rng(k)), steps=200)


@pytest.mark.parametrize("d", [5, 50])
def test_whole_run_equals_plain_lloyd(d):
    for seed in range(6):
        X = clumps(400, d, 6, seed, np.float64)
        start = kmeans_plus_plus(X, 8, np.random.default_rng(seed))
        scheme, centres = Lloyd(X, 8), start
        state = scheme.state_at(start)
        for _ in range(12):
            labels, centres = slow.lloyd_step(X, np.ones(400), centres)
            state, _ = scheme.step(state)
            np.testing.assert_array_equal(state["labels"], labels)
            np.testing.assert_allclose(state["centres"], centres, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 5, 20])
def test_groups_of_centres_give_the_same_labels(dtype, groups, monkeypatch):
    X = clumps(900, 40, 15, seed=groups, dtype=dtype, spread=2.0)
    monkeypatch.setattr(
        "unweave.group.kmeans.lloyd.choose_pass", lambda n, d, k: PassChoice("high", groups, "as the test says")
    )
    scheme = Lloyd(X, 45)
    assert scheme.state_at(X[:45])["group"].max() == groups - 1
    follow(X, 45, X[:45], scheme=scheme, steps=100)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [4, 60])
def test_weights(dtype, d):
    X = clumps(500, d, 5, seed=3, dtype=dtype)
    weights = np.random.default_rng(0).integers(0, 4, 500).astype(np.float64)
    state, value = follow(X, 7, X[weights > 0][:7], weights)
    whole, same = follow(np.repeat(X, weights.astype(int), axis=0), 7, X[weights > 0][:7])
    np.testing.assert_array_equal(np.repeat(state["labels"], weights.astype(int)), whole["labels"])
    np.testing.assert_allclose(value, same, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [6, 48])
@pytest.mark.parametrize("shift", [30.0, 1000.0])
def test_large_mean(dtype, d, shift):
    X = clumps(500, d, 5, seed=1, dtype=dtype, shift=shift)
    scheme = Lloyd(X, 9)
    assert scheme.shift.any()
    w, state = np.ones(500), scheme.state_at(X[:9])
    for _ in range(8):
        before = state["centres"]
        state, value = scheme.step(state)
        check_labels(X, before, state["labels"], 100 * np.finfo(dtype).eps * shift)
        np.testing.assert_allclose(
            value, slow.objective(X, w, state["centres"], state["labels"]), rtol=50 * np.finfo(dtype).eps * shift
        )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 3, 40])
def test_edges(dtype, d):
    X = clumps(60, d, 4, seed=2, dtype=dtype)
    state, _ = follow(X, 1, X[:1])
    np.testing.assert_allclose(state["centres"][0], X.mean(axis=0, dtype=np.float64), rtol=1e-5, atol=1e-6)
    state, value = follow(X, 60, X)
    assert value == 0.0 and sorted(state["labels"]) == list(range(60))
    same = np.repeat(X[:2], 15, axis=0)
    state, value = follow(same, 6, same[10:16])
    assert value <= 1e-10 and np.isfinite(state["centres"]).all()
    same = np.ones((12, d), dtype)
    state, value = follow(same, 5, same[:5])
    assert value == 0.0 and np.isfinite(state["centres"]).all()


@pytest.mark.parametrize("d", [2, 40])
def test_empty_clusters_take_the_farthest_rows(d):
    X = clumps(300, d, 3, seed=5, dtype=np.float32)
    start = np.concatenate([X[:3], np.full((4, d), 1e4, np.float32)])
    scheme = Lloyd(X, 7)
    state, _ = scheme.step(scheme.state_at(start))
    squares = slow.squared_distances(X, start)
    nearest = squares.argmin(axis=1)
    farthest = np.argsort(-squares.min(axis=1), kind="stable")[:4]
    assert nearest.max() == 2
    assert sorted(state["labels"][farthest]) == [3, 4, 5, 6]
    np.testing.assert_array_equal(state["centres"][3:], X[farthest])
    while not scheme.settled(state):
        before = state["centres"]
        state, _ = scheme.step(state)
        check_labels(X, before, state["labels"])
    assert np.bincount(state["labels"], minlength=7).min() > 0


@pytest.mark.parametrize("d", [7, 64])
def test_same_bits_on_one_and_two_threads_and_after_a_rest(d):
    X = clumps(9000, d, 20, seed=7, dtype=np.float32, spread=2.0)
    runs = []
    for threads in (1, 2):
        former = parallel.set_num_threads(threads)
        try:
            with parallel.single_blas():
                scheme, states = Lloyd(X, 25), []
                state = scheme.state_at(kmeans_plus_plus(X, 25, np.random.default_rng(1)))
                for i in range(12):
                    if i == 6 and threads == 2:  # as if written to disk and read again elsewhere
                        scheme = Lloyd(X, 25)
                        state = {name: np.copy(v) if isinstance(v, np.ndarray) else v for name, v in state.items()}
                    state, value = scheme.step(state)
                    states.append((state["centres"], state["labels"], value))
        finally:
            parallel.set_num_threads(former)
        runs.append(states)
    for (centres, labels, value), (centres_2, labels_2, value_2) in zip(*runs, strict=True):
        assert centres.tobytes() == centres_2.tobytes() and labels.tobytes() == labels_2.tobytes() and value == value_2


@pytest.mark.parametrize("d", [7, 64])
def test_a_step_from_an_older_state_is_right(d):
    X = clumps(800, d, 8, seed=8, dtype=np.float64, spread=2.0)
    scheme = Lloyd(X, 12)
    first, _ = scheme.step(scheme.state_at(X[:12]))
    second, value = scheme.step(first)
    third = second
    for _ in range(5):
        third, _ = scheme.step(third)
    again, value_again = scheme.step(first)
    np.testing.assert_array_equal(again["labels"], second["labels"])
    assert value_again == value
    follow(X, 12, first["centres"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("d", [1, 6, 32, 33, 90])
def test_assign(dtype, d):
    X, centres = clumps(500, d, 8, 1, dtype), clumps(21, d, 8, 2, dtype)
    labels, squares = assign(X, centres)
    assert labels.dtype == np.int32 and squares.dtype == dtype
    check_labels(X, centres, labels)
    np.testing.assert_allclose(squares, slow.squared_distances(X, centres).min(axis=1), rtol=1e-5)
    for part in (slice(0, 1), slice(3, 40)):
        few, few_squares = assign(X[part], centres)
        np.testing.assert_array_equal(few, labels[part])
        np.testing.assert_allclose(few_squares, squares[part], rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("k", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("d", [1, 4, 9])
def test_a_first_pass_knows_the_nearest_and_the_next(dtype, k, d):
    """However many centres there are (the kernel takes them two by two), and the first of equal ones."""
    X = clumps(600, d, k, 5, dtype)
    centres = X[:k].copy()
    centres[k // 2 :] = centres[: k - k // 2]  # the second half repeats the first
    scheme = Lloyd(X, k)
    state = scheme.state_at(centres)
    labels = scheme.rows.labels(state, centres, state["labels"])
    squares = slow.squared_distances(X, centres)
    ordered = np.sqrt(np.sort(squares, axis=1))
    assert np.array_equal(labels, squares.argmin(axis=1))
    np.testing.assert_allclose(state["upper"], ordered[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(state["lower"], ordered[:, 1] if k > 1 else np.inf, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kernels_equal_their_twins(dtype):
    X = clumps(150, 10, 4, seed=4, dtype=dtype)
    rng = np.random.default_rng(0)
    weights, old = rng.random(150), rng.integers(-1, 5, 150, dtype=np.int32)
    new = rng.integers(5, size=150, dtype=np.int32)
    sums, counts = rng.random((5, 10)), rng.random(5)
    expected = slow.move_sums(X, weights, old, new, sums, counts)
    changed = kernels.move_sums(X, weights, 1, old, new, sums, counts, 0, 150)
    assert changed == (old != new).sum()
    np.testing.assert_allclose(sums, expected[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(counts, expected[1], rtol=1e-9, atol=1e-9)

    squares = np.empty(150)
    kernels.own_squares(X, X[:5], new, squares, 0, 150)
    np.testing.assert_allclose(squares, slow.squared_distances(X, X[:5])[np.arange(150), new], rtol=1e-12)
    kernels.row_squares(X, squares, 0, 150)
    np.testing.assert_allclose(squares, (X.astype(np.float64) ** 2).sum(axis=1), rtol=1e-12)

    centres = X[:3]
    all_squares = slow.squared_distances(X, centres)
    closest, owner = all_squares.min(axis=1).astype(dtype), all_squares.argmin(axis=1).astype(np.int32)
    apart = slow.squared_distances(X[20:24], centres) * (1 - 1e-4)
    trial, potentials = np.empty((4, 150), dtype), np.empty(4)
    kernels.seed_pass(X, X[20:24], apart, owner, closest, weights, 1, trial, potentials, 0, 150)
    expected = slow.seed_pass(X, X[20:24], closest.astype(np.float64), weights)
    np.testing.assert_allclose(trial, expected[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(potentials, expected[1], rtol=1e-5)
    kernels.seed_accept(trial[1], closest, owner, 3, 0, 150)
    np.testing.assert_array_equal(closest, trial[1])
    assert (owner[20:24] == slow.squared_distances(X[20:24], np.vstack([centres, X[21:22]])).argmin(axis=1)).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("start", [kmeans_plus_plus, farthest_first, random_rows])
def test_starts(start, dtype):
    X = clumps(2000, 12, 10, seed=6, dtype=dtype, spread=0.05)
    centres = start(X, 10, np.random.default_rng(0))
    assert centres.dtype == dtype and centres.shape == (10, 12)
    rows = slow.squared_distances(X, centres).argmin(axis=0)
    np.testing.assert_array_equal(X[rows], centres)
    if start is not random_rows:
        assert slow.squared_distances(X, centres).min(axis=1).max() < 2.0
    everything = start(X[:15], 15, np.random.default_rng(0))
    np.testing.assert_array_equal(np.unique(everything, axis=0), np.unique(X[:15], axis=0))
    assert (start(np.ones((8, 3), dtype), 4, np.random.default_rng(0)) == 1).all()
    assert len(start(X, 1, np.random.default_rng(0))) == 1
    with pytest.raises(ValueError, match="between 1 and the number of rows"):
        start(X[:3], 4, np.random.default_rng(0))


def test_starts_heed_weights_and_threads():
    X = clumps(70_000, 6, 10, seed=6, dtype=np.float32)
    weights = np.zeros(70_000)
    weights[100:130] = 1.0
    for start in (kmeans_plus_plus, random_rows):
        centres = start(X, 20, np.random.default_rng(0), weights)
        assert slow.squared_distances(centres, X[100:130]).min(axis=1).max() == 0.0
    answers = []
    for threads in (1, 2):
        former = parallel.set_num_threads(threads)
        answers.append(kmeans_plus_plus(X, 20, np.random.default_rng(2)))
        parallel.set_num_threads(former)
    assert answers[0].tobytes() == answers[1].tobytes()


def test_choice_and_refusals():
    assert choose_pass(10**6, 16, 64).method == "low"
    assert choose_pass(60_000, 784, 100).groups == 100
    many = choose_pass(10**7, 100, 1000)
    assert 1 <= many.groups < 1000 and "groups of centres" in many.why
    X = np.ones((3, 2))
    with pytest.raises(TypeError, match="float32 or float64"):
        Lloyd(X.astype(int), 2)
    with pytest.raises(ValueError, match="n_clusters"):
        Lloyd(X, 4)
    with pytest.raises(ValueError, match="sample_weight"):
        Lloyd(X, 2, np.zeros(3))
    with pytest.raises(ValueError, match="centres must be 2 by 2"):
        Lloyd(X, 2).state_at(X)
