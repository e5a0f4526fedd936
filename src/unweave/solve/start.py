"""Choose where a fit begins, and where components that died begin anew.

Components (and sometimes codes) come from the data, by a name the user gave or by the planner's choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unweave.linalg.operators import as_product
from unweave.objectives import Objective
from unweave.objectives.models import Quadratic
from unweave.penalties.base import Penalty
from unweave.solve.problem import Problem
from unweave.solve.search import SVDResult
from unweave.solve.svd import choose_method, truncated_svd

_ROUGH = 4  # blocks of a Krylov space
_LOOKED_AT = 100  # rows that tell the size of an entry
STARTS = ("auto", "svd", "nndsvd", "random", "k-means++", "rows")


def choose_start(objective: Objective, problem: Problem) -> tuple[str, str]:
    """Name of the start for ``init="auto"``, and why."""
    data_units = problem.loss.in_data_units
    if data_units and problem.codes.picks_components:
        return "k-means++", "codes choose among components, so these begin at rows that lie far apart"
    if problem.components.mixes_rows:
        return "k-means++", "components are mixtures of rows, so they begin at rows that lie far apart"
    if data_units and problem.codes.nonnegative and problem.components.nonnegative:
        return "nndsvd", "both sides are non-negative"
    if data_units and problem.codes.makes_zeros:
        return "rows", "sparse codes pick from a dictionary, so it begins at rows"
    if not data_units and objective.standing().is_sparse:
        return "random", "the table is sparse and the loss is not in data units"
    return "svd", "the leading singular vectors are the best free components"


def make_start(
    objective: Objective, problem: Problem, name: str, rng: np.random.Generator
) -> tuple[NDArray | None, NDArray]:
    """(codes or None, components) for a named start; components satisfy their constraint.

    Of a table in blocks some rows stand for all, and no codes are found.
    """
    if objective.in_blocks:
        return None, make_start(objective.standing(), problem, name, rng)[1]
    k, columns = problem.n_components, objective.n_predictions
    codes: NDArray | None = None
    offset = _offset(objective, problem)
    if name == "random":
        Z = _random(objective, problem, rng)
    elif name == "rows":
        n = objective.shape[0]
        Z = row_mixture(objective, rng.choice(n, k, replace=k > n))
    elif name == "k-means++":
        Z = row_mixture(objective, spread_rows(objective, k, rng))
    elif name == "nndsvd":
        codes, Z = _nndsvd(objective, k, rng)
    else:
        Z = _singular(objective, offset, k, rng)
    if Z.shape[1] != columns:
        Z = _random(objective, problem, rng)
    Z = np.ascontiguousarray(Z, dtype=objective.dtype)
    if problem.codes.is_penalty:
        codes, Z = _far_out(codes, Z, problem.components)
    Z = problem.components.prox(Z, 0.0)
    if problem.loss.nonnegative and problem.components.convex:
        Z = _above_zero(Z, problem.components)
    return _with_extra(problem, codes, objective, offset, Z)


def _far_out(codes: NDArray | None, Z: NDArray, penalty: Penalty) -> tuple[NDArray | None, NDArray]:
    """Components in a ball at its edge: where codes cost by their size that is best, in whatever units the table is."""
    out = penalty.outermost(Z)
    if codes is None or out is Z:
        return codes, out
    before, after = np.linalg.norm(Z, axis=1), np.linalg.norm(out, axis=1)
    return codes * np.divide(before, after, out=np.ones_like(after), where=after > 0), out


def _above_zero(Z: NDArray, penalty: Penalty) -> NDArray:
    """A start without zeros, if its set has any: where the loss needs predictions above 0, steps hardly leave them."""
    even = penalty.prox(np.full_like(Z, Z.mean() or 1), 0.0)
    return Z if (Z > 0).all() or not (even > 0).all() else (0.9 * Z + 0.1 * even).astype(Z.dtype)


def _with_extra(problem, codes, objective, offset, Z):
    """Room for the offset and the biases."""
    full = np.zeros((problem.width, objective.n_predictions), dtype=objective.dtype)
    full[: problem.n_components] = Z
    full[problem.held_components] = 1
    if problem.offset:
        full[problem.width - 1] = offset
    if codes is None or problem.width != problem.n_components:
        return None, full
    return problem.codes.prox(np.ascontiguousarray(codes, dtype=objective.dtype), 0.0), full


def _offset(objective: Objective, problem: Problem) -> NDArray:
    """The best constant prediction of every column (zeros when the problem has no offset)."""
    if not problem.offset:
        return np.zeros(objective.n_predictions)
    if objective.is_sparse:  # only the squared loss, whose constants are means
        return objective.column_means()
    X, seen = objective.dense_rows(0, objective.shape[0])
    return problem.loss.constants(X if seen is None else np.where(seen != 0, X, np.nan))


def _random(objective: Objective, problem: Problem, rng) -> NDArray:
    shape = (problem.n_components, objective.n_predictions)
    Z = rng.standard_normal(shape) / np.sqrt(max(1, problem.n_components))
    if problem.loss.in_data_units:
        Z *= _root_of_size(objective)
    return np.abs(Z) if problem.components.nonnegative else Z


def _root_of_size(objective: Objective) -> float:
    """The root of the size of an entry, to a power of two: codes and components share the units of the table."""
    X, seen = objective.dense_rows(0, min(objective.shape[0], _LOOKED_AT))
    size = float(np.abs(X if seen is None else X[seen != 0]).mean(dtype=np.float64)) if X.size else 0.0
    return 2.0 ** round(np.log2(size) / 2) if 0 < size < np.inf else 1.0


def first_block(objective: Objective) -> Objective:
    """The first block of a table in blocks, else all of it."""
    return next(objective.blocks())[2]


def row_mixture(objective: Objective, rows: NDArray) -> NDArray:
    """Those rows of a table in memory; entries that are not observed take the column's mean."""
    picked, missing = [], []
    for i in rows:
        x, seen = objective.dense_rows(int(i), int(i) + 1)
        picked.append(x[0])
        missing.append(np.zeros(x.shape[1], bool) if seen is None else seen[0] == 0)
    Z, holes = np.array(picked), np.array(missing)
    return np.where(holes, objective.column_means(), Z) if holes.any() else Z


def spread_rows(objective: Objective, k: int, rng) -> NDArray:
    """k-means++ under the problem's own loss: each next row is drawn in proportion to its loss so far."""
    return far_apart(objective.shape[0], k, rng, lambda rows: _loss_to(objective, row_mixture(objective, rows))[None])[
        0
    ]


def far_apart(
    n: int, k: int, rng: np.random.Generator, losses: Callable[[NDArray], NDArray], tries: int = 1, able=None
) -> tuple[NDArray, NDArray]:
    """Draw k of n rows that lie far apart (k-means++), and say which of them each row is nearest to.

    ``losses(rows)`` has one line per drawn row: what every row of the table loses if that one stands for it. The next
    row is drawn in proportion to the least loss so far, among the rows `able` if given; of `tries` drawn, the one
    that leaves least is taken. Plain arrays under squared distances have a fused pass instead (``group.kmeans.start``).

    >>> x = np.array([0.0, 0.1, 9.0, 9.1])
    >>> chosen, nearest = far_apart(4, 2, np.random.default_rng(0), lambda rows: (x[rows, None] - x) ** 2)
    >>> bool(nearest[0] == nearest[1] != nearest[2] == nearest[3])
    True
    """
    able = np.arange(n) if able is None else able
    least, nearest, chosen = np.full(n, np.inf), np.zeros(n, np.int64), np.empty(k, np.int64)
    drawn = able[rng.integers(len(able), size=1)]
    for c in range(k):
        lost = np.maximum(losses(drawn), 0)
        best = int(np.minimum(lost, least).sum(axis=1).argmin()) if len(drawn) > 1 else 0
        nearest[lost[best] < least], chosen[c] = c, drawn[best]
        least = np.minimum(least, lost[best])
        mass = least[able].cumsum()
        if mass[-1] > 0:
            drawn = able[np.minimum(np.searchsorted(mass, rng.random(tries) * mass[-1]), len(able) - 1)]
        else:  # every row has its like among the chosen
            drawn = able[rng.integers(len(able), size=1)]
    return chosen, nearest


def _loss_to(objective: Objective, row: NDArray) -> NDArray:
    """Loss of every row of the table when `row` is its prediction."""
    row = np.ascontiguousarray(row, dtype=objective.dtype)
    ones = np.ones((objective.shape[0], 1), dtype=objective.dtype)
    model = objective.rows_given(row)
    values = model.row_values(ones)
    return values + 0.5 * model.row_norms() if isinstance(model, Quadratic) else values


def _singular(objective: Objective, offset: NDArray, k: int, rng) -> NDArray:
    """Leading right singular vectors of what the offset leaves, missing entries at zero."""
    X = _centred(objective, offset)
    rank = min(k, *X.shape)
    Z = _leading(objective, X, rank, rng).Vt
    if rank < k:
        extra = rng.standard_normal((k - rank, Z.shape[1])) / np.sqrt(Z.shape[1])
        Z = np.vstack([Z, extra])
    return Z


def _leading(objective: Objective, X, rank: int, rng, *, codes: bool = False) -> SVDResult:
    """Singular vectors for a start: rough ones where zeros stand for what is missing, as they are wrong anyway.

    On MovieLens-100K the exact ones took two thirds of a fit and saved no sweep.
    """
    if objective.is_sparse and not objective.complete and choose_method(as_product(X), rank) != "full":
        return truncated_svd(X, rank, method="krylov", max_iter=_ROUGH, rng=rng, codes=codes)
    return truncated_svd(X, rank, rng=rng, codes=codes)


def _centred(objective: Objective, offset: NDArray):
    """A table whose leading directions are those the loss wants first."""
    if objective.is_sparse:
        return objective.matrix if objective.complete else as_product(objective.shifted(offset).X)
    if objective.loss.in_data_units:
        X, seen = objective.dense_rows(0, objective.shape[0])
        if seen is None and not offset.any():
            return X
        shifted = X - offset
        if seen is not None:
            shifted = np.where(seen != 0, shifted, objective.column_means() - offset)
        return np.ascontiguousarray(shifted, dtype=objective.dtype)
    # Any other loss: its steepest descent from the constant prediction.
    prediction = np.broadcast_to(offset, (objective.shape[0], objective.n_predictions)).astype(objective.dtype)
    X, seen = objective.dense_rows(0, objective.shape[0])
    slope = -objective.loss.gradient(X, prediction)
    if seen is not None:
        slope *= objective.expand(seen)
    return np.ascontiguousarray(slope, dtype=objective.dtype)


def _nndsvd(objective: Objective, k: int, rng) -> tuple[NDArray, NDArray]:
    """Non-negative double SVD with zeros filled by a small mean (Boutsidis and Gallopoulos 2008)."""
    X = _centred(objective, np.zeros(objective.n_predictions))
    rank = min(k, *X.shape)
    svd = _leading(objective, X, rank, rng, codes=True)
    assert svd.U is not None
    n, m = X.shape
    U, Z = np.zeros((n, k), dtype=objective.dtype), np.zeros((k, m), dtype=objective.dtype)
    for t in range(rank):
        u, v = svd.U[:, t], svd.Vt[t]
        parts = [(np.maximum(sign * u, 0), np.maximum(sign * v, 0)) for sign in (1, -1)]
        norms = [float(np.linalg.norm(a) * np.linalg.norm(b)) for a, b in parts]
        (a, b), strength = parts[int(np.argmax(norms))], max(norms)
        if strength > 0:
            scale = np.sqrt(svd.s[t] * strength)
            U[:, t], Z[t] = scale * a / np.linalg.norm(a), scale * b / np.linalg.norm(b)
    fill_u, fill_z = U.mean() / 10 or 0.01, Z.mean() / 10 or 0.01
    U[U == 0], Z[Z == 0] = fill_u, fill_z
    U[:, rank:] *= rng.random((n, k - rank), dtype=np.float64)
    Z[rank:] *= rng.random((k - rank, m), dtype=np.float64)
    return U, Z


def reseed(objective: Objective, problem: Problem, U: NDArray, Z: NDArray) -> NDArray:
    """Z with every component that no row uses moved to a row that is fitted badly.

    A component whose codes are all zero adds nothing to the prediction, so moving it changes nothing now and gives the
    next half-step something to use. Penalised sides are left alone: there a component may vanish on purpose.
    """
    if objective.in_blocks or not reseeds(problem):
        return Z
    return moved_to_worst(objective, problem, U, Z, [t for t in range(problem.n_components) if not U[:, t].any()])


def reseeds(problem: Problem) -> bool:
    """Whether components that no row uses are to begin anew."""
    if problem.codes.is_penalty or problem.components.is_penalty or not problem.loss.in_data_units:
        return False
    return not problem.components.mixes_rows and problem.components.separable


def moved_to_worst(objective: Objective, problem: Problem, U: NDArray, Z: NDArray, dead: Sequence[int]) -> NDArray:
    """Z with these components, which no row uses, moved to rows that are fitted badly."""
    if not len(dead):
        return Z
    Z = Z.copy()
    worst = np.argsort(-objective.row_values(U, Z), kind="stable")[: len(dead)]
    for t, i in zip(dead, worst, strict=False):
        row, seen = objective.dense_rows(int(i), int(i) + 1)
        target = row[0] - (0 if problem.codes.picks_one else U[i] @ Z)
        target = target if seen is None else np.where(seen[0] != 0, target, Z[t])
        Z[t] = problem.components.prox(np.ascontiguousarray(target[None], dtype=Z.dtype), 0.0)[0]
    return Z
