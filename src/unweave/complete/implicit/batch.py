"""Take new interactions of old and new users: what `partial_fit` of `ImplicitALS` and `EASE` does with a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.complete.implicit.scheme import AlternateImplicit, choose_solver, interactions
from unweave.complete.recommending.asked import aligned, as_list, named
from unweave.complete.recommending.ids import find, objects, refuse_unknown
from unweave.data.named import NamedTable
from unweave.linalg.implicit import basis_of
from unweave.solve.history import History


def take_batch(model: Any, X, users) -> None:
    """Merge a batch into what was seen, and run one sweep that begins with the rows that changed."""
    seen, ids, places = _taken(model, X, users)
    n = seen.shape[0]
    objective = model._interactions(seen, model.ridge_)
    items = np.ascontiguousarray(model.components_.T)
    codes = np.zeros((n, len(model.components_)), items.dtype)
    codes[: len(model.codes_)] = model.codes_
    changed = np.unique(places)
    codes[changed], _ = model._interactions(seen[changed], model.ridge_).codes(items, model._exact)
    k = len(model.components_)
    scheme = AlternateImplicit(objective, choose_solver(objective.most, k, model.solver)[0], k)
    items, _ = scheme.half_step(objective.by_column, basis_of(codes), items)
    model._keep_items(np.ascontiguousarray(items.T))
    model.certificate_ = model._settle(objective)
    model.objective_ = model.certificate_.objective
    model.seen_, model.user_ids_ = seen, ids
    model.history_, model.n_iter_ = History(), model.n_iter_ + 1


def merged(model: Any, X, users) -> tuple[sp.csr_array, NDArray | None]:
    """(all that was seen with a batch of interactions added, the ids of all users)."""
    return _taken(model, X, users)[:2]


def _taken(model: Any, X, users) -> tuple[sp.csr_array, NDArray | None, NDArray]:
    """The same, and where each row of the batch belongs."""
    _refuse_new_items(model, X)
    batch = interactions(model, named(model, aligned(model, X)), reset=False)
    places, ids = _places(model, X, users, batch.shape[0])
    n = max(model.seen_.shape[0], int(places.max(initial=-1)) + 1)
    return merge(model.seen_, batch, places, n).astype(model.components_.dtype, copy=False), ids, places


def _refuse_new_items(model: Any, X) -> None:
    """An item gets its vector from everybody who has it, and a batch holds only some of them."""
    remedy = "partial_fit takes no new items: leave them out, or fit again with everything"
    ids = getattr(X, "item_ids", None)
    ids = X.columns if ids is None and isinstance(X, NamedTable) else ids
    if ids is not None and model.item_ids_ is not None:
        return refuse_unknown(ids, find(ids, model.item_ids_, len(model.item_ids_), "item"), "item", remedy)
    width, m = np.shape(X)[1] if np.ndim(X) == 2 else 0, model.components_.shape[1]
    if width > m:
        name = type(model).__name__
        raise ValueError(f"X has {width} features, but {name} is expecting {m} features as input; {remedy}")


def merge(seen: sp.csr_array, batch: sp.csr_array, places: NDArray, n: int) -> sp.csr_array:
    """Both together, with rows of the batch at their places; counts of the same pair are added.

    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> merge(sp.csr_array(np.eye(2)), sp.csr_array(np.ones((2, 2))), np.array([1, 2]), 3).toarray()
    array([[1., 0.],
           [1., 2.],
           [1., 1.]])
    """
    one, two = seen.tocoo(), batch.tocoo()
    rows = np.concatenate([one.row, places[two.row]])
    data, columns = np.concatenate([one.data, two.data]), np.concatenate([one.col, two.col])
    together = sp.csr_array((data, (rows, columns)), shape=(n, seen.shape[1]))
    together.sum_duplicates()
    return together


def _places(model: Any, X, users, rows: int) -> tuple[NDArray, NDArray | None]:
    """(where each row of the batch belongs; the ids of all users afterwards)."""
    n, known = model.seen_.shape[0], model.user_ids_
    if users is None and known is not None:
        users = getattr(X, "user_ids", None)
        users = getattr(X, "rows", None) if users is None else users
        if users is None:
            raise ValueError("the model knows its users by ids: pass users=, or a table that brings them (ratings)")
    if users is None:
        return np.arange(n, n + rows), None
    listed = list(as_list(users, known, "user")[0])
    if len(listed) != rows:
        raise ValueError(f"users has {len(listed)} entries, but X has {rows} rows: give one user per row")
    if len(set(listed)) != rows:
        raise ValueError("users names somebody twice: give one row per user")
    if known is None:
        return _new_positions(listed, n), None
    places = find(listed, known, n, "user")
    new = np.flatnonzero(places < 0)
    places[new] = n + np.arange(len(new))
    return places, objects([*known.tolist(), *(listed[i] for i in new)])


def _new_positions(listed: list, n: int) -> NDArray:
    """Positions as they are; new users must follow the old ones without a gap."""
    places = np.asarray(listed)
    if places.dtype.kind not in "iu" or (places < 0).any():
        raise ValueError("users must be positions from 0, because the model knows no ids")
    new = np.sort(places[places >= n])
    if not np.array_equal(new, np.arange(n, n + len(new))):
        raise ValueError(f"positions of new users must follow on {n - 1}, the last that is known, without a gap")
    return places.astype(np.int64)
