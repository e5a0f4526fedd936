"""Tensors: sums of components with one curve along every side.

`cp` is the estimator. `sides` reads the penalties, `start` finds where to begin (on a compressed tensor, see
`linalg/tensors`), `scheme` is a round of half-steps in the one loop, on the row models of `objectives/tensors`;
`choice` chooses the number of components, `matching` compares components with known ones, `tables` are the factors for
files.
"""

from unweave.compress.tensors.cp import CP
from unweave.compress.tensors.matching import Match, factor_match
from unweave.compress.tensors.tables import factor_tables

__all__ = ["CP", "Match", "factor_match", "factor_tables"]
