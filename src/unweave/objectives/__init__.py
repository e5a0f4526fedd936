"""Data and loss together; how a table is stored is known here and nowhere else."""

from unweave.objectives.base import Objective
from unweave.objectives.blocks import Blocks
from unweave.objectives.dense import Dense
from unweave.objectives.observed import Observed
from unweave.objectives.sparse import Sparse

__all__ = ["Blocks", "Dense", "Objective", "Observed", "Sparse"]
