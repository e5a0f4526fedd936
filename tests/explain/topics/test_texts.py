"""Models of topics take texts where they have a vectoriser, and say what to do where they have none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import unweave
from unweave import LDA, PLSA, SimplexTopics, TextTable

TEXTS = ["ape bee ape", "bee ape bee ape", "cat dog cat", "dog cat dog dog", "cat dog", "ape bee"] * 4
MODELS = [LDA, PLSA, SimplexTopics]


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("form", [list, np.array, pd.Series])
@pytest.mark.parametrize("vectorizer", [TextTable(), CountVectorizer()], ids=lambda v: type(v).__name__)
def test_texts_in(make, form, vectorizer):
    model = make(2, vectorizer=vectorizer).fit(form(TEXTS))
    same = make(2).fit(TextTable().fit(TEXTS).as_table(TEXTS))
    np.testing.assert_array_equal(model.topics_, same.topics_)
    assert sorted(sorted(words) for words in model.top_words(2)) == [["ape", "bee"], ["cat", "dog"]]
    shares = model.document_topics(["ape bee ape bee", "dog cat dog cat", "an unseen bird"])
    assert shares[0].argmax() != shares[1].argmax()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.isfinite(model.perplexity(TEXTS)) and np.isfinite(model.coherence(TEXTS)).all()
    assert not hasattr(vectorizer, "vocabulary_")  # a copy was fitted


@pytest.mark.parametrize("make", MODELS)
def test_words_in_lists_in(make):
    tokens = [text.split() for text in TEXTS]
    model = make(2, vectorizer=TextTable()).fit(tokens)
    np.testing.assert_array_equal(model.topics_, make(2, vectorizer=TextTable()).fit(TEXTS).topics_)
    np.testing.assert_array_equal(model.document_topics(tokens), model.document_topics(TEXTS))


@pytest.mark.parametrize("make", MODELS)
def test_texts_are_shown(make, tmp_path):
    """The map, the report and the figure take the texts that fit took."""
    model = make(2, vectorizer=TextTable()).fit(TEXTS)
    table = model.vectorizer_.as_table(TEXTS)
    pages = [model.topic_map(tmp_path / "map.html", X).read_text(encoding="utf-8") for X in (TEXTS, table)]
    assert pages[0] == pages[1] and "ape" in pages[0]
    page = model.report(tmp_path / "report.html", TEXTS).read_text(encoding="utf-8")
    assert "could not be made" not in page and "ape" in page
    assert model.plot(TEXTS).axes


@pytest.mark.parametrize("make", MODELS)
def test_texts_without_a_vectoriser(make):
    with pytest.raises(ValueError, match=rf"give {make.__name__}\(vectorizer=TextTable"):
        make(2).fit(TEXTS)
    with pytest.raises(TypeError, match="one text"):
        make(2, vectorizer=TextTable()).fit("ape bee")


@pytest.mark.parametrize("make", MODELS)
def test_saved_with_its_words(make, tmp_path):
    model = make(2, vectorizer=TextTable()).fit(TEXTS)
    again = unweave.load(model.save(tmp_path / "topics.unweave"))
    np.testing.assert_array_equal(again.document_topics(TEXTS), model.document_topics(TEXTS))
    foreign = clone(model).set_params(vectorizer=CountVectorizer()).fit(TEXTS)
    with pytest.raises(TypeError, match=f"CountVectorizer, which cannot be saved: fit {make.__name__}"):
        foreign.save(tmp_path / "foreign.unweave")


@pytest.mark.parametrize("make", [LDA, SimplexTopics])
def test_streams_of_texts(make):
    words = TextTable().fit(TEXTS)
    model = make(2, vectorizer=words)
    for start in range(0, len(TEXTS), 6):
        model.partial_fit(TEXTS[start : start + 6])
    assert sorted(sorted(words) for words in model.top_words(2)) == [["ape", "bee"], ["cat", "dog"]]
    with pytest.raises(ValueError, match="vectorizer is not fitted"):
        make(2, vectorizer=TextTable()).partial_fit(TEXTS)


def test_the_number_of_topics_of_texts_can_be_left_to_the_data():
    model = LDA("auto", vectorizer=TextTable()).fit(TEXTS * 10)
    assert model.choice_.best == 2


@pytest.mark.parametrize("make", MODELS)
def test_empty_documents_do_not_shift_the_shares(make):
    X = np.array([[9, 0], [0, 9], [9, 0], [9, 0]] + [[0, 0]] * 50, dtype=float)
    np.testing.assert_allclose(np.sort(make(2).fit(X).topic_shares_), [0.25, 0.75], atol=0.02)


@pytest.mark.parametrize("make", [LDA, SimplexTopics])
def test_shares_of_a_stream_are_those_of_all_batches(make):
    first, second = np.tile([20.0, 0.0], (30, 1)), np.tile([0.0, 20.0], (10, 1))
    model = make(2).partial_fit(np.vstack([first[:15], second[:5]]))
    model.partial_fit(np.vstack([first[15:], second[5:]]))
    model.partial_fit(second)  # a last batch of one topic
    np.testing.assert_allclose(np.sort(model.topic_shares_), [0.4, 0.6], atol=0.05)


@pytest.mark.parametrize("temper", [1.0, 0.8])
def test_words_of_no_topic_give_the_shares_of_the_topics(temper):
    model = PLSA(2, temper=temper).fit([[3, 2, 0], [2, 3, 0.0]])
    np.testing.assert_allclose(model.transform([[0, 0, 5.0]])[0], model.topic_shares_)


def test_an_inference_that_is_no_name():
    with pytest.raises(ValueError, match="inference="):
        LDA(2, inference=["gibbs"]).fit(np.ones((3, 3)))
