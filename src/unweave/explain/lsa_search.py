"""Searching by cosine: documents for a query, words for a word, documents for a document."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from unweave.complete.top import top_columns
from unweave.data.arguments import whole
from unweave.data.named import NamedTable
from unweave.explain.lsa_words import count_words, find_term
from unweave.kernels.top import push_range, sort_range
from unweave.linalg.products import row_squared_norms
from unweave.parallel import single_blas

_NO_ROWS, _NONE = np.empty(0, np.int64), np.empty(0, np.int32)  # nothing is left out of a list


class Searching:
    """What LSA answers. Documents are given by their positions, those added later counted on.

    `_units` holds the documents as rows of length one, in float32: a cosine needs no more, and half the memory is read.
    """

    components_: NDArray
    singular_values_: NDArray
    n_features_in_: int
    terms_: NDArray | None
    vectorizer_: Any
    transform: Any
    _order: NDArray | None
    _units: NDArray

    def search(self, query, n: int = 10) -> tuple[NDArray, NDArray]:
        """The `n` documents nearest to a query, best first, and their cosines.

        Parameters
        ----------
        query : str, list of str, array, sparse matrix or NamedTable
            A text, or a list of words: they go through the vectoriser, or else are looked up among the names of the
            columns and counted. Or rows like those of X: one row (1-D) gives one list, a table one list a row.
        n : int, default=10

        Returns
        -------
        documents, scores : arrays (n,), or (rows, n) for a table
        """
        check_is_fitted(self, "components_")
        n = min(whole(n, "n", 1), len(self._units))
        if not len(self._units):
            raise ValueError("the model holds no documents, because they came in blocks: call add_documents first")
        codes, one = self._folded(query)
        return _nearest(self._units, _unit(codes[0]), n) if one else top_columns(unit_rows(codes), self._units.T, n)

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
        return _neighbours(self._units, _place(document, "document", len(self._units)), n)

    def nearest_terms(self, term: str | int, n: int = 10) -> tuple[NDArray, NDArray]:
        """The `n` words nearest to a word (or to a column, by number), itself left out, and their cosines.

        Words come by name where the columns have names, otherwise as numbers of columns.
        """
        check_is_fitted(self, "components_")
        vectors = self.components_.T * self.singular_values_.astype(self.components_.dtype)
        places, scores = _neighbours(unit_rows(vectors), self._column(term), n)
        return (places if self.terms_ is None else self.terms_[places]), scores

    def _column(self, term) -> int:
        if not isinstance(term, str):
            return _place(term, "term", self.n_features_in_)
        if self.terms_ is None or self._order is None:
            raise ValueError(
                f"term {term!r} is not known, because the columns have no names: give a number of a column"
            )
        place = find_term(self.terms_, self._order, term)
        if place < 0:
            raise ValueError(f"term {term!r} is not among the words of the model; see terms_")
        return place

    def _folded(self, query) -> tuple[NDArray, bool]:
        """Codes of a query, and whether it is one."""
        if isinstance(query, str) or _is_words(query):
            return self._fold_words(query), True
        rows = query.X if isinstance(query, NamedTable) else query
        one = not sp.issparse(rows) and np.ndim(rows) == 1
        rows = np.reshape(rows, (1, -1)) if one else rows
        rows = check_array(rows, accept_sparse="csr", dtype=(np.float64, np.float32), input_name="query")
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(f"query has {rows.shape[1]} columns, but the model was fitted to {self.n_features_in_}")
        with np.errstate(over="ignore", invalid="ignore"):
            codes = self._fold_rows(rows)
        if not np.isfinite(codes).all():
            raise ValueError("query holds numbers whose sums overflow: rescale it, cosines stay the same")
        return codes, one

    def _fold_words(self, query) -> NDArray:
        if self.vectorizer_ is not None:
            row = self.vectorizer_.transform([query if isinstance(query, str) else " ".join(query)])
            if not row.count_nonzero():
                raise ValueError(f"query has no word that the vectoriser knows: {query!r:.80}")
            return self._fold_rows(sp.csr_array(row))
        if self.terms_ is None or self._order is None:
            raise ValueError("query holds words, but the columns have no names: give a vectorizer, or a row of numbers")
        columns, counts = count_words(query, self.terms_, self._order)
        return (self.components_[:, columns] @ counts)[None]

    def _fold_rows(self, rows) -> NDArray:
        """q·Zᵀ over the columns that occur, so that a short query does not read all of Z."""
        if not sp.issparse(rows):
            return rows @ self.components_.T
        columns, places = np.unique(rows.indices, return_inverse=True)
        short = sp.csr_array((rows.data, places, rows.indptr), shape=(rows.shape[0], len(columns)))
        return short @ np.ascontiguousarray(self.components_[:, columns].T)


def unit_rows(F: NDArray) -> NDArray:
    """Rows scaled to length one, in float32; a row of zeros stays, its cosine with everything is 0."""
    largest = np.abs(F).max(axis=1, initial=0.0, keepdims=True)
    F = F / np.where(largest > 0, largest, 1)  # first, because squares may overflow or vanish
    lengths = np.sqrt(row_squared_norms(F))[:, None]
    return np.ascontiguousarray(F / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def _unit(code: NDArray) -> NDArray:
    """The same for one row."""
    code = code / (float(np.abs(code).max()) or 1.0)
    return (code / (float(np.sqrt(code @ code)) or 1.0)).astype(np.float32)


def _nearest(units: NDArray, point: NDArray, n: int) -> tuple[NDArray, NDArray]:
    """What :func:`top_columns` gives for one row, by a product of matrix and vector: a third of the time."""
    with single_blas():
        scores = (units @ point)[None]
    values, places = np.full((1, n), -np.inf, np.float32), np.full((1, n), -1, np.int64)
    push_range(scores, 0, len(units), _NO_ROWS, _NONE, _NONE, 0, values, places, 0, 1)
    sort_range(values, places, 0, 1)
    return places[0], values[0]


def _neighbours(units: NDArray, place: int, n: int) -> tuple[NDArray, NDArray]:
    wanted = min(whole(n, "n", 1), len(units) - 1)
    places, scores = _nearest(units, units[place], wanted + 1)
    others = np.flatnonzero(places != place)[:wanted]
    return places[others], scores[others]


def _place(value, name: str, stop: int) -> int:
    place = whole(value, name, 0)
    if place >= stop:
        raise ValueError(f"{name} must be below {stop}, got {place}")
    return place


def _is_words(query) -> bool:
    listed = isinstance(query, list | tuple | set) or (isinstance(query, np.ndarray) and query.ndim == 1)
    return listed and len(query) > 0 and all(isinstance(word, str) for word in query)
