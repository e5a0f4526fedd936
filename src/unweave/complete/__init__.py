"""Complete: fill in what is missing."""

from unweave.complete.matrix_completion import MatrixCompletion
from unweave.complete.sgd import SGD

__all__ = ["MatrixCompletion", "SGD"]
