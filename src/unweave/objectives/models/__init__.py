"""Row models: the loss of every row of a factor F while the other factor is fixed. Updates see nothing else."""

from .base import Held, RowModel
from .counts import Counts
from .entries import Entries
from .mixed import Mixed
from .quadratic import Quadratic
from .smooth import SmoothColumns, SmoothRows

__all__ = ["Counts", "Entries", "Held", "Mixed", "Quadratic", "RowModel", "SmoothColumns", "SmoothRows"]
