"""Let a ridge grow with what is known: λ·n^p for a row with n observed entries.

With p = 0 a user with a thousand ratings is shrunk as little as a user with one is shrunk much; with p = 1 all are
shrunk alike. The least held-out error lies between: p = ½.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

POWERS = {"plain": 0.0, "root": 0.5, "count": 1.0}


def power_of(weighting) -> float:
    """Look up the power p of a `weighting`, or raise an error that names it."""
    if not isinstance(weighting, str) or weighting not in POWERS:
        raise ValueError(f"weighting={weighting!r} is not known; use one of {', '.join(POWERS)}")
    return POWERS[weighting]


def counted_ridges(counts: NDArray, strength: float, power: float) -> NDArray[np.float64]:
    """Compute the ridge of every row from the number of its entries; a row without any counts as one with one.

    >>> import numpy as np
    >>> counted_ridges(np.array([0, 1, 4]), 2.0, 0.5).tolist()
    [2.0, 2.0, 4.0]
    """
    return strength * np.maximum(counts, 1).astype(np.float64) ** power
