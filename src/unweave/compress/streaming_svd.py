"""The truncated SVD of rows that come in blocks: a sketch of all rows so far, merged with each new block.

The rows so far are stood for by diag(s)·Vᵀ, r leading triplets, r twice the number asked for. A block gives its own r
triplets, and the leading ones of both stacked are the new sketch. What is cut off only lowers it (SᵀS ≼ XᵀX), so

    ½ Σ_{k<i≤r} s_i²  ≤  least error of rank k  ≤  error of the components  ≤  ½ (‖X‖² − Σ_{i≤k} s_i²)

Reference: Brand (2006), Fast low-rank modifications of the thin singular value decomposition.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.compress.quality import r2_of
from unweave.objectives.opening import open_table, reopen_table
from unweave.parallel import single_blas
from unweave.solve.certificate import bounded
from unweave.solve.closed import decompose
from unweave.solve.history import History
from unweave.solve.plan import Plan
from unweave.solve.svd import truncated_svd
from unweave.updates import LeastSquares

_SPARE = 10


def add_rows(svd, X) -> None:
    """Fold one block of rows into a TruncatedSVD and bring its components up to date."""
    with single_blas():
        if not hasattr(svd, "components_"):
            objective, svd._learned = open_table(svd, X, svd.missing, "squared")
            svd._problem(svd._learned.loss, objective.shape, False)  # raises where the block cannot start a model
        else:
            objective = reopen_table(svd, X, svd.missing, svd._learned)
        _merge(svd, objective)
        _update(svd, objective)


def _merge(svd, objective) -> None:
    sums, wide = _sums(svd, objective), 2 * svd._number() + _SPARE
    block = decompose(objective, min(wide, *objective.shape))
    stacked = np.vstack([sums["s"][:, None] * sums["Vt"], block.s[:, None] * block.Vt]).astype(objective.dtype)
    both = truncated_svd(stacked, min(wide, *stacked.shape), codes=False)
    total = sums["total"] + 2 * float(objective.half_norm)
    # Triplets that were only searched for may add up to more than the rows hold: the bound is an estimate then.
    exact = sums.get("exact", True) and block.exact and both.exact
    svd._sums = {"n": sums["n"] + objective.shape[0], "total": total, "s": both.s, "Vt": both.Vt, "exact": exact}


def _sums(svd, objective) -> dict:
    """What is kept of the rows so far; a fit is gone on from by its own triplets."""
    kept = getattr(svd, "_sums", None)
    if kept is not None:
        return kept
    if not hasattr(svd, "components_"):
        m, dtype = objective.shape[1], objective.dtype
        return {"n": 0, "total": 0.0, "s": np.empty(0, dtype), "Vt": np.empty((0, m), dtype)}
    s = svd.singular_values_
    n = 0 if svd.codes_ is None else len(svd.codes_)
    return {"n": n, "total": _energy(s) + 2 * svd.objective_, "s": s, "Vt": svd.components_}


def _update(svd, objective) -> None:
    sums, m = svd._sums, objective.shape[1]
    problem = svd._problem(svd._learned.loss, (max(sums["n"], len(sums["s"])), m), False)
    k, s = problem.n_components, sums["s"]
    svd._sentence, svd._left, svd._stream = problem, LeastSquares(), None
    svd._full_components = np.ascontiguousarray(sums["Vt"][:k])
    svd._publish(problem, svd._full_components)
    svd.singular_values_ = s[:k]
    svd.objective_ = max(0.0, 0.5 * (sums["total"] - _energy(s[:k])))
    svd.reconstruction_err_ = float(np.sqrt(2 * svd.objective_))
    bound = 0.5 * _energy(s[k:])
    rounding = float(np.finfo(objective.dtype).eps) * 0.5 * sums["total"]  # the sketch is kept in the type of the rows
    scale, exact = 0.5 * sums["total"], sums.get("exact", True)
    svd.certificate_ = bounded("eckart-young", bound, svd.objective_, scale, exact, rounding)
    svd.codes_, svd.history_, svd.n_iter_ = None, History(), getattr(svd, "n_iter_", 0) + 1
    svd.plan_ = Plan(f"{sums['n']} rows seen in blocks", "merged truncated SVDs", "", "", "none needed")
    svd.r2_ = r2_of(2 * svd.objective_, sums["total"])
    for name in ("explained_variance_", "explained_variance_ratio_"):  # of a fit; they need the codes of all rows
        vars(svd).pop(name, None)


def _energy(s: NDArray) -> float:
    return float(np.square(s, dtype=np.float64).sum())
