"""Turns texts into tables: documents, words, terms, counts and their weights.

How texts become a table: `documents` takes them from wherever they are and joins batches of them into buffers of bytes.
`words` cuts a buffer into words and numbers the different ones. `lexicon` turns words into terms (stop words dropped,
the rest maybe stemmed). `counting` runs these over all batches in threads and lays the counts out as one sparse table.
`vocabulary` chooses the terms that become columns, and `weights` turns counts into frequencies or tf-idf.
:class:`unweave.TextTable` and :func:`unweave.read` both walk this way.
"""

from unweave.data.text.counting import (
    CountedTerms,
    Counter,
    TermCounts,
    as_query,
    count_query,
    counted_terms,
    counted_tokens,
    is_tokens,
    lay_out,
    renamed,
)
from unweave.data.text.documents import Batch, Cutting, batches_of_files, documents_of, text_files
from unweave.data.text.lexicon import FixedLexicon, Lexicon, stemmer_of, stop_words
from unweave.data.text.vocabulary import (
    Limits,
    Tally,
    Texts,
    check_learned,
    check_options,
    choose,
    columns_of,
    given_vocabulary,
    need_documents,
    numbered,
    survey,
)
from unweave.data.text.weights import inverse_frequency, weigh

__all__ = [
    "Batch",
    "documents_of",
    "batches_of_files",
    "text_files",
    "Cutting",
    "Counter",
    "TermCounts",
    "renamed",
    "lay_out",
    "as_query",
    "count_query",
    "CountedTerms",
    "counted_terms",
    "counted_tokens",
    "is_tokens",
    "Lexicon",
    "FixedLexicon",
    "stop_words",
    "stemmer_of",
    "Limits",
    "Tally",
    "Texts",
    "choose",
    "columns_of",
    "given_vocabulary",
    "need_documents",
    "numbered",
    "survey",
    "check_options",
    "check_learned",
    "inverse_frequency",
    "weigh",
]
