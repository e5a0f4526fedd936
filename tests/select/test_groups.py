"""The number of groups when nobody says: balls of all kinds, pieces of any shape, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.select import Groups, choose
from unweave.select.separation import GroupsOf, _Judged, neighbours, pieces


def balls(rng, sizes, spreads=1.0, d=2, apart=7.0):
    """Clusters on the points of a grid."""
    side = int(np.ceil(np.sqrt(len(sizes))))
    middles = np.zeros((len(sizes), d))
    middles[:, 0], middles[:, 1] = apart * (np.arange(len(sizes)) // side), apart * (np.arange(len(sizes)) % side)
    own = np.repeat(np.arange(len(sizes)), sizes)
    return middles[own] + np.broadcast_to(spreads, len(sizes))[own][:, None] * rng.normal(size=(len(own), d))


def rings(rng, radii=(1.0, 4.0), each=200):
    turn = rng.uniform(0, 2 * np.pi, each * len(radii))
    radius = np.repeat(radii, each) + 0.1 * rng.normal(size=len(turn))
    return radius[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])


def bars(rng):
    """Three long parallel bars, side by side."""
    return np.column_stack([rng.uniform(0, 30, 450), np.repeat([0.0, 5.0, 10.0], 150) + 0.3 * rng.normal(size=450)])


PLANTED = {
    "equal": (5, lambda rng: balls(rng, [60] * 5)),
    "uneven": (4, lambda rng: balls(rng, [300, 40, 150, 25])),
    "one of few rows": (3, lambda rng: balls(rng, [200, 200, 12])),
    "unlike": (4, lambda rng: balls(rng, [80] * 4, spreads=[0.3, 1.2, 0.6, 1.0])),
    "many columns": (6, lambda rng: balls(rng, [50] * 6, d=20, apart=12)),
    "thirty": (30, lambda rng: balls(rng, [20] * 30, apart=6)),
    "rings": (2, rings),
    "three rings": (3, lambda rng: rings(rng, (1.0, 4.0, 8.0))),
    "bars": (3, bars),
}


@pytest.mark.parametrize("name", list(PLANTED))
def test_the_number_that_was_planted_is_found(name):
    count, make = PLANTED[name]
    found = [unweave.KMeans("auto").fit(make(np.random.default_rng(seed))).choice_ for seed in range(2)]
    assert [choice.best for choice in found] == [count] * 2
    assert found[0].by == "groups" and "mean silhouette" in found[0].reason


@pytest.mark.parametrize("name", ["uneven", "rings"])
def test_units_origin_order_type_and_storage_do_not_matter(name):
    count, make = PLANTED[name]
    X = make(np.random.default_rng(5))
    tables = [1e6 * X, X - 1000, X[::-1], X.astype(np.float32), sp.csr_array(X)]
    for table in tables:
        assert choose(unweave.KMeans(), table, range(1, 9)).best == count


def test_models_that_follow_shapes_are_asked_the_same():
    X = rings(np.random.default_rng(1))
    assert unweave.Agglomerative("auto", linkage="single").fit(X).choice_.best == 2
    assert unweave.SpectralClustering("auto").fit(X).choice_.best == 2


def test_pieces_are_counted_without_noise(rng):
    X = rings(rng)
    noise = rng.uniform(-20, 20, size=(8, 2))
    assert pieces(neighbours(X, 10)) == pieces(neighbours(np.vstack([X, noise]), 10)) == 2
    assert pieces(neighbours(rng.normal(size=(300, 2)), 10)) == 1
    assert pieces(neighbours(np.zeros((1, 2)), 10)) == 0


def test_the_three_questions():
    ks, none = np.arange(2, 6), np.zeros((0, 1), np.int64)

    def picked(pieces, silhouettes, ratios, kept):
        judged = {int(k): _Judged(*row) for k, row in zip(ks, zip(silhouettes, ratios, kept))}
        return GroupsOf(10, np.arange(1), none, pieces, 1.0, judged).pick(ks, np.array(silhouettes))

    apart = [1.0, 1.0, 1.0, 1.0]
    assert picked(1, [0.7, 0.6, 0.5, 0.4], [9, 8, 7, 6], apart) == 2
    assert picked(1, [0.7, 0.66, 0.5, 0.4], [5, 9, 7, 6], apart) == 3  # silhouettes tie: the ratio decides
    assert picked(1, [0.7, 0.6, 0.5, 0.4], [5, 9, 7, 6], apart) == 2
    assert picked(1, [0.66, 0.7, 0.5, 0.4], [9, 5, 7, 6], apart) == 3  # towards more only
    assert picked(3, [0.2, 0.3, 0.4, 0.5], [5, 6, 7, 8], [0.9, 0.9, 0.8, 0.7]) == 3  # balls cut what belongs together
    assert picked(1, [0.2, 0.3, 0.4, 0.5], [5, 6, 7, 8], [0.9, 0.9, 0.8, 0.7]) == 5
    assert picked(4, [0.7, 0.6, 0.5, 0.4], [9, 8, 7, 6], apart) == 4  # no fewer groups than pieces
    assert picked(9, [0.7, 0.6, 0.5, 0.4], [9, 8, 7, 6], apart) == 2  # more pieces than were tried


def test_it_is_a_criterion_like_others(rng):
    X = balls(rng, [40] * 3)
    choice = choose(unweave.KMeans(), X, range(1, 8), by=Groups(sample=50))
    assert choice.best == 3 and list(choice.scores) == list(range(1, 8)) and choice.scores[1] == 0
    assert choose(unweave.KMeans(), np.ones((12, 2)), range(1, 4)).best in (1, 2, 3)
    with pytest.raises(ValueError, match="sample"):
        choose(unweave.KMeans(), X, range(1, 4), by=Groups(sample=0))
