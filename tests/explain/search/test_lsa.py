"""LSA: the map of folding in, searching, words and texts, bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from tests.report.pages import topics
from unweave.data.named import NamedTable
from unweave.explain.search.lsa import LSA

TEXTS = [
    "the ship sails on the ocean",
    "a boat sails on the ocean with a captain",
    "the captain of the ship",
    "bread and butter for breakfast",
    "cheese, bread and butter",
    "a cook makes bread with cheese",
]


def counts(n=60, m=40, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return rng.poisson(rng.gamma(0.3, 1, (n, 4)) @ rng.gamma(0.3, 2, (4, m))).astype(dtype)


def cosines(Q, F):
    """The slow obvious way."""
    lengths = np.linalg.norm(Q, axis=1)[:, None] * np.linalg.norm(F, axis=1)
    return np.divide(Q @ F.T, lengths, out=np.zeros((len(Q), len(F))), where=lengths > 0)


@pytest.fixture
def texts():
    return LSA(2, vectorizer=TfidfVectorizer(stop_words="english")).fit(TEXTS)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_training_document_folds_in_to_its_own_row(make, dtype):
    X = counts(dtype=dtype)
    model = LSA(5).fit(make(X))
    U, s, _ = np.linalg.svd(X.astype(np.float64), full_matrices=False)
    np.testing.assert_allclose(model.singular_values_, s[:5], rtol=1e-5)
    np.testing.assert_allclose(np.abs(model.codes_), np.abs(U[:, :5] * s[:5]), atol=2e-5 * s[0])
    np.testing.assert_array_equal(model.transform(make(X)), model.codes_)
    assert model.codes_.dtype == dtype
    np.testing.assert_allclose(model.transform(make(X[7:8]))[0], model.codes_[7], atol=1e-5 * s[0])


def test_search_is_by_cosine_best_first():
    X = counts()
    model, queries = LSA(5).fit(sp.csr_array(X)), counts(8, seed=1)
    expected = cosines(queries @ model.components_.T, model.codes_)
    documents, scores = model.search(queries, 7)
    assert documents.shape == scores.shape == (8, 7)
    np.testing.assert_allclose(scores, -np.sort(-expected, axis=1)[:, :7], atol=1e-5)
    np.testing.assert_allclose(np.take_along_axis(expected, documents, 1), scores, atol=1e-5)
    again = model.search(sp.csr_matrix(queries), 7)
    np.testing.assert_allclose(again[1], scores, atol=1e-5)
    one = model.search(queries[2], 7)
    np.testing.assert_array_equal(one[0], documents[2])
    own, sure = model.search(X[5], 1)
    assert sure[0] == pytest.approx(1, abs=1e-6) and X[own[0]].any()
    assert len(model.search(X[5], 1000)[0]) == len(X)


def test_neighbours_leave_out_the_one_asked_for():
    X = counts()
    model = LSA(5).fit(X)
    documents, scores = model.nearest_documents(3, 4)
    expected = cosines(model.codes_[3:4], model.codes_)[0]
    expected[3] = -2
    np.testing.assert_allclose(scores, -np.sort(-expected)[:4], atol=1e-5)
    assert 3 not in documents
    terms, near = model.nearest_terms(9, 6)
    vectors = model.components_.T * model.singular_values_
    expected = cosines(vectors[9:10], vectors)[0]
    expected[9] = -2
    np.testing.assert_allclose(near, -np.sort(-expected)[:6], atol=1e-5)
    assert 9 not in terms and len(model.nearest_terms(9, 1000)[0]) == X.shape[1] - 1


def test_equal_documents_are_neighbours_of_each_other():
    X = np.repeat(counts(1, 6) + 1, 5, axis=0)
    documents, scores = LSA(1).fit(X).nearest_documents(4, 2)
    assert documents.tolist() == [0, 1] and scores == pytest.approx([1, 1])


def test_words_that_share_company_are_found_without_sharing_a_document(texts):
    documents, scores = texts.search("boat", 3)
    assert set(documents) == {0, 1, 2} and (np.diff(scores) <= 0).all()
    assert "boat" not in TEXTS[2]
    np.testing.assert_array_equal(texts.search(["boat"], 3)[0][0], documents)
    row = texts.vectorizer_.transform(["boat"])
    np.testing.assert_allclose(texts.search(row, 3)[1][0], scores, atol=1e-6)
    assert set(texts.nearest_terms("Butter", 3)[0]) <= {"bread", "cheese", "cook", "makes", "breakfast"}
    np.testing.assert_allclose(texts.transform(TEXTS[:1])[0], texts.codes_[0])


def test_words_by_the_names_of_columns_count_as_a_row():
    for table in (topics(), pd.DataFrame(topics().X.toarray(), columns=topics().columns)):
        model = LSA(3).fit(table)
        row = np.zeros(30)
        row[[4, 7]] = 1, 2
        for query in ([["word4", "word7", "word7"]], "Word7, word4; word7 unheard", row, NamedTable(row[None])):
            scores = model.search(query, 5)[1]
            np.testing.assert_allclose(np.ravel(scores), model.search(row, 5)[1], atol=1e-6)
        assert model.nearest_terms("word4", 1)[0][0].startswith("word")


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_the_length_of_a_query_does_not_matter(size):
    X = counts()
    model = LSA(3).fit(X)
    for query in (X[3], X[3:5]):
        for one, two in zip(model.search(query * size, 4), model.search(query, 4), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-6)


def test_a_report_is_written(tmp_path):
    table = topics()
    page = LSA(3).fit(table).report(tmp_path / "r.html", table).read_text(encoding="utf-8")
    assert "LSA" in page and "could not be made" not in page


def test_documents_are_added_and_found():
    X, more = counts(), counts(5, seed=3)
    model = LSA(4).fit(X)
    model.add_documents(more)
    documents, scores = model.search(more[2], 65)
    assert len(documents) == 65 and scores[documents.tolist().index(62)] == pytest.approx(1, abs=1e-6)
    blocks = LSA(4).fit([X[:30], X[30:]])
    with pytest.raises(ValueError, match="add_documents"):
        blocks.search(X[0])
    blocks.add_documents(X)
    np.testing.assert_allclose(blocks.search(X[0], 9)[1], LSA(4).fit(X).search(X[0], 9)[1], atol=1e-5)


def test_blocks_one_by_one():
    X = counts(200)
    model = LSA(3)
    for start in range(0, 200, 50):
        model.partial_fit(X[start : start + 50])
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-8)
    assert model.singular_values_.shape == (3,) and model.terms_ is None
    assert len(model.add_documents(X).search(X[0], 4)[0]) == 4
    assert len(model.nearest_terms(0, 4)[0]) == 4


def test_no_more_dimensions_than_the_table_has():
    model = LSA().fit(counts(12, 9))
    assert model.components_.shape == (9, 9) and model.get_params()["n_components"] == 100
    assert "9 dimensions" in " ".join(model.plan_.reasons)


def test_the_number_of_dimensions_is_left_to_the_data():
    model = LSA("auto").fit(counts(200, 60))
    assert model.choice_.best == len(model.components_) == 4
    assert len(model.search(counts(1, 60, seed=2)[0], 3)[0]) == 3
    with pytest.raises(ValueError, match="'auto'"):
        LSA("many").fit(counts())


def test_a_dense_row_of_few_words_is_folded_in_like_a_sparse_one():
    X = counts(80, 200)
    model = LSA(6).fit(X)
    row = np.zeros(200)
    row[[3, 77, 150]] = 2, 1, 1
    full = (row @ model.components_.T)[None]
    for query in (row, row[None], sp.csr_array(row[None]), sp.coo_array(row)):
        np.testing.assert_allclose(
            np.ravel(model.search(query, 80)[1]), -np.sort(-cosines(full, model.codes_)[0]), atol=1e-5
        )
    for nothing in (np.zeros(200), sp.csr_array((2, 200))):
        documents, scores = model.search(nothing, 3)
        assert (documents == [0, 1, 2]).all() and not scores.any()
    same = LSA(2, vectorizer=CountVectorizer()).fit(TEXTS)
    np.testing.assert_allclose(same.search("bread bread cheese")[1], same.search("cheese bread bread")[1])


def test_a_list_of_texts_is_a_query_each(texts):
    """Two texts were once merged into one query without a word."""
    queries = ["boat", "bread and cheese", "ocean"]
    documents, scores = texts.search(queries, 2)
    assert documents.shape == scores.shape == (3, 2)
    for i, query in enumerate(queries):
        np.testing.assert_array_equal(documents[i], texts.search(query, 2)[0])
    with pytest.raises(ValueError, match="'zebra'"):
        texts.search(["boat", "zebra"])


def test_texts_in_a_report_and_a_plot(texts, tmp_path):
    page = texts.report(tmp_path / "r.html", TEXTS).read_text(encoding="utf-8")
    assert "could not be made" not in page and "bread" in page
    assert texts.plot(TEXTS).axes


def test_threads_do_not_change_a_bit(two_threads):
    X = sp.csr_array(counts(900, 300))
    one, two = two_threads(lambda: LSA(20).fit(X))
    np.testing.assert_array_equal(one.codes_, two.codes_)
    np.testing.assert_array_equal(one.search(X[:300], 5)[0], two.search(X[:300], 5)[0])
    for a, b in zip(one.nearest_terms(7), two.nearest_terms(7), strict=True):
        np.testing.assert_array_equal(a, b)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 12), st.integers(1, 9), st.integers(1, 12), st.integers(0, 10_000))
def test_any_table_of_counts(n, m, k, seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, (n, m)).astype(float)  # empty documents and words that never occur among them
    model = LSA(k).fit(X)
    documents, scores = model.search(X, n)
    assert (np.sort(documents, axis=1) == np.arange(n)).all()
    assert np.isfinite(scores).all() and np.abs(scores).max() <= 1 + 1e-5
    assert (scores[~X.any(axis=1)] == 0).all()
