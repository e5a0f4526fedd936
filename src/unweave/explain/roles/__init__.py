"""Roles: who may do what, explained by few sets of permissions.

A user holds what any of their roles holds: X ≈ U ⊗ Z, the OR of ANDs. `access` reads tables of zeros and ones, `base`
is what all models of roles share.

:class:`RoleMiner` finds the fewest roles that grant exactly what is held: `core` reduces the table to the cells that
decide, `cover` covers those (exactly, or by a search), `grow` does where `limits` are set or the core is very large,
`edges` and `candidates` serve its options, and `tidy` takes away what nobody needs.

:class:`BooleanFactorization` fits a given number of roles with as few errors as possible: `sides` holds the table as
bits by rows and by columns, `starts` begins, `improve` searches on, `description` finds how many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.registry import lazily

if TYPE_CHECKING:
    from unweave.explain.roles.boolean import BooleanFactorization
    from unweave.explain.roles.judge import judge_roles
    from unweave.explain.roles.miner import RoleMiner
    from unweave.explain.roles.multi_assignment import MultiAssignmentClustering

__all__ = ["BooleanFactorization", "MultiAssignmentClustering", "RoleMiner", "judge_roles"]

_HOMES = {
    "BooleanFactorization": "boolean",
    "MultiAssignmentClustering": "multi_assignment",
    "RoleMiner": "miner",
    "judge_roles": "judge",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
