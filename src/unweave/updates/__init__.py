"""Half-steps: each improves one factor while the other is fixed, and says in words what it cannot do."""

from unweave.updates.base import Effort, Half, Update
from unweave.updates.coordinate import Coordinate
from unweave.updates.least_squares import ConjugateGradient, LeastSquares, ProjectedLeastSquares
from unweave.updates.mirror import Mirror
from unweave.updates.multiplicative import Multiplicative
from unweave.updates.nearest import Flip, Nearest
from unweave.updates.orthogonal import Procrustes
from unweave.updates.proximal import Proximal
from unweave.updates.pursuit import Pursuit
from unweave.updates.reweighted import Reweighted
from unweave.updates.starts import first_rows

# In order of preference: the first that does not refuse is taken.
UPDATES: tuple[Update, ...] = (
    Nearest(),
    Flip(),
    Procrustes(),
    Pursuit(),
    ConjugateGradient(),
    LeastSquares(),
    Coordinate(),
    Multiplicative(),
    Reweighted(),
    Proximal(),
    Mirror(),
    ProjectedLeastSquares(),
)

__all__ = ["UPDATES", "Effort", "Half", "Update", "first_rows", *(type(update).__name__ for update in UPDATES)]
