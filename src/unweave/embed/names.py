"""Say in one sentence that a word is not known, and which known ones are spelt nearly alike."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from difflib import get_close_matches

_MOST = 5000  # candidates whose spelling is compared: a few milliseconds
_LONGEST = 40


class UnknownSymbolError(ValueError, KeyError):
    """Raised for a word (or another symbol) without a vector; the message names known ones that are spelt alike.

    >>> raise UnknownSymbolError("aple", ["apple", "pear"])
    Traceback (most recent call last):
        ...
    unweave.embed.names.UnknownSymbolError: 'aple' is not among the 2 known words; did you mean 'apple'?
    """

    def __init__(self, symbol: Hashable, known: Sequence[Hashable]):
        near = near_spellings(symbol, known)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ": ask for one of symbols"
        super().__init__(f"{symbol!r:.60} is not among the {len(known):,} known words{hint}")

    def __str__(self) -> str:  # KeyError would put the sentence in quotes
        return str(self.args[0])

    def __reduce__(self):
        return _again, self.args


def _again(message: str) -> UnknownSymbolError:
    error = UnknownSymbolError("", ())
    error.args = (message,)
    return error


def near_spellings(symbol: Hashable, known: Iterable[Hashable], n: int = 3) -> list[str]:
    """Known words that are spelt much like one, the most alike first; of equals the more frequent (the earlier).

    Only the first 5000 words of about the same length that share a letter at one end are compared, so that it takes
    milliseconds whatever the vocabulary.

    >>> near_spellings("frnace", ["the", "france", "franc", "paris"])
    ['france', 'franc']
    """
    if not isinstance(symbol, str) or not symbol or len(symbol) > _LONGEST:
        return []
    folded, candidates = symbol.casefold(), []
    for word in known:
        if not isinstance(word, str) or not word or abs(len(word) - len(symbol)) > 2:
            continue
        other = word.casefold()
        if other[0] == folded[0] or other[-1] == folded[-1]:
            candidates.append(word)
            if len(candidates) == _MOST:
                break
    by_folded: dict[str, str] = {}
    for word in candidates:
        by_folded.setdefault(word.casefold(), word)
    return [by_folded[word] for word in get_close_matches(folded, list(by_folded), n, cutoff=0.7)]
