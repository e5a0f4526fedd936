"""Tables in blocks: structure that comes late is found, a fit is gone on from, and a new fit forgets old blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from unweave import LSA, NMF, PCA, Factorization, SemiNMF, TruncatedSVD

MODELS = [PCA, TruncatedSVD, LSA, NMF, SemiNMF, Factorization]
LATE = np.kron(np.eye(4), np.ones((50, 5))) * np.arange(1, 5).repeat(50)[:, None]


def streamed(model, X, parts):
    for rows in np.array_split(np.arange(X.shape[0]), parts):
        model.partial_fit(X[rows])
    return model


def error(model, X):
    return 0.5 * np.linalg.norm(X - model.inverse_transform(model.transform(X))) ** 2


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_blocks_that_share_no_column(make, form):
    model = streamed(make(4), form(LATE), 8)
    assert error(model, LATE) < 1e-10 * np.linalg.norm(LATE) ** 2


@pytest.mark.parametrize("make", MODELS)
def test_a_fit_is_gone_on_from(make):
    X = load_digits().data[:400]
    model = make(8).fit(X)
    before = error(model, X)
    model.partial_fit(X[:10] + 1)
    assert error(model, X) < 1.05 * before


@pytest.mark.parametrize("make", MODELS)
def test_a_new_fit_forgets_the_blocks(make):
    X, other = load_digits().data[:300], 50 * np.eye(64)
    model = make(5).partial_fit(other).fit(X)
    clean = make(5).fit(X)
    for each in (model, clean):
        each.partial_fit(X[:20])
    np.testing.assert_array_equal(model.components_, clean.components_)


def test_singular_values_of_sorted_digits():
    X, y = load_digits(return_X_y=True)
    X = X[np.argsort(y, kind="stable")]
    model, exact = streamed(TruncatedSVD(10), X, 20), TruncatedSVD(10).fit(X)
    np.testing.assert_allclose(model.singular_values_, exact.singular_values_, rtol=0.005)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(10), atol=1e-10)
    assert model.certificate_.lower_bound <= exact.objective_ <= error(model, X) <= model.objective_
    assert error(model, X) < 1.001 * exact.objective_
    assert streamed(LSA(10), X, 20).singular_values_.tolist() == model.singular_values_.tolist()


def test_the_first_block_may_not_be_smaller_than_the_components():
    with pytest.raises(ValueError, match="n_components=5 must be at most"):
        TruncatedSVD(5).partial_fit(np.eye(3, 8))


def test_same_bits_on_any_threads(two_threads):
    X = load_digits().data[:300]
    for make in (TruncatedSVD, NMF):
        one, two = two_threads(lambda make=make: streamed(make(6), X, 5).components_)
        assert np.array_equal(one, two)
