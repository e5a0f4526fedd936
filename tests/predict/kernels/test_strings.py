"""Kernels of strings count what they say, against twins that write every substring and subsequence out."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pytest

from tests.reference.subsequences import common
from unweave.predict import Spectrum, Subsequences, Substrings, WeightedDegree


def words(rng, n: int, letters: str = "abc", longest: int = 9) -> list[str]:
    """Strings of chance, some empty."""
    return ["".join(rng.choice(list(letters), rng.integers(0, longest))) for _ in range(n)]


def pieces(text: str, shortest: int, longest: int) -> Counter:
    return Counter(text[i : i + n] for n in range(shortest, longest + 1) for i in range(len(text) - n + 1))


def test_apple_has_eleven_substrings():
    assert Substrings(3)(["apple"])[0, 0] == len(pieces("apple", 1, 3)) == 11
    assert sum(pieces("apple", 1, 3).values()) == 12  # p is there twice
    assert Substrings(3, counts=True)(["apple"])[0, 0] == 10 + 2 * 2


@pytest.mark.parametrize("letters", ["ab", "aé漢\U0001f600z"])
@pytest.mark.parametrize("counts", [False, True])
def test_substrings_are_those_that_are_written_out(rng, letters, counts):
    A, B = words(rng, 30, letters), words(rng, 20, letters)
    kernel = Substrings(5, shortest=2, counts=counts)
    expected = np.empty((30, 20))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            one, other = pieces(a, 2, 5), pieces(b, 2, 5)
            expected[i, j] = sum(one[v] * other[v] if counts else 1 for v in one.keys() & other.keys())
    np.testing.assert_array_equal(kernel(A, B), expected)
    np.testing.assert_array_equal(kernel(A, A + B), np.hstack([kernel(A), expected]))
    np.testing.assert_array_equal(kernel.diagonal(A), np.diag(kernel(A)))


def test_a_spectrum_is_the_counts_of_one_length(rng):
    A = words(rng, 20)
    np.testing.assert_array_equal(Spectrum(3)(A), Substrings(3, shortest=3, counts=True)(A))
    assert Spectrum(2)(["aaaa"], ["aaa"])[0, 0] == 3 * 2


def test_many_different_substrings_are_counted_in_a_sparse_table(rng):
    A = words(rng, 60, "abcdefghijklmnopqrst", 40)
    B = A[::2]
    expected = [[sum((pieces(a, 4, 4) & pieces(b, 4, 4)).values()) for b in B] for a in A]
    found = Substrings(4, shortest=4)(A, B)
    assert ((found > 0) == (np.array(expected) > 0)).all()
    np.testing.assert_array_equal(found[::2], Substrings(4, shortest=4)(B))


@pytest.mark.parametrize("shortest", [1, 3])
def test_subsequences_are_those_that_are_written_out(rng, shortest):
    A, B = words(rng, 25), words(rng, 18)
    expected = [[common(a, b, 3, shortest, 0.7) for b in B] for a in A]
    kernel = Subsequences(3, decay=0.7, shortest=shortest)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(A)[:5], kernel(A[:5], A), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(kernel(A)), rtol=1e-12)


def test_subsequences_of_one_letter_and_of_many_lanes(rng):
    A = words(rng, 40, "ab", 30)
    expected = [[sum(0.25 * a.count(c) * b.count(c) for c in "ab") for b in A] for a in A]
    np.testing.assert_allclose(Subsequences(1, decay=0.5)(A), expected, rtol=1e-12)
    assert Subsequences(6, decay=1.0, shortest=6)(["banana"], ["banana"])[0, 0] == 1.0


def test_strings_that_are_aligned_agree_where_they_do(rng):
    A, B = words(rng, 30), words(rng, 20)
    d = 4
    expected = np.zeros((30, 20))
    for i, a in enumerate(A):
        for j, b in enumerate(B):
            for n in range(1, d + 1):
                same = sum(a[k : k + n] == b[k : k + n] for k in range(min(len(a), len(b)) - n + 1))
                expected[i, j] += 2 * (d - n + 1) / (d * (d + 1)) * same
    kernel = WeightedDegree(d)
    np.testing.assert_allclose(kernel(A, B), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(A), np.diag(kernel(A)), rtol=1e-12)
    long = ["a" * 700, "a" * 600 + "b" * 100]
    assert WeightedDegree(1)(long).tolist() == [[700, 600], [600, 700]]


KERNELS = [Substrings(3), Spectrum(2), Subsequences(3), WeightedDegree(3)]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_bits_do_not_depend_on_the_number_of_threads(rng, kernel, two_threads):
    A = words(rng, 400, "abcd", 20)
    one, two = two_threads(lambda: kernel(A))
    np.testing.assert_array_equal(one, two)
    assert (one == one.T).all()
    assert kernel.normalised().check_psd([a for a in A if a]).holds


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_empty_strings_are_like_nothing(kernel):
    found = kernel.gram(["", "aab"], normalised=True)
    assert found.tolist()[0] == [0.0, 0.0] and found[1, 1] == pytest.approx(1.0)
    assert kernel([""]).tolist() == [[0.0]]
    assert kernel([], ["a"]).shape == (0, 1) and kernel(["a"], []).shape == (1, 0)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_strings_of_a_hundred_thousand_letters(rng, kernel):
    long = "".join(rng.choice(list("acgt"), 100_000))
    found = kernel([long, "acgt"], ["acgt", "ca"])
    assert found.shape == (2, 2) and np.isfinite(found).all() and found[0, 0] > 0


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_what_is_no_list_of_strings_is_told(kernel):
    with pytest.raises(ValueError, match=r"not one string: give \[A\]"):
        kernel("abc")
    with pytest.raises(ValueError, match=r"A\[1\] is nan"):
        kernel(["a", float("nan")])
    with pytest.raises(ValueError, match=r"B must be a list of strings"):
        kernel(["a"], np.ones((2, 2)))
    with pytest.raises(ValueError, match="length must be at least 1"):
        type(kernel)(0)(["a"])
    column = np.array([["a"], ["b"]], dtype=object)
    np.testing.assert_array_equal(kernel(column), kernel(["a", "b"]))


def test_settings_that_make_no_sense():
    with pytest.raises(ValueError, match="shortest=3 must not be above length=2"):
        Substrings(2, shortest=3)(["a"])
    for decay in (0, 1.5):
        with pytest.raises(ValueError, match="decay must be above 0 and at most 1"):
            Subsequences(2, decay=decay)(["a"])


def test_long_strings_take_minutes_and_say_so_before_they_begin():
    pairs = Subsequences(3)
    with pytest.warns(UserWarning, match=r"minutes or more.*Spectrum or Substrings"):
        pairs.pairs(["ab" * 50_000], ["ba" * 50_000])  # made ready, not compared
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs.pairs(["ab" * 500] * 20, ["ba" * 500] * 20)


def test_blocks_are_small_where_strings_are_long_and_answers_do_not_depend_on_that(rng):
    texts = ["".join(rng.choice(list("acgt"), 60)) for _ in range(40)]
    kernel = Subsequences(3)
    read = kernel.read(texts)
    pairs = kernel.pairs(read, read)
    assert pairs.at_once() == 5 and kernel.pairs(["a" * 20_000] * 40, ["a" * 20_000] * 40).at_once() == 1
    whole = kernel(texts)
    for i in (0, 17, 39):
        np.testing.assert_array_equal(pairs.rows(i, i + 1, i + 1)[0], whole[i, : i + 1])
