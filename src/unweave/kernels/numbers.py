"""Lines of numbers between separators, from bytes straight into doubles; every double is the nearest one.

A number is w · 10^q with a w of at most 19 digits. Its double is found by the method of Eisel and Lemire (D. Lemire,
"Number parsing at a gigabyte per second", 2021) from one product, or two, of 64 bits each. Only whole numbers are
multiplied and added, so that no rounding of the processor and no fast mathematics can matter. Where the method is not
sure (subnormals, overflow, a tail of digits that might decide), the cell is listed for the caller instead.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from unweave.kernels import kernel, part

# Helpers of the loop take numbers alone: an array as argument is counted in and out, atomically, which takes as long
# as reading a number.
_inlined = njit(inline="always")

u64 = np.uint64
_LEAST, _MOST = -342, 308
_ALL = u64(0xFFFFFFFFFFFFFFFF)
_LOW = u64(0xFFFFFFFF)
_NAN = u64(0x7FF8 << 48)
_LINE_FEED, _RETURN, _MINUS, _PLUS, _QUOTE = 10, 13, 45, 43, 34


def _powers() -> np.ndarray:
    """5^q for q from -342 to 308 as 128 bits with the highest bit set: rounded down, or up for small inverses."""
    rows = []
    for q in range(_LEAST, _MOST + 1):
        five = 5 ** abs(q)
        bits = (five - 1).bit_length()
        if q >= 0:
            value = five << 128 >> five.bit_length()
        elif q >= -27:
            value = (1 << (bits + 127)) // five + 1
        else:
            value = (1 << (2 * bits + 128)) // five + 1
            value >>= value.bit_length() - 128
        rows.append((value >> 64, value & ((1 << 64) - 1)))
    return np.array(rows, dtype=u64).T.copy()


# Constants of the compiled code, not arguments, for the reason above.
_HIGH, _MORE = _powers()
_TENS = 10 ** np.arange(9, dtype=u64)


@_inlined
def _product(a, b):
    """High and low half of a · b."""
    a0, a1, b0, b1 = a & _LOW, a >> u64(32), b & _LOW, b >> u64(32)
    low, cross = a0 * b0, a0 * b1
    middle = a1 * b0 + (low >> u64(32)) + (cross & _LOW)
    return a1 * b1 + (middle >> u64(32)) + (cross >> u64(32)), (middle << u64(32)) | (low & _LOW)


@_inlined
def _leading_zeros(x):
    """By halves and without a branch: the lower bits are as good as random."""
    n = u64(0)
    for half in range(5, -1, -1):
        step = u64(x >> (u64(64) - (u64(1) << u64(half))) == u64(0)) << u64(half)
        n, x = n + step, x << step
    return n


@_inlined
def _nearest(w, q):
    """The bits of the double nearest to w · 10^q, and whether that is certain."""
    if w == u64(0):
        return u64(0), True
    if q < _LEAST or q > _MOST:
        return u64(0), False
    zeros = _leading_zeros(w)
    w <<= zeros
    high, low = _product(w, _HIGH[q - _LEAST])
    if high & u64(0x1FF) == u64(0x1FF):
        more, _ = _product(w, _MORE[q - _LEAST])
        low += more
        if low < more:
            high += u64(1)
    if low == _ALL:
        return u64(0), False
    upper = high >> u64(63)
    shift = upper + u64(9)
    mantissa = high >> shift
    exponent = ((217706 * q) >> 16) + 1086 + np.int64(upper) - np.int64(zeros)
    if exponent <= 0 or exponent >= 2046:
        return u64(0), False
    # exactly between two doubles: to the even one
    if low <= u64(1) and -4 <= q <= 23 and mantissa & u64(3) == u64(1) and mantissa << shift == high:
        mantissa -= u64(1)
    mantissa = (mantissa + (mantissa & u64(1))) >> u64(1)
    # a carry into the 54th bit raises the exponent by itself, as the fraction is then zero
    return mantissa + (u64(exponent - 1) << u64(52)), True


@part
def nearest(w, q, cut):
    """The same, and if more digits were `cut` off, certain only if w + 1 has the same double."""
    bits, sure = _nearest(w, q)
    if cut and sure:
        other, sure = _nearest(w + u64(1), q)
        sure = sure and other == bits
    return bits, sure


@_inlined
def _is_digit(c):
    return u64(c) - u64(48) < u64(10)


@_inlined
def _others(x):
    """Which of eight bytes are no digits, by their highest bits; right up to the lowest that is set."""
    return ((x + u64(0x4646464646464646)) | (x - u64(0x3030303030303030))) & u64(0x8080808080808080)


@_inlined
def _bytes_below(mark):
    """How many bytes are below the lowest one with its highest bit set."""
    below = ((mark & (~mark + u64(1))) >> u64(7)) - u64(1)
    return ((below & u64(0x0101010101010101)) * u64(0x0101010101010101)) >> u64(56)


@_inlined
def _value(x):
    """The number that eight bytes from 0 to 9 spell, the lowest byte first."""
    x = x * u64(10) + (x >> u64(8))
    pairs = u64(0x000000FF000000FF)
    return ((x & pairs) * u64(0x000F424000000064) + ((x >> u64(16)) & pairs) * u64(0x0000271000000001)) >> u64(32)


@part
def _first_19(data, i, end, point):
    """The first 19 digits of a number but for zeros in front, their power of ten, and whether others were lost."""
    w, q, n, fraction, cut = u64(0), 0, 0, False, False
    while i < end:
        c = data[i]
        i += u64(1)
        if c == point:
            fraction = True
            continue
        if n < 19:
            w = w * u64(10) + (u64(c) - u64(48))
            n += 1 if w != u64(0) else 0
            q -= 1 if fraction else 0
        else:
            cut = cut or c != 48
            q += 0 if fraction else 1
    return w, q, cut


@kernel
def read_rows(data, words, width, separator, point, bits, labels, unsure):
    """Read lines of `width` numbers, each ended by a line feed, the last one too.

    `words` are the bytes of `data` by eights. Bits of doubles go to `bits`, one after the other; an empty cell is NaN.
    Unless `labels` is empty, each line begins with one more cell, which goes there, ended by a line feed. A cell whose
    double is not certain is listed in `unsure` as (number, first byte, byte after the last).

    Returns lines read, the first byte that could not be read (or -1), empty cells, cells listed, bytes of labels.
    """
    i, n, by_eights = u64(0), u64(len(data)), u64(8 * max(len(words) - 1, 0))
    at, k, line, holes, listed = 0, 0, 0, 0, 0
    while i < n:
        if len(labels):
            while data[i] != separator and data[i] >= 32 and data[i] != _QUOTE:
                labels[at] = data[i]
                i, at = i + u64(1), at + 1
            if data[i] != separator:
                return line, np.int64(i), holes, listed, at
            labels[at] = _LINE_FEED
            i, at = i + u64(1), at + 1
        for j in range(width):
            start = i
            if data[i] == separator or data[i] == _LINE_FEED or data[i] == _RETURN:
                bits[k] = _NAN
                holes += 1
            else:
                negative = data[i] == _MINUS
                i += u64(negative)  # no branch: the sign is as good as random
                if data[start] == _PLUS:
                    i += u64(1)
                first, w, q, cut = i, u64(0), 0, False
                while _is_digit(data[i]):
                    w = w * u64(10) + (u64(data[i]) - u64(48))
                    i += u64(1)
                count = i - first
                if data[i] == point:
                    i += u64(1)
                    after = i
                    while i < by_eights:
                        low, shift = i >> u64(3), (i & u64(7)) << u64(3)
                        x = (words[low] >> shift) | ((words[low + u64(1)] << u64(1)) << (u64(63) - shift))
                        others, x = _others(x), x - u64(0x3030303030303030)
                        if others != u64(0):
                            few = _bytes_below(others)
                            w = w * _TENS[few] + _value((x << ((u64(7) - few) << u64(3))) << u64(8))
                            i += few
                            break
                        w = w * u64(100_000_000) + _value(x)
                        i += u64(8)
                    while _is_digit(data[i]):
                        w = w * u64(10) + (u64(data[i]) - u64(48))
                        i += u64(1)
                    count += i - after
                    q = np.int64(after) - np.int64(i)
                if count == u64(0):
                    return line, np.int64(start), holes, listed, at
                if count > u64(19):
                    w, q, cut = _first_19(data, first, i, point)
                if data[i] == 101 or data[i] == 69:
                    i += u64(1)
                    less = data[i] == _MINUS
                    if less or data[i] == _PLUS:
                        i += u64(1)
                    after, power = i, 0
                    while _is_digit(data[i]):
                        power = min(power * 10 + np.int64(data[i]) - 48, 100_000)
                        i += u64(1)
                    if i == after:
                        return line, np.int64(start), holes, listed, at
                    q += -power if less else power
                value, sure = nearest(w, q, cut)
                if not sure:
                    if listed == len(unsure):
                        return line, np.int64(start), holes, listed, at
                    unsure[listed, 0], unsure[listed, 1], unsure[listed, 2] = k, start, i
                    listed += 1
                bits[k] = value | (u64(negative) << u64(63))
            k += 1
            if j < width - 1:
                if data[i] != separator:
                    return line, np.int64(i), holes, listed, at
                i += u64(1)
        if data[i] == _RETURN:
            i += u64(1)
        # the data ends with a line feed, so a return is not the last byte
        if data[i] != _LINE_FEED:
            return line, np.int64(i), holes, listed, at
        i += u64(1)
        line += 1
    return line, np.int64(-1), holes, listed, at
