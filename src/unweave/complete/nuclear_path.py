"""Strengths of the nuclear norm, from the one that leaves nothing down to the one that is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.nuclear_scheme import Impute
from unweave.complete.sparse_plus_low_rank import LowRank, Pattern
from unweave.factorization.settings import whole
from unweave.linalg.sparse import SparseProduct
from unweave.solve.iterate import Loop, iterate
from unweave.solve.svd import truncated_svd

_RATIO = 3.0  # of two strengths of a path that nobody chose
_CANDIDATES, _LEAST = 16, 1e-5  # strengths tried on held-out entries, and the least as a fraction of the largest
_TRIAL = Loop(max_iter=8, tol=1e-2, ending="enough for a trial")
_WORSE = 1.01  # times the least error ends the search, and so does any rise twice in a row


def largest_strength(entries: Pattern) -> float:
    """‖P_Ω(X)‖₂: for τ from here on the answer is M = 0."""
    return float(truncated_svd(SparseProduct(entries.matrix(entries.values)), 1, codes=False, tol=1e-4).s[0])


def given_path(path) -> int | NDArray | None:
    """The parameter `path`, checked: None, a number of strengths, or strengths that fall."""
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
    """The strengths that a fit visits: from below `top` to `strength`, which comes last.

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
    """The strengths that are compared when none is given."""
    path = given_path(path)
    if isinstance(path, np.ndarray):
        return path
    return top * np.geomspace(0.5, _LEAST, _CANDIDATES if path is None else max(path, 2))


def hold_out(entries: Pattern, rng: np.random.Generator, share: float = 0.1) -> tuple[Pattern, Pattern] | None:
    """Entries split at random into those to learn from and those to judge by; None when there are too few."""
    out = rng.random(entries.nnz) < share
    if entries.nnz < 20 or not out.any() or out.all():
        return None
    rows = np.repeat(np.arange(entries.shape[0]), np.diff(entries.indptr))
    parts = []
    for pick in (~out, out):
        counts = np.bincount(rows[pick], minlength=entries.shape[0])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        part = (entries.values[pick], entries.indices[pick], indptr)
        parts.append(Pattern(sp.csr_array(part, shape=entries.shape)))
    return parts[0], parts[1]


def held_out_path(train: Pattern, test: Pattern, strengths, most: int, seed: int) -> dict[str, NDArray]:
    """Rank, objective and root mean square error on held-out entries for falling strengths, each fit warm-started.

    The search ends when the error has risen, because the ranks that follow are the expensive ones.
    """
    found: list[tuple[float, int, float, float]] = []
    M = LowRank.nothing(train.shape, train.dtype)
    best, worse = np.inf, 0
    for tau in strengths:
        scheme = Impute(train, [float(tau)], most, tol=1e-2, seed=seed)
        state, history = iterate(scheme.step, scheme.begin(M), scheme.pace(_TRIAL), settled=scheme.settled)
        M = LowRank(state["U"], state["s"], state["V"])
        error = float(np.sqrt(np.mean(np.square(test.residual(M), dtype=np.float64))))
        found.append((float(tau), M.rank, float(state["value"]), error))
        rise, best = error / max(best, np.finfo(np.float64).tiny), min(best, error)
        worse = worse + 1 if rise > 1 else 0
        if worse == 2 or rise > _WORSE or history.stopped == "interrupted":
            break
    return _columns(found)


def best_strength(path: dict[str, NDArray]) -> float:
    """The largest strength whose error is within a hundredth of the least: fewer components for the same error."""
    errors = path["held_out_error"]
    return float(path["strength"][np.flatnonzero(errors <= _WORSE * errors.min())[0]])


def _columns(found: list[tuple[float, int, float, float]]) -> dict[str, NDArray]:
    columns = ("strength", "rank", "objective", "held_out_error")
    return {name: np.array(column) for name, column in zip(columns, zip(*found, strict=True), strict=True)}
