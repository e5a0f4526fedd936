"""Tables of zeros and ones as bits of 64-bit words: packing, unpacking and finding rows that are equal."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_AT_ONCE = 1 << 24  # entries that are written out at a time


def n_words(m: int) -> int:
    """How many words hold a row of m bits (one at least, so that no array is empty)."""
    return max(1, (m + 63) // 64)


def pack(X: sp.csr_array) -> Words:
    """The rows of a sparse table (sorted columns, every stored entry a one) as bits.

    >>> pack(sp.csr_array([[1, 0, 1], [0, 0, 0]])).tolist()
    [[5], [0]]
    """
    n, m = X.shape
    words = np.zeros((n, n_words(m)), dtype=np.uint64)
    if not X.nnz:
        return words
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(X.indptr))
    columns = X.indices.astype(np.int64)
    where = rows * words.shape[1] + (columns >> 6)
    first = np.flatnonzero(np.concatenate([[True], where[1:] != where[:-1]]))
    bits = np.uint64(1) << (columns & 63).astype(np.uint64)
    words.reshape(-1)[where[first]] = np.bitwise_or.reduceat(bits, first)
    return words


def pack_bits(table: NDArray) -> Words:
    """The rows of an array of zeros and ones as bits.

    >>> pack_bits(np.array([[1, 0, 1]])).tolist()
    [[5]]
    """
    n, m = table.shape
    bits = np.zeros((n, 64 * n_words(m)), dtype=np.uint8)
    bits[:, :m] = table
    return np.packbits(bits, axis=1, bitorder="little").view(np.uint64)


def unpack(words: Words, m: int) -> NDArray[np.uint8]:
    """Rows of bits as an array of zeros and ones.

    >>> unpack(np.array([[5]], dtype=np.uint64), 3).tolist()
    [[1, 0, 1]]
    """
    return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little")[:, :m]


def unpack_sparse(words: Words, m: int) -> sp.csr_array:
    """Rows of bits as a sparse table of ones."""
    size = max(1, _AT_ONCE // max(1, m))
    parts = [sp.csr_array(unpack(words[i : i + size], m)) for i in range(0, len(words), size)]
    return sp.csr_array(sp.vstack(parts, format="csr")) if parts else sp.csr_array((0, m), dtype=np.uint8)


def transpose(words: Words, m: int) -> Words:
    """Columns of m bits as rows of bits.

    >>> transpose(np.array([[5], [1]], dtype=np.uint64), 3).tolist()
    [[3], [0], [1]]
    """
    n = len(words)
    found = np.zeros((m, n_words(n)), dtype=np.uint64)
    step = 64 * max(1, _AT_ONCE // (64 * max(1, m)))
    for start in range(0, n, step):
        some = pack_bits(unpack(words[start : start + step], m).T)
        found[:, start // 64 : start // 64 + some.shape[1]] = some
    return found


def sorted_csr(X) -> sp.csr_array:
    """A sparse table by rows, columns ascending in each."""
    X = sp.csr_array(X)
    X.sort_indices()
    return X


def distinct(words: Words) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each different row of bits comes first, in that order, and which of them every row is.

    >>> first, which = distinct(np.array([[7], [2], [7]], dtype=np.uint64))
    >>> first.tolist(), which.tolist()
    ([0, 1], [0, 1, 0])
    """
    rows = np.ascontiguousarray(words)
    keys = rows.view(np.dtype((np.void, rows.shape[1] * 8))).ravel()
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order].astype(np.int64), place[which.reshape(-1)].astype(np.int64)


def ones_in_rows(words: Words) -> NDArray[np.int64]:
    """How many bits of each row are set."""
    return np.bitwise_count(words).sum(axis=1, dtype=np.int64)
