"""Complete: fill in what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.complete.implicit.als import ImplicitALS
    from unweave.complete.implicit.ease import EASE
    from unweave.complete.imputer import TableImputer
    from unweave.complete.nuclear import SingularValueThresholding, SoftImpute
    from unweave.complete.ratings.matrix_completion import MatrixCompletion
    from unweave.complete.ratings.sgd import SGD

__all__ = ["MatrixCompletion", "ImplicitALS", "EASE", "SGD", "SoftImpute", "SingularValueThresholding", "TableImputer"]

# One job does not load what another needs: each name is imported when it is asked for.
_HOMES = {
    "MatrixCompletion": "ratings.matrix_completion",
    "ImplicitALS": "implicit.als",
    "EASE": "implicit.ease",
    "SGD": "ratings.sgd",
    "SoftImpute": "nuclear",
    "SingularValueThresholding": "nuclear",
    "TableImputer": "imputer",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
