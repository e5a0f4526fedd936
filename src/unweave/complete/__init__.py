"""Complete: fill in what is missing."""

from unweave.complete.implicit.als import ImplicitALS
from unweave.complete.implicit.ease import EASE
from unweave.complete.imputer import TableImputer
from unweave.complete.nuclear import SingularValueThresholding, SoftImpute
from unweave.complete.ratings.matrix_completion import MatrixCompletion
from unweave.complete.ratings.sgd import SGD

__all__ = ["MatrixCompletion", "ImplicitALS", "EASE", "SGD", "SoftImpute", "SingularValueThresholding", "TableImputer"]
