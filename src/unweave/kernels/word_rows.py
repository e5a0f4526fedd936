"""Tokens counted by document, and the counts laid out as rows of a sparse table."""

from __future__ import annotations

import numpy as np

from unweave.kernels import kernel


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
