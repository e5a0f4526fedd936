"""Say what "X is close to U*Z" means: one loss per file, found by name with :func:`get_loss`.

>>> get_loss("huber").delta
1.0
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from unweave.losses.absolute import Absolute
from unweave.losses.base import Loss
from unweave.losses.categorical import Categorical
from unweave.losses.columns import ColumnLosses
from unweave.losses.hinge import Hinge
from unweave.losses.huber import Huber
from unweave.losses.itakura_saito import ItakuraSaito
from unweave.losses.kl import KL
from unweave.losses.logistic import Logistic
from unweave.losses.ordinal import Ordinal
from unweave.losses.squared import Squared
from unweave.losses.weighted import Weighted

_KINDS = (Squared, Weighted, Huber, Absolute, KL, ItakuraSaito, Logistic, Hinge, Ordinal, Categorical)
LOSSES: dict[str, type[Loss]] = {kind.name: kind for kind in _KINDS}

__all__ = [
    "KL",
    "LOSSES",
    "Absolute",
    "Categorical",
    "ColumnLosses",
    "Hinge",
    "Huber",
    "ItakuraSaito",
    "Logistic",
    "Loss",
    "Ordinal",
    "Squared",
    "Weighted",
    "get_loss",
    "register",
]


def register(kind: type[Loss]) -> type[Loss]:
    """Make a loss of your own known by its `name`: ``loss="name"`` finds it, and saved models may hold it.

    Use it as a decorator of the class; ``docs/contributing.md`` shows one.
    """
    if not kind.name or LOSSES.get(kind.name, kind) is not kind:
        raise ValueError(f"a loss needs a name of its own, got {kind.name!r}; taken are {', '.join(LOSSES)}")
    LOSSES[kind.name] = kind
    return kind


def get_loss(spec: Any) -> Loss:
    """The loss that `spec` asks for: a name, a loss, or a list of them (one for each column).

    >>> get_loss("squared"), get_loss(["squared", "logistic"])
    (Squared(), ColumnLosses(losses=['squared', 'logistic']))
    """
    if isinstance(spec, list | tuple):
        return ColumnLosses(list(spec)).validate()
    if isinstance(spec, Loss):
        return spec.validate()
    if not isinstance(spec, str):
        raise ValueError(f"loss must be a name, a Loss or a list of them, got {spec!r}")
    if spec in LOSSES:
        return LOSSES[spec]()
    near = get_close_matches(spec.lower(), LOSSES, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"unknown loss {spec!r}; the names are {', '.join(LOSSES)}.{hint}")
