"""A fitted CP as tables for files: one for each side, and one of the components."""

from __future__ import annotations

from typing import Any

import numpy as np


def factor_tables(model: Any) -> dict[str, dict[str, Any]]:
    """Name of a file → its columns: ``side-1.csv`` … with a column for each component, and ``weights.csv``.

    Factors have columns of length one; ``side-1.csv`` times the weights are the codes of the slices.

    >>> import unweave
    >>> tables = factor_tables(unweave.CP(1).fit(np.ones((2, 3, 4))))
    >>> list(tables), list(tables["side-2.csv"]), len(tables["side-2.csv"]["place"])
    (['weights.csv', 'side-1.csv', 'side-2.csv', 'side-3.csv'], ['place', 'component 1'], 3)
    """
    names = [f"component {r + 1}" for r in range(model.n_components_)]
    squares = np.square(np.asarray(model.weights_, dtype=np.float64))
    tables: dict[str, dict[str, Any]] = {
        "weights.csv": {
            "component": names,
            "weight": np.asarray(model.weights_),
            "share_of_squares": squares / max(float(squares.sum()), np.finfo(np.float64).tiny),
        }
    }
    for d, F in enumerate(model.factors_, 1):
        tables[f"side-{d}.csv"] = {"place": np.arange(len(F)), **dict(zip(names, np.asarray(F).T, strict=True))}
    return tables
