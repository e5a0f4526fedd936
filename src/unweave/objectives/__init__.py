"""Data and loss together; how a table is stored is known here and nowhere else."""

from .base import Objective
from .blocks import Blocks
from .dense import Dense
from .observed import Observed
from .sparse import Sparse

__all__ = ["Blocks", "Dense", "Objective", "Observed", "Sparse"]
