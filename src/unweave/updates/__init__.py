"""Half-steps: each improves one factor while the other is fixed, and says in words what it cannot do."""

from .base import Effort, Half, Update
from .coordinate import Coordinate
from .least_squares import LeastSquares, ProjectedLeastSquares
from .mirror import Mirror
from .multiplicative import Multiplicative
from .nearest import Flip, Nearest
from .orthogonal import Procrustes
from .proximal import Proximal
from .pursuit import Pursuit
from .reweighted import Reweighted
from .starts import first_rows

# In order of preference: the first that does not refuse is taken.
UPDATES: tuple[Update, ...] = (
    Nearest(),
    Flip(),
    Procrustes(),
    Pursuit(),
    LeastSquares(),
    Coordinate(),
    Multiplicative(),
    Reweighted(),
    Proximal(),
    Mirror(),
    ProjectedLeastSquares(),
)

__all__ = ["UPDATES", "Effort", "Half", "Update", "first_rows", *(type(update).__name__ for update in UPDATES)]
