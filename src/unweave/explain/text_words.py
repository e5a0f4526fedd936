"""What a table of text knows about its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from unweave.data import text as tx


class KeepsWords:
    """For an estimator whose columns are ``words_``: names, places, and rows back as words."""

    words_: list[str]

    def inverse_transform(self, X) -> list[NDArray]:
        """The words of each row, without their number and order."""
        check_is_fitted(self)
        table, words = sp.csr_array(X), self.get_feature_names_out()
        if table.shape[1] != len(words):
            raise ValueError(f"X has {table.shape[1]} columns, but TextTable has {len(words)} words")
        pairs = zip(table.indptr, table.indptr[1:])
        return [words[table.indices[a:b][table.data[a:b] != 0]] for a, b in pairs]

    def get_feature_names_out(self, input_features=None) -> NDArray:
        """The words, one a column."""
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
