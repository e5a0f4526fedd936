"""Complete: fill in what is missing."""

from unweave.complete.implicit.als import ImplicitALS
from unweave.complete.implicit.ease import EASE
from unweave.complete.matrix_completion import MatrixCompletion
from unweave.complete.sgd import SGD
from unweave.complete.soft_impute import SoftImpute
from unweave.complete.table_imputer import TableImputer
from unweave.complete.thresholding import SingularValueThresholding

__all__ = ["MatrixCompletion", "ImplicitALS", "EASE", "SGD", "SoftImpute", "SingularValueThresholding", "TableImputer"]
