"""Lists of items for users, and what is like what."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from unweave import MatrixCompletion
from unweave.complete.ratings import ratings
from unweave.data.named import NamedTable

ITEMS = 25


def position(ids, wanted):
    return ids.tolist().index(wanted)


@parametrize_with_checks([MatrixCompletion(2, ridge=1.0)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


# -- recommend -----------------------------------------------------------------------------------------------------


def test_remembers_what_was_seen_and_the_ids(model, plain, table):
    assert isinstance(model.seen_, sp.csr_array) and (model.seen_ != table.X).nnz == 0
    assert model.user_ids_.tolist() == table.user_ids.tolist() and model.item_ids_.tolist() == table.item_ids.tolist()
    assert plain.user_ids_ is None and plain.item_ids_ is None


def test_one_user_by_id(model):
    scores = model.codes_ @ model.components_
    for row, user in enumerate(model.user_ids_):
        ids, found = model.recommend(user, 5)
        assert ids.shape == found.shape == (5,)
        order = [position(model.item_ids_, item) for item in ids]
        assert not set(order) & set(model.seen_[[row]].indices)
        assert np.allclose(found, scores[row, order]) and (np.diff(found) <= 0).all()
        others = np.setdiff1d(np.arange(scores.shape[1]), [*order, *model.seen_[[row]].indices])
        assert not len(others) or scores[row, others].max() <= found[-1] + 1e-12


def test_many_users_by_id_by_position_and_without_ids(model, plain):
    ids, scores = model.recommend(list(model.user_ids_), 4)
    assert ids.shape == scores.shape == (len(model.user_ids_), 4)
    rows, same = model.recommend(range(len(model.user_ids_)), 4, rows=True)
    assert rows.dtype == np.int64 and np.array_equal(scores, same)
    assert model.item_ids_[rows].tolist() == ids.tolist()
    assert np.array_equal(plain.recommend(np.arange(len(ids)), 4)[0], rows)
    assert plain.recommend(3, 4)[0].tolist() == rows[3].tolist()
    pair = model.recommend((model.user_ids_[4], model.user_ids_[1]), 4)[0]
    assert pair.tolist() == [ids[4].tolist(), ids[1].tolist()], "a tuple that is no id is a list"
    assert model.recommend(pd.Series(list(model.user_ids_[:2])), 4)[0].tolist() == ids[:2].tolist()


def test_seen_items_come_only_when_asked_for(model):
    ids, scores = model.recommend(model.user_ids_[0], ITEMS, exclude_seen=False)
    assert set(ids) == set(model.item_ids_) and np.isfinite(scores).all()


def test_short_lists_are_marked_never_filled(model, plain):
    seen = int(np.diff(model.seen_.indptr)[0])
    ids, scores = model.recommend(model.user_ids_[0], ITEMS + 5)
    left = len(model.item_ids_) - seen
    assert all(i is not None for i in ids[:left]) and all(i is None for i in ids[left:])
    assert np.isfinite(scores[:left]).all() and (scores[left:] == -np.inf).all()
    positions, _ = plain.recommend(0, ITEMS + 5)
    assert (positions[left:] == -1).all() and (positions[:left] >= 0).all()


def test_candidates_and_blocked_items(model):
    some = list(model.item_ids_[:6])
    ids, _ = model.recommend(model.user_ids_[2], 6, items=some, exclude_seen=False)
    assert set(ids) == set(some)
    ids, _ = model.recommend(model.user_ids_[2], 6, items=some, exclude=some[:2], exclude_seen=False)
    assert set(ids) == {*some[2:], None}
    ids, _ = model.recommend(model.user_ids_[2], ITEMS, exclude=[*some, "sold out long ago"])
    assert not set(ids) & set(some)
    ids, _ = model.recommend(model.user_ids_[2], 3, items=some[0], exclude_seen=False)
    assert ids.tolist() == [some[0], None, None]
    assert all(i is None for i in model.recommend(model.user_ids_[2], 3, items=[])[0])


def test_a_row_or_the_whole_table_in_any_format(model, plain, table):
    X = table.X
    expected, scores = plain.recommend(np.arange(X.shape[0]), 4)
    dense = np.where(X.toarray() == 0, np.nan, X.toarray())
    for whole in (X, sp.csr_matrix(X), X.tocoo(), dense, NamedTable(X)):
        ids, found = plain.recommend(whole, 4)
        assert np.array_equal(ids, expected) and np.allclose(found, scores)
    for row in (X[[7]], sp.csr_matrix(X)[7], dense[[7]]):
        assert plain.recommend(row, 4)[0].tolist() == [expected[7].tolist()]
    for row in (X[7], dense[7]):
        assert plain.recommend(row, 4)[0].tolist() == expected[7].tolist(), "one dimension: one answer"
    named, _ = model.recommend(table, 4)
    assert named.tolist() == model.item_ids_[expected].tolist()
    assert model.recommend(sp.csr_matrix(X)[7], 4)[0].tolist() == [named[7].tolist()]


def test_a_table_with_its_items_in_another_order(model, table):
    flipped = table.with_(X=sp.csr_array(table.X[:, ::-1]), item_ids=table.item_ids[::-1], columns=table.columns[::-1])
    assert model.recommend(flipped, 4)[0].tolist() == model.recommend(table, 4)[0].tolist()
    other = ratings({"u": [1], "i": ["no such item"]}, user="u", item="i")
    with pytest.raises(ValueError, match="does not know the item 'no such item'"):
        model.recommend(other)


def test_users_without_ratings(plain, model):
    empty = sp.csr_array((2, plain.components_.shape[1]))
    bias = plain.components_[-1]
    for whole in (empty, np.full(empty.shape, np.nan)):
        ids, scores = plain.recommend(whole, 3)
        assert ids.tolist() == [np.argsort(-bias)[:3].tolist()] * 2 and np.isfinite(scores).all()
    assert model.recommend(model.fold_in({}), 3)[0].tolist() == model.item_ids_[np.argsort(-bias)[:3]].tolist()


def test_one_and_two_threads_agree(model, two_threads):
    one, two = two_threads(lambda: model.recommend(list(model.user_ids_), 5))
    assert one[0].tolist() == two[0].tolist() and np.array_equal(one[1], two[1])


def test_float32_stays(table):
    small = MatrixCompletion(2, ridge=1.0).fit(table.X.astype(np.float32))
    assert small.recommend(0)[1].dtype == small.similar(0)[1].dtype == np.float32
    assert small.fold_in({0: 3.0}).code.dtype == small.predict([0], [0]).dtype == np.float32


def test_names_of_a_table_are_ids_when_they_are_distinct(table):
    X = table.X[:5].toarray()
    fitted = MatrixCompletion(1, ridge=1.0, missing="zeros").fit(
        NamedTable(X, rows=list("abcde"), columns=table.columns)
    )
    assert fitted.user_ids_.tolist() == list("abcde") and fitted.item_ids_.tolist() == table.columns
    fitted = MatrixCompletion(1, ridge=1.0, missing="zeros").fit(NamedTable(X, rows=list("abcda")))
    assert fitted.user_ids_ is None and fitted.item_ids_ is None
    assert fitted.seen_.nnz == (X != 0).sum()


def test_one_unknown_user_does_not_spoil_the_batch(model, plain):
    user, other = model.user_ids_[3], model.user_ids_[0]
    with pytest.raises(ValueError, match=r"users 'nobody', 'no one'; .*unknown='popular'"):
        model.recommend([user, "nobody", "no one"])
    with pytest.raises(ValueError, match="unknown='mean' must be"):
        model.recommend(user, unknown="mean")
    ids, scores = model.recommend([user, "nobody", other, "no one"], 5, unknown="popular")
    blank = model.recommend(model.fold_in({}), 5)
    for row, wanted in enumerate([model.recommend(user, 5), blank, model.recommend(other, 5), blank]):
        assert ids[row].tolist() == wanted[0].tolist()
        np.testing.assert_allclose(scores[row], wanted[1])
    assert plain.recommend(10**6, 5, unknown="popular")[0].shape == (5,)
    some = list(model.item_ids_[:4])
    assert set(model.recommend("nobody", 3, items=some, exclude=some[:1], unknown="popular")[0]) == set(some[1:])


# -- similar -------------------------------------------------------------------------------------------------------


def cosines(V):
    V = V / np.linalg.norm(V, axis=1, keepdims=True)
    return V @ V.T


def test_similar_items_and_users(model, plain):
    near = cosines(model.components_[:3].T)
    np.fill_diagonal(near, -np.inf)
    ids, found = model.similar("item 3", 4)
    place = position(model.item_ids_, "item 3")
    assert ids.tolist() == model.item_ids_[np.argsort(-near[place])[:4]].tolist()
    assert np.allclose(found, np.sort(near[place])[::-1][:4])
    assert plain.similar([place, 0], 4)[0].shape == (2, 4)
    near = cosines(model.codes_[:, :3])
    np.fill_diagonal(near, -np.inf)
    ids, found = model.similar_users(model.user_ids_[5], 3)
    assert ids.tolist() == model.user_ids_[np.argsort(-near[5])[:3]].tolist() and np.allclose(
        found, np.sort(near[5])[-3:][::-1]
    )
    everything = model.similar("item 3", ITEMS)[0]
    assert "item 3" not in everything and everything[-1] is None


def test_similar_items_among_some(model, plain):
    some = list(model.item_ids_[:8])
    everything, cosine = model.similar("item 3", ITEMS)
    ids, found = model.similar("item 3", ITEMS, items=some, exclude=[*some[:2], "sold out"])
    wanted = [place for place, item in enumerate(everything) if item in some[2:]]
    assert ids[: len(wanted)].tolist() == everything[wanted].tolist() and all(
        item is None for item in ids[len(wanted) :]
    )
    np.testing.assert_allclose(found[: len(wanted)], cosine[wanted])
    assert 5 not in plain.similar([3, 4], 20, exclude=[5], rows=True)[0]
    with pytest.raises(ValueError, match="leave it out of items="):
        model.similar("item 3", items=["nothing"])


def test_similar_users_of_a_new_user(model, table):
    person = model.fold_in(table.X[[5]])
    ids, found = model.similar_users(person, 2)
    assert ids[0] == model.user_ids_[5] and np.isclose(found[0], 1)


def test_an_item_without_a_vector_is_like_nothing(table):
    X = table.X.toarray()
    X[:, 4] = 0
    fitted = MatrixCompletion(2, ridge=1.0).fit(sp.csr_array(X))
    ids, found = fitted.similar(4, 3)
    assert np.isfinite(found).all() and 4 not in ids
