"""Factorise a table by any loss and constraints (:class:`Factorization`), and give every model what models share.

A fit enters at `base` (or at a model of its own room), opens the table (:mod:`unweave.objectives.opening`), states its
problem, and goes through `run`, which every fit of the library goes through. `model` is what all estimators can do
besides their job, `generic` the estimator of which most others are special cases, `stream` is `partial_fit`.
"""

from unweave.factorization.base import BaseFactorization
from unweave.factorization.generic import Factorization

__all__ = ["BaseFactorization", "Factorization"]
