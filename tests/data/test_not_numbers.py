"""Words among numbers, and rows of different lengths: the error says where, and which model takes them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import unweave
from unweave.predict import Gaussian, RBFNetwork

WORDS = [["1", "2.5"], ["b", "3"], ["4", "5"]] * 5
TAKES_TARGETS = [unweave.KernelLogistic(), RBFNetwork()]
TAKES_TABLES = [unweave.PCA(1), unweave.KMeans(2), unweave.NMF(1)]


@pytest.mark.parametrize("model", TAKES_TABLES + TAKES_TARGETS)
@pytest.mark.parametrize("kind", [list, np.array, lambda rows: np.array(rows, dtype=object)])
def test_a_word_is_named_with_its_place(model, kind):
    with pytest.raises(ValueError, match=r"X holds .*'b'.* in row 1, column 0: could not convert string to float"):
        model.fit(kind(WORDS), [0, 1, 0] * 5)


@pytest.mark.parametrize("model", TAKES_TABLES + TAKES_TARGETS)
def test_rows_of_different_lengths_are_named(model):
    with pytest.raises(ValueError, match=r"row 0 has 2 values, row 2 has 1"):
        model.fit([[1, 2], [3, 4], [5]], [0, 1, 0])


def test_the_remedy_is_one_that_the_model_has():
    frame = pl.DataFrame({"town": ["Bath", "York"] * 5, "x": range(10)})
    for model in TAKES_TARGETS:
        with pytest.raises(ValueError, match=r"\(town\).*RepresentationClassifier"):
            model.fit(frame, [0, 1] * 5)
    with pytest.raises(ValueError, match=r"\(town\).*Factorization"):
        unweave.KMeans(2).fit(frame)
    with pytest.raises(ValueError, match="give each column its own loss"):
        unweave.Factorization(1).fit(frame)


def test_a_kernel_of_numbers_says_which_kernels_take_words():
    with pytest.raises(ValueError, match=r"A holds 'a' in row 0, column 0.*Substrings"):
        Gaussian()([["a"]])
    with pytest.raises(ValueError, match="Substrings"):
        Gaussian()(["a"])


def test_numbers_written_as_words_are_numbers():
    assert unweave.PCA(1).fit([["1", "2"], ["3", "5"], ["4", "1"]]).components_.shape == (1, 2)
