"""Answer what vectors of words have found: which words are near some frequent ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from unweave.data.text.lexicon import LANGUAGES, stop_words_of
from unweave.report.answers import Found

_SHOWN, _NEAR = 8, 5
_LOOKED_AT = 500  # of the most frequent words, for some that tell something
_FIRST = 200  # words by which a language is known: its stop words are the most frequent


def vectors_answer(model: Any) -> Found:
    """List some frequent words with those nearest to them; `model` is Vectors, or has them as `vectors_`."""
    vectors = getattr(model, "vectors_", model)
    examples = neighbours(vectors)
    rows = [[str(word), ", ".join(str(near) for near, _ in found)] for word, found in examples]
    data = {
        "examples": {str(word): [[str(near), round(score, 4)] for near, score in found] for word, found in examples}
    }
    return Found(headline(vectors), ["word", "nearest words"], rows, [], data)


def headline(vectors: Any) -> str:
    """Say how many words have vectors, and how long they are."""
    words, numbers = len(vectors), vectors.n_components
    return f"{words:,} word{'s' * (words != 1)} as vectors of {numbers:,} number{'s' * (numbers != 1)}"


def neighbours(vectors: Any) -> list[tuple[Hashable, list[tuple[Hashable, float]]]]:
    """Take the most frequent words that tell something and were not told already, with the words nearest to them."""
    found: list[tuple[Hashable, list[tuple[Hashable, float]]]] = []
    told: set[Hashable] = set()
    for word in telling(vectors.symbols[:_LOOKED_AT]):
        if word in told or not vectors[word].any():
            continue
        found.append((word, vectors.most_similar(word, _NEAR)))
        told |= {word, *(near for near, _ in found[-1][1])}
        if len(found) == _SHOWN:
            break
    return found


def telling(symbols: Sequence[Hashable]) -> list[Hashable]:
    """Leave out stop words (of the language that has most of them here), numbers, and words of one letter or two.

    Where nothing else is left, all stay; what is no text stays anyway.

    >>> telling(["the", "of", "paris", "1999", "it", ("song", 3)])
    ['paris', ('song', 3)]
    """
    first = {word.lower() for word in symbols[:_FIRST] if isinstance(word, str)}
    common = max(
        (stop_words_of(language) for language in ("english", *LANGUAGES)), key=lambda words: len(words & first)
    )
    kept = [one for one in symbols if not isinstance(one, str) or _tells(one, common)]
    return kept or list(symbols)


def _tells(word: str, common: frozenset[str]) -> bool:
    return len(word) > 2 and word[0].isalpha() and word.lower() not in common
