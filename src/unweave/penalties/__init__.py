"""Which factors are allowed, and at what cost: found by name with :func:`get_penalty`.

>>> get_penalty("l1").strength
1.0
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from unweave.penalties.base import Penalty
from unweave.penalties.both import Both
from unweave.penalties.entrywise import Boolean, Fixed, Free, NonNegative
from unweave.penalties.functions import (
    project_boolean,
    project_l1_ball,
    project_l2_ball,
    project_nonnegative,
    project_onehot,
    project_orthonormal,
    project_simplex,
    project_sparse,
    project_sphere,
    shrink_singular_values,
    soft_threshold,
)
from unweave.penalties.norms import L1Ball, L2Ball, Sparse, UnitNorm
from unweave.penalties.shrinkage import L1, ElasticNet, Ridge
from unweave.penalties.simplex import Cone, Hull, OneHot, Simplex
from unweave.penalties.smooth import Smooth
from unweave.penalties.spectral import Nuclear, Orthonormal

_KINDS = (Free, NonNegative, Simplex, OneHot, Orthonormal, UnitNorm, Boolean, L1Ball, L2Ball, Sparse, Hull, Cone, Fixed)
PENALTIES: dict[str, type[Penalty]] = {kind.name: kind for kind in (*_KINDS, Ridge, L1, ElasticNet, Nuclear, Smooth)}

__all__ = [
    "L1",
    "PENALTIES",
    "Boolean",
    "Both",
    "Cone",
    "ElasticNet",
    "Fixed",
    "Free",
    "Hull",
    "L1Ball",
    "L2Ball",
    "NonNegative",
    "Nuclear",
    "OneHot",
    "Orthonormal",
    "Penalty",
    "Ridge",
    "Simplex",
    "Smooth",
    "Sparse",
    "UnitNorm",
    "get_penalty",
    "project_boolean",
    "project_l1_ball",
    "project_l2_ball",
    "project_nonnegative",
    "project_onehot",
    "project_orthonormal",
    "project_simplex",
    "project_sparse",
    "project_sphere",
    "register",
    "shrink_singular_values",
    "soft_threshold",
]


def register(kind: type[Penalty]) -> type[Penalty]:
    """Make a penalty of your own known by its `name`: ``codes="name"`` finds it, and saved models may hold it.

    Use it as a decorator of the class; ``docs/contributing.md`` shows one.
    """
    if not kind.name or PENALTIES.get(kind.name, kind) is not kind:
        raise ValueError(f"a penalty needs a name of its own, got {kind.name!r}; taken are {', '.join(PENALTIES)}")
    PENALTIES[kind.name] = kind
    return kind


def get_penalty(spec: Any, argument: str = "codes") -> Penalty:
    """The penalty that `spec` asks for: a name, a penalty, or two of them (nonnegative and one more).

    `argument` is the word the user wrote it under; errors name it.

    >>> get_penalty("simplex"), get_penalty(("nonnegative", "l1"))
    (Simplex(), Both(second='l1'))
    """
    try:
        if isinstance(spec, list | tuple):
            if len(spec) != 2:
                raise ValueError(f"one penalty or two can be given, got {len(spec)}")
            return Both(*spec).validate()
        if isinstance(spec, Penalty):
            return spec.validate()
        if isinstance(spec, str) and spec in PENALTIES:
            return PENALTIES[spec]()
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None
    if not isinstance(spec, str):
        raise ValueError(f"{argument} must be the name of a penalty, a Penalty or two of them, got {spec!r}")
    near = get_close_matches(spec.lower().replace("_", "-"), PENALTIES, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{argument}: unknown penalty {spec!r}; the names are {', '.join(PENALTIES)}.{hint}")
