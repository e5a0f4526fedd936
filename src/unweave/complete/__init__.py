"""Complete: fill in what is missing."""

from unweave.complete.matrix_completion import MatrixCompletion

__all__ = ["MatrixCompletion"]
