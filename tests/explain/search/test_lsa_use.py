"""LSA with vectorisers, saved, and given bad input."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from tests.explain.search.test_lsa import TEXTS, cosines, counts
from tests.report.pages import topics
from unweave.explain.search.lsa import LSA


@pytest.fixture
def texts():
    return LSA(2, vectorizer=TfidfVectorizer(stop_words="english")).fit(TEXTS)


def test_our_own_table_of_texts_is_a_vectoriser():
    from unweave.explain.text.table import TextTable

    model = LSA(2, vectorizer=TextTable(stop_words="english", weights="tf-idf")).fit(TEXTS)
    assert set(model.search("boat", 3)[0]) == {0, 1, 2}
    assert model.terms_.tolist() == model.vectorizer_.words_ and model.vectorizer_ is not model.vectorizer


def test_a_vectoriser_whose_rows_are_dense():
    from unweave.explain.text.table import TextTable

    model = LSA(2, vectorizer=TextTable(weights="tf-idf", smoothing=0.1)).fit(TEXTS)
    row = model.vectorizer_.transform(["boat"])
    np.testing.assert_allclose(model.search("boat")[1], model.search(row)[1][0], atol=1e-6)


def test_a_vectoriser_is_fitted_as_a_copy_only_if_it_is_not():
    given, fitted = CountVectorizer(), CountVectorizer().fit(TEXTS)
    model = LSA(2, vectorizer=given).fit(TEXTS)
    assert model.vectorizer is given and not hasattr(given, "vocabulary_") and "ship" in model.terms_
    assert LSA(2, vectorizer=fitted).fit(fitted.transform(TEXTS)).vectorizer_ is fitted
    assert clone(model).fit(TEXTS).search("bread", 1)[0] == model.search("bread", 1)[0]
    hashed = LSA(2, vectorizer=HashingVectorizer(n_features=64, alternate_sign=False)).fit(TEXTS)
    assert hashed.terms_ is None and set(hashed.search("bread cheese", 3)[0]) == {3, 4, 5}


def test_saved_and_read_again(tmp_path, texts):
    from unweave import persist

    with pytest.raises(TypeError, match=r"TfidfVectorizer.*cannot be saved"):
        texts.save(tmp_path / "m.unweave")
    model = LSA(3).fit(topics())
    again = persist.load(model.save(tmp_path / "m.unweave"))
    for one, two in zip(model.search("word3 word9"), again.search("word3 word9"), strict=True):
        np.testing.assert_array_equal(one, two)
    assert again.nearest_terms("word3", 2)[0].tolist() == model.nearest_terms("word3", 2)[0].tolist()


def test_what_is_kept_for_searching_is_not_saved_and_follows_the_model(tmp_path):
    from unweave import persist

    X, more = counts(90), counts(90, seed=4)
    model, fresh = LSA(3).fit(X), LSA(3).fit(X)
    before = set(vars(model))
    model.search(X[0]), model.nearest_terms(2), model.nearest_documents(1)
    assert set(vars(model)) == before
    paths = [one.save(tmp_path / f"{i}.unweave") for i, one in enumerate((fresh, model))]
    sizes = [persist.header(path)["arrays"] for path in paths]
    assert sizes[0] == sizes[1]
    model.fit(more)
    for ask in ("nearest_terms", "nearest_documents"):
        for one, two in zip(getattr(model, ask)(2), getattr(LSA(3).fit(more), ask)(2), strict=True):
            np.testing.assert_array_equal(one, two)
    model.partial_fit(more[:50])
    vectors = model.components_.T * model.singular_values_
    np.testing.assert_allclose(model.nearest_terms(2, 1)[1], np.sort(cosines(vectors[2:3], vectors)[0])[-2], atol=1e-5)
    copied = pickle.loads(pickle.dumps(model.add_documents(X)))
    np.testing.assert_array_equal(copied.search(X[0])[1], model.search(X[0])[1])


def test_a_model_of_an_earlier_version_still_loads(tmp_path):
    from unweave import persist

    model = LSA(3).fit(topics())
    model._order = np.argsort(model.terms_)  # what was kept to find a word
    again = persist.load(model.save(tmp_path / "m.unweave"))
    np.testing.assert_array_equal(again.search("word3 word9")[0], model.search("word3 word9")[0])


BAD = {
    "unheard": (lambda m: m.search("zebra"), ValueError, "no word that the model knows"),
    "empty": (lambda m: m.search(""), ValueError, "it is empty"),
    "width": (lambda m: m.search(np.ones(4)), ValueError, "4 columns"),
    "none": (lambda m: m.search(None), TypeError, "list of texts, or a row or table of 30 columns"),
    "number": (lambda m: m.search(3), TypeError, "query must be a text"),
    "bytes": (lambda m: m.search(b"word1"), TypeError, "query must be a text"),
    "dict": (lambda m: m.search({"word1": 1}), TypeError, "query must be a text"),
    "mixed": (lambda m: m.search(["word1", 3]), TypeError, "query must be a text"),
    "complex": (lambda m: m.search(1j * np.ones(30)), TypeError, "query must be a text"),
    "three axes": (lambda m: m.search(np.ones((2, 2, 30))), TypeError, "query must be a text"),
    "no list": (lambda m: m.search([]), ValueError, "query has 0 columns"),
    "no rows": (lambda m: m.search(np.ones((0, 30))), ValueError, "no rows"),
    "no documents": (lambda m: LSA(1).fit([np.eye(3)]).nearest_documents(0), ValueError, "call add_documents first"),
    "huge": (lambda m: m.search(np.full((2, 30), 1.7e308)), ValueError, "overflow"),
    "nan": (lambda m: m.search(np.full(30, np.nan)), ValueError, "NaN"),
    "n": (lambda m: m.search("word1", 0), ValueError, "n must be at least 1"),
    "n kind": (lambda m: m.nearest_documents(0, 1.5), TypeError, "whole number"),
    "document": (lambda m: m.nearest_documents(40), ValueError, "below 40"),
    "term": (lambda m: m.nearest_terms("zebra"), ValueError, "not among the words"),
    "column": (lambda m: m.nearest_terms(30), ValueError, "below 30"),
    "text": (lambda m: m.fit("one text"), TypeError, "list of texts"),
    "texts": (lambda m: m.fit(TEXTS), ValueError, "give a vectorizer"),
    "k": (lambda m: LSA(0).fit(np.eye(3)), ValueError, "at least 1"),
    "vectorizer": (lambda m: LSA(1, vectorizer=3).fit(np.eye(3)), TypeError, "method transform"),
    "unfitted": (lambda m: LSA(1, vectorizer=CountVectorizer()).fit(np.eye(3)), ValueError, "is not fitted"),
    "vocabulary": (lambda m: LSA(1, vectorizer=CountVectorizer().fit(TEXTS)).fit(np.eye(3)), ValueError, "3 columns"),
    "nameless": (lambda m: LSA(1).fit(np.eye(3)).search("word"), ValueError, "no names"),
    "nameless term": (lambda m: LSA(1).fit(np.eye(3)).nearest_terms("word"), ValueError, "number of a column"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case):
    call, kind, words = BAD[case]
    with pytest.raises(kind, match=words) as raised:
        call(LSA(3).fit(topics()))
    assert "\n" not in str(raised.value)


def test_a_query_that_the_vectoriser_does_not_know(texts):
    for query, shown in (("zebra", "'zebra'"), ("", "it is empty"), ("the and of with on", "'of', …")):
        with pytest.raises(ValueError, match=f"no word that the model knows .*{shown}"):
            texts.search(query)
    with pytest.raises(ValueError, match="at least one text"):
        texts.add_documents([])
