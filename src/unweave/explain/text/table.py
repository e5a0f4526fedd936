"""Count the words of texts into a table of documents × words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from unweave.data import text as tx
from unweave.data.named import NamedTable
from unweave.explain.text.in_blocks import TermTally, TextBlocks, as_it_is, tables_of, tallied
from unweave.factorization.model import Model
from unweave.factorization.run import fitting
from unweave.scale.visits import Loader, visits_now
from unweave.solve.progress import warn_user


class TextTable(TransformerMixin, BaseEstimator):
    """Documents × words from texts: counts n_dt, frequencies f_dt = n_dt / Σ_t n_dt, or tf_dt · IDF_t.

    A word is a longest run of letters, digits and ``_`` in any script, of `min_length` characters or more; everything
    else parts words. With the defaults the counts are those of scikit-learn's CountVectorizer, several times as fast.
    Documents are streamed: `fit` holds some megabytes of them at a time and the words met so far, and the answer
    does not depend on the number of threads. Use it before any model of topics; ``as_table`` hands the words on.
    :class:`unweave.TextBlocks` are documents in blocks, which a cluster may count.
    Documents that are lists of words already (tokens) are counted as they are: `lowercase`, `min_length` and `marks`
    say how texts are cut, so they do not touch them; stop words, the stemmer and the limits do.

    Parameters
    ----------
    input : "text", "files" or "lines", default="text"
        Documents are texts (or bytes); names of files, or one folder with ``*.txt`` files; or the lines of files. Files
        may be packed (.gz, .xz, .zst).
    lowercase : bool, default=True
    min_length : int, default=2
        Characters of the shortest word.
    marks : "split" or "keep", default="split"
        Combining marks part words, as in Python's ``re``; or belong to the letter before, as the vowel signs of Indic
        scripts and accents written apart do. "keep" also composes accents (NFC).
    stop_words : None, str or list of str, default=None
        Words left out: a language (dutch, english, french, german, italian, portuguese, spanish), several languages, or
        your own. Their case does not matter.
    stemmer : None or str, default=None
        Language of a Snowball stemmer, after stop words are out; needs the package snowballstemmer.
    ngrams : (int, int), default=(1, 1)
        Least and most words of a term; the words of a term are joined by blanks.
    min_df, max_df : int or float, default=1, 1.0
        Least and most documents that hold a word; a float is a share of them.
    min_count : int, default=1
        Least occurrences in all documents together.
    max_words : int, optional
        Only the most frequent words that pass the other limits.
    vocabulary : list of str or dict, optional
        The words to count, instead of those found.
    weights : "counts", "frequency" or "tf-idf", default="counts"
    smoothing : float, default=0.0
        ε of ε/T + (1−ε)·f, with T words: still sums to one, but is dense. Not for counts.
    tf, idf, norm
        The parts of tf–idf. `tf`: "log" is 1 + log n_dt, "frequency" is f_dt; "auto", the default, is "log", or
        "frequency" with smoothing. `idf`: "log" (default), "log1p" or "one" is log(N/N_t), log(1 + N/N_t) or 1, where
        N_t documents hold word t. `norm`: "l2" (default) gives every row the length one, None leaves it.
        The defaults found documents of the same kind more often than the others and than scikit-learn's in docstrings
        of SciPy, scikit-learn and the standard library, on which they were set.
    encoding, errors : str, default="utf-8", "strict"
        Of bytes and files, as in ``bytes.decode``; a byte order mark of a file wins. Undecodable bytes raise an error
        that names the document; "replace" and "ignore" go on.
    dtype : "float64" or "float32", default="float64"

    Attributes
    ----------
    words_ : list of str
        The columns, in alphabetical order unless a vocabulary was given.
    document_counts_, word_counts_ : arrays (columns,)
        Documents that hold each word, and its occurrences.
    idf_ : array (columns,)
    n_documents_ : int

    Examples
    --------
    >>> table = TextTable(stop_words="english").fit(["The cat sat.", "A cat and a dog"])
    >>> table.words_
    ['cat', 'dog', 'sat']
    >>> table.transform(["dog eats dog"]).toarray()
    array([[0., 2., 0.]])

    References
    ----------
    Salton and Buckley (1988), Term-weighting approaches in automatic text retrieval. Porter (2001), Snowball: a
    language for stemming algorithms.
    """

    # what files that do not know these parameters mean by tf–idf
    _before = {"tf": "frequency", "norm": None}

    def __init__(
        self,
        *,
        input="text",
        lowercase=True,
        min_length=2,
        marks="split",
        stop_words=None,
        stemmer=None,
        ngrams=(1, 1),
        min_df=1,
        max_df=1.0,
        min_count=1,
        max_words=None,
        vocabulary=None,
        weights="counts",
        smoothing=0.0,
        tf="auto",
        idf="log",
        norm="l2",
        encoding="utf-8",
        errors="strict",
        dtype="float64",
    ):
        self.input = input
        self.lowercase = lowercase
        self.min_length = min_length
        self.marks = marks
        self.stop_words = stop_words
        self.stemmer = stemmer
        self.ngrams = ngrams
        self.min_df = min_df
        self.max_df = max_df
        self.min_count = min_count
        self.max_words = max_words
        self.vocabulary = vocabulary
        self.weights = weights
        self.smoothing = smoothing
        self.tf = tf
        self.idf = idf
        self.norm = norm
        self.encoding = encoding
        self.errors = errors
        self.dtype = dtype

    def fit(self, X, y=None, *, client=None):
        """Learn the words, holding no counts.

        Parameters
        ----------
        X : iterable of documents, list of lists of words, what :func:`unweave.read` gave of a bag of words, TextBlocks
            See `input`; an iterator is read once.
        y : ignored
        client : distributed.Client or str, optional
            A Dask cluster, or the address of its scheduler, whose workers count the words of blocks.
        """
        with fitting(self, client):
            self._fit(X, keep=False)
        return self

    def fit_transform(self, X, y=None):
        """Learn the words and count them, in one pass (two for blocks)."""
        if isinstance(X, TextBlocks):
            return self.fit(X).transform(X)
        return self._weighed(self._fit(X, keep=True))

    def transform(self, X):
        """Documents × ``words_``; other words are passed over, a document without any is a row of zeros.

        A CSR array, or with smoothing a dense one; of blocks a sequence of these, each made when it is asked for.
        """
        known = self._known()
        tx.check_options(self)
        if isinstance(X, TextBlocks):
            return tables_of(self, X, list(self.words_))
        if isinstance(X, NamedTable) or tx.is_tokens(X):
            counted = self._counted(X)
            return self._weighed(counted.select(tx.columns_of(known, counted.terms), len(known)))
        if tuple(self.ngrams) == (1, 1):
            return self._weighed(self._count_known(X, tx.FixedLexicon(*self._rules(), columns=known)))
        counter = self._counter(tx.Lexicon(*self._rules()))
        parts = list(counter.count(tx.documents_of(X, self.input, self.encoding)))
        columns = tx.columns_of(known, counter.texts(range(counter.count_of_terms)))
        return self._weighed(tx.lay_out(tx.renamed(parts, columns), len(known), self.dtype))

    def as_table(self, X, rows: list[str] | None = None) -> NamedTable:
        """`transform` with the words as names of columns, which models keep: ``LDA(10).fit(table.as_table(X))``.

        The tables of blocks have the names already.
        """
        if isinstance(X, TextBlocks):
            return self.transform(X)
        kind = "counts" if self.weights == "counts" else "table"
        return NamedTable(self.transform(X), rows, list(self.words_), kind=kind)

    def inverse_transform(self, X) -> list[NDArray]:
        """The words of each row, without their number and order."""
        check_is_fitted(self)
        table, words = sp.csr_array(X), self.get_feature_names_out()
        if table.shape[1] != len(words):
            raise ValueError(f"X has {table.shape[1]} columns, but TextTable has {len(words)} words")
        pairs = zip(table.indptr, table.indptr[1:])
        return [words[table.indices[a:b][table.data[a:b] != 0]] for a, b in pairs]

    def get_feature_names_out(self, input_features=None) -> NDArray:
        """The word of each column."""
        check_is_fitted(self)
        return np.array(self.words_, dtype=object)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Word → column."""
        return dict(self._known())

    def _known(self) -> dict[str, int]:
        """Word → column, made once: it would take a query longer than the query."""
        if not hasattr(self, "words_"):
            check_is_fitted(self)
        words = self.words_
        if self.__dict__.get("_column_of", (None,))[0] is not words:
            self._column_of = words, tx.numbered(words)
        return self._column_of[1]

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_column_of"}

    save = Model.save

    def _count_known(self, X, lexicon: tx.FixedLexicon) -> sp.csr_array:
        query = tx.as_query(X) if self.input == "text" else None
        if query is not None:
            return tx.count_query(query, self._cutting(), lexicon, self.dtype)
        parts = list(self._counter(lexicon).count(tx.documents_of(X, self.input, self.encoding)))
        return tx.lay_out(parts, len(lexicon), self.dtype)

    def _fit(self, X, keep: bool) -> Any:
        """The words of X; the counts too if they are to be kept."""
        tx.check_options(self)
        if isinstance(X, TextBlocks):
            return self._fit_blocks(X)
        counted = isinstance(X, NamedTable) or tx.is_tokens(X)
        return self._fit_counted(X) if counted else self._fit_documents(X, keep)

    def _fit_documents(self, X, keep: bool) -> Any:
        counter = self._counter(tx.Lexicon(*self._rules()))
        parts, tally, n = tx.survey(counter, tx.documents_of(X, self.input, self.encoding), keep)
        tx.need_documents(n)
        if self.vocabulary is None and not tally.documents.any():
            raise ValueError(counter.nothing())
        columns = self._choose(tally, n, counter.texts)
        return tx.lay_out(tx.renamed(parts, columns), len(self.words_), self.dtype) if keep else None

    def _fit_blocks(self, X: TextBlocks) -> None:
        """Count the terms of every block in one visit, and choose among them."""
        loader = Loader(X.blocks, partial(tallied, clone(self)._tally))
        tally: TermTally = visits_now().total(loader, as_it_is)
        self._choose(
            tx.Tally(tally.documents, tally.totals), tally.n, lambda numbers: [tally.terms[i] for i in numbers]
        )

    def _tally(self, X) -> TermTally:
        """Count the terms of one block of documents."""
        if isinstance(X, NamedTable) or tx.is_tokens(X):
            counted = self._counted(X)
            return TermTally(counted.X.shape[0], counted.terms, counted.documents, counted.totals)
        counter = self._counter(tx.Lexicon(*self._rules()))
        _, tally, n = tx.survey(counter, tx.documents_of(X, self.input, self.encoding), keep=False)
        return TermTally(n, counter.texts(range(len(tally.documents))), tally.documents, tally.totals)

    def _fit_counted(self, X) -> Any:
        counted = self._counted(X)
        tally = tx.Tally(counted.documents, counted.totals)
        columns = self._choose(tally, counted.X.shape[0], counted.texts)
        return counted.select(columns, len(self.words_))

    def _counted(self, X) -> tx.CountedTerms:
        """Terms of a table of counts, or of documents that are lists of words."""
        if tuple(self.ngrams) != (1, 1):
            raise ValueError(
                "counts of words do not tell their order, and words in lists are counted as they are; use "
                "ngrams=(1, 1), or give the texts"
            )
        lexicon = tx.Lexicon(*self._rules())
        if not isinstance(X, NamedTable):
            return tx.counted_tokens(X, lexicon, self.dtype)
        return tx.counted_terms(X, lexicon, self.lowercase, int(self.min_length), self.dtype)

    def _choose(self, tally: tx.Tally, n: int, texts: tx.Texts) -> NDArray[np.int32]:
        """Settle the words; the column of each term, -1 if it has none."""
        tx.need_documents(n)
        columns = np.full(len(tally.documents), -1, np.int32)
        if self.vocabulary is None:
            limits = tx.Limits(self.min_df, self.max_df, self.min_count, self.max_words)
            words, terms = tx.choose(tally, n, limits, texts)
            columns[terms] = np.arange(len(words))
        else:
            words = tx.given_vocabulary(self.vocabulary)
            self._warn_of_unreachable(words)
            columns = tx.columns_of(tx.numbered(words), texts(range(len(columns))))
        documents, totals = np.zeros(len(words), np.int64), np.zeros(len(words), tally.totals.dtype)
        kept = np.flatnonzero(columns >= 0)
        documents[columns[kept]], totals[columns[kept]] = tally.documents[kept], tally.totals[kept]
        self.words_, self.n_documents_ = words, n
        self.document_counts_, self.word_counts_ = documents, totals
        self.idf_ = tx.inverse_frequency(documents, n, self.idf)
        return columns

    def _warn_of_unreachable(self, words: list[str]) -> None:
        stem = tx.stemmer_of(self.stemmer) or str
        lost = [word for word in words if (stem(word.lower()) if self.lowercase else stem(word)) != word]
        if lost and tuple(self.ngrams) == (1, 1):
            warn_user(
                f"vocabulary holds {len(lost)} words that no text can give, such as {lost[0]!r}: texts are lowered "
                "(lowercase=True) and stemmed (stemmer) first, so give words in that form"
            )

    def _weighed(self, X):
        tf = ("frequency" if self.smoothing > 0 else "log") if self.tf == "auto" else self.tf
        return tx.weigh(X, self.weights, float(self.smoothing), self.idf_, tf, self.norm)

    def _rules(self) -> tuple[frozenset[str], Callable[[str], str] | None]:
        return tx.stop_words(self.stop_words), tx.stemmer_of(self.stemmer)

    def _cutting(self) -> tx.Cutting:
        return tx.Cutting(self.lowercase, self.marks, int(self.min_length), self.encoding, self.errors)

    def _counter(self, lexicon: tx.Lexicon) -> tx.Counter:
        return tx.Counter(self._cutting(), lexicon, (int(self.ngrams[0]), int(self.ngrams[1])))

    def _check_loaded(self, looked_at: bool) -> None:
        """What a file may not get wrong, because kernels trust it."""
        tx.check_options(self)
        tx.check_learned(self.words_, self.idf_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags
