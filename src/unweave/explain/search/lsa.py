"""Find documents and words by meaning: latent semantic analysis (LSA)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.compress.truncated_svd import TruncatedSVD
from unweave.data.arguments import whole
from unweave.explain.search.queries import (
    columns_by_word,
    count_words,
    find_term,
    is_queries,
    query_rows,
    unknown_words,
)
from unweave.explain.text.in_blocks import TextBlocks, tables_of
from unweave.explain.text.vectorizers import check_saveable, counted, is_texts, ready_vectorizer, vectorizer_terms
from unweave.linalg.nearest import Index, unit_row, unit_rows
from unweave.linalg.scores import top_columns
from unweave.penalties import Free, Orthonormal
from unweave.solve.problem import Problem

# What is made of a model's arrays when it is first asked, by name: (the arrays it was made of, what was made). Not an
# attribute, so that it is neither saved nor copied; arrays that were replaced since are told by their identity.
_MADE: WeakKeyDictionary[Any, dict[str, tuple[tuple, Any]]] = WeakKeyDictionary()


class LSA(TruncatedSVD):
    """X ≈ U·Z with orthonormal Z, least squares: a document is the point x·Zᵀ, a row of U·Σ of the truncated SVD.

    Use it to find documents (and words) by meaning: two that share no word are near each other if they share company.
    A query or a new document is folded in by the same map q ↦ q·Zᵀ, so a document of the table lands on its own row of
    ``codes_``. Words are rows of V·Σ. Nearness is the cosine. Weight the counts first (tf–idf): the SVD sees sizes.

    Parameters
    ----------
    n_components : int or "auto", default=100
        Dimensions kept; no more than the table has rows or columns. "auto" as in :class:`unweave.TruncatedSVD`: the
        number that predicts hidden blocks best. Searching is not what it is chosen for: 100 to 300 is usual for texts.
    vectorizer : object with ``transform``, optional
        What turned texts into the columns of X (scikit-learn's ``TfidfVectorizer``, say). With it texts are taken in
        place of tables; one that is not fitted yet is fitted (as a copy) to the texts given to `fit`.
    max_iter, tol, random_state, callback, checkpoint, verbose
        As in :class:`unweave.Factorization`.

    Attributes
    ----------
    components_ : array (k, m)
        Right singular vectors.
    singular_values_ : array (k,)
    codes_ : array (n, k)
        The documents of the table; None when it came in blocks.
    terms_ : array of str (m,) or None
        Names of the columns.
    vectorizer_ : object or None

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from unweave import LSA
    >>> texts = ["a ship on the ocean", "the boat and the ocean", "bread and butter", "butter, bread, cheese"]
    >>> model = LSA(2, vectorizer=TfidfVectorizer(stop_words="english")).fit(texts)
    >>> documents, scores = model.search("boat", n=2)
    >>> sorted(documents.tolist())
    [0, 1]
    >>> sorted(model.nearest_terms("cheese", 2)[0])
    ['bread', 'butter']

    References
    ----------
    Deerwester, Dumais, Furnas, Landauer and Harshman (1990), Indexing by latent semantic analysis.
    """

    # Zeros of a table of words are data, and the SVD needs no start.
    missing, solver, init = None, "auto", "auto"

    def __init__(
        self,
        n_components=100,
        *,
        vectorizer=None,
        max_iter=200,
        tol=1e-5,
        random_state=None,
        callback=None,
        checkpoint=None,
        verbose=False,
    ):
        self.n_components = n_components
        self.vectorizer = vectorizer
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callback = callback
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _problem(self, loss, shape, mixed):
        asked = self._number()
        k = min(asked, *shape)
        problem = Problem(k, loss, Free(), Orthonormal())
        return problem if k == asked else problem.with_note(f"the table has only {k} dimensions, not {asked}")

    def _fit(self, X, weights=None) -> NDArray | None:
        texts = is_texts(X)
        vectorizer = None if self.vectorizer is None else ready_vectorizer(self.vectorizer, X if texts else None)
        X = self._table(X, vectorizer)
        codes = super()._fit(X, weights)
        self.vectorizer_ = vectorizer
        self._learn_terms()
        self._units = unit_rows(np.empty((0, len(self.components_))) if codes is None else codes)
        return codes

    def _learn_terms(self) -> None:
        """Names of the columns, by which a word is found."""
        names = getattr(self, "feature_names_in_", None)
        if self.vectorizer_ is not None:
            names = vectorizer_terms(self.vectorizer_, self.n_features_in_)
        self.terms_ = None if names is None else np.array([str(name) for name in names], dtype=object)

    def _table(self, X, vectorizer):
        if not is_texts(X):
            if vectorizer is not None and isinstance(X, list | tuple) and not len(X):
                raise ValueError("X is empty: give at least one text, or a table")
            return X
        if vectorizer is None:
            raise ValueError("X holds texts: give a vectorizer (LSA(vectorizer=TfidfVectorizer())), or a table")
        return tables_of(vectorizer, X, None) if isinstance(X, TextBlocks) else vectorizer.transform(X)

    def _shown(self, X):
        return counted(self, X, getattr(self, "vectorizer_", None))

    def _transform(self, X, weights=None):
        return super()._transform(self._table(X, getattr(self, "vectorizer_", None)))

    def partial_fit(self, X, y=None):
        """Learn from one more block of rows; the documents themselves are not kept, see :meth:`add_documents`."""
        first = not hasattr(self, "components_")
        if first:
            self.vectorizer_ = None if self.vectorizer is None else ready_vectorizer(self.vectorizer, None)
        super().partial_fit(self._table(X, self.vectorizer_))
        if first:
            self._learn_terms()
            self._units, self.codes_ = unit_rows(np.empty((0, len(self.components_)))), None
        return self

    def save(self, path):
        """As every model is saved; a vectoriser of another library is code and cannot be."""
        check_saveable(self)
        return super().save(path)

    # -- answers: documents are given by their positions, those added later counted on ---------------------------------

    def search(self, query, n: int = 10) -> tuple[NDArray, NDArray]:
        """The `n` documents nearest to a query, best first, and their cosines.

        Parameters
        ----------
        query : str, list of str, array, sparse matrix or NamedTable
            A text is one query; a list of texts, or of lists of words, is several. Their words go through the
            vectoriser, or else are looked up among the names of the columns and counted. Or rows like those of X: one
            row (1-D) is one query, a table has one per row.
        n : int, default=10

        Returns
        -------
        documents, scores : arrays (n,) for one query, (queries, n) for several
        """
        check_is_fitted(self, "components_")
        n, index = whole(n, "n", 1), self._documents()
        codes, one = self._folded(query)
        n = min(n, len(index.units))
        return index.nearest(unit_row(codes[0]), n) if one else top_columns(unit_rows(codes), index.units.T, n)

    def add_documents(self, X):
        """Fold in more documents (a table like X, or texts): they are searched from now on, the space stays as it is.

        Returns
        -------
        self
        """
        codes = self.transform(X)
        self._units = np.vstack([self._units, unit_rows(codes)])
        return self

    def nearest_documents(self, document: int, n: int = 10) -> tuple[NDArray, NDArray]:
        """The `n` documents nearest to one that is searched, itself left out, and their cosines."""
        check_is_fitted(self, "components_")
        index = self._documents()
        return _neighbours(index, _place(document, "document", len(index.units)), n)

    def nearest_terms(self, term: str | int, n: int = 10) -> tuple[NDArray, NDArray]:
        """The `n` words nearest to a word (or to a column, by number), itself left out, and their cosines.

        Words come by name where the columns have names, otherwise as numbers of columns.
        """
        check_is_fitted(self, "components_")
        column = self._column(term)
        words = self._made("words", (self.components_, self.singular_values_), _word_index)
        places, scores = _neighbours(words, column, n)
        return (places if self.terms_ is None else self.terms_[places]), scores

    def _made(self, name: str, sources: tuple, make: Callable) -> Any:
        """``make(*sources)``, kept for as long as the model has these arrays."""
        kept = _MADE.setdefault(self, {})
        if name not in kept or any(now is not then for now, then in zip(sources, kept[name][0], strict=True)):
            kept[name] = sources, make(*sources)
        return kept[name][1]

    def _documents(self) -> Index:
        if not len(self._units):
            raise ValueError("the model holds no documents, because they came in blocks: call add_documents first")
        return self._made("documents", (self._units,), Index)

    def _columns(self) -> dict[str, int]:
        return self._made("columns", (self.terms_,), columns_by_word)

    def _column(self, term) -> int:
        if not isinstance(term, str):
            return _place(term, "term", self.n_features_in_)
        if self.terms_ is None:
            raise ValueError(
                f"term {term!r} is not known, because the columns have no names: give a number of a column"
            )
        place = find_term(self._columns(), term)
        if place < 0:
            raise ValueError(f"term {term!r} is not among the words of the model; see terms_")
        return place

    def _folded(self, query) -> tuple[NDArray, bool]:
        """Codes of a query, and whether it is one."""
        if isinstance(query, str):
            return self._fold_words(query), True
        if is_queries(query):
            return np.vstack([self._fold_words(one) for one in query]), False
        rows, one = query_rows(query, self.n_features_in_)
        with np.errstate(over="ignore", invalid="ignore"):
            codes = self._fold_rows(rows)
        if not np.isfinite(codes).all():
            raise ValueError("query holds numbers whose sums overflow: rescale it, cosines stay the same")
        return codes, one

    def _fold_words(self, query) -> NDArray:
        """The code of one query: a text, or a list of words."""
        if self.vectorizer_ is not None:
            row = self.vectorizer_.transform([query])
            row = row if getattr(row, "format", "") == "csr" else sp.csr_array(row)
            if not row.data.any():
                raise unknown_words(query)
            return self._fold_entries(row.indices, row.data)
        if self.terms_ is None:
            raise ValueError("query holds words, but the columns have no names: give a vectorizer, or a row of numbers")
        return self._fold_entries(*count_words(query, self._columns()))

    def _fold_entries(self, columns: NDArray, values: NDArray) -> NDArray:
        """q·Zᵀ of one row with these entries."""
        return (self.components_.take(columns, axis=1) @ values)[None]

    def _fold_rows(self, rows) -> NDArray:
        """q·Zᵀ over the columns that occur, so that a short query does not read all of Z."""
        if isinstance(rows, np.ndarray):
            if 4 * np.count_nonzero(rows.any(axis=0)) > rows.shape[1]:
                return rows @ self.components_.T
            rows = sp.csr_array(rows)
        columns, places = np.unique(rows.indices, return_inverse=True)
        short = sp.csr_array((rows.data, places, rows.indptr), shape=(rows.shape[0], len(columns)))
        return short @ np.ascontiguousarray(self.components_[:, columns].T)


def _word_index(components: NDArray, singular_values: NDArray) -> Index:
    return Index(unit_rows(components.T * singular_values.astype(components.dtype)))


def _neighbours(index: Index, place: int, n: int) -> tuple[NDArray, NDArray]:
    wanted = min(whole(n, "n", 1), len(index.units) - 1)
    places, scores = index.nearest(index.units[place], wanted + 1)
    others = np.flatnonzero(places != place)[:wanted]
    return places[others], scores[others]


def _place(value, name: str, stop: int) -> int:
    place = whole(value, name, 0)
    if place >= stop:
        raise ValueError(f"{name} must be below {stop}, got {place}")
    return place
