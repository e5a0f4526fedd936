"""Half-steps: each improves one factor while the other is fixed, and says in words what it cannot do."""

from unweave.updates.active_set import ActiveSet
from unweave.updates.atoms import Atoms
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
from unweave.updates.smoothing import Smoothing
from unweave.updates.starts import first_rows

# In order of preference: the first that does not refuse is taken.
UPDATES: list[Update] = [
    Nearest(),
    Flip(),
    Procrustes(),
    Smoothing(),
    Pursuit(),
    Atoms(),
    ConjugateGradient(),
    LeastSquares(),
    ActiveSet(),
    Coordinate(),
    Multiplicative(),
    Reweighted(),
    Proximal(),
    Mirror(),
    ProjectedLeastSquares(),
]

__all__ = [
    "UPDATES",
    "Effort",
    "Half",
    "Update",
    "first_rows",
    "register",
    *(type(update).__name__ for update in UPDATES),
]


def register(kind: type[Update]) -> type[Update]:
    """Make an update of your own known: ``solver="name"`` finds it, and the planner prefers it wherever it can work.

    Use it as a decorator of the class; ``docs/contributing.md`` shows one.
    """
    taken = [update.name for update in UPDATES if type(update) is not kind]
    if not kind.name or kind.name in taken:
        raise ValueError(f"an update needs a name of its own, got {kind.name!r}; taken are {', '.join(taken)}")
    if kind not in map(type, UPDATES):
        UPDATES.insert(0, kind())
    return kind
