"""Text in: documents, words, terms, counts and their weights."""

from unweave.data.text.counted import CountedTerms, counted_terms, counted_tokens, is_tokens
from unweave.data.text.counting import Counter, Rows, renamed
from unweave.data.text.documents import Batch, batches_of_files, documents_of, text_files
from unweave.data.text.few import count_few, few
from unweave.data.text.joining import Cutting
from unweave.data.text.layout import lay_out
from unweave.data.text.lexicon import Lexicon, Settled, stemmer_of, stop_words
from unweave.data.text.options import check_learned, check_options
from unweave.data.text.vocabulary import Limits, Tally, Texts, choose, columns_of, fixed, numbered, survey
from unweave.data.text.weights import inverse_frequency, weigh

__all__ = [
    "Batch",
    "documents_of",
    "batches_of_files",
    "text_files",
    "Cutting",
    "Counter",
    "Rows",
    "renamed",
    "lay_out",
    "few",
    "count_few",
    "CountedTerms",
    "counted_terms",
    "counted_tokens",
    "is_tokens",
    "Lexicon",
    "Settled",
    "stop_words",
    "stemmer_of",
    "Limits",
    "Tally",
    "Texts",
    "choose",
    "columns_of",
    "fixed",
    "numbered",
    "survey",
    "check_options",
    "check_learned",
    "inverse_frequency",
    "weigh",
]
