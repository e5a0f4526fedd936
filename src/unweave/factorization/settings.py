"""On the way out: names that moved to :mod:`unweave.factorization.run` and :mod:`unweave.data.arguments`."""

from unweave.data.arguments import generator, number, whole
from unweave.factorization.run import make_loop

__all__ = ["generator", "make_loop", "number", "whole"]
