"""Row models: the loss of every row of a factor F while the other factor is fixed. Updates see nothing else."""

from unweave.objectives.models.base import Held, RowModel
from unweave.objectives.models.counts import Counts
from unweave.objectives.models.entries import Entries
from unweave.objectives.models.grams import OwnGrams
from unweave.objectives.models.mixed import Mixed
from unweave.objectives.models.quadratic import Quadratic
from unweave.objectives.models.smooth import SmoothColumns, SmoothRows

__all__ = ["Counts", "Entries", "Held", "Mixed", "OwnGrams", "Quadratic", "RowModel", "SmoothColumns", "SmoothRows"]
