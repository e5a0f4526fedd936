"""Put tables in memory below each other: rows that were taken from several blocks as one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from unweave.data.storage import stack_rows
from unweave.objectives.base import Objective
from unweave.objectives.dense import Dense
from unweave.objectives.observed import Observed
from unweave.objectives.sparse import Sparse


def joined(parts: Sequence[Objective]) -> Objective:
    """One table of the rows of several, stored as they are where they are stored alike, else as an array.

    >>> from unweave.losses import get_loss
    >>> squared = get_loss("squared")
    >>> joined([Dense(np.ones((1, 2)), squared), Dense(np.zeros((2, 2)), squared)]).shape
    (3, 2)
    """
    kinds, loss = {type(part) for part in parts}, parts[0].loss
    X: Any
    if kinds == {Sparse}:
        return Sparse(_canonical(parts), loss)
    if kinds == {Observed} and all(part.weights is None for part in parts if isinstance(part, Observed)):
        return Observed(_canonical(parts), loss)
    X, weights = zip(*(part.dense_rows(0, part.shape[0]) for part in parts), strict=True)
    if all(part is None for part in weights):
        return Dense(np.concatenate(X), loss)
    full = [np.ones_like(x) if w is None else w for x, w in zip(X, weights, strict=True)]
    return Dense(np.concatenate(X), loss, np.concatenate(full))


def _canonical(parts: Sequence[Objective]) -> Any:
    X = stack_rows([part.X for part in parts])
    X.sort_indices()
    return X
