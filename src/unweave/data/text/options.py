"""The parameters of a text table, checked before anything is read."""

from __future__ import annotations

import numpy as np

from unweave.data.arguments import number, whole
from unweave.data.text.characters import MARKS
from unweave.data.text.documents import INPUTS, check_encoding
from unweave.data.text.weights import IDF, TF, WEIGHTS

_CHOICES = {"input": INPUTS, "marks": MARKS, "weights": WEIGHTS, "idf": IDF, "tf": TF, "dtype": ("float64", "float32")}


def check_options(options) -> None:
    """ValueError or TypeError, naming the parameter, unless a table of text can be made with these.

    >>> from types import SimpleNamespace
    >>> check_options(SimpleNamespace(input="web"))
    Traceback (most recent call last):
        ...
    ValueError: input='web' is not known; use 'text', 'files' or 'lines'
    """
    for name, known in _CHOICES.items():
        value = getattr(options, name)
        if not isinstance(value, str) or value not in known:
            words = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
            raise ValueError(f"{name}={value!r} is not known; use {words}")
    if not isinstance(options.lowercase, bool):
        raise TypeError(f"lowercase must be True or False, got {options.lowercase!r}")
    check_encoding(options.encoding, options.errors)
    whole(options.min_length, "min_length", 1)
    whole(options.min_count, "min_count", 1)
    if options.max_words is not None:
        whole(options.max_words, "max_words", 1)
    if number(options.smoothing, "smoothing") > 1:
        raise ValueError(f"smoothing must lie between 0 and 1, got {options.smoothing}")
    if options.smoothing > 0 and options.weights == "counts":
        raise ValueError("smoothing is for frequencies; set weights='frequency' or 'tf-idf', or smoothing=0")
    if options.smoothing > 0 and options.tf == "log":
        raise ValueError("smoothing is for frequencies; set tf='frequency' or 'auto', or smoothing=0")
    if options.norm not in (None, "l2"):
        raise ValueError(f"norm={options.norm!r} is not known; use 'l2' (rows of length one) or None")
    _check_ngrams(options.ngrams)


def check_learned(words, idf) -> None:
    """ValueError unless words and weights from a file fit together.

    >>> check_learned(["a", "a"], np.ones(2))
    Traceback (most recent call last):
        ...
    ValueError: words_ must be a list of different texts
    """
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words) or len(set(words)) < len(words):
        raise ValueError("words_ must be a list of different texts")
    if not isinstance(idf, np.ndarray) or idf.dtype != np.float64 or idf.shape != (len(words),):
        raise ValueError("idf_ does not fit the words")


def _check_ngrams(ngrams) -> None:
    if not isinstance(ngrams, tuple | list) or len(ngrams) != 2:
        raise TypeError(f"ngrams must be two whole numbers such as (1, 2), got {ngrams!r}")
    if whole(ngrams[0], "ngrams[0]", 1) > whole(ngrams[1], "ngrams[1]", 1):
        raise ValueError(f"ngrams must go from fewer words to more, got {ngrams!r}")
