"""Words out of UTF-8 bytes: cut, numbered and counted, with tables that compare bytes and never take one for another.

Tables are open addressed: ``slots[h]`` is one more than the number of a word, zero where there is none. A kernel that
finds its table more than half full gives up and returns -1; the caller comes back with a larger one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from unweave.kernels import kernel

_inlined = njit(inline="always")

u64 = np.uint64
_SEED, _PRIME = u64(0xCBF29CE484222325), u64(0x100000001B3)  # of the hash FNV-1a
_MIX = u64(0x9E3779B97F4A7C15)


@_inlined
def _spread(h):
    """The high bits of a product depend on all of h; slots are taken from the low ones."""
    h *= _MIX
    return h ^ (h >> u64(32))


@_inlined
def _width(lead):
    """Bytes of the character that begins with `lead`."""
    return 1 + (lead >= 192) + (lead >= 224) + (lead >= 240)


@kernel
def split_words(data, bounds, fold, is_word, least, slots, hashes, starts, lengths, ids, ends):
    """Number the words of documents ``data[bounds[d]:bounds[d + 1]]`` (valid UTF-8) in order of their first appearance.

    A word is a longest run of word characters, at least `least` of them. ``fold[c]`` is what an ASCII byte c becomes,
    zero if it is no word character; the bytes are changed in place. `is_word` tells for every other code point.
    `ids` gets the word of every token in turn, ``ends[d]`` the number of tokens up to the end of document d;
    `hashes`, `starts` and `lengths` describe each word by its first appearance.

    Returns the number of words, or -1 if the table is too small.
    """
    mask, room = len(slots) - 1, min(len(slots) // 2, len(starts))
    words, tokens = 0, 0
    for d in range(len(bounds) - 1):
        i, end = bounds[d], bounds[d + 1]
        while i < end:
            start, h, characters = i, _SEED, 0
            while i < end:
                c = data[i]
                if c < 128:
                    c = fold[c]
                    if c == 0:
                        break
                    data[i] = c
                    h = (h ^ u64(c)) * _PRIME
                    i += 1
                else:
                    width = _width(c)
                    point = np.int64(c) & (255 >> (width + 1))
                    for j in range(1, width):
                        point = (point << 6) | (np.int64(data[i + j]) & 63)
                    if not is_word[point]:
                        break
                    for j in range(width):
                        h = (h ^ u64(data[i + j])) * _PRIME
                    i += width
                characters += 1
            if characters >= least:
                length, h = i - start, _spread(h)
                at = np.int64(h) & mask
                while True:
                    word = np.int64(slots[at]) - 1
                    if word < 0:
                        if words >= room:
                            return -1
                        word = words
                        slots[at] = word + 1
                        hashes[word], starts[word], lengths[word] = h, start, length
                        words += 1
                        break
                    if hashes[word] == h and lengths[word] == length:
                        j, first = 0, starts[word]
                        while j < length and data[first + j] == data[start + j]:
                            j += 1
                        if j == length:
                            break
                    at = (at + 1) & mask
                ids[tokens] = word
                tokens += 1
            if i < end:
                i += _width(data[i])
        ends[d] = tokens
    return words


@kernel
def merge_words(data, hashes, starts, lengths, count, slots, all_hashes, all_starts, text, known, found):
    """Look up `count` words of `split_words` in a table of all words, adding those that are new.

    Word w of the table is ``text[all_starts[w]:all_starts[w + 1]]``; the caller has made room for `count` more.
    ``found[i]`` becomes the number of word i in the table. Returns how many words the table has now.
    """
    mask = len(slots) - 1
    for i in range(count):
        h, start, length = hashes[i], starts[i], lengths[i]
        at = np.int64(h) & mask
        while True:
            word = np.int64(slots[at]) - 1
            if word < 0:
                word = known
                slots[at] = word + 1
                all_hashes[word] = h
                first = all_starts[word]
                for j in range(length):
                    text[first + j] = data[start + j]
                all_starts[word + 1] = first + length
                known += 1
                break
            first = all_starts[word]
            if all_hashes[word] == h and all_starts[word + 1] - first == length:
                j = 0
                while j < length and text[first + j] == data[start + j]:
                    j += 1
                if j == length:
                    break
            at = (at + 1) & mask
        found[i] = word
    return known


@kernel
def fill_slots(hashes, count, slots):
    """Put `count` different entries with these hashes into an empty table."""
    mask = len(slots) - 1
    for i in range(count):
        at = np.int64(hashes[i]) & mask
        while slots[at] != 0:
            at = (at + 1) & mask
        slots[at] = i + 1


@kernel
def join_words(words, ends, low, high, slots, hashes, prefixes, lasts, ids, new_ends):
    """Number the runs of `low` to `high` words, those of -1 left out before; a run is the run before its last word, and
    that word.

    Runs of fewer than `low` words are numbered too, as beginnings, but not put into `ids`. Returns the number of
    runs, or -1 if the table is too small.
    """
    mask, room = len(slots) - 1, min(len(slots) // 2, len(prefixes))
    runs, tokens, begin = 0, 0, 0
    kept = np.empty(len(words), np.int32)
    for d in range(len(ends)):
        n = 0
        for i in range(begin, ends[d]):
            if words[i] >= 0:
                kept[n] = words[i]
                n += 1
        begin = ends[d]
        for i in range(n):
            prefix = np.int64(-1)
            for j in range(i, min(i + high, n)):
                last = np.int64(kept[j])
                h = _spread(u64((prefix + 1) << 32) ^ u64(last))
                at = np.int64(h) & mask
                while True:
                    run = np.int64(slots[at]) - 1
                    if run < 0:
                        if runs >= room:
                            return -1
                        run = runs
                        slots[at] = run + 1
                        hashes[run], prefixes[run], lasts[run] = h, prefix, last
                        runs += 1
                        break
                    if prefixes[run] == prefix and lasts[run] == last:
                        break
                    at = (at + 1) & mask
                if j - i + 1 >= low:
                    ids[tokens] = run
                    tokens += 1
                prefix = run
        new_ends[d] = tokens
    return runs


@kernel
def merge_runs(prefixes, lasts, count, slots, all_hashes, all_prefixes, all_lasts, known, found):
    """Look up `count` runs of `join_words` in a table of all runs, adding the new; as :func:`merge_words`."""
    mask = len(slots) - 1
    for i in range(count):
        prefix = np.int64(found[prefixes[i]]) if prefixes[i] >= 0 else np.int64(-1)
        last = np.int64(lasts[i])
        h = _spread(u64((prefix + 1) << 32) ^ u64(last))
        at = np.int64(h) & mask
        while True:
            run = np.int64(slots[at]) - 1
            if run < 0:
                run = known
                slots[at] = run + 1
                all_hashes[run], all_prefixes[run], all_lasts[run] = h, prefix, last
                known += 1
                break
            if all_prefixes[run] == prefix and all_lasts[run] == last:
                break
            at = (at + 1) & mask
        found[i] = run
    return known


@kernel
def count_rows(tokens, ends, terms, counts, indptr, documents, totals):
    """How often each term is in each document; tokens of -1 are left out.

    Entries of document d are ``terms`` and ``counts`` from ``indptr[d]`` to ``indptr[d + 1]``, in order of first
    appearance. `documents` and `totals` (one entry a term, zero before) become its documents and its tokens.
    """
    row = np.full(len(documents), -1, np.int64)
    place = np.empty(len(documents), np.int64)
    entries, begin = 0, 0
    indptr[0] = 0
    for d in range(len(ends)):
        for i in range(begin, ends[d]):
            term = tokens[i]
            if term < 0:
                continue
            totals[term] += 1
            if row[term] == d:
                counts[place[term]] += 1
            else:
                row[term], place[term] = d, entries
                terms[entries], counts[entries] = term, 1
                documents[term] += 1
                entries += 1
        begin = ends[d]
        indptr[d + 1] = entries


@kernel
def kept_in_rows(terms, indptr, columns, lengths):
    """How many entries of each row have a column; ``columns[term]`` is -1 for those that are left out."""
    for d in range(len(indptr) - 1):
        n = 0
        for i in range(indptr[d], indptr[d + 1]):
            n += columns[terms[i]] >= 0
        lengths[d] = n


@kernel
def sort_rows(terms, counts, indptr, columns, documents, order, places, indices, data):
    """Write entries into a CSR table from ``places[d]`` on, columns ascending; `places` end up where the rows end.

    `order` are the terms that have a column, by column. Entries are put together by term and then handed out to the
    rows in that order: two passes instead of a sort of every row.
    """
    begins = np.empty(len(columns), np.int64)
    size = 0
    for term in order:
        begins[term] = size
        size += documents[term]
    row_of, count_of = np.empty(size, np.int32), np.empty(size, np.int32)
    for d in range(len(indptr) - 1):
        for i in range(indptr[d], indptr[d + 1]):
            term = terms[i]
            if columns[term] >= 0:
                at = begins[term]
                row_of[at], count_of[at] = d, counts[i]
                begins[term] = at + 1
    at = 0
    for term in order:
        while at < begins[term]:
            d = row_of[at]
            indices[places[d]], data[places[d]] = columns[term], count_of[at]
            places[d] += 1
            at += 1
