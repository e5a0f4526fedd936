from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.reference import lda as twin
from unweave.explain.topics.measures import document_completion, halves, mixtures


@pytest.fixture
def corpus(rng):
    topics = rng.dirichlet(np.full(30, 0.2), size=6)
    X = rng.poisson(8 * rng.dirichlet(np.ones(6), size=25) @ topics * 5)
    return topics, X.astype(float)


def test_the_evaluator_is_as_stated(corpus):
    topics, X = corpus
    A, B = halves(X)
    slow = twin.perplexity(topics, A.toarray(), B.toarray())
    assert document_completion(topics, A, B) == pytest.approx(slow, rel=1e-9)
    assert document_completion(topics, A.toarray(), B.toarray()) == pytest.approx(slow, rel=1e-9)


def test_mixtures_are_their_twin(corpus, dtype):
    topics, X = corpus
    smooth = np.linspace(0.05, 0.5, 6)
    found = mixtures(sp.csr_array(X.astype(dtype)), topics + 1e-6, smooth, repeats=7)
    expected = twin.mixtures(X, topics + 1e-6, smooth, 7)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, atol=1e-5 if dtype == np.float32 else 1e-12)


def test_knowing_nothing_costs_the_number_of_words(corpus):
    _, X = corpus
    assert document_completion(np.full((4, 30), 1 / 30), *halves(X)) == pytest.approx(30)


def test_impossible_words_are_floored():
    A, B = np.array([[1, 0]]), np.array([[0, 1]])
    assert document_completion(np.array([[1.0, 0.0]]), A, B) == pytest.approx(1e12)


@given(arrays(np.int64, (5, 4), elements=st.integers(0, 9)), st.integers(0, 5))
def test_halves_share_out_every_word(X, seed):
    before = X.copy()
    A, B = halves(sp.csr_array(X), seed)
    assert np.array_equal((A + B).toarray(), X) and np.array_equal(X, before)
    assert np.array_equal(A.sum(axis=1), X.sum(axis=1) // 2)
    assert A.nnz == 0 or A.data.min() > 0


def test_halves_leave_their_table_alone():
    X = sp.csr_array(np.array([[1.0, 2, 0], [0, 1, 5]]))
    copy = X.copy()
    halves(X)
    assert np.array_equal(X.toarray(), copy.toarray()) and X.nnz == copy.nnz


def test_bad_input(corpus):
    topics, X = corpus
    with pytest.raises(ValueError, match="do not fit"):
        document_completion(topics, X[:, :3], X[:, :3])
    with pytest.raises(ValueError, match="no words"):
        document_completion(topics, X, np.zeros_like(X))
    with pytest.raises(ValueError, match="whole numbers"):
        halves(np.array([[0.5]]))
    with pytest.raises(ValueError, match="whole numbers"):
        halves(np.array([[-1.0]]))
