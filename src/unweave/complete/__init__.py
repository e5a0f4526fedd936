"""Complete: fill in what is missing."""

from .matrix_completion import MatrixCompletion

__all__ = ["MatrixCompletion"]
