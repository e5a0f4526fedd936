"""The generic estimator, and what every model inherits."""

from unweave.factorization.base import BaseFactorization
from unweave.factorization.generic import Factorization

__all__ = ["BaseFactorization", "Factorization"]
