"""Tensors: sums of components with one curve along every side.

`cp` is the estimator. `sides` reads the penalties, `start` finds where to begin (on a compressed tensor, `linalg/tensors`),
`scheme` is a round of half-steps in the one loop, on the row models of `objectives/tensors`; `choice` chooses the
number of components, `matching` compares components with known ones.
"""

from unweave.compress.tensors.cp import CP
from unweave.compress.tensors.matching import Match, factor_match

__all__ = ["CP", "Match", "factor_match"]
