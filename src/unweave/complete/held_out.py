"""Entries held out of a fit, and the search for a strength by the errors that fits make at them.

No number here was set on data: a row of strengths begins where a law says that it matters, falls by a fixed ratio, and
ends when the errors have risen by more than chance, as the held-out entries themselves tell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.objectives import Dense, Objective, Observed

SHARE = 0.1  # of the entries is held out
_LONGEST = 12  # steps of a row of strengths to either side

Errors = NDArray[np.float64]  # squared, one an entry that is held out


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


def root_mean_square(test: Observed, U, Z) -> float:
    """Error of the factors at the entries of `test`."""
    return float(np.sqrt(2 * test.value(U, Z) / test.X.nnz))


def excess(errors: Errors, least: Errors) -> float:
    """By how many standard errors the mean of some errors is above that of others, entry by entry.

    >>> import numpy as np
    >>> excess(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])), excess(np.ones(3), np.ones(3))
    (inf, 0.0)
    """
    off = errors - least
    mean, chance = float(off.mean()), float(off.std() / np.sqrt(len(off)))
    return mean / chance if chance > 0 else (0.0 if mean == 0 else float(np.copysign(np.inf, mean)))


def search(run: Callable[[float], Errors], start: float, ratio: float, most: float = np.inf) -> dict[float, Errors]:
    """The errors of ``run(strength)`` for a falling row of strengths; where the first is best, a rising one too.

    The row ends when the errors are clearly above the least (by two standard errors), or have risen twice running. Then
    the strengths half-way to both neighbours of the best are tried; all are below `most`.

    >>> import numpy as np
    >>> tried = search(lambda s: np.array([(np.log2(s) + 3.0) ** 2, 1.0]), 1.0, 4.0)
    >>> [round(s, 4) for s in tried], round(best_of(tried), 4)
    ([1.0, 0.25, 0.0625, 0.0156, 0.5, 0.125], 0.125)
    """
    tried, rises, strength = {start: run(start)}, 0, start
    for _ in range(_LONGEST):
        before = tried[strength].mean()
        strength /= ratio
        tried[strength] = run(strength)
        rises = rises + 1 if tried[strength].mean() >= before else 0
        if rises == 2 or excess(tried[strength], tried[best_of(tried)]) > 2:
            break
    strength = start
    while best_of(tried) == strength and strength * ratio < most and strength < start * ratio**_LONGEST:
        strength *= ratio
        tried[strength] = run(strength)
    best, step = best_of(tried), ratio**0.5
    for near in (best * step, best / step):
        if near < most:
            tried[near] = run(near)
    return tried


def walk(run: Callable[[float], Errors], start: float, known: Errors, ratio: float) -> dict[float, Errors]:
    """The errors from a strength that is nearly right onwards, each `ratio` times the last, while that is better."""
    tried, strength = {start: known}, start
    while best_of(tried) == strength and len(tried) < _LONGEST:
        strength *= ratio
        tried[strength] = run(strength)
    return tried


def best_of(tried: dict[float, Errors]) -> float:
    """The strength of the least mean error."""
    return min(tried, key=lambda strength: tried[strength].mean())
