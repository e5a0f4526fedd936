"""Ridges chosen on held-out pairs of the table itself, by ImplicitALS and EASE."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import unweave
from unweave.complete.implicit.held_out_pairs import HeldOut, peak, worse
from unweave.complete.implicit.item_weights import co_occurrence, users_per_pair
from unweave.complete.implicit.scheme import Interactions
from unweave.complete.implicit.search import Search, choose_ridge, noise, search_ridges
from unweave.judge import ndcg_at


def tastes(n=900, m=200, mean=30, k=6, strength=1.5, seed=0, dtype=np.float32) -> sp.csr_array:
    """Planted tastes, fame by a power law, people of unequal activity."""
    rng = np.random.default_rng(seed)
    score = -0.9 * np.log(10 + np.arange(m)) + strength / np.sqrt(k) * (
        rng.standard_normal((n, k)) @ rng.standard_normal((k, m))
    )
    score += rng.gumbel(size=score.shape)
    counts = np.clip(rng.lognormal(0, 0.7, n) * mean, 5, m // 2).astype(int)
    rank = np.argsort(np.argsort(-score, axis=1), axis=1)
    return sp.csr_array((rank < counts[:, None]).astype(dtype))


def split(X: sp.csr_array, seed: int) -> tuple[sp.csr_array, sp.csr_array]:
    out = np.random.default_rng(seed).random(X.nnz) < 0.2
    pairs = X.tocoo()
    parts = (sp.coo_array((pairs.data[p], (pairs.row[p], pairs.col[p])), shape=X.shape) for p in (~out, out))
    train, test = (sp.csr_array(part) for part in parts)
    return train, test


def found(model, test) -> float:
    return ndcg_at(model, test, 10)


# Three tables that want ridges of very different share of the one that leaves nothing.
@pytest.mark.parametrize(
    ("table", "slack"),
    [({}, 0.02), ({"n": 400, "m": 150, "mean": 12, "strength": 1.0}, 0.05), ({"mean": 60, "strength": 3.0}, 0.02)],
)
def test_implicit_als_is_near_its_own_best_ridge(table, slack):
    train, test = split(tastes(**table), 1)
    auto = unweave.ImplicitALS(32, random_state=0).fit(train)
    assert auto.ridge_path_ and f"NDCG@10 {max(auto.ridge_path_.values()):.4f}" in str(auto.plan_)
    others = [
        found(unweave.ImplicitALS(32, ridge=auto.ridge_ * factor, random_state=0).fit(train), test)
        for factor in (0.25, 0.5, 0.7, 1.4, 2.0, 4.0)
    ]
    assert found(auto, test) >= (1 - slack) * max(others)


def test_ease_is_near_its_own_best_ridge_and_well_ahead_of_popularity():
    train, test = split(tastes(), 1)
    auto = unweave.EASE().fit(train)
    others = [found(unweave.EASE(auto.ridge_ * factor).fit(train), test) for factor in (0.25, 0.5, 2.0, 4.0)]
    assert found(auto, test) >= 0.98 * max(others)
    assert found(auto, test) > 1.1 * found(unweave.judge.Popularity().fit(train), test)
    assert f"{max(auto.ridge_path_.values()):.4f}" in str(auto.plan_)


def test_the_same_ridge_for_every_storage_solver_and_thread(two_threads):
    X = tastes(300, 100, 15)
    wanted = unweave.ImplicitALS(8, random_state=0).fit(X)
    for table in (X.toarray(), sp.csr_matrix(X), X.tocoo()):
        assert unweave.ImplicitALS(8, random_state=0).fit(table).ridge_path_ == wanted.ridge_path_
    for solver in ("cholesky", "cg", "subspace"):
        assert unweave.ImplicitALS(8, solver=solver, random_state=0).fit(X).ridge_ == wanted.ridge_
    one, two = two_threads(lambda: unweave.ImplicitALS(8, random_state=0).fit(X).ridge_path_)
    assert one == two == wanted.ridge_path_
    in_float64 = unweave.ImplicitALS(8, random_state=0).fit(X.astype(np.float64))
    assert in_float64.ridge_ == pytest.approx(wanted.ridge_, rel=0.5)


def test_auto_is_the_fit_with_the_ridge_that_it_found_and_is_saved(tmp_path):
    """It goes on from the items of the search, so it is as far down as the fit from random items, not the same."""
    X = tastes(300, 100, 15)
    auto = unweave.ImplicitALS(8, random_state=3).fit(X)
    given_ = unweave.ImplicitALS(8, ridge=auto.ridge_, random_state=3).fit(X)
    assert auto.objective_ <= given_.objective_ * (1 + 1e-3)
    assert given_.ridge_path_ == {} and given_.ridge_ == auto.ridge_
    twice = unweave.ImplicitALS(8, random_state=3).fit(X)
    np.testing.assert_array_equal(auto.components_, twice.components_)
    again = unweave.load(auto.save(tmp_path / "m.unweave"))
    assert again.ridge_path_ == auto.ridge_path_
    drawn = np.random.default_rng(5)
    unweave.EASE(random_state=drawn).fit(X)
    assert drawn.random() == np.random.default_rng(5).random()  # a generator is not drawn from


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 1.0]))
def test_the_noise_is_about_the_norm_of_noise(seed, power):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(100, 300, 2)
    X = sp.csr_array((rng.random((n, m)) < rng.uniform(0.05, 0.3)).astype(float))
    signs = X.toarray() * rng.choice([-1.0, 1.0], X.shape) * 2.5
    scale = [np.maximum((X.toarray() > 0).sum(axis), 1.0) ** (-power / 2) for axis in (1, 0)]
    norm = np.linalg.norm(scale[0][:, None] * signs * scale[1], 2)
    assert noise(Interactions(X, 1.5, 0.0, power)) == pytest.approx(norm, rel=0.15)


def test_held_out_pairs_are_no_training_pairs_and_all_are_kept(rng):
    X = tastes(500, 120, 10)
    held = HeldOut.of(X, rng)
    assert len(held.users) and (np.diff(held.lost.indptr) > 0).all()
    lost = X - held.train
    assert (lost.data >= 0).all() and 0.08 * X.nnz < X.nnz - held.train.nnz < 0.12 * X.nnz
    assert (held.lost != lost[held.users][:, held.items]).nnz == 0
    assert (held.seen != held.train[held.users][:, held.items]).nnz == 0 and held.seen.multiply(held.lost).nnz == 0
    assert (np.diff(held.train.indptr)[held.users] > 0).all()
    few = held.among(20)
    counts = np.bincount(held.train.indices, minlength=120)
    assert len(few.items) == 20 and counts[few.items].min() >= np.delete(counts, few.items).max()
    perfect = few.lost.toarray()
    assert (few.gains(perfect, np.eye(20)) == 1).all()
    assert HeldOut.of(X[:40], rng) is None  # too few pairs to tell anything


def test_a_wide_table_is_judged_on_what_costs_no_more_than_a_fit(rng):
    X = sp.csr_array(sp.random_array((3000, 50_000), density=2e-4, rng=rng, format="csr"))
    held = HeldOut.of(X, rng)
    assert held is None or len(held.users) * len(held.items) <= max(8 * X.nnz, 1 << 20)


def test_the_peak_is_that_of_a_parabola_in_the_logarithm():
    curve = {ridge: -((np.log(ridge) - np.log(3.0)) ** 2) for ridge in (1.0, 2.0, 4.0, 8.0)}
    assert peak(curve) == pytest.approx(3.0)
    assert peak({1.0: 0.3, 2.0: 0.2}) == 1.0 and peak({1.0: 0.1, 2.0: 0.1, 4.0: 0.1}) in (1.0, 2.0, 4.0)
    assert 2**0.5 <= peak({1.0: 0.0, 2.0: 1.0, 4.0: 0.999}) <= 4.0


def test_worse_means_by_more_than_chance(rng):
    best = rng.random(400)
    assert worse(best - 0.1, best) and not worse(best, best) and not worse(best + 0.1, best)
    assert not worse(best + rng.normal(-0.001, 1, 400), best)


def test_the_search_goes_on_below_its_first_ridge_where_that_is_the_best():
    blocks = np.kron(np.eye(12), np.ones((30, 10)))  # next to no noise: hardly any ridge is wanted
    X = sp.csr_array(blocks * (np.random.default_rng(0).random(blocks.shape) < 0.7), dtype=np.float32)
    objective = Interactions(X, 1.0, 0.0, 0.5)
    choice = choose_ridge(objective, 12, np.random.default_rng(0))
    search = choice.search
    assert isinstance(search, Search) and choice.ridge < objective.vanishing_ridge() / 2
    assert list(search.path) == sorted(search.path) and search.best in search.path


def test_a_sample_of_many_users_finds_about_the_ridge_that_all_of_them_do():
    X = tastes(4000, 120, 12)
    objective = Interactions(X, 1.0, 0.0, 0.5)
    choice = choose_ridge(objective, 16, np.random.default_rng(0))
    assert choice.search.objective.shape[0] < 0.6 * len(X.indptr) and choice.items.shape == (120, 16)
    every = search_ridges(objective, HeldOut.of(X, np.random.default_rng(1)), 16, np.random.default_rng(1))
    assert 0.6 < choice.ridge / peak(every.gains) < 1.4


@pytest.mark.parametrize("density", [0.02, 0.4])
def test_how_many_users_have_both_is_counted_from_sparse_and_from_dense_rows(rng, density):
    X = sp.csr_array(sp.random_array((1500, 40), density=density, rng=rng, format="csr"))
    has = (X.toarray() != 0).astype(float)
    np.testing.assert_array_equal(co_occurrence(X, np.float32), has.T @ has)


def test_where_ease_finds_more_the_plan_says_so():
    """Each item goes with one other: as many factors as items would be needed, and one weight."""
    rng = np.random.default_rng(0)
    first = rng.random((2500, 150)) < 0.12
    X = np.hstack([first, first & (rng.random(first.shape) < 0.9)]).astype(np.float32)
    model = unweave.ImplicitALS(random_state=0).fit(sp.csr_array(X))
    assert "EASE finds held-out pairs better here: NDCG@10" in str(model.plan_)
    assert "EASE" not in str(unweave.ImplicitALS(ridge=1.0).fit(sp.csr_array(X)).plan_)


def test_the_unit_of_the_ridge_follows_the_number_of_users():
    X = tastes(200, 60, 8)
    assert users_per_pair(sp.csr_array(sp.vstack([X, X]))) == pytest.approx(2 * users_per_pair(X))
