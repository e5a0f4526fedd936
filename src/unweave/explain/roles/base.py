"""What every model of roles shares: roles and who has them, new users, and the table that roles stand for."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from unweave.data.storage import as_dense, stored
from unweave.data.table import joined_blocks
from unweave.explain.roles.access import MOST_DENSE, Access, read_access
from unweave.factorization.model import Model
from unweave.linalg.bits import Words, pack, sorted_csr
from unweave.parallel import single_blas


class RoleModel(Model, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """X ≈ U ⊗ Z, the OR of ANDs: a user holds what any of their roles holds. Subclasses learn `roles_`.

    They set `roles_` (k × m) and `assignments_` (n × k), and write `_codes(access)`: the roles of rows.
    """

    roles_: NDArray | sp.csr_array
    assignments_: NDArray | sp.csr_array

    @property
    def components_(self):
        """The roles, by the name that factors have elsewhere."""
        return self.roles_

    @property
    def codes_(self):
        """Who has which role, by the name that factors have elsewhere."""
        return self.assignments_

    @property
    def _n_features_out(self) -> int:
        return int(self.roles_.shape[0])

    def fit_transform(self, X, y=None):
        """Fit, and the roles of the rows of X."""
        return self._as_float(self.fit(X).assignments_, X)

    def transform(self, X):
        """The roles of old and new users (n × k, zeros and ones), each user on their own."""
        check_is_fitted(self)
        with single_blas():
            return self._as_float(self._codes(self._read(X, reset=False)), X)

    def inverse_transform(self, U):
        """The grants that roles amount to: 1 where a user of these roles (n × k) holds a permission."""
        check_is_fitted(self)
        U, k = sp.csr_array(joined_blocks(U)), self.roles_.shape[0]
        if U.shape[1] != k:
            raise ValueError(f"U must have {k} columns, one for each role, got {U.shape}")
        held = sp.csr_array((U != 0).astype(np.int32) @ sp.csr_array(self.roles_).astype(np.int32))
        held.data[:] = 1
        return held if np.prod(held.shape) > MOST_DENSE else as_dense(held)

    def _read(self, X, *, reset: bool) -> Access:
        return read_access(self, X, getattr(self, "missing", None), reset=reset)

    def _codes(self, access: Access) -> NDArray:
        raise NotImplementedError

    def _role_words(self) -> Words:
        """The roles as bits."""
        return pack(sorted_csr(self.roles_))

    def _as_float(self, codes, X):
        """Codes in the type of X, where that is float32, else float64."""
        return codes.astype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)

    def _check_loaded(self, looked_at: bool) -> None:
        """Check that roles and assignments of a file fit together."""
        n, k = self.n_features_in_, self.roles_.shape[0]
        if self.roles_.ndim != 2 or self.roles_.shape[1] != n or self.assignments_.shape[1] != k:
            raise ValueError("the roles do not fit the columns, or the assignments not the roles")
        for part in (self.roles_, self.assignments_) if looked_at else ():
            if not np.isin(stored(part), (0, 1)).all():
                raise ValueError("roles and assignments must be zeros and ones")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "missing", None) is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
