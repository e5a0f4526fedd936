"""Begin with roles: rounded singular vectors, Hamming k-means, the association matrix, or formal concepts."""

from __future__ import annotations

import numpy as np

from unweave.explain.roles.improve import grown
from unweave.explain.roles.sides import Sides
from unweave.linalg.bits import Words


def seeded(sides: Sides, k: int, rng) -> tuple[Words, Words]:
    """Roles one by one, each grown from the permissions of users with much left to explain."""
    n, m = sides.shape
    nobody = np.zeros((0, sides.columns.ones.shape[1]), np.uint64), np.zeros((0, sides.rows.ones.shape[1]), np.uint64)
    return grown(sides, *nobody, k, rng)
