"""Kernels of strings that count substrings: which ones both have, how often, or where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.data.storage import as_dense, product, row_squares
from unweave.predict.kernels.base import Kernel, Pairs

# Columns for each stored number of a row from which sparse products cost less than dense ones (drawn letters, 4 to 20)
_SPARSE_FROM = 5
_MOST_DENSE = 1 << 26  # numbers of a dense table of counts


def read_texts(X: Any, name: str = "X") -> list[str]:
    """A list of strings, checked; a column of an array or a data frame counts as one."""
    if isinstance(X, str | bytes):
        raise ValueError(f"{name} must be a list of strings, not one string: give [{name}]")
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        X = np.asarray(X)[:, 0]
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__"):
        raise ValueError(f"{name} must be a list of strings, got {type(X).__name__} of the shape {np.shape(X)}")
    texts = [str(x) if isinstance(x, str) else x for x in X]
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"{name} must be a list of strings, but {name}[{i}] is {text!r:.40}: fill it or leave it out"
            )
    return texts


def letters_of(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """All letters of all strings as numbers from 0, where each string ends, and how many letters there are."""
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    known, letters = np.unique(points, return_inverse=True)
    return letters.reshape(-1).astype(np.int64), ends, len(known)


def substring_counts(texts: Sequence[str], shortest: int, longest: int) -> sp.csr_array:
    """How often each substring of `shortest` to `longest` letters is in each string; some columns may be empty.

    A substring of l letters gets its number from that of its first l − 1 and its last letter; numbers that grow beyond
    what there is are dealt anew. Takes about 40 bytes a letter.

    >>> substring_counts(["abab", ""], 2, 2).toarray().astype(int).tolist()  # aa, ab, ba, bb
    [[0, 2, 1, 0], [0, 0, 0, 0]]
    """
    letters, ends, size = letters_of(texts)
    lengths = np.diff(ends, prepend=0)
    owner, end = np.repeat(np.arange(len(texts)), lengths), np.repeat(ends, lengths)
    at, ids, known = np.arange(len(letters)), letters, size
    rows, columns, width = [], [], 0
    for length in range(1, longest + 1):
        if length > 1:
            inside = at + length <= end[at]
            at, ids = at[inside], ids[inside]
            ids = ids * size + letters[at + length - 1]
            known *= size
        if known > 2 * len(letters):  # more numbers than substrings: deal them anew, in order
            found, ids = np.unique(ids, return_inverse=True)
            ids, known = ids.reshape(-1), len(found)
        if not len(at):
            break
        if length >= shortest:
            rows.append(owner[at])
            columns.append(ids + width)
            width += known
    if not rows:
        return sp.csr_array((len(texts), 0))
    row, column = np.concatenate(rows), np.concatenate(columns)
    counts = sp.coo_array((np.ones(len(row)), (row, column)), shape=(len(texts), width)).tocsr()
    counts.sum_duplicates()
    return counts


class Substrings(Kernel):
    """How many substrings of at most `length` letters two strings share: one feature for each that there may be.

    k(x, x') = Σ_v [v is in x]·[v is in x'], or with ``counts=True`` Σ_v (times v is in x)·(times v is in x'), over all
    strings v of `shortest` to `length` letters. Use it where a word anywhere in a string tells: signatures, motifs,
    spellings. The features are never written out beyond those that occur.

    Parameters
    ----------
    length : int, default=3
    shortest : int, default=1
    counts : bool, default=False
        Whether a substring that is there twice counts twice.

    Examples
    --------
    >>> Substrings(3)(["apple"]).tolist(), Substrings(3)(["apple"], ["app", ""]).tolist()
    ([[11.0]], [[5.0, 0.0]])

    References
    ----------
    Leslie, Eskin and Noble (2002), The spectrum kernel.
    """

    takes = "texts"

    def __init__(self, length=3, *, shortest=1, counts=False):
        self.length = length
        self.shortest = shortest
        self.counts = counts

    def _lengths(self) -> tuple[int, int]:
        longest, shortest = whole(self.length, "length", 1), whole(self.shortest, "shortest", 1)
        if shortest > longest:
            raise ValueError(f"shortest={shortest} must not be above length={longest}")
        return shortest, longest

    def read(self, X, name="X"):
        return read_texts(X, name)

    def _features(self, texts: Sequence[str]) -> sp.csr_array:
        counts = substring_counts(texts, *self._lengths())
        if not self.counts:
            counts.data[:] = 1.0
        return counts

    def pairs(self, A, B):
        return Counted(self._features(A if B is A else [*A, *B]), len(A), B is A)

    def own(self, A):
        return row_squares(self._features(A))


class Spectrum(Substrings):
    """How often two strings have the same substrings of exactly `length` letters: the products of the counts.

    k(x, x') = Σ_v (times v is in x)·(times v is in x') over all v of `length` letters. `Substrings` also takes the
    shorter ones.

    Examples
    --------
    >>> Spectrum(2)(["abab"], ["ab", "ba", "b"]).tolist()
    [[2.0, 1.0, 0.0]]
    """

    counts = True

    def __init__(self, length=3):
        self.length = length

    def _lengths(self):
        longest = whole(self.length, "length", 1)
        return longest, longest


class Counted(Pairs):
    """Blocks of products of features of which a thing has few: of sparse tables, or dense ones of few columns."""

    def __init__(self, features: sp.csr_array, n: int, same: bool):
        columns, each = features.shape[1], features.nnz / max(1, features.shape[0])
        if columns <= _SPARSE_FROM * each and features.shape[0] * columns <= _MOST_DENSE:
            features = as_dense(features)
        self.A, self.B = features[:n], features if same else features[n:]
        self.shape = (n, self.B.shape[0])

    def rows(self, start, stop, width):
        return product(self.A[start:stop], self.B[:width].T)


class WeightedDegree(Kernel):
    """How long two strings agree at the same places: substrings of up to `length` letters that both have there.

    k(x, x') = Σ_l β_l Σ_i [x and x' agree on the l letters from i on], with β_l = 2(length − l + 1) / (length·(length +
    1)). Use it for strings that are aligned: windows around a site, codes with fixed fields. Where one string ends,
    nothing agrees any more.

    Parameters
    ----------
    length : int, default=3

    Examples
    --------
    >>> WeightedDegree(2)(["GATTACA"], ["GATTACA", "GCTTACC", "ATTACAG"]).round(3).tolist()
    [[6.667, 4.333, 0.667]]

    References
    ----------
    Rätsch and Sonnenburg (2004), Accurate splice site detection for Caenorhabditis elegans.
    """

    takes = "texts"

    def __init__(self, length=3):
        self.length = length

    def read(self, X, name="X"):
        return read_texts(X, name)

    def _weights(self) -> NDArray[np.float64]:
        d = whole(self.length, "length", 1)
        return 2.0 * np.arange(d, 0, -1) / (d * (d + 1))

    def pairs(self, A, B):
        return _Aligned(A, B, self._weights())

    def own(self, A):
        n, weights = np.array([len(text) for text in A], dtype=np.float64), self._weights()
        return sum((w * np.maximum(n - i, 0) for i, w in enumerate(weights)), np.zeros(len(A)))


class _Aligned(Pairs):
    """Blocks of weights of places at which strings agree: one letter a row, so that all of B are compared at once."""

    def __init__(self, A, B, weights):
        letters, ends, size = letters_of([*A, *B])
        kind = np.uint8 if size < 255 else np.int32
        lengths = np.diff(ends, prepend=0)
        # where one has ended nothing agrees: a number that no letter has
        table = np.full((int(lengths.max(initial=0)), len(lengths)), size, dtype=kind)
        inside = np.arange(len(letters)) - np.repeat(ends - lengths, lengths)
        table[inside, np.repeat(np.arange(len(lengths)), lengths)] = letters
        self.A, self.B, self.lengths = table[:, : len(A)].copy(), table[:, len(A) :].copy(), lengths
        self.weights, self.shape = weights, (len(A), len(B))

    def rows(self, start, stop, width):
        out = np.zeros((stop - start, width))
        for i in range(start, stop):
            n = self.lengths[i]
            agree = self.B[:n, :width] == self.A[:n, i, None]
            met = agree
            for length, weight in enumerate(self.weights):
                if length > 0:
                    met = met[:-1] & agree[length:]
                if not len(met):
                    break
                out[i - start] += weight * _column_sums(met)
        return out


def _column_sums(met: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many are true in each column: added up as bytes, which is quick, as long as they cannot overflow."""
    total = np.zeros(met.shape[1], dtype=np.int64)
    for start in range(0, len(met), 255):
        total += np.add.reduce(met[start : start + 255].view(np.uint8), axis=0, dtype=np.uint8)
    return total
