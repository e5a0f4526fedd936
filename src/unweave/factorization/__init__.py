"""The generic estimator, and what every model inherits."""

from .base import BaseFactorization
from .generic import Factorization

__all__ = ["BaseFactorization", "Factorization"]
