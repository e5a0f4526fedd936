"""Corpora: whatever holds sequences is read once, and numbered by frequency."""

import gzip
import pickle

import numpy as np
import pytest

from unweave.data.readers import ReadError
from unweave.embed.corpus import Corpus, Vocabulary, read_corpus
from unweave.embed.names import UnknownSymbolError

TEXTS = ["The cat sat, the dog sat.", "", "A cat and a dog: the end!", "end"]
LISTS = [["the", "cat", "sat", "the", "dog", "sat"], [], ["a", "cat", "and", "a", "dog", "the", "end"], ["end"]]


def same(one: Corpus, other: Corpus) -> bool:
    assert one.vocabulary.symbols == other.vocabulary.symbols
    np.testing.assert_array_equal(one.vocabulary.counts, other.vocabulary.counts)
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.bounds, other.bounds)
    return one.n_tokens == other.n_tokens


def words(corpus: Corpus) -> list[list]:
    return [[corpus.vocabulary.symbols[i] for i in corpus.ids[a:b]] for a, b in zip(corpus.bounds, corpus.bounds[1:])]


def test_texts_lists_and_files_are_the_same_corpus(tmp_path):
    wanted = read_corpus(LISTS, min_count=2)
    assert wanted.vocabulary.symbols == ["the", "cat", "sat", "dog", "a", "end"]  # ties by first appearance
    assert wanted.vocabulary.counts.tolist() == [3, 2, 2, 2, 2, 2] and wanted.n_tokens == 14
    assert words(wanted) == [[w for w in sequence if w != "and"] for sequence in LISTS]
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    text = "\n".join(TEXTS) + "\n"
    plain = tmp_path / "folder" / "a.txt"
    plain.write_text(text)
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    for given in (TEXTS, iter(TEXTS), [t.encode() for t in TEXTS], tuple(LISTS), [np.array(x) for x in LISTS], plain,
                  [plain], packed, tmp_path / "folder"):  # fmt: skip
        assert same(wanted, read_corpus(given, min_count=2))
    (tmp_path / "folder" / "deep" / "b.txt.gz").write_bytes(packed.read_bytes())
    assert read_corpus(tmp_path / "folder", min_count=2).n_tokens == 28


def test_any_hashable_symbol_will_do():
    walks = [[("x", 1), 7, "seven"], (7, 7.5, frozenset([1])), np.array([7, 8])]
    corpus = read_corpus(walks, min_count=1)
    assert corpus.vocabulary.symbols == [7, ("x", 1), "seven", 7.5, frozenset([1]), 8]
    assert words(corpus) == [[("x", 1), 7, "seven"], [7, 7.5, frozenset([1])], [7, 8]]


def test_numbers_that_are_too_many_go_to_a_file(rng):
    sequences = [rng.integers(0, 50, size=n).tolist() for n in rng.integers(0, 400, size=300)]
    wanted = read_corpus(sequences, min_count=30)
    spilled = read_corpus(sequences, min_count=30, memory=1000)
    assert same(wanted, spilled) and spilled._scratch is not None
    folder = spilled._scratch.path
    assert [path.name for path in folder.iterdir() if path.name == "read"] == []
    copied = pickle.loads(pickle.dumps(spilled))
    del spilled
    assert same(wanted, copied) and not folder.exists()


def test_threads_do_not_change_a_corpus(rng, two_threads):
    texts = [" ".join(f"w{i}" for i in rng.integers(0, 3000, size=400)) for _ in range(900)]
    assert same(*two_threads(lambda: read_corpus(texts)))


def test_a_limit_and_a_vocabulary_that_is_given():
    assert read_corpus(LISTS, min_count=1, max_vocabulary=2).vocabulary.symbols == ["the", "cat"]
    corpus = read_corpus(LISTS, vocabulary=["dog", "unicorn", "cat"])
    assert corpus.vocabulary.symbols == ["dog", "unicorn", "cat"] and corpus.vocabulary.counts.tolist() == [2, 0, 2]
    assert words(corpus) == [["cat", "dog"], [], ["cat", "dog"], []]
    assert read_corpus(corpus) is corpus


@pytest.mark.parametrize("tokens", [1, 3, 7, 1000])
def test_chunks_are_whole_sequences_or_pieces_of_long_ones(tokens):
    corpus = read_corpus(LISTS, min_count=1)
    chunks = list(corpus.chunks(tokens))
    np.testing.assert_array_equal(np.concatenate([ids for ids, _ in chunks]), corpus.ids)
    for ids, bounds in chunks:
        assert bounds[0] == 0 and bounds[-1] == len(ids) and (np.diff(bounds) <= tokens).all()
        assert len(ids) <= tokens
    if tokens >= 7:
        assert sum(len(bounds) - 1 for _, bounds in chunks) == len(LISTS)


def test_a_line_of_a_million_words():
    corpus = read_corpus(["one two three four " * 250_000], min_count=1)
    assert corpus.n_tokens == 1_000_000 and len(corpus) == 1 and corpus.vocabulary.counts.tolist() == [250_000] * 4


def test_case_and_letters_of_all_scripts():
    assert read_corpus(["Été ÉTÉ I"], min_count=1).vocabulary.symbols == ["été", "i"]
    assert read_corpus(["Été ÉTÉ"], min_count=1, lowercase=False).vocabulary.symbols == ["Été", "ÉTÉ"]
    assert read_corpus(["हिन्दी भाषा"], min_count=1).vocabulary.symbols == ["हिन्दी", "भाषा"]


@pytest.mark.parametrize(
    ("texts", "more", "error", "words"),
    [
        ([], {}, ValueError, "empty"),
        ([""], {}, ValueError, "no token"),
        ([[]], {}, ValueError, "no token"),
        (["a b c"], {}, ValueError, "lower min_count"),
        ("a text", {}, ValueError, r"\[text\]"),
        (5, {}, TypeError, "iterable"),
        ({"a": "b"}, {}, TypeError, "iterable"),
        ([["a"], "b"], {}, TypeError, "sequence 1"),
        ([["a", ["b"]]], {}, TypeError, "hashable"),
        ([["a", None]], {"min_count": 1}, ValueError, "missing"),
        ([["a", float("nan")]], {"min_count": 1}, ValueError, "missing"),
        (["a", 3], {}, TypeError, "document 1"),
        (["a"], {"min_count": 0}, ValueError, "min_count"),
        (["a"], {"vocabulary": []}, ValueError, "vocabulary is empty"),
        (["a"], {"vocabulary": ["b"]}, ValueError, "how they are written"),
        (["a"], {"vocabulary": ["b", "b"]}, ValueError, "twice"),
        (["a"], {"vocabulary": "b"}, TypeError, "list"),
        (["a"], {"encoding": "klingon"}, ValueError, "klingon"),
    ],
)
def test_what_cannot_be_read_is_told_with_the_remedy(texts, more, error, words):
    with pytest.raises(error, match=words):
        read_corpus(texts, **more)


def test_files_that_cannot_be_read(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"fine words\nbroken \xff\xfe\x00words\n")
    with pytest.raises(ReadError, match=r"bad\.txt, line 2.*errors='replace'"):
        read_corpus(bad, min_count=1)
    assert read_corpus(bad, min_count=1, errors="replace").vocabulary.symbols[0] == "words"
    with pytest.raises(ReadError, match="no such file"):
        read_corpus(tmp_path / "none.txt")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ReadError, match="no text file"):
        read_corpus(tmp_path / "empty")
    with pytest.raises(TypeError, match="paths alone"):
        read_corpus([bad, "text"], errors="replace")


def test_unknown_symbols_are_told_with_near_spellings():
    vocabulary = Vocabulary(["france", "paris"], [2, 1])
    assert vocabulary.place("paris") == 1 and "rome" not in vocabulary
    with pytest.raises(UnknownSymbolError, match="'france'"):
        vocabulary.place("frnace")
    with pytest.raises(ValueError, match="one number for each"):
        Vocabulary(["a"], [1, 2])
