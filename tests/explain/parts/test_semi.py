"""Semi-NMF against the published rule, k-means and the best of any rank."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

import unweave
from tests.reference import nonneg as slow
from tests.tables import signed_parts as table
from unweave.explain.parts.semi import SemiNMF

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_it_goes_below_the_published_rule_from_the_same_start():
    X = table()
    labels = unweave.KMeans(3, random_state=0).fit(X).labels_
    U, Z = slow.semi_nmf(X, np.eye(3)[labels] + 0.2, 100)
    model = SemiNMF(3, max_iter=500, tol=1e-8).fit(X)
    assert model.objective_ <= 0.5 * np.square(X - U @ Z).sum()
    assert model.plan_.start == "k-means"


@given(seed=st.integers(0, 2**31), k=st.integers(1, 5))
def test_it_never_costs_more_than_k_means(seed, k):
    X = np.random.default_rng(seed).normal(size=(25, 6))
    model = SemiNMF(k, random_state=seed, max_iter=10).fit(X)
    groups = unweave.KMeans(k, random_state=seed).fit(X)
    assert model.objective_ <= groups.objective_ * (1 + 1e-9)
    assert model.codes_.min() >= 0
    assert model.history_.objective[-1] <= model.history_.objective[0] * (1 + 1e-12)


@given(seed=st.integers(0, 2**31), k=st.integers(2, 4), far=st.sampled_from([0, 1, 10, 100]))
def test_run_to_its_end_it_costs_no_more_than_k_means_wherever_the_table_lies(seed, k, far):
    X = far + np.random.default_rng(seed).normal(size=(20, 5))
    model = SemiNMF(k, random_state=seed).fit(X)
    assert model.objective_ <= unweave.KMeans(k, random_state=seed).fit(X).objective_ * (1 + 1e-9)
    # Components may end so near to one another that their Gram has few digits left: 2e-5 was the worst of 6000 tables.
    assert model.objective_ <= model.history_.objective[-1] * (1 + 1e-6) + 1e-20


def test_codes_are_the_minimisers_given_the_components():
    X = 100 + np.random.default_rng(3).normal(size=(30, 5))
    for model in (SemiNMF(3).fit(X), SemiNMF(3, max_iter=5).fit(X)):
        least = 0.5 * sum(nnls(model.components_.T, x)[1] ** 2 for x in X)
        assert model.objective_ == pytest.approx(least, rel=1e-6)
        new = 100 + np.random.default_rng(4).normal(size=(7, 5))
        want = [nnls(model.components_.T, x)[1] for x in new]
        got = np.linalg.norm(new - model.transform(new) @ model.components_, axis=1)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_in_float32_it_falls_and_ends_where_float64_does(seed):
    X = np.random.default_rng(seed).normal(size=(60, 8)).astype(np.float32)
    coarse, fine = SemiNMF(3).fit(X), SemiNMF(3).fit(X.astype(np.float64))
    assert (np.diff(coarse.history_.objective) <= 0).all() and coarse.n_iter_ < 200
    assert coarse.objective_ == pytest.approx(fine.objective_, rel=1e-3)
    found = 0.5 * np.square(X - coarse.codes_.astype(np.float64) @ coarse.components_).sum()
    assert coarse.objective_ == pytest.approx(found, rel=1e-5)


def test_codes_are_not_negative_and_types_stay(dtype):
    X = table(dtype=dtype)
    model = SemiNMF(3).fit(X)
    codes = model.transform(X)
    assert codes.min() >= 0 and model.components_.min() < 0
    assert codes.dtype == model.components_.dtype == dtype
    np.testing.assert_array_equal(codes, model.codes_)
    np.testing.assert_allclose(model.inverse_transform(codes), codes @ model.components_, rtol=1e-5)


def test_sparse_missing_huber_and_streams():
    X = table()
    cut = np.where(np.abs(X) > 0.3, X, 0)
    dense, sparse = SemiNMF(3).fit(cut), SemiNMF(3).fit(sp.csr_array(cut))
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-2)
    hidden = np.random.default_rng(1).random(X.shape) < 0.2
    model = SemiNMF(3, missing="nan").fit(np.where(hidden, np.nan, X))
    guess = model.inverse_transform(model.codes_)[hidden]
    assert np.abs(guess - X[hidden]).mean() < 0.5 * np.abs(X[hidden]).mean()
    assert SemiNMF(3, loss="huber").fit(X).codes_.min() >= 0
    stream = SemiNMF(3)
    for i in range(0, 80, 20):
        stream.partial_fit(X[i : i + 20])
    assert stream.transform(X).min() >= 0 and stream.score(X) > SemiNMF(1).fit(X).score(X)


def test_threads_do_not_matter(two_threads):
    X = table(3000, 40)
    one, two = two_threads(lambda: SemiNMF(3, max_iter=5).fit(X))
    assert np.array_equal(one.components_, two.components_) and one.objective_ == two.objective_


def test_auto_and_bad_arguments():
    X = table(60, 12)
    assert SemiNMF("auto", max_iter=50).fit(X).n_components_ >= 3
    for loss in ("kl", "itakura-saito"):
        with pytest.raises(ValueError, match="use NMF"):
            SemiNMF(2, loss=loss).fit(np.abs(X))
    with pytest.raises(ValueError, match="n_components"):
        SemiNMF(0).fit(X)
    with pytest.raises(ValueError, match="longer side"):
        SemiNMF(200).fit(X)


@given(seed=st.integers(0, 2**31), k=st.integers(1, 6))
def test_looking_ahead_never_rises_nor_ends_above_its_start(seed, k):
    rng = np.random.default_rng(seed)
    X, U, Z = rng.normal(size=(6, 6)), rng.random((6, k)), rng.normal(size=(k, 6))
    model = SemiNMF(k, init=(U, Z), max_iter=20, tol=0).fit(X)
    values = np.concatenate([[0.5 * np.square(X - U @ Z).sum()], model.history_.objective])
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert "look ahead" in model.plan_.solver
