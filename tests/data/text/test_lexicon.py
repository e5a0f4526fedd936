"""Stop words, stems, vocabularies and weights."""

import math
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from unweave.data.text import Lexicon, Limits, Tally, choose, fixed, inverse_frequency, stemmer_of, stop_words, weigh
from unweave.data.text import weights as weighing
from unweave.data.text.lexicon import LANGUAGES, stop_words_of
from unweave.data.text.vocabulary import documents_asked


@pytest.mark.parametrize("language", LANGUAGES)
def test_stop_words_are_lower_case_words(language):
    words = stop_words_of(language)
    assert 150 < len(words) < 400
    assert all(word == word.lower() and word.isalpha() for word in words)


def test_a_few_stop_words_of_every_language():
    few = {"english": "the of", "german": "der und", "french": "le et", "spanish": "el y", "italian": "il e"}
    for language, words in {**few, "dutch": "het en", "portuguese": "não e"}.items():
        assert set(words.split()) <= stop_words(language)


def test_stop_words_of_several_languages_or_own():
    assert {"the", "und"} <= stop_words(["english", "german"])
    assert stop_words(["english", "foo"]) == {"english", "foo"}
    assert stop_words({"A"}) == {"a"} and stop_words([]) == frozenset()


@pytest.mark.parametrize(
    ("asked", "error"), [("klingon", ValueError), (3, TypeError), (b"en", TypeError), ([1], TypeError)]
)
def test_stop_words_that_are_not_known(asked, error):
    with pytest.raises(error, match="stop_words"):
        stop_words(asked)


def test_stop_words_go_whatever_their_case():
    assert Lexicon(stop_words(["THE"]), None).add(["The", "the", "Then"]).tolist() == [-1, -1, 0]


def test_the_stemmer_joins_words():
    lexicon = Lexicon(frozenset(), stemmer_of("english"))
    assert lexicon.add(["argue", "argues", "argued", "cat"]).tolist() == [0, 0, 0, 1]
    assert lexicon.terms == ["argu", "cat"]
    with pytest.raises(ValueError, match=r"stemmer='klingon' is not known; use None or one of .*english"):
        stemmer_of("klingon")


def test_without_the_package_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    with pytest.raises(ImportError, match="pip install snowballstemmer, or stemmer=None"):
        stemmer_of("english")


TERMS = ["d", "c", "b", "a"]
TALLY = Tally(np.array([4, 2, 2, 1]), np.array([9, 5, 5, 7]))


def chosen(**limits):
    return choose(TALLY, 4, Limits(**limits), lambda numbers: [TERMS[i] for i in numbers])[0]


def test_limits():
    assert chosen() == ["a", "b", "c", "d"]
    assert chosen(min_df=2) == ["b", "c", "d"] and chosen(min_df=0.5) == ["b", "c", "d"]
    assert chosen(max_df=0.9) == ["a", "b", "c"] and chosen(max_df=1) == ["a"]
    assert chosen(min_count=6) == ["a", "d"]
    assert chosen(max_words=3) == ["a", "b", "d"]  # b before c: equally frequent, first in the alphabet


def test_limits_that_leave_nothing_say_what_to_do():
    with pytest.raises(ValueError, match=r"no word is left of 4: .* lower min_df or min_count, or raise max_df"):
        chosen(min_count=100)
    with pytest.raises(ValueError, match="of 4; lower min_df or raise max_df"):
        chosen(min_df=3, max_df=2)
    with pytest.raises(ValueError, match="hold no word"):
        choose(Tally.empty(), 4, Limits(), lambda numbers: [])


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, ValueError), (1.5, ValueError), (math.nan, ValueError), ("1", TypeError), (True, TypeError)],
)
def test_bad_limits(value, error):
    with pytest.raises(error, match="min_df"):
        documents_asked(value, "min_df", 10, math.ceil)


def test_shares_of_documents_round_inwards():
    assert documents_asked(0.25, "min_df", 9, math.ceil) == 3 and documents_asked(0.25, "max_df", 9, math.floor) == 2


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ([], ValueError, "empty"),
        (["a", "a"], ValueError, "twice"),
        ("abc", TypeError, "list"),
        ([1], TypeError, "texts"),
        ({"a": 0, "b": 2}, ValueError, "without a gap"),
        (7, TypeError, "list"),
    ],
)
def test_bad_vocabularies(given, error, words):
    with pytest.raises(error, match=words):
        fixed(given)


def test_the_three_idf_weights():
    documents = np.array([1, 2, 4, 0])
    assert inverse_frequency(documents, 4, "one").tolist() == [1, 1, 1, 1]
    np.testing.assert_allclose(inverse_frequency(documents, 4, "log"), np.log([4, 2, 1, 4]))
    np.testing.assert_allclose(inverse_frequency(documents, 4, "log1p"), np.log([5, 3, 2, 5]))


COUNTS = sp.csr_array(np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))


def test_frequencies_smoothed_stay_distributions(dtype):
    X = COUNTS.astype(dtype)
    f = weigh(X, "frequency", 0.0, np.ones(3))
    assert f.dtype == dtype
    np.testing.assert_allclose(f.toarray(), [[0.75, 0.25, 0], [0, 0, 0], [0, 1, 0]])
    smooth = weigh(X, "frequency", 0.1, np.ones(3))
    assert smooth.dtype == dtype
    np.testing.assert_allclose(smooth.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(smooth[0], 0.1 / 3 + 0.9 * np.array([0.75, 0.25, 0]), rtol=1e-6)
    np.testing.assert_allclose(smooth[1], 1 / 3, rtol=1e-6)
    np.testing.assert_array_equal(X.toarray(), COUNTS.toarray())


def test_tf_idf_is_their_product_and_stores_no_zeros():
    idf = np.array([2.0, 0.0, 5.0])
    X = weigh(COUNTS, "tf-idf", 0.0, idf)
    np.testing.assert_allclose(X.toarray(), [[1.5, 0, 0], [0, 0, 0], [0, 0, 0]])
    assert X.nnz == 1
    np.testing.assert_allclose(weigh(COUNTS, "tf-idf", 0.3, idf)[1], idf / 3)


def test_a_smoothed_table_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(weighing, "_LARGEST", 8)
    with pytest.raises(ValueError, match="max_words or min_df"):
        weigh(COUNTS, "frequency", 0.1, np.ones(3))
