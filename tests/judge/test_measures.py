"""Measures of ratings and lists: by hand, against slow twins, and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, mean_absolute_error, mean_squared_error, ndcg_score, roc_auc_score

from tests.reference import judge as slow
from unweave.data.named import NamedTable
from unweave.judge import auc, coverage, mae, map_at, ndcg_at, precision_at, recall_at, relevant_items, rmse
from unweave.judge.answers import best_columns

LISTS = {"precision_at": precision_at, "recall_at": recall_at, "map_at": map_at, "ndcg_at": ndcg_at}


def case(rng, users=12, m=15, share=0.3):
    """(scores, relevant as Booleans, seen as Booleans), the two disjoint."""
    relevant = rng.random((users, m)) < share
    return rng.random((users, m)), relevant, (rng.random((users, m)) < share) & ~relevant


def sets(mask):
    return [set(np.flatnonzero(row).tolist()) for row in mask]


def lists_of(rng, users, m, n):
    lists = np.array([rng.permutation(m)[:n] for _ in range(users)])
    short = rng.integers(0, n + 1, users)
    return np.where(np.arange(n) < short[:, None], lists, -1)


# -- ratings -----------------------------------------------------------------------------------------------------------


def test_errors_are_those_of_scikit_learn(rng):
    truth, guess = rng.random(50), rng.random(50)
    assert rmse(guess, truth) == pytest.approx(mean_squared_error(truth, guess) ** 0.5, rel=1e-12)
    assert mae(guess, truth) == pytest.approx(mean_absolute_error(truth, guess), rel=1e-12)


def test_errors_of_tables_are_those_of_their_known_entries():
    truth = sp.csr_array((np.array([0.0, 2.0]), (np.array([0, 1]), np.array([1, 0]))), shape=(2, 2))
    guess = np.array([[9.0, 1.0], [4.0, 9.0]])
    assert mae(guess, truth) == 1.5 and mae([1.0, 4.0], truth) == 1.5
    assert rmse(guess, truth) == pytest.approx(np.sqrt(2.5))
    dense = np.array([[np.nan, 0.0], [2.0, np.nan]])
    assert rmse(guess, dense) == rmse(guess, NamedTable(dense, missing="nan")) == rmse(guess, truth)


def test_float32_errors_are_added_up_in_float64():
    truth = np.zeros((1, 200_000), np.float32)
    assert rmse(np.full(truth.shape, 0.1, np.float32), truth) == pytest.approx(float(np.float32(0.1)), rel=1e-12)


@pytest.mark.parametrize(
    ("predicted", "truth", "error", "message"),
    [
        ([1.0], [1.0, 2.0], ValueError, "predicted has shape"),
        ([], [], ValueError, "no known entry"),
        ([np.nan], [1.0], ValueError, "predicted holds NaN"),
        ([1.0], [np.nan], ValueError, "truth holds NaN"),
        (["a"], [1.0], TypeError, "predicted must hold numbers"),
        ([1.0, 2.0, 3.0], np.ones((1, 2)), ValueError, "give 2 numbers, or a table"),
        (np.ones((2, 2)), sp.csr_array((2, 2)), ValueError, "no known entry"),
    ],
)
def test_errors_refuse_what_cannot_be_compared(predicted, truth, error, message):
    with pytest.raises(error, match=message):
        rmse(predicted, truth)


# -- lists -------------------------------------------------------------------------------------------------------------


def test_measures_by_hand():
    relevant = np.full((3, 6), np.nan)
    relevant[0, [1, 3]] = 1
    relevant[1, [0, 2, 4, 5]] = 1
    lists = [[3, 0, 1], [1, 4, -1], [0, 1, 2]]  # hits at 1 and 3 of two; at 2 of four; a user without relevant items
    assert precision_at(lists, relevant, 3) == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert recall_at(lists, relevant, 3) == pytest.approx((2 / 2 + 1 / 4) / 2)
    assert map_at(lists, relevant, 3) == pytest.approx(((1 + 2 / 3) / 2 + (1 / 2) / 3) / 2)
    first = (1 + 1 / 2) / (1 + 1 / np.log2(3))
    second = (1 / np.log2(3)) / (1 + 1 / np.log2(3) + 1 / 2)
    assert ndcg_at(lists, relevant, 3) == pytest.approx((first + second) / 2)
    assert coverage(lists, 6, 3) == 5 / 6
    assert coverage(lists, relevant, 1) == 3 / 6


@pytest.mark.parametrize("name", LISTS)
def test_lists_agree_with_the_slow_twin(rng, name):
    for _ in range(20):
        _, relevant, _ = case(rng)
        lists, n = lists_of(rng, *relevant.shape, 6), int(rng.integers(1, 7))
        expected = getattr(slow, name)(lists.tolist(), sets(relevant), n)
        assert LISTS[name](lists, sp.csr_array(relevant), n) == pytest.approx(expected, abs=1e-14)
        assert coverage(lists, relevant.shape[1], n) == slow.coverage(lists.tolist(), relevant.shape[1], n)


def test_ndcg_is_that_of_scikit_learn(rng):
    scores, relevant, _ = case(rng)
    relevant[:, 0] = True
    lists = best_columns(scores, 5)[0]
    assert ndcg_at(lists, sp.csr_array(relevant), 5) == pytest.approx(ndcg_score(relevant.astype(int), scores, k=5))


def test_map_of_the_whole_order_is_the_average_precision_of_scikit_learn(rng):
    scores, relevant, _ = case(rng)
    relevant[:, 0] = True
    lists = best_columns(scores, relevant.shape[1])[0]
    expected = np.mean([average_precision_score(r, s) for r, s in zip(relevant, scores, strict=True)])
    assert map_at(lists, sp.csr_array(relevant), relevant.shape[1]) == pytest.approx(expected)


def test_the_best_list_has_exactly_one(rng):
    _, relevant, _ = case(rng, 40, 30)
    relevant[:, 0] = True
    lists = best_columns(relevant.astype(float), 10)[0]
    for measure in (ndcg_at, map_at):
        assert measure(lists, sp.csr_array(relevant), 10) == 1.0


def test_lists_of_ids_are_looked_up_when_the_table_knows_ids():
    X = sp.csr_array(np.array([[1.0, 0, 1.0], [0, 1.0, 0]]))
    table = NamedTable(X, rows=["u", "v"], columns=["a", "b", "c"], missing="zeros", kind="ratings")
    ids = np.array([["c", "b"], ["b", None]], dtype=object)
    assert precision_at(ids, table, 2) == precision_at([[2, 1], [1, -1]], X, 2) == 0.5
    assert coverage(ids, table, 2) == 2 / 3
    with pytest.raises(ValueError, match="'z'"):
        precision_at([["c", "z"], ["a", "b"]], table, 2)


@pytest.mark.parametrize(
    ("lists", "n", "error", "message"),
    [
        ([[0, 1], [1, 2]], 3, ValueError, "3 columns or more"),
        ([[0, 1]], 2, ValueError, "1 lists, but relevant has 2 users"),
        ([[0, 0], [1, 2]], 2, ValueError, "twice"),
        ([[0, 3], [1, 2]], 2, ValueError, "positions from 0 to 2"),
        ([[0, -2], [1, 2]], 2, ValueError, "positions from 0 to 2"),
        ([[0.0, 1.0], [1.0, 2.0]], 2, TypeError, "positions of items"),
        ([[0, 1], [1, 2]], 0, ValueError, "n must be at least 1"),
        ([[0, 1], [1, 2]], 1.0, TypeError, "n must be a whole number"),
    ],
)
def test_bad_lists_are_refused(lists, n, error, message):
    with pytest.raises(error, match=message):
        ndcg_at(lists, sp.csr_array(np.ones((2, 3))), n)


def test_nobody_with_a_relevant_item_is_an_error():
    for measure in LISTS.values():
        with pytest.raises(ValueError, match="no user has a relevant item"):
            measure([[0], [1]], sp.csr_array((2, 3)), 1)


def test_relevant_items_are_the_liked_ones():
    X = sp.csr_array(np.array([[5.0, 2.0], [0, 4.0]]))
    assert relevant_items(X, 4).toarray().tolist() == [[5.0, 0], [0, 4.0]]
    assert relevant_items(X, 4).nnz == 2


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_measures_are_shares_and_do_not_depend_on_the_order_of_users_or_items(seed, n):
    rng = np.random.default_rng(seed)
    users, m = int(rng.integers(1, 9)), int(rng.integers(n, n + 9))
    relevant = rng.random((users, m)) < rng.random()
    relevant[0, 0] = True
    lists = lists_of(rng, users, m, n)
    order, items = rng.permutation(users), rng.permutation(m)
    moved = np.where(lists >= 0, np.argsort(items)[lists], -1)[order]
    for measure in LISTS.values():
        value = measure(lists, sp.csr_array(relevant), n)
        assert 0 <= value <= 1 + 1e-12
        assert measure(moved, sp.csr_array(relevant[order][:, items]), n) == pytest.approx(value, abs=1e-12)
    assert 0 <= coverage(lists, m, n) <= 1


# -- the whole order ---------------------------------------------------------------------------------------------------


def test_auc_is_that_of_scikit_learn(rng, dtype):
    scores, relevant, seen = case(rng)
    relevant[:, 0], relevant[:, 1], seen[:, :2] = True, False, False
    scores = np.rint(8 * scores).astype(dtype)  # ties
    expected = [roc_auc_score(r[~s], x[~s]) for x, r, s in zip(scores, relevant, seen, strict=True)]
    before = scores.copy()
    assert auc(scores, sp.csr_array(relevant), given=sp.csr_array(seen)) == pytest.approx(np.mean(expected), abs=1e-14)
    assert np.array_equal(scores, before)


def test_auc_agrees_with_the_slow_twin_even_with_infinite_scores(rng):
    for _ in range(20):
        scores, relevant, seen = case(rng)
        relevant[0, 0] = True
        scores[rng.random(scores.shape) < 0.2] = -np.inf
        expected = slow.auc(scores, sets(relevant), sets(seen))
        assert auc(scores, sp.csr_array(relevant), given=sp.csr_array(seen)) == pytest.approx(expected, abs=1e-14)


def test_auc_turns_round_with_the_scores(rng):
    scores, relevant, _ = case(rng)
    assert auc(scores, sp.csr_array(relevant)) + auc(-scores, sp.csr_array(relevant)) == pytest.approx(1)
    assert auc(relevant.astype(float), sp.csr_array(relevant)) == 1
    assert auc(np.zeros(relevant.shape), sp.csr_array(relevant)) == 0.5


def test_auc_refuses_what_it_cannot_rank():
    relevant = sp.csr_array(np.array([[1.0, 0.0]]))
    with pytest.raises(ValueError, match="NaN"):
        auc(np.array([[np.nan, 1.0]]), relevant)
    with pytest.raises(ValueError, match="shape"):
        auc(np.ones((1, 3)), relevant)
    with pytest.raises(ValueError, match="nothing to rank"):
        auc(np.ones((1, 2)), sp.csr_array(np.ones((1, 2))))


# -- the best columns --------------------------------------------------------------------------------------------------


def test_best_columns_agree_with_the_slow_twin_and_with_any_number_of_threads(rng, two_threads):
    scores = np.rint(6 * rng.random((90, 25)))
    scores[rng.random(scores.shape) < 0.5] = -np.inf
    scores[3] = -np.inf
    for n in (1, 4, 25, 30):
        one, two = two_threads(lambda n=n: best_columns(scores, n))
        assert one[0].tolist() == slow.best_columns(scores, n)
        assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
        assert (one[1] > -np.inf).tolist() == (one[0] >= 0).tolist()
