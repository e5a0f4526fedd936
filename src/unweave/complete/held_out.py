"""How strong a ridge, and how many components: those that predict entries held out of the fit best."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.objectives import Dense, Objective, Observed
from unweave.solve.iterate import Loop, iterate

SHARE = 0.1  # of the entries is held out
STRENGTHS = np.geomspace(64, 0.5, 15)  # in units of the spread of the entries; tried from the strongest down
RANKS = (1, 2, 4, 8, 16, 32, 64)
_SWEEPS = 12
_WORSE = 1.02  # the path ends when the error is so much above its least


def hold_out(objective: Observed, rng: np.random.Generator, share: float) -> tuple[Observed, Observed | None]:
    """Entries split at random into training and held out; None when there are too few to spare any."""
    out = drawn(objective, rng, share)
    return (objective, None) if out is None else (part(objective, ~out), part(objective, out))


def drawn(objective: Observed, rng: np.random.Generator, share: float) -> NDArray | None:
    """Which entries are held out, as a mask; None when there are too few to spare any."""
    if objective.X.nnz < 20:
        return None
    out = rng.random(objective.X.nnz) < share
    return out if out.any() and not out.all() else None


def part(objective: Observed, pick: NDArray) -> Observed:
    """The entries in a mask."""
    coo = objective.X.tocoo()
    entries = (coo.data[pick], (coo.row[pick], coo.col[pick]))
    return Observed(sp.csr_array(entries, shape=objective.X.shape), objective.loss)


def observed(objective: Objective) -> Observed:
    """Entries as a list, whatever the storage."""
    if isinstance(objective, Observed):
        return objective
    assert isinstance(objective, Dense)
    t = objective.by_row
    return Observed(sp.csr_array((t.data, t.indices, t.indptr), shape=objective.shape), objective.loss)


def ridge_path(
    begin: Callable[[float], tuple[object, dict]], strengths: Iterable[float], judge: Callable[[object, dict], float]
) -> dict[float, float]:
    """The error that ``judge(scheme, state)`` finds for each ridge of a falling row; it ends once the error rises.

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
        errors[float(strength)] = judge(scheme, state)
        if len(errors) > 2 and errors[float(strength)] > _WORSE * min(errors.values()):
            break
    return errors


def root_mean_square(test: Observed, U, Z) -> float:
    """Error of the factors at the entries of `test`."""
    return float(np.sqrt(2 * test.value(U, Z) / test.X.nnz))
