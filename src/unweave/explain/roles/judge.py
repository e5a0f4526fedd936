"""Judge roles by five criteria: what they rebuild, how many, whether the true ones, new users, stability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from unweave.data.arguments import generator, number, whole
from unweave.data.storage import as_dense
from unweave.data.table import check_table

Scores = dict[str, float | None]

MEASURES = {
    "error": "cells that differ from what the roles grant, as a share of all",
    "false_grants": "cells that a role grants and the user does not have",
    "false_denials": "cells that the user has and no role grants",
    "roles": "number of roles",
    "user_roles": "users' roles, |UA|",
    "role_permissions": "permissions of roles, |PA|",
    "role_error": "cells of the planted roles that differ, best matching, as a share",
    "roles_found": "planted roles that were found to the cell",
    "new_error": "hidden cells of new users that are predicted wrongly, as a share",
    "new_false_grants": "hidden zeros of new users that the roles grant, as a share",
    "new_false_denials": "hidden ones of new users that no role grants, as a share",
    "stability": "similarity of the roles with those of resampled users: 1 where all come back",
}


@dataclass(frozen=True)
class RoleVerdict:
    """Hold what :func:`judge_roles` measured, for one model or several side by side.

    Attributes
    ----------
    scores : dict
        By the name of the model, a dict of measures (see ``MEASURES``); None where one was not asked for.
    shape : tuple
        Users and permissions.
    notes : list of str
        What to know of the numbers.
    """

    scores: dict[str, Scores]
    shape: tuple[int, int]
    notes: list[str] = field(default_factory=list)

    def frame(self):
        """Return the scores as a polars frame, a line for each model."""
        import polars

        return polars.DataFrame([{"model": name, **scores} for name, scores in self.scores.items()])

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, texts and numbers, ready for JSON."""
        scores = {name: dict(values) for name, values in self.scores.items()}
        return {"scores": scores, "users": self.shape[0], "permissions": self.shape[1], "notes": list(self.notes)}

    def __str__(self) -> str:
        asked = [name for name in MEASURES if any(scores[name] is not None for scores in self.scores.values())]
        wide = max(len(name) for name in asked)
        columns = {name: [_written(scores[measure]) for measure in asked] for name, scores in self.scores.items()}
        widths = [max(len(name), *map(len, cells)) for name, cells in columns.items()]
        lines = [" " * wide + "".join(f"  {name:>{w}}" for name, w in zip(columns, widths, strict=True))]
        for i, measure in enumerate(asked):
            cells = "".join(f"  {cells[i]:>{w}}" for cells, w in zip(columns.values(), widths, strict=True))
            lines.append(f"{measure:<{wide}}{cells}")
        return "\n".join([*lines, f"{self.shape[0]:,} users × {self.shape[1]:,} permissions", *self.notes])


def _written(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def judge_roles(
    models,
    X,
    *,
    planted=None,
    given: float = 0.5,
    n_folds: int = 5,
    n_resamples: int = 5,
    random_state=None,
) -> RoleVerdict:
    """Judge one or several role models by the five criteria of role mining.

    *Reconstruction*: false grants and false denials. *Size*: roles, |UA| and |PA|. *Inference*: how far the roles are
    from planted ones, matched so that the sum of differences is least. *Generalisation*: roles are learned from some
    users, assigned to others from a part of their cells, and predict the rest. *Stability*: the roles of four fifths of
    the users, drawn again and again, compared with those of all (mean Jaccard similarity of roles that are matched; a
    role without a partner counts 0).

    Parameters
    ----------
    models : estimator, or dict of estimators by name
        With ``roles_`` and ``assignments_``, fitted to X or not yet. The last two criteria fit copies.
    X : array, sparse matrix, or table that was read
        Zeros and ones; NaN where unknown, for models that allow it.
    planted : array (k, m), optional
        The true roles, where the table was made of some.
    given : float, default=0.5
        Share of the permissions that is known of a new user.
    n_folds, n_resamples : int, default=5
        Parts of the users that are left out in turn, and draws of users; 0 leaves that criterion out.
    random_state : None, int or generator
        The same draws are made for every model.

    Returns
    -------
    RoleVerdict

    Examples
    --------
    >>> import numpy as np, unweave
    >>> roles = np.repeat(np.eye(3, dtype=int), 4, axis=1)
    >>> X = np.random.default_rng(0).integers(0, 2, (60, 3)) @ roles
    >>> verdict = unweave.judge_roles(unweave.MultiAssignmentClustering(3), X, planted=roles)
    >>> found = verdict.scores["MultiAssignmentClustering"]
    >>> found["error"], found["roles"], found["role_error"], found["new_error"], found["stability"]
    (0.0, 3, 0.0, 0.0, 1.0)

    References
    ----------
    Frank, Buhmann and Basin (2010), On the definition of role mining. Frank, Streich, Basin and Buhmann (2012),
    Multi-assignment clustering for Boolean data.
    """
    named, cells = _named(models), _cells(X)
    truth = None if planted is None else _planted(planted, cells.shape[1])
    share = number(given, "given")
    if not 0 < share < 1:
        raise ValueError(f"given must lie between 0 and 1, got {given}")
    folds, draws = whole(n_folds, "n_folds", 0), whole(n_resamples, "n_resamples", 0)
    if folds == 1 or folds > len(cells):
        raise ValueError(f"n_folds must be 0, or from 2 to the {len(cells)} users, got {folds}")
    seed = int(generator(random_state).integers(2**31))
    scores: dict[str, Scores] = {}
    for name, model in named.items():
        fitted = model if hasattr(model, "roles_") else clone(model).fit(cells)
        found: Scores = dict.fromkeys(MEASURES)
        found |= _rebuilt(fitted, cells)
        found |= {} if truth is None else _inferred(fitted.roles_, truth)
        found |= _of_strangers(model, cells, share, folds, np.random.default_rng(seed)) if folds else {}
        found |= _again(model, fitted.roles_, cells, draws, np.random.default_rng(seed + 1)) if draws else {}
        scores[name] = found
    return RoleVerdict(scores, cells.shape, _notes(cells, folds, share))


def _named(models) -> dict[str, Any]:
    """Put models under names, and refuse what is no role model."""
    found = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    for name, model in found.items():
        if not (isinstance(model, BaseEstimator) and hasattr(model, "fit")):
            raise TypeError(f"models must be estimators such as RoleMiner(), got {model!r:.60} as {name!r}")
    if not found:
        raise ValueError("models is empty: give an estimator such as RoleMiner(), or a dict of them")
    return found


def _cells(X) -> NDArray[np.float64]:
    """Read a table as zeros, ones and NaN."""
    table = check_table(BaseEstimator(), X, "nan" if _has_holes(X) else None, reset=True)
    values = np.asarray(as_dense(table.values), dtype=np.float64)
    if table.seen is not None:
        values = np.where(as_dense(table.seen) > 0, values, np.nan)
    if not (np.isnan(values) | (values == 0) | (values == 1)).all():
        raise ValueError("X must hold zeros and ones (and NaN where unknown); pass X > 0, or another threshold")
    return values


def _has_holes(X) -> bool:
    values = getattr(X, "X", X)
    return not hasattr(values, "tocsr") and bool(np.isnan(np.asarray(values, dtype=np.float64)).any())


def _planted(planted, m: int) -> NDArray[np.bool_]:
    roles = np.asarray(as_dense(planted))
    if roles.ndim != 2 or roles.shape[1] != m or not np.isin(roles, (0, 1)).all():
        raise ValueError(f"planted must be zeros and ones of the shape (k, {m}), got the shape {roles.shape}")
    return roles > 0


def _granted(assignments, roles) -> NDArray[np.bool_]:
    """Tell what users with these roles have."""
    return np.asarray(as_dense(assignments), dtype=np.float32) @ np.asarray(as_dense(roles), dtype=np.float32) > 0


def _rebuilt(model, cells: NDArray) -> Scores:
    """Count what the roles grant too much and too little, and how many there are."""
    granted, known = _granted(model.assignments_, model.roles_), ~np.isnan(cells)
    grants, denials = int((granted & (cells == 0)).sum()), int((~granted & (cells == 1)).sum())
    return {
        "error": (grants + denials) / int(known.sum()),
        "false_grants": grants,
        "false_denials": denials,
        "roles": len(model.roles_),
        "user_roles": int(model.assignments_.sum()),
        "role_permissions": int(model.roles_.sum()),
    }


def match_roles(first: NDArray, second: NDArray) -> tuple[NDArray, NDArray]:
    """Match the roles of two lists one to one so that fewest cells differ; the numbers in both lists.

    >>> match_roles(np.array([[1, 1, 0], [0, 0, 1]]), np.array([[0, 0, 1], [1, 0, 0]]))
    (array([0, 1]), array([1, 0]))
    """
    from scipy.optimize import linear_sum_assignment

    A, B = (np.asarray(as_dense(roles), dtype=np.float64) for roles in (first, second))
    return linear_sum_assignment(A.sum(axis=1)[:, None] + B.sum(axis=1) - 2 * A @ B.T)


def _inferred(roles, planted: NDArray) -> Scores:
    """Compare roles with the planted ones; a role without a partner counts with all of its permissions."""
    found = np.asarray(as_dense(roles)) > 0
    i, j = match_roles(found, planted)
    matched = (found[i] != planted[j]).sum(axis=1)
    alone = np.delete(found, i, axis=0).sum() + np.delete(planted, j, axis=0).sum()
    size = max(len(found), len(planted)) * planted.shape[1]
    return {"role_error": float((matched.sum() + alone) / size), "roles_found": int((matched == 0).sum())}


def _parts(n: int, folds: int, rng: np.random.Generator) -> Iterator[tuple[NDArray, NDArray]]:
    """Yield who is learned from and who is new, by number."""
    parts = np.array_split(rng.permutation(n), folds)
    for i, out in enumerate(parts):
        yield np.concatenate(parts[:i] + parts[i + 1 :]), out


def _of_strangers(model, cells: NDArray, given: float, folds: int, rng: np.random.Generator) -> Scores:
    """Learn roles from some users, give them to others by a part of their cells, and predict the rest."""
    grants = denials = zeros = ones = 0
    for kept, out in _parts(len(cells), folds, rng):
        copy = clone(model)
        own = "missing" in copy.get_params(deep=False)  # such a model knows how to assign with holes
        if own:
            copy.set_params(missing="nan")
        copy.fit(cells[kept])
        hidden = rng.random((len(out), cells.shape[1])) >= given
        asked = np.where(hidden, np.nan, cells[out])
        granted = _granted(copy.transform(asked) if own else assign(copy.roles_, asked), copy.roles_)
        grants += int((granted & hidden & (cells[out] == 0)).sum())
        denials += int((~granted & hidden & (cells[out] == 1)).sum())
        zeros += int((hidden & (cells[out] == 0)).sum())
        ones += int((hidden & (cells[out] == 1)).sum())
    return {
        "new_error": (grants + denials) / max(zeros + ones, 1),
        "new_false_grants": grants / max(zeros, 1),
        "new_false_denials": denials / max(ones, 1),
    }


def assign(roles, cells: NDArray) -> NDArray[np.uint8]:
    """Give users roles one after the other, each the one that mends most of the known cells, while any mends some.

    >>> assign(np.array([[1, 1, 0], [0, 1, 1]]), np.array([[1, 1, 0], [1, np.nan, 1], [0, 0, 0]])).tolist()
    [[1, 0], [1, 1], [0, 0]]
    """
    R = np.asarray(as_dense(roles), dtype=np.float64)
    given = np.zeros((len(cells), len(R)), dtype=np.uint8)
    worth = np.where(np.isnan(cells), 0.0, np.where(cells == 1, 1.0, -1.0))  # of a cell that is granted
    active = np.arange(len(cells)) if len(R) else np.arange(0)
    while len(active):
        gain = worth[active] @ R.T
        gain[given[active] > 0] = -1.0
        best = gain.argmax(axis=1)
        better = gain[np.arange(len(active)), best] > 0
        active, best = active[better], best[better]
        given[active, best] = 1
        worth[active] *= 1 - R[best]
    return given


def _again(model, roles, cells: NDArray, draws: int, rng: np.random.Generator) -> Scores:
    """Compare the roles with those of four fifths of the users."""
    found = []
    for _ in range(draws):
        some = np.sort(rng.permutation(len(cells))[: max(1, 4 * len(cells) // 5)])
        found.append(similarity(roles, clone(model).fit(cells[some]).roles_))
    return {"stability": float(np.mean(found))}


def similarity(first, second) -> float:
    """Average the Jaccard similarity of matched roles; one without a partner counts 0.

    >>> similarity(np.array([[1, 1, 0], [0, 0, 1]]), np.array([[0, 0, 1], [1, 0, 0]]))
    0.75
    """
    A, B = np.asarray(as_dense(first)) > 0, np.asarray(as_dense(second)) > 0
    i, j = match_roles(A, B)
    both, either = (A[i] & B[j]).sum(axis=1), (A[i] | B[j]).sum(axis=1)
    most = max(len(A), len(B))
    return float(np.where(either > 0, both / np.maximum(either, 1), 1.0).sum() / most) if most else 1.0


def _notes(cells: NDArray, folds: int, given: float) -> list[str]:
    if not folds:
        return []
    ones = float(np.nanmean(cells))
    return [f"new users are known by {given:.0%} of their cells; to grant them nothing would be wrong in {ones:.1%}"]
