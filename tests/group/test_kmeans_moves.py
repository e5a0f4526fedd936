"""Swaps of centres: kernels against their twins, what is proposed, and that a bad start is mended."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unweave
from tests.reference import lloyd_moves as slow
from unweave.group import kmeans_moves as moves
from unweave.group import kmeans_settle, repair
from unweave.kernels.kmeans_moves import removal_costs, split_gains


@pytest.fixture
def lloyd(monkeypatch):
    """Small tables treated as large ones are: by Lloyd and swaps."""
    monkeypatch.setattr(kmeans_settle, "_MOST", 0)


def grid(side=5, each=40, spread=0.08, seed=0, dtype=np.float64):
    """Points about the crossings of a grid, and the crossings."""
    rng = np.random.default_rng(seed)
    middles = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2).astype(dtype)
    return (np.repeat(middles, each, axis=0) + spread * rng.standard_normal((each * side**2, 2))).astype(dtype), middles


@pytest.mark.parametrize("d", [1, 3, 40])
def test_kernels_equal_their_twins(dtype, d, rng):
    sizes = [30, 1, 2, 17, 0, 50]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    X = (rng.standard_normal((100, d)) + 4 * rng.integers(2, size=(100, 1))).astype(dtype)
    X[bounds[2] : bounds[3]] = 1.0
    weights, centres = rng.random(100) + 0.1, rng.standard_normal((6, d))
    near = np.array([[(j + 1) % 6, (j + 2) % 6] for j in range(6)])
    gains, costs, pairs = np.full(6, -1.0), np.full(6, -1.0), np.zeros((6, 2, d))
    split_gains(X, weights, bounds, pairs, gains, np.empty(100, np.int8), 0, 6)
    removal_costs(X, weights, bounds, centres, near, costs, 0, 6)
    for j, (begin, end) in enumerate(pairwise(bounds)):
        rows, heavy = X[begin:end], weights[begin:end]
        if end - begin > 1:
            gain, pair = slow.split_gain(rows, heavy)
            np.testing.assert_allclose(gains[j], gain, rtol=1e-6)
            if pair is not None:
                np.testing.assert_allclose(pairs[j], pair, rtol=1e-6, atol=1e-6)
        else:
            assert gains[j] == 0
        expected = slow.removal_cost(rows, heavy, centres, j, near[j]) if end > begin else 0.0
        np.testing.assert_allclose(costs[j], expected, rtol=1e-9, atol=1e-9)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(1, 9), st.booleans())
def test_a_sample_stands_for_its_clusters(labels, most, weighted):
    labels = np.array(labels, np.int32)
    weights = np.arange(len(labels)) % 3.0 if weighted else None
    rows, scaled, bounds = moves.sample_rows(labels, weights, 4, most)
    full = np.ones(len(labels)) if weights is None else weights
    assert len(np.unique(rows)) == len(rows) == len(scaled) == bounds[-1]
    for j in range(4):
        part = slice(bounds[j], bounds[j + 1])
        assert (labels[rows[part]] == j).all() and bounds[j + 1] - bounds[j] <= most
        np.testing.assert_allclose(scaled[part].sum(), full[labels == j].sum())


def test_the_swap_that_is_missing_is_found_first():
    X, middles = grid(3)
    centres = middles.copy()
    centres[0] = centres[8] + [0.05, 0.0]  # nothing at the first crossing, two at the last
    labels = ((X[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    rows, weights, bounds = moves.sample_rows(labels, None, 9, 100)
    found = moves.find_moves(moves.Sample(X[rows], weights, bounds), centres)
    best = moves.swaps(found, len(X))[0]
    assert best.removed[0] in (0, 8) and best.split[0] in (1, 3) and best.promise > 0
    new = moves.swapped(centres, found, best)
    assert np.abs(new - middles[0]).sum(axis=1).min() < 0.2


@pytest.mark.parametrize("init", ["random", "partition", "farthest", "k-means++"])
@pytest.mark.parametrize("size", ["small", "large"])
def test_a_bad_start_is_mended(init, size, dtype, request):
    X, middles = grid(dtype=dtype)
    if size == "large":
        request.getfixturevalue("lloyd")
    for seed in range(5):
        model = unweave.KMeans(25, init=init, random_state=seed).fit(X)
        gaps = ((model.cluster_centers_[:, None] - middles) ** 2).sum(axis=2)
        assert gaps.min(axis=0).max() < 0.01 and gaps.min(axis=1).max() < 0.01
        assert (np.diff(model.history_.objective) <= 1e-12).all()
        assert model.cluster_centers_.dtype == dtype
        assert np.array_equal(model.labels_, model.predict(X))
    assert "swaps" in model.plan_.solver


def test_given_centres_are_repaired_only_when_asked():
    X, middles = grid(3)
    start = middles.copy()
    start[0] = start[8] + 0.05
    left = unweave.KMeans(9, init=start).fit(X)
    mended = unweave.KMeans(9, init=start, repair=True).fit(X)
    assert mended.inertia_ < 0.2 * left.inertia_
    assert unweave.KMeans(9, repair=False).fit(X).plan_.solver == "Lloyd"
    with pytest.raises(ValueError, match="repair="):
        unweave.KMeans(9, repair="often").fit(X)


@pytest.mark.parametrize("kind", ["sparse", "holes", "weights"])
def test_other_tables_are_mended_too(kind, lloyd):
    import scipy.sparse as sp

    X, middles = grid(4, each=30)
    weights = np.ones(len(X))
    table, missing = X + 1, None
    if kind == "sparse":
        table = sp.csr_array(table)
    if kind == "holes":
        table[::7, 0], missing = np.nan, "nan"
    if kind == "weights":
        table, weights = np.vstack([table, 50 + 10 * table]), np.append(weights, np.zeros(len(X)))
    for seed in range(3):
        model = unweave.KMeans(16, init="random", missing=missing, random_state=seed).fit(table, sample_weight=weights)
        gaps = ((model.cluster_centers_[:, None] - middles - 1) ** 2).sum(axis=2)
        assert gaps.min(axis=0).max() < 0.05, (kind, seed)


def test_same_bits_on_one_and_two_threads(lloyd, two_threads):
    X, _ = grid(6, each=300, dtype=np.float32)
    first, second = two_threads(lambda: unweave.KMeans(36, init="random", random_state=3).fit(X))
    assert first.cluster_centers_.tobytes() == second.cluster_centers_.tobytes()
    assert first.history_.objective.tolist() == second.history_.objective.tolist()


def test_a_fit_killed_in_a_repair_goes_on(lloyd, tmp_path):
    X, _ = grid(5)
    whole = unweave.KMeans(25, init="random", random_state=1).fit(X)

    class Killed(Exception):
        pass

    def die(progress):
        if progress.iteration == whole.n_iter_ - 3:
            raise Killed

    path = tmp_path / "fit.unweave"
    with pytest.raises(Killed):
        unweave.KMeans(25, init="random", random_state=1, callback=die, checkpoint=path).fit(X)
    again = unweave.KMeans(25, init="random", random_state=1, checkpoint=path).fit(X)
    assert again.cluster_centers_.tobytes() == whole.cluster_centers_.tobytes() and again.n_iter_ == whole.n_iter_


def test_two_repairs_that_pay_less_than_tol_are_enough(lloyd, monkeypatch, rng):
    X = rng.standard_normal((1500, 12)).astype(np.float32)
    plain = unweave.KMeans(30, tol=1e-3, repair=False).fit(X)
    mended = unweave.KMeans(30, tol=1e-3).fit(X)
    monkeypatch.setattr(repair, "_MEAGRE", 10**9)
    longest = unweave.KMeans(30, tol=1e-3).fit(X)
    assert mended.n_iter_ < longest.n_iter_
    assert longest.objective_ <= mended.objective_ < plain.objective_
    assert mended.objective_ < 1.02 * longest.objective_


def test_a_repair_that_pays_is_followed_by_another(monkeypatch):
    tried = []
    scheme = repair.Repaired(SimpleNamespace(left=None, means=None), None, None, 3, 1e-4)
    monkeypatch.setattr(scheme, "_better", lambda state: tried.append(state) or {"value": state["value"] * 0.9})
    start = {"value": 100.0, "calm": True, "repaired": False, "mark": np.inf, "meagre": 0}
    state, value = scheme.step(start)
    assert value == 90.0 and state["mark"] == 100.0 and state["meagre"] == 0
    once, _ = scheme.step({**start, "mark": 100.001})
    assert once["meagre"] == 1 and len(tried) == 2
    twice, value = scheme.step({**start, "mark": 100.001, "meagre": 1})
    assert twice["repaired"] and value == 100.0 and len(tried) == 2
