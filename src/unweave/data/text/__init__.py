"""Text in: documents, words, terms, counts and their weights."""

from unweave.data.text.counted import CountedTerms, counted_terms
from unweave.data.text.counting import Counter, Cutting, Rows
from unweave.data.text.documents import Document, documents_of
from unweave.data.text.layout import lay_out
from unweave.data.text.lexicon import Lexicon, stemmer_of, stop_words
from unweave.data.text.options import check_learned, check_options
from unweave.data.text.vocabulary import Limits, Tally, Texts, choose, columns_of, fixed
from unweave.data.text.weights import inverse_frequency, weigh

__all__ = [
    "Document",
    "documents_of",
    "Cutting",
    "Counter",
    "Rows",
    "lay_out",
    "CountedTerms",
    "counted_terms",
    "Lexicon",
    "stop_words",
    "stemmer_of",
    "Limits",
    "Tally",
    "Texts",
    "choose",
    "columns_of",
    "fixed",
    "check_options",
    "check_learned",
    "inverse_frequency",
    "weigh",
]
