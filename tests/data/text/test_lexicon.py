"""Stop words and stems."""

import sys

import pytest

from unweave.data.text.lexicon import LANGUAGES, Lexicon, stemmer_of, stop_words, stop_words_of


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
