"""RoleMiner: exact covers, limits, bad input."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import unweave
from tests.reference import roles as reference
from unweave import RoleMiner
from unweave.explain.roles.access import Access
from unweave.explain.roles.core import merge, reduce
from unweave.explain.roles.cover import SearchedCover, concepts, first_cover, maximal_cliques, over_cells
from unweave.linalg.bits import sorted_csr, unpack
from unweave.linalg.roles import near_cells

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def planted(n=60, m=25, k=6, seed=0, per_user=0.3):
    rng = np.random.default_rng(seed)
    roles, users = rng.random((k, m)) < 0.2, rng.random((n, k)) < per_user
    return (users.astype(int) @ roles > 0).astype(float)


def granted(model):
    return model.inverse_transform(model.assignments_)


@pytest.mark.parametrize("seed", range(30))
def test_the_fewest_roles_are_those_of_trying_all(seed):
    X = np.random.default_rng(seed).random((6, 6)) < 0.55
    model = RoleMiner().fit(X.astype(float))
    np.testing.assert_array_equal(granted(model), X)
    assert model.objective_ == reference.fewest_roles(X) == model.certificate_.lower_bound


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, pd.DataFrame])
def test_every_storage_gives_the_same(form):
    X = planted()
    model = RoleMiner().fit(form(X))
    np.testing.assert_array_equal(granted(model), X)
    np.testing.assert_array_equal(model.roles_, RoleMiner().fit(X).roles_)
    np.testing.assert_array_equal(model.transform(form(X)), model.assignments_)


def test_rows_and_columns_may_come_in_any_order_and_twice():
    X, rng = planted(seed=3), np.random.default_rng(0)
    again = np.vstack([X, X[:20]])[rng.permutation(80)][:, rng.permutation(25)]
    again = np.hstack([again, again[:, :5], np.zeros((80, 2))])
    assert RoleMiner().fit(again).objective_ == RoleMiner().fit(X).objective_


def test_one_thread_and_two_give_the_same(two_threads):
    X = (np.random.default_rng(0).random((40, 16)) < 0.5).astype(float)
    one, two = two_threads(lambda: RoleMiner(max_iter=1).fit(X).roles_)
    np.testing.assert_array_equal(one, two)


def test_a_core_too_rich_for_lists_is_searched_and_too_large_is_grown(monkeypatch):
    X = (np.random.default_rng(1).random((14, 12)) < 0.6).astype(float)
    exact = RoleMiner().fit(X)
    monkeypatch.setattr("unweave.explain.roles.miner.maximal_cliques", lambda near: None)
    searched = RoleMiner(max_iter=2).fit(X)
    monkeypatch.setattr("unweave.explain.roles.miner.MOST_CELLS", 0)
    grown = RoleMiner(max_iter=2).fit(X)
    assert (
        "local search" in searched.plan_.solver
        and exact.plan_.solver.endswith("bound")
        and "greedily" in grown.plan_.solver
    )
    for model in (exact, searched, grown):
        np.testing.assert_array_equal(granted(model), X)
        assert model.certificate_.lower_bound <= exact.objective_ <= model.objective_ <= 20


@pytest.mark.parametrize("seed", range(2))
def test_dense_cores_take_no_more_roles_than_the_published_greedy_and_fewer_after_the_search(seed):
    X = np.random.default_rng(seed).random((45, 30)) < 0.5
    X[:, :25] |= X[:, 5:]  # holds of one permission bring those of another: fewer roles than permissions
    core = reduce(merge(Access(sorted_csr(X.astype(np.uint8)))))
    published, first = len(reference.grecond(X, X.sum())[1]), first_cover(core)
    assert core.n_forced + len(over_cells(core, concepts(core))) <= published + 2  # of ties each takes another one
    scheme = SearchedCover(near_cells(core.merged.rows, core.cells), first)
    state = scheme.begin(np.random.default_rng(0))
    assert unpack(state["best"], len(core.cells)).any(axis=0).all()
    state, found = scheme.step(state)
    assert found <= len(first) and scheme.finish(state)["groups"].any(axis=1).all()
    assert len(RoleMiner(max_iter=1).fit(X.astype(float)).roles_) <= min(published + 2, core.n_forced + len(first))


def test_maximal_cliques_of_a_path():
    cells = np.array([[0, 0], [0, 1], [1, 1]])
    X = np.array([[1, 1], [0, 1]])
    near = near_cells(np.packbits(np.pad(X, ((0, 0), (0, 62))), axis=1, bitorder="little").view(np.uint64), cells)
    assert sorted(maximal_cliques(near)) == [0b011, 0b110]


@pytest.mark.parametrize("candidates", ["fast", "complete"])
def test_candidates_are_what_users_have_in_common(candidates):
    X = planted(seed=5)
    model = RoleMiner(candidates=candidates).fit(X)
    np.testing.assert_array_equal(granted(model), X)
    for role in model.roles_ > 0:
        holders = X[(role <= X).all(axis=1)]
        np.testing.assert_array_equal(holders.all(axis=0), role)
    assert model.objective_ >= RoleMiner().fit(X).objective_


def test_edges_are_fewer_when_asked_for():
    X = planted(80, 30, 8, 2)
    few, cheap = RoleMiner().fit(X), RoleMiner(objective="edges").fit(X)
    np.testing.assert_array_equal(granted(cheap), X)
    assert cheap.n_edges_ <= few.n_edges_ and cheap.certificate_.lower_bound <= cheap.objective_ == cheap.n_edges_
    assert cheap.n_edges_ == cheap.roles_.sum() + cheap.assignments_.sum()


def test_limits_hold():
    X = planted(seed=7)
    model = RoleMiner(max_permissions_per_role=3, separated=[(0, 1), (2, 3)]).fit(X)
    np.testing.assert_array_equal(granted(model), X)
    roles = model.roles_ > 0
    assert roles.sum(axis=1).max() <= 3 and not (roles[:, 0] & roles[:, 1]).any()
    assert not (roles[:, 2] & roles[:, 3]).any()
    few = RoleMiner(max_roles_per_user=1).fit(X)
    np.testing.assert_array_equal(granted(few), X)
    assert few.assignments_.sum(axis=1).max() == 1
    np.testing.assert_array_equal(few.transform(X), few.assignments_)


def test_max_roles_grants_nothing_extra():
    X = planted(80, 30, 8, 4)
    whole = RoleMiner().fit(X)
    model = RoleMiner(max_roles=4).fit(X)
    R = granted(model)
    assert len(model.roles_) == 4 < whole.objective_ and (R <= X).all()
    assert model.objective_ == (X - R).sum() >= model.certificate_.lower_bound >= 0
    assert len(RoleMiner(max_roles=50).fit(X).roles_) == whole.objective_


@pytest.mark.parametrize(
    "given, said",
    [
        ({"max_roles_per_user": 1, "max_permissions_per_role": 2}, r"user 0 holds 4 permissions.*hold 2 at most"),
        ({"max_roles_per_user": 1, "separated": [("a", "b")]}, r"user 0 holds permissions that need 2 roles.*'a'"),
        ({"separated": [("a", "z")]}, "'z', which is no column"),
        ({"separated": [("a", "a")]}, "'a' cannot be separated from itself"),
        ({"separated": [(0, 9)]}, "permission 9, but X has 4 columns"),
        ({"separated": ["ab"]}, "pairs"),
        ({"max_roles": 0}, "max_roles"),
        ({"objective": "few"}, "objective"),
        ({"candidates": "all"}, "candidates"),
    ],
)
def test_contradictions_and_wrong_settings_are_named(given, said):
    X = pd.DataFrame([[1, 1, 1, 1], [1, 0, 0, 1.0]], columns=list("abcd"))
    with pytest.raises(ValueError, match=said):
        RoleMiner(**given).fit(X)


@pytest.mark.parametrize("kind", [RoleMiner, unweave.BooleanFactorization])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_what_is_neither_zero_nor_one_is_found(kind, form):
    X = planted()
    X[7, 3] = 2
    with pytest.raises(ValueError, match=r"row 7, column 3 holds 2.*binarize"):
        kind().fit(form(X))
    assert kind(binarize=0).fit(form(X)).roles_.max() == 1


def test_users_with_nothing_and_permissions_nobody_has():
    X = planted()
    X[4], X[:, 2] = 0, 0
    model = RoleMiner().fit(X)
    assert not model.assignments_[4].any() and not model.roles_[:, 2].any()
    nothing = RoleMiner().fit(np.zeros((3, 4)))
    assert nothing.objective_ == 0 and nothing.roles_.shape == (0, 4)
    assert nothing.transform(np.zeros((2, 4))).shape == (2, 0)


def test_new_users_get_roles_they_hold_all_of():
    X = planted()
    model = RoleMiner().fit(X)
    new = np.clip(X[:5] + np.eye(5, 25), 0, 1)
    R = model.inverse_transform(model.transform(new))
    assert (new >= R).all() and R.sum() >= X[:5].sum() * 0.9


def test_the_certificate_counts_roles():
    model = RoleMiner().fit(planted())
    k = len(model.roles_)
    assert str(model.certificate_) == f"{k} roles; at least {k} are needed."
