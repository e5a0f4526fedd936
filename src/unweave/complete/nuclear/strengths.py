"""Choose strengths of the nuclear norm, from the one that leaves nothing down to the one that is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import whole
from unweave.data.hold_out import hold_out
from unweave.linalg.sparse import SparseProduct
from unweave.objectives import Objective, Observed
from unweave.solve.iterate import Loop, iterate
from unweave.solve.soft_impute import SoftImputeScheme
from unweave.solve.sparse_plus_low_rank import LowRankMatrix, ObservedEntries
from unweave.solve.svd import truncated_svd

_RATIO = 3.0  # of two strengths of a path that nobody chose
_CANDIDATES, _LEAST = 16, 1e-5  # strengths tried on held-out entries, and the least as a fraction of the largest
_TRIAL = Loop(max_iter=8, tol=1e-2, ending="enough for a trial")
_HELD_OUT = 0.1  # of the entries, to judge strengths by
_WORSE = 1.01  # times the least error ends the search, and so does any rise twice in a row


def largest_strength(entries: ObservedEntries) -> float:
    """Find the least strength from which on the answer is M = 0: the norm of the observed entries."""
    return float(truncated_svd(SparseProduct(entries.matrix(entries.values)), 1, codes=False, tol=1e-4).s[0])


def given_path(path) -> int | NDArray | None:
    """Check the parameter `path`: None, a number of strengths, or strengths, which are returned falling."""
    if path is None:
        return None
    if isinstance(path, Integral):
        return whole(path, "path", 1)
    if isinstance(path, str) or not isinstance(path, Iterable):
        raise TypeError(f"path must be None, a number of strengths, or a sequence of strengths, got {path!r}")
    try:
        values = np.asarray(list(path), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"path must hold numbers, got {path!r}") from error
    if values.ndim != 1 or not values.size or not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError("path must hold at least one strength, all finite and above 0")
    return np.unique(values)[::-1]


def way_down(top: float, strength: float, path) -> list[float]:
    """List the strengths that a fit visits, from below `top` to `strength`, which comes last.

    >>> way_down(100.0, 1.0, 2)
    [10.0, 1.0]
    """
    path = given_path(path)
    if isinstance(path, np.ndarray):
        return [float(tau) for tau in path if tau > strength] + [strength]
    if not top > strength:
        return [strength]
    count = math.ceil(math.log(top / strength) / math.log(_RATIO)) if path is None else path
    return [float(tau) for tau in top * (strength / top) ** (np.arange(1, count) / count)] + [strength]


def candidates(top: float, path) -> NDArray:
    """List the strengths that are compared when none is given."""
    path = given_path(path)
    if isinstance(path, np.ndarray):
        return path
    return top * np.geomspace(0.5, _LEAST, _CANDIDATES if path is None else max(path, 2))


def held_out_path(objective: Objective, strengths, most: int, seed: int) -> dict[str, NDArray] | None:
    """Compare falling strengths on a tenth of the entries, held out; None when there are too few to spare any."""
    split = hold_out(objective.entries(), np.random.default_rng((seed, 1)), _HELD_OUT)
    if split is None:
        return None
    train, test = (ObservedEntries.of(Observed(part, objective.loss)) for part in split)
    return judged_path(train, test, strengths, most, seed)


def judged_path(train: ObservedEntries, test: ObservedEntries, strengths, most: int, seed: int) -> dict[str, NDArray]:
    """Fit falling strengths, each from the answer to the last, and judge them by their errors on held-out entries.

    The search ends when the error has risen, because the ranks that follow are the expensive ones.
    """
    found: list[tuple[float, int, float, float]] = []
    M = LowRankMatrix.zero(train.shape, train.dtype)
    best, worse = np.inf, 0
    for tau in strengths:
        scheme = SoftImputeScheme(train, [float(tau)], most, tol=1e-2, seed=seed)
        state, history = iterate(scheme, scheme.state_at(M), scheme.adapt(_TRIAL))
        M = LowRankMatrix.of_state(state)
        error = float(np.sqrt(np.mean(np.square(test.residual(M), dtype=np.float64))))
        found.append((float(tau), M.rank, float(state["value"]), error))
        rise, best = error / max(best, np.finfo(np.float64).tiny), min(best, error)
        worse = worse + 1 if rise > 1 else 0
        if worse == 2 or rise > _WORSE or history.stopped == "interrupted":
            break
    return _columns(found)


def best_strength(path: dict[str, NDArray]) -> float:
    """Pick the largest strength whose error is within a hundredth of the least: fewer components for the same error."""
    errors = path["held_out_error"]
    return float(path["strength"][np.flatnonzero(errors <= _WORSE * errors.min())[0]])


def _columns(found: list[tuple[float, int, float, float]]) -> dict[str, NDArray]:
    columns = ("strength", "rank", "objective", "held_out_error")
    return {name: np.array(column) for name, column in zip(columns, zip(*found, strict=True), strict=True)}
