"""Counts of pairs of symbols within a window, row by row of the table of pairs."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel

u64 = np.uint64
_ONE, _ZERO, _TOP = u64(1), u64(0), u64(58)
_SEQUENCE = u64(0x03F79D71B4CB0A89)  # of de Bruijn: its six bits from any place on tell the place


@kernel
def count_windows(tokens, places, starts, first, last, before, after, sums, seen, bit_of, indices, data, indptr):
    """Rows `first` to `last` of the table of pairs: sums of ``before[d]`` and ``after[d]`` over neighbours d + 1 away.

    `tokens` are numbers of symbols, with -1 between sequences and at both ends; symbol i stands at
    ``places[starts[i]:starts[i + 1]]``. ``before[d]`` weighs the symbol d + 1 places before, `after` that behind.
    `sums` (a number a symbol) and `seen` (a bit a symbol) are scratch, all zero before and after. Entries of row i are
    ``indices`` and ``data`` from ``indptr[i - first]`` on, columns ascending. `bit_of` is :func:`bit_table`.
    """
    n = 0
    indptr[0] = 0
    for i in range(first, last):
        low, high = len(seen), -1
        for at in range(starts[i], starts[i + 1]):
            place = places[at]
            for d in range(len(before)):
                j = tokens[place - d - 1]
                if j < 0:
                    break
                sums[j] += before[d]
                word = j >> 6
                seen[word] |= _ONE << u64(j & 63)
                low, high = min(low, word), max(high, word)
            for d in range(len(after)):
                j = tokens[place + d + 1]
                if j < 0:
                    break
                sums[j] += after[d]
                word = j >> 6
                seen[word] |= _ONE << u64(j & 63)
                low, high = min(low, word), max(high, word)
        for word in range(low, high + 1):
            bits = seen[word]
            while bits != _ZERO:
                lowest = bits & (~bits + _ONE)
                j = 64 * word + bit_of[np.int64((lowest * _SEQUENCE) >> _TOP)]
                indices[n], data[n] = j, sums[j]
                sums[j] = 0.0
                n += 1
                bits ^= lowest
            seen[word] = _ZERO
        indptr[i - first + 1] = n


def bit_table() -> np.ndarray:
    """Which bit a power of two is, by the six bits that a multiplication by the de Bruijn sequence leaves on top.

    >>> int(bit_table()[(int(_SEQUENCE) << 5) % 2**64 >> 58])
    5
    """
    table = np.zeros(64, np.int64)
    for bit in range(64):
        table[(int(_SEQUENCE) << bit) % 2**64 >> 58] = bit
    return table
