"""How strong a ridge, and how many components: those that predict entries held out of the fit best."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp

from unweave.objectives import Dense, Objective, Observed
from unweave.solve.iterate import Loop, iterate

SHARE = 0.1  # of the entries is held out
STRENGTHS = np.geomspace(64, 0.5, 15)  # in units of the spread of the entries; tried from the strongest down
RANKS = (1, 2, 4, 8, 16, 32, 64)
_SWEEPS = 12
_WORSE = 1.02  # the path ends when the error is so much above its least


def hold_out(objective: Observed, rng: np.random.Generator, share: float) -> tuple[Observed, Observed | None]:
    """Entries split at random into training and held out; None when there are too few to spare any."""
    X = objective.X
    if X.nnz < 20:
        return objective, None
    coo = X.tocoo()
    out = rng.random(X.nnz) < share
    parts = []
    for pick in (~out, out):
        entries = (coo.data[pick], (coo.row[pick], coo.col[pick]))
        parts.append(Observed(sp.csr_array(entries, shape=X.shape), objective.loss))
    return (parts[0], parts[1]) if parts[1].X.nnz and parts[0].X.nnz else (objective, None)


def observed(objective: Objective) -> Observed:
    """Entries as a list, whatever the storage."""
    if isinstance(objective, Observed):
        return objective
    assert isinstance(objective, Dense)
    t = objective.by_row
    return Observed(sp.csr_array((t.data, t.indices, t.indptr), shape=objective.shape), objective.loss)


def spread(objective: Observed) -> float:
    """Standard deviation of the entries: a unit for λ that follows the units of the data."""
    return max(float(objective.X.data.var(dtype=np.float64)), 1e-12) ** 0.5


def ridge_path(
    begin: Callable[[float], tuple[object, dict]], strengths: Iterable[float], test: Observed
) -> dict[float, float]:
    """Root-mean-square error on `test` for each ridge of a falling row; the path ends once the error rises.

    ``begin(strength)`` gives the scheme for a ridge and a start. Every fit has the start of the first: one that began
    where a stronger ridge ended would begin at zeros, which least squares cannot leave, and one that began where a
    weaker one ended would carry its overfitting along.
    """
    errors: dict[float, float] = {}
    start = None
    for strength in strengths:
        scheme, first = begin(float(strength))
        start = first if start is None else start
        state, _ = iterate(scheme.step, start, Loop(max_iter=_SWEEPS, tol=0))  # type: ignore[attr-defined]
        errors[float(strength)] = root_mean_square(test, state["codes"], state["components"])
        if len(errors) > 2 and errors[float(strength)] > _WORSE * min(errors.values()):
            break
    return errors


def root_mean_square(test: Observed, U, Z) -> float:
    """Error of the factors at the entries of `test`."""
    return float(np.sqrt(2 * test.value(U, Z) / test.X.nnz))
