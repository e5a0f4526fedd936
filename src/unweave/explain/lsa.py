"""Latent semantic analysis: documents, words and queries as points of one space."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.compress.truncated_svd import TruncatedSVD
from unweave.explain.lsa_index import unit_rows
from unweave.explain.lsa_search import Searching
from unweave.explain.vectorizers import check_saveable, counted, is_texts, ready_vectorizer, vectorizer_terms
from unweave.penalties import Free, Orthonormal
from unweave.solve.problem import Problem


class LSA(Searching, TruncatedSVD):
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
        codes = super()._fit(X)
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
        return vectorizer.transform(X)

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
