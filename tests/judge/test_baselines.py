"""Baselines: what their formulas say, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.reference import judge as slow
from unweave.data.named import NamedTable
from unweave.judge import Biases, Mean, MeanImputedSVD, Popularity

ALL = [Mean(), Biases(), MeanImputedSVD(3), Popularity()]


def holes(rng, n=14, m=9, share=0.5, dtype=np.float64):
    X = rng.integers(0, 6, (n, m)).astype(dtype)
    X[rng.random(X.shape) > share] = np.nan
    X[0, 0] = 3
    return X


def stored(X):
    """The same known entries as a sparse table."""
    at = np.nonzero(~np.isnan(X))
    return sp.csr_array((X[at], at), shape=X.shape)


@parametrize_with_checks(ALL)
def test_baselines_keep_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_the_mean_is_that_of_the_known_entries(rng):
    X = holes(rng)
    assert np.allclose(Mean().fit(X).predict(X), np.nanmean(X), rtol=1e-14)


def test_biases_by_loops(rng):
    X, d, e = holes(rng), 4.0, 2.0
    mean = np.nanmean(X)
    known = ~np.isnan(X)
    b = [np.sum(X[known[:, j], j] - mean) / (d + known[:, j].sum()) for j in range(X.shape[1])]
    a = [np.sum(X[i, known[i]] - mean - np.array(b)[known[i]]) / (e + known[i].sum()) for i in range(X.shape[0])]
    model = Biases(item_damping=d, user_damping=e).fit(X)
    assert np.allclose(model.predict(X), mean + np.add.outer(a, b), rtol=1e-12)


def test_biases_without_damping_survive_empty_rows_and_columns():
    X = sp.csr_array(np.array([[4.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))
    prediction = Biases(0, 0).fit(X).inverse_transform(Biases(0, 0).fit(X).codes_)
    assert np.isfinite(prediction).all()
    assert prediction[0, 2] == pytest.approx(3) and prediction[1, 0] == pytest.approx(4)


@pytest.mark.parametrize("k", [1, 3, 99])
def test_the_svd_is_that_of_the_filled_table(rng, k):
    X = holes(rng)
    X[:, 4] = np.nan  # nobody knows it: the mean of everything
    mean = np.where(np.isnan(X).all(axis=0), np.nanmean(X), np.nansum(X, axis=0) / (~np.isnan(X)).sum(axis=0).clip(1))
    filled = np.where(np.isnan(X), mean, X)
    U, s, V = np.linalg.svd(filled - mean, full_matrices=False)
    kept = min(k, *X.shape)
    expected = mean + (U[:, :kept] * s[:kept]) @ V[:kept]
    assert np.allclose(MeanImputedSVD(k).fit(X).predict(X), expected, atol=1e-8)


def test_popularity_counts_users_whatever_they_gave():
    X = np.array([[5.0, np.nan, 1.0], [np.nan, np.nan, 0.0]])
    assert Popularity().fit(X).components_.tolist() == [[1.0, 0.0, 2.0]]


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 14))
def test_popular_lists_are_those_of_the_counts(seed, n):
    rng = np.random.default_rng(seed)
    X = holes(rng, int(rng.integers(1, 12)), int(rng.integers(1, 12)), rng.random())
    users = rng.integers(0, len(X), 5)
    scores = np.tile((~np.isnan(X)).sum(axis=0).astype(float), (len(X), 1))
    model = Popularity().fit(X)
    assert model.recommend(users, n, exclude_seen=False)[0].tolist() == slow.best_columns(scores[users], n)
    scores[~np.isnan(X)] = -np.inf
    columns, values = model.recommend(users, n)
    assert columns.tolist() == slow.best_columns(scores[users], n)
    taken = columns >= 0
    assert (values[~taken] == -np.inf).all()
    assert np.array_equal(values[taken], model.components_[0][columns[taken]])


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_lists_pairs_and_tables_agree(rng, model, dtype):
    X = holes(rng, dtype=dtype)
    model.fit(X)
    table = model.predict(X)
    assert table.dtype == dtype and table.shape == X.shape
    rows, columns = np.indices(X.shape).reshape(2, -1)
    assert np.allclose(model.predict_entries(rows, columns).reshape(X.shape), table, rtol=1e-5)
    assert np.allclose(model.complete(stored(X)), table, rtol=1e-6)
    scores = np.where(np.isnan(X), table, -np.inf)
    assert model.recommend(np.arange(len(X)), 4)[0].tolist() == slow.best_columns(scores, 4)


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_new_users_are_told_by_what_is_given(rng, model):
    X, new = holes(rng), holes(rng, 5)
    model.fit(X)
    assert np.allclose(model.predict_entries([4, 0], [1, 2], given=new), model.predict(new)[[4, 0], [1, 2]])
    lists = model.recommend(np.arange(5), 9, given=stored(new))[0]
    for row, L in zip(new, lists, strict=True):
        assert set(L[L >= 0]) == set(np.flatnonzero(np.isnan(row)))


def test_a_named_table_needs_no_other_name(rng):
    X = holes(rng)
    named = NamedTable(stored(X), columns=[f"c{j}" for j in range(9)], missing="zeros", kind="ratings")
    assert np.allclose(Biases().fit(named).complete(named), Biases().fit(X).predict(X))


@pytest.mark.parametrize("model", ALL, ids=lambda m: type(m).__name__)
def test_threads_do_not_change_a_bit(rng, model, two_threads):
    X = stored(holes(rng, 200, 40))
    rows, columns = rng.integers(0, 200, 200_000), rng.integers(0, 40, 200_000)
    one, two = two_threads(lambda: model.fit(X).predict_entries(rows, columns))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (Biases(item_damping=-1), ValueError, "item_damping must be a finite number of at least 0"),
        (Biases(user_damping="x"), TypeError, "user_damping must be a number"),
        (Biases(user_damping=np.inf), ValueError, "user_damping"),
        (MeanImputedSVD(0), ValueError, "n_components must be at least 1"),
        (MeanImputedSVD(2.5), TypeError, "n_components must be a whole number"),
    ],
)
def test_bad_parameters_are_named(rng, model, error, message):
    with pytest.raises(error, match=message):
        model.fit(holes(rng))


def test_nothing_known_is_an_error():
    for model in ALL:
        with pytest.raises(ValueError, match="no observed entry"):
            model.fit(np.full((2, 2), np.nan))
        with pytest.raises(ValueError, match="no observed entry"):
            model.fit(sp.csr_array((2, 2)))
    with pytest.raises(ValueError, match="two lists of equal length"):
        Mean().fit(np.eye(2)).predict_entries([0, 1], [0])
