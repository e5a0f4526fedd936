"""Stability and the distance between clusterings: scale, chance, transfer of labels, relabelling, perturbations."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unweave
from tests.tables import around
from unweave.select import Stability, clustering_distance, stability
from unweave.select.stability import chance_normalised


def blobs(rng, centres=((0, 0), (6, 0), (0, 6)), n=40):
    return around(rng, centres, n)


def test_chance_is_simulated_with_the_relabelling():
    rng = np.random.default_rng(0)
    for k in (2, 5):
        labels = [rng.integers(k, size=500) for _ in range(2)]
        assert clustering_distance(*labels) < 1 - 1 / k  # the formula without the minimum would see stability here
        assert abs(chance_normalised(*labels, rng)) < 0.05
    unequal = [(rng.random(500) < 0.05).astype(int) for _ in range(2)]
    assert abs(chance_normalised(*unequal, rng)) < 0.1


def test_the_same_clusters_have_stability_one_and_one_cluster_zero(rng):
    a = rng.integers(3, size=60)
    assert chance_normalised(a, (a + 1) % 3, rng) == 1.0
    assert chance_normalised(np.zeros(9, int), np.zeros(9, int), rng) == 0.0


@pytest.mark.parametrize("perturb", ["halves", "bootstrap", "noise"])
def test_clusters_that_are_there_are_the_most_stable(rng, perturb):
    curve = stability(unweave.KMeans(), blobs(rng), range(1, 7), perturb=perturb, n_repeats=6)
    assert curve.best == 3 and curve.scores[3] > 0.97
    assert curve.scores[1] == 0.0 and curve.scores[6] < 0.9
    assert set(curve.errors) == set(curve.scores)


def test_the_last_peak_near_the_highest_is_picked():
    ks = np.arange(1, 8)
    assert Stability().pick(ks, np.array([0, 1, 0.7, 0.99, 0.985, 0.6, 0.5])) == 4
    assert Stability().pick(ks, np.array([0, 1, 0.7, 0.9, 0.985, 0.6, 0.5])) == 5
    assert Stability().pick(ks, np.array([0, 1, 1, 0.8, 0.9, 0.6, 0.5])) == 3
    assert Stability().pick(ks, np.array([0, -0.1, -0.2, -0.1, -0.3, -0.2, -0.2])) == 1
    assert Stability().pick(ks, np.zeros(7)) == 1


@pytest.mark.parametrize("transfer", ["auto", "nearest-neighbour", "nearest-centroid"])
def test_models_without_predict_carry_labels_by_a_classifier(rng, transfer):
    from sklearn.cluster import AgglomerativeClustering

    curve = stability(AgglomerativeClustering(), blobs(rng), range(2, 6), transfer=transfer, n_repeats=4)
    assert curve.best == 3 and curve.scores[3] == pytest.approx(1, abs=0.05)


def test_its_own_number_when_none_is_given(rng):
    assert list(stability(unweave.KMeans(3), blobs(rng), n_repeats=2).scores) == [3]


def test_one_group_says_nothing_for_more(rng):
    curve = stability(unweave.KMeans(), rng.standard_normal((80, 5)), range(2, 6), n_repeats=5)
    assert max(curve.scores.values()) < 0.9


def test_holes_and_sparse_tables(rng):
    import scipy.sparse as sp

    X = blobs(rng)
    assert stability(unweave.KMeans(3), sp.csr_array(X), n_repeats=2).scores[3] > 0.9
    X[::9, 0] = np.nan
    for perturb in ("halves", "noise"):
        model = unweave.KMeans(3, missing="nan")
        assert stability(model, X, n_repeats=2, perturb=perturb).scores[3] > 0.8


def test_what_is_refused(rng):
    import scipy.sparse as sp

    X = blobs(rng)
    with pytest.raises(ValueError, match="perturb='shake' is not known"):
        Stability(perturb="shake")
    with pytest.raises(ValueError, match="transfer"):
        Stability(transfer="guess")
    with pytest.raises(ValueError, match="n_repeats"):
        Stability(n_repeats=0)
    with pytest.raises(ValueError, match="dense"):
        stability(unweave.KMeans(2), sp.csr_array(X), perturb="noise")
    with pytest.raises(TypeError, match="no labels"):
        stability(unweave.PCA(2), X)
    with pytest.raises(ValueError, match="n_clusters"):
        stability(unweave.KMeans(), X[:4], [3])  # halves of two rows


def test_numbers_far_from_stable_and_large_tables_cost_little(rng):
    """Two pairs tell enough of a number that is not found again, and some hundred rows of a table of many."""
    seen = []

    class Watched(unweave.KMeans):
        def fit(self, X, y=None, sample_weight=None):
            seen.append((self.n_clusters, len(X)))
            return super().fit(X)

    X = np.concatenate([rng.normal(c, 0.5, size=(1000, 2)) for c in ((0, 0), (6, 0), (0, 6))])
    curve = stability(Watched(), X, [3, 8], threads=1)
    assert curve.best == 3 and curve.scores[3] > 0.97 and curve.scores[8] < 0.75
    assert [k for k, _ in seen].count(3) == 10 and [k for k, _ in seen].count(8) == 4
    assert max(n for _, n in seen) == 300
    seen.clear()
    stability(Watched(), X, [40], threads=1, n_repeats=1)
    assert seen == [(40, 800), (40, 800)]


LABELS = st.integers(1, 9).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 3))


def brute(a, b):
    """Over all injections of the labels of b into those of a and four spare ones."""
    names_a, names_b = [*set(a), *"wxyz"], list(set(b))
    agree = max(
        sum(x == dict(zip(names_b, chosen))[y] for x, y in zip(a, b))
        for chosen in itertools.permutations(names_a, len(names_b))
    )
    return 1 - agree / len(a)


@given(LABELS)
def test_it_is_the_best_of_all_relabellings_and_a_distance(three):
    a, b, c = three
    d = clustering_distance
    assert d(a, b) == pytest.approx(brute(a, b))
    assert d(a, b) == pytest.approx(d(b, a))
    assert d(a, c) <= d(a, b) + d(b, c) + 1e-12
    assert 0 <= d(a, b) < 1


def test_one_moved_point_counts_once():
    a = np.repeat([0, 1], 5)
    b = a.copy()
    b[0] = 1
    assert clustering_distance(a, b) == pytest.approx(0.1)


def test_labels_without_a_partner_disagree():
    assert clustering_distance([0, 0, 0, 0], [0, 0, 0, 1]) == pytest.approx(0.25)
    assert clustering_distance(range(4), [0] * 4) == pytest.approx(0.75)


@pytest.mark.parametrize(
    "b",
    [
        [4, 4, -1, 9],
        np.array([4, 4, np.nan, 9]),
        ["u", "u", None, "v"],
        np.ma.array([4, 4, 5, 9], mask=[0, 0, 1, 0]),
    ],
    ids=["minus one", "nan", "none", "masked"],
)
def test_points_missing_on_one_side_are_left_out(b):
    assert clustering_distance([0, 0, 0, 1], b) == 0.0
    assert clustering_distance(b, [0, 1, 0, 2]) == pytest.approx(1 / 3)


def test_labels_that_cannot_be_compared_are_refused():
    with pytest.raises(ValueError, match="same points"):
        clustering_distance([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="in common"):
        clustering_distance([0, -1], [-1, 0])
    with pytest.raises(ValueError, match="at least one"):
        clustering_distance([], [])
    with pytest.raises(ValueError, match="one label for each point"):
        clustering_distance([[0, 1]], [[0, 1]])
    with pytest.raises(TypeError, match="labels"):
        clustering_distance([1j, 2], [0, 1])
