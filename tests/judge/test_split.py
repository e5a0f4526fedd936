"""Splits lose nothing, invent nothing, and keep the kind of table."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave.data.named import NamedTable
from unweave.judge import split_ratings, split_users, strangers


def table(rng, n=30, m=20, share=0.4):
    """Ratings 0 to 5 as CSR, zeros stored."""
    rows, columns = np.nonzero(rng.random((n, m)) < share)
    return sp.csr_array((rng.integers(0, 6, len(rows)).astype(float), (rows, columns)), shape=(n, m))


def pattern(X):
    X = sp.csr_array(X)
    return sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape).toarray()


def same(a, b):
    return np.array_equal(pattern(a), pattern(b)) and np.array_equal(a.toarray(), b.toarray())


@pytest.mark.parametrize("how", ["random", "by-user"])
def test_the_parts_make_the_whole_and_stored_zeros_stay(rng, how):
    X = table(rng)
    assert (X.data == 0).any()
    train, test = split_ratings(X, how=how, test=0.3)
    assert isinstance(train, sp.csr_array) and train.shape == test.shape == X.shape
    assert np.array_equal(pattern(train) + pattern(test), pattern(X))
    assert np.array_equal(train.toarray() + test.toarray(), X.toarray())
    assert train.has_canonical_format and test.has_canonical_format


def test_random_takes_the_share_exactly_and_repeats(rng):
    X = table(rng)
    _, test = split_ratings(X, test=0.25)
    assert test.nnz == round(0.25 * X.nnz)
    assert same(test, split_ratings(X, test=0.25)[1])
    assert same(split_ratings(X, random_state=3)[1], split_ratings(X, random_state=np.random.default_rng(3))[1])
    assert not same(split_ratings(X, random_state=3)[1], split_ratings(X, random_state=4)[1])


def test_by_user_holds_out_whole_users(rng):
    X = table(rng)
    train, test = split_ratings(X, how="by-user", test=0.2)
    held = np.diff(test.indptr) > 0
    assert held.sum() == 6
    assert not np.diff(train.indptr)[held].any()
    assert np.array_equal(np.diff(test.indptr)[held], np.diff(X.indptr)[held])


def test_last_takes_the_latest_of_each_user(rng):
    X = table(rng)
    time = rng.permutation(X.nnz)
    train, test = split_ratings(X, how="last", n_last=2, time=time)
    clock = sp.csr_array((time, X.indices, X.indptr), shape=X.shape)
    for i in range(X.shape[0]):
        latest = X.indices[X.indptr[i] : X.indptr[i + 1]][np.argsort(clock.data[X.indptr[i] : X.indptr[i + 1]])[-2:]]
        assert set(test.indices[test.indptr[i] : test.indptr[i + 1]]) == set(latest)
    assert train.nnz + test.nnz == X.nnz


def test_last_leaves_users_with_too_few_ratings_in_train_and_breaks_ties_by_order():
    X = sp.csr_array(np.array([[1.0, 0, 0], [2.0, 3.0, 4.0]]))
    train, test = split_ratings(X, how="last", time=[5, 1, 7, 7])
    assert test.toarray().tolist() == [[0, 0, 0], [0, 0, 4.0]]
    assert train.toarray().tolist() == [[1.0, 0, 0], [2.0, 3.0, 0]]


def test_entries_in_any_order_keep_their_times():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([2, 0, 1]), np.array([0, 3])), shape=(1, 3))
    _, test = split_ratings(X, how="last", time=[9, 1, 2])
    assert test.toarray().tolist() == [[0, 0, 1.0]]


def test_dates_are_times():
    X = sp.csr_array(np.ones((1, 3)))
    time = np.array(["2020-01-02", "2021-01-01", "2019-05-05"], dtype="datetime64[D]")
    assert split_ratings(X, how="last", time=time)[1].indices.tolist() == [1]


def test_csr_matrix_stays_a_matrix_and_other_formats_become_csr(rng):
    X = table(rng)
    train, test = split_ratings(sp.csr_matrix(X))
    assert isinstance(train, sp.csr_matrix) and isinstance(test, sp.csr_matrix)
    for other in (X.tocoo(), X.tocsc()):
        assert same(split_ratings(other)[1], split_ratings(X)[1])


def test_dense_tables_have_nan_where_an_entry_is_in_the_other_part(rng, dtype):
    X = rng.random((10, 8)).astype(dtype)
    X[rng.random(X.shape) < 0.5] = np.nan
    before = X.copy()
    train, test = split_ratings(X)
    assert train.dtype == test.dtype == dtype
    assert not (~np.isnan(train) & ~np.isnan(test)).any()
    assert np.array_equal(np.where(np.isnan(train), test, train), X, equal_nan=True)
    assert np.array_equal(X, before, equal_nan=True)


def test_dense_times_have_the_shape_of_the_table():
    X = np.array([[1.0, np.nan, 2.0], [3.0, 4.0, np.nan]])
    time = np.array([[2, 0, 1], [1, 2, 0]])
    assert np.isnan(split_ratings(X, how="last", time=time)[1]).tolist() == [[False, True, True], [True, False, True]]


def test_named_tables_keep_names_and_times_and_say_who_is_new(rng):
    X = sp.csr_array(np.array([[1.0, 2.0, 0], [0, 3.0, 0], [0, 0, 4.0]]))
    named = NamedTable(
        X, rows=list("abc"), columns=list("xyz"), missing="zeros", kind="ratings", times=np.array([2, 1, 5, 6])
    )
    train, test = split_ratings(named, how="by-user", test=0.34, random_state=1)
    assert test.rows == list("abc") and test.columns == list("xyz") and test.missing == "zeros"
    assert len(test.times) == test.X.nnz and len(train.times) == train.X.nnz
    assert sorted([*train.times, *test.times]) == [1, 2, 5, 6]
    new_users, new_items = strangers(train, test)
    assert new_users == 1
    assert test.notes[-1] == f"1 users and {new_items} items of the test part do not occur in the training part"
    assert split_ratings(named, how="last")[1].times.tolist() == [2]


def test_ids_of_ratings_come_through():
    from unweave.complete.ratings import Ratings, ratings

    frame = {"who": ["ann", "bob", "ann", ("c", 1)], "what": [7, 7, 3, 7], "when": [4, 3, 2, 1]}
    train, test = split_ratings(ratings(frame, user="who", item="what", time="when"), how="last")
    assert isinstance(train, Ratings) and test.user_ids.tolist() == ["ann", "bob", ("c", 1)]
    assert test.item_ids.tolist() == [7, 3] and test.times.tolist() == [4]


def test_split_users_gives_some_and_hides_the_rest(rng):
    X = table(rng)
    train, given_part, hidden = split_users(X, test=0.2, given=0.5)
    assert np.array_equal(pattern(train) + pattern(given_part) + pattern(hidden), pattern(X))
    held = np.diff(hidden.indptr) > 0
    assert same(train, split_ratings(X, how="by-user", test=0.2)[0])
    assert not np.diff(train.indptr)[held].any()
    assert (np.diff(given_part.indptr)[held] >= 1).all()
    assert np.abs(np.diff(given_part.indptr) - np.diff(hidden.indptr)).max() <= 1
    assert same(hidden, split_users(X, test=0.2, given=0.5)[2])


def test_a_dense_table_that_was_complete_says_that_it_has_holes_now():
    train, test = split_ratings(NamedTable(np.arange(6.0).reshape(2, 3)))
    assert train.missing == test.missing == "nan"


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"how": "first"}, ValueError, "how='first' is not known"),
        ({"test": 0}, ValueError, "test must lie between 0 and 1"),
        ({"test": 1.5}, ValueError, "test must lie between"),
        ({"test": np.nan}, ValueError, "test must lie between"),
        ({"test": "half"}, TypeError, "test must be a number"),
        ({"test": True}, TypeError, "test must be a number"),
        ({"how": "last"}, ValueError, "needs times"),
        ({"how": "last", "time": [1, 2]}, ValueError, "one value for each of the 4"),
        ({"how": "last", "time": [1, 2, np.nan, 3]}, ValueError, "time holds missing values"),
        ({"how": "last", "time": ["a", "b", "c", "d"]}, TypeError, "numbers or dates"),
        ({"how": "last", "time": [1, 2, 3, 4], "n_last": 0}, ValueError, "n_last must be at least 1"),
        ({"how": "last", "time": [1, 2, 3, 4], "n_last": 2}, ValueError, "more than n_last=2"),
        ({"how": "last", "time": [1, 2, 3, 4], "n_last": 1.5}, TypeError, "n_last must be a whole number"),
        ({"random_state": "x"}, ValueError, "random_state must be"),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        split_ratings(sp.csr_array(np.ones((2, 2))), **arguments)


def test_bad_tables_are_refused_with_the_remedy():
    twice = sp.csr_array((np.ones(3), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 2))
    with pytest.raises(ValueError, match="stores some pairs of user and item twice"):
        split_ratings(twice)
    with pytest.raises(ValueError, match="twice"):
        split_ratings(sp.coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    with pytest.raises(ValueError, match="NaN or infinity"):
        split_ratings(sp.csr_array(np.array([[np.nan, 1.0, 2.0]])))
    with pytest.raises(ValueError, match="at least 2"):
        split_ratings(sp.csr_array((3, 3)))
    with pytest.raises(ValueError, match="two dimensions"):
        split_ratings(np.ones(4))
    with pytest.raises(TypeError, match=r"unweave\.ratings"):
        split_ratings({"user": [1]})
    with pytest.raises(TypeError, match="numbers"):
        split_ratings(np.array([["a", "b"]]))
    with pytest.raises(ValueError, match="at least 2 are needed to hold some out"):
        split_ratings(np.ones((1, 4)), how="by-user")
    with pytest.raises(ValueError, match="nothing can be hidden"):
        split_users(sp.csr_array(np.eye(4)))
    with pytest.raises(ValueError, match="two parts of one table"):
        strangers(np.ones((2, 2)), np.ones((3, 2)))


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 0.99), st.sampled_from(["random", "by-user", "last"]))
def test_every_entry_is_in_one_part(seed, share, how):
    rng = np.random.default_rng(seed)
    X = table(rng, rng.integers(2, 9), rng.integers(2, 7), 0.8)
    if X.nnz < 2 or (np.diff(X.indptr) > 0).sum() < 2 or (how == "last" and np.diff(X.indptr).max() < 2):
        return
    train, test = split_ratings(X, test=share, how=how, time=rng.random(X.nnz), random_state=seed)
    assert train.nnz and test.nnz
    assert np.array_equal(pattern(train) + pattern(test), pattern(X))
    assert np.array_equal(train.toarray() + test.toarray(), X.toarray())
