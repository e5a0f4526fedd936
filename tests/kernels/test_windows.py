"""Counting within windows, against a loop over all neighbours."""

import numpy as np
import pytest

from tests.reference.windows import count_windows as slow
from unweave.embed.cooccurrence import count_pairs, weights_of_distances
from unweave.embed.corpus import read_corpus


@pytest.mark.parametrize("side", ["both", "left", "right"])
@pytest.mark.parametrize("weights", ["harmonic", "flat"])
@pytest.mark.parametrize("window", [1, 3, 40])
def test_every_pair_is_counted_with_its_weight(rng, side, weights, window):
    sequences = [rng.integers(0, 130, size=n).tolist() for n in (0, 1, 2, 30, 7, 0, 300, 1)]
    corpus = read_corpus(sequences, min_count=1)
    before, after = weights_of_distances(window, side, weights)
    numbers = [corpus.vocabulary.places(sequence) for sequence in sequences]
    found = count_pairs(corpus, before, after)
    np.testing.assert_array_equal(found.toarray(), slow(numbers, len(corpus.vocabulary), before, after))
    assert found.has_canonical_format and found.data.min() > 0


def test_many_symbols_fill_more_than_one_word_of_bits(rng):
    sequences = [rng.permutation(1000).tolist() for _ in range(3)]
    corpus = read_corpus(sequences, min_count=1)
    weights = weights_of_distances(5, "both", "flat")
    numbers = [corpus.vocabulary.places(sequence) for sequence in sequences]
    np.testing.assert_array_equal(count_pairs(corpus, *weights).toarray(), slow(numbers, 1000, *weights))


def test_harmonic_weights_are_as_good_as_exact():
    before, _ = weights_of_distances(100, "both", "harmonic")
    np.testing.assert_allclose(before, 1 / np.arange(1, 101), rtol=1e-6)
