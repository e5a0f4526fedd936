"""A query or two, counted without the tables and threads that many documents need."""

from __future__ import annotations

from collections import Counter

import numpy as np
import scipy.sparse as sp

from unweave.data.text.documents import Batch
from unweave.data.text.joining import Cutting, join_batch
from unweave.data.text.layout import canonical_csr
from unweave.data.text.lexicon import Settled
from unweave.data.text.words import split

_DOCUMENTS, _CHARACTERS = 16, 2000


def few(documents) -> Batch | None:
    """The documents, if they are a list of few and short texts.

    >>> few(["a query"]).contents, few(["a long text"] * 1000)
    (['a query'], None)
    """
    if type(documents) is not list or not 0 < len(documents) <= _DOCUMENTS:
        return None
    if any(type(text) is not str for text in documents) or sum(map(len, documents)) > _CHARACTERS:
        return None
    return Batch(documents)


def count_few(batch: Batch, cutting: Cutting, lexicon: Settled, dtype: str) -> sp.csr_array:
    """Documents × columns of the lexicon, as :class:`Counter` and :func:`lay_out` would give.

    For a handful of words the arrays of those take ten times as long as the counting.

    >>> lexicon = Settled(frozenset(), None, {"cat": 0, "dog": 1})
    >>> count_few(Batch(["dog, cat, dog"]), Cutting(), lexicon, "float64").toarray()
    array([[1., 2.]])
    """
    part = split(*join_batch(batch, cutting), cutting)
    columns, words = lexicon.columns_of(part.texts()), part.ids.tolist()
    begin, indptr, indices, counts = 0, [0], [], []
    for end in part.ends.tolist():
        row = Counter([columns[word] for word in words[begin:end]])
        row.pop(-1, None)
        found = sorted(row)
        indices += found
        counts += [row[column] for column in found]
        indptr.append(len(indices))
        begin = end
    arrays = np.array(counts, dtype), np.array(indices, np.int32), np.array(indptr, np.int32)
    return canonical_csr(*arrays, (len(batch.contents), len(lexicon)))
