"""Counts of pairs: blocks, threads and machines add up to the same bits."""

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave import Cooccurrence
from unweave.embed.cooccurrence import count_pairs, weights_of_distances
from unweave.embed.corpus import read_corpus

HARMONIC = weights_of_distances(10, "both", "harmonic")


@pytest.fixture(scope="module")
def sequences():
    rng = np.random.default_rng(0)
    lengths = [0, 1, 3000, *rng.integers(0, 40, size=200)]
    return [(rng.zipf(1.5, size=n) % 500).tolist() for n in lengths]


def assert_same(one: sp.csr_array, other: sp.csr_array) -> None:
    assert one.shape == other.shape and one.nnz == other.nnz
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part))


def test_one_thread_and_two(sequences, two_threads):
    corpus = read_corpus(sequences, min_count=1)
    assert_same(*two_threads(lambda: count_pairs(corpus, *HARMONIC)))


@pytest.mark.parametrize("memory", [1, 80_000, 200_000])
def test_blocks_that_are_spilled_and_merged_give_the_same_bits(sequences, memory):
    corpus = read_corpus(sequences, min_count=1)
    assert len(corpus.ids) > 4000  # two blocks of 80,000 bytes
    assert_same(count_pairs(corpus, *HARMONIC), count_pairs(corpus, *HARMONIC, memory=memory))


def test_parts_of_a_corpus_add_up_to_the_same_bits(sequences):
    whole = Cooccurrence(min_count=1).fit(sequences)
    parts = Cooccurrence(vocabulary=whole.vocabulary_.symbols)
    for start in range(0, len(sequences), 50):
        parts.partial_fit(sequences[start : start + 50])
    assert_same(whole.counts_, parts.counts_)
    np.testing.assert_array_equal(whole.vocabulary_.counts, parts.vocabulary_.counts)
    assert parts.n_tokens_ == whole.n_tokens_


def test_what_two_have_counted_is_merged_by_symbols(sequences):
    whole = Cooccurrence(min_count=1).fit(sequences)
    one, two = (Cooccurrence(min_count=1).fit(sequences[a:b]) for a, b in ((0, 100), (100, None)))
    merged = one.merge(two)
    order = merged.vocabulary_.places(whole.vocabulary_.symbols)
    assert len(order) == len(merged.vocabulary_) and merged.n_tokens_ == whole.n_tokens_
    np.testing.assert_array_equal(merged.vocabulary_.counts[order], whole.vocabulary_.counts)
    np.testing.assert_array_equal(merged.counts_.toarray()[np.ix_(order, order)], whole.counts_.toarray())
    with pytest.raises(ValueError, match="count both alike"):
        one.merge(Cooccurrence(window=2, min_count=1).fit(sequences))


def test_sides(sequences):
    both, left, right = (Cooccurrence(side=side).fit(sequences).counts_ for side in ("both", "left", "right"))
    assert_same(left, sp.csr_array(right.T).tocsr())
    np.testing.assert_array_equal((left + right).toarray(), both.toarray())
    assert (both != both.T).nnz == 0


def test_other_texts_are_counted_by_what_was_learned(sequences):
    pairs = Cooccurrence(window=3).fit(sequences)
    assert_same(pairs.transform(sequences), pairs.counts_)
    assert pairs.transform([["nothing", "known"]]).nnz == 0
    assert_same(Cooccurrence(window=3).fit_transform(sequences), pairs.counts_)


def test_saved_and_loaded_it_goes_on_counting(sequences, tmp_path):
    pairs = Cooccurrence().fit(sequences[:100])
    loaded = unweave.load(pairs.save(tmp_path / "pairs.unweave"))
    assert loaded.vocabulary_.symbols == pairs.vocabulary_.symbols
    assert_same(loaded.partial_fit(sequences[100:]).counts_, pairs.partial_fit(sequences[100:]).counts_)


def test_sequences_of_one_symbol_and_a_vocabulary_of_one():
    pairs = Cooccurrence(min_count=1).fit([["a"], ["b"], ["a"]])
    assert pairs.counts_.nnz == 0 and pairs.vocabulary_.symbols == ["a", "b"]
    assert Cooccurrence(window=2, min_count=1, weights="flat").fit([["a"] * 4]).counts_.toarray().tolist() == [[10.0]]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"window": 0}, "window"),
        ({"side": "up"}, "'both', 'left' or 'right'"),
        ({"weights": 3}, "'harmonic' or 'flat'"),
        ({"memory": 0}, "memory"),
    ],
)
def test_wrong_arguments(more, words):
    with pytest.raises(ValueError, match=words):
        Cooccurrence(min_count=1, **more).fit([["a", "b"]])


def test_a_corpus_of_another_vocabulary_is_refused(sequences):
    pairs = Cooccurrence().fit(sequences)
    with pytest.raises(ValueError, match="another vocabulary"):
        pairs.transform(read_corpus([["a", "b"]], min_count=1))
