"""Entries hidden from a fit, and how well it predicts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave.data.arguments import generator, number, whole
from unweave.data.table import Table, check_table
from unweave.parallel import chunks
from unweave.select.trial import Trial, fitting, unnamed

_CELLS = 1 << 22  # predictions that are in memory at once
_MOST = 50_000_000  # entries of a sparse table whose zeros are data and must be written out to be hidden
_COUNTS = "kl"  # the loss of counts: their noise grows with them, that of their square roots does not
_LEVELS = ("categorical", "hinge")  # losses whose predictions are names, so that only right or wrong counts


def held_out_entries(estimator: Any, X, *, share: float = 0.1, n_repeats: int = 3, random_state=None) -> NDArray:
    """Error at entries that were hidden from the fit, one number a repeat: less is better.

    A share of the observed entries is hidden at random (never the last one of a row or column), a copy of the estimator
    is fitted to the rest with the hidden ones marked as missing, and the root-mean-square error of its prediction
    there is taken, in the units of the data (of square roots for counts, that is under KL, so that the largest do not
    decide alone; for losses over kinds the share of wrong predictions). Works for every factorisation that takes
    `missing`, and for k-means; use it to choose ranks and penalties.

    Parameters
    ----------
    estimator : estimator with the parameter `missing`
        Not fitted itself.
    X : array with or without NaN, sparse matrix, or table that was read
        With ``missing="zeros"`` stored entries are hidden; a sparse table whose zeros are data is written out in full.
    share : float, default=0.1
    n_repeats : int, default=3
    random_state : None, int or generator

    Examples
    --------
    >>> import unweave
    >>> X = np.outer(np.arange(1, 31.0), [1.0, 2, 3, 4, 5]) + np.random.default_rng(0).normal(size=(30, 5))
    >>> errors = held_out_entries(unweave.PCA(1), X)
    >>> len(errors), bool(errors.max() < 2)
    (3, True)

    References
    ----------
    Owen and Perry (2009), Bi-cross-validation of the SVD and the nonnegative matrix factorization. Wold (1978),
    Cross-validatory estimation of the number of components in factor and principal components models.
    """
    estimator, X = unnamed(estimator, X)
    return HeldOut(share, n_repeats).values(Trial(estimator), X, int(generator(random_state).integers(2**31)))


@dataclass(frozen=True)
class HeldOut:
    """Root-mean-square error at hidden entries, as in :func:`held_out_entries`."""

    share: float = 0.1
    n_repeats: int = 3

    name = "held-out"
    title = "error at hidden entries"
    larger_is_better = False

    def __post_init__(self):
        whole(self.n_repeats, "n_repeats", 1)
        if not 0 < number(self.share, "share") < 1:
            raise ValueError(f"share must lie between 0 and 1, got {self.share}")

    def values(self, trial: Trial, X, seed: int) -> NDArray:
        known = trial.estimator.get_params(deep=False)
        kind = type(trial.estimator)
        if "missing" not in known:
            raise TypeError(
                f"{kind.__name__} does not take missing entries, so none can be hidden from it: choose by 'auto' or "
                f"{fitting(trial.estimator)!r}"
            )
        if not hasattr(kind, "inverse_transform") or hasattr(kind, "_interactions"):
            raise TypeError(
                f"{kind.__name__} does not predict entries of a table: choose by "
                + ("ranking (unweave.judge)" if hasattr(kind, "_interactions") else repr(fitting(trial.estimator)))
            )
        table = check_table(BaseEstimator(), X, known["missing"], reset=True)
        rng = np.random.default_rng(seed)
        return np.array([self._once(trial, table, rng) for _ in range(self.n_repeats)])

    def _once(self, trial: Trial, table: Table, rng: np.random.Generator) -> float:
        hide = _hide_stored if table.seen is not None and sp.issparse(table.values) else _hide_cells
        seen, missing, (rows, columns, truth) = hide(table, self.share, rng)
        model = trial.fit(seen, missing=missing)
        codes = model.codes_ if getattr(model, "codes_", None) is not None else model.transform(seen)
        guess = _predicted(model, codes, rows, columns, table.shape[1])
        loss = getattr(getattr(getattr(model, "_learned", None), "loss", None), "name", "")
        if loss in _LEVELS:
            return float(np.mean(guess != truth))
        if loss == _COUNTS:
            guess, truth = np.sqrt(np.maximum(guess, 0.0)), np.sqrt(np.maximum(truth, 0.0))
        return float(np.sqrt(np.square(guess - truth).mean()))


def _hide_cells(table: Table, share: float, rng: np.random.Generator):
    """A dense copy with NaN where something was missing or is hidden now."""
    n, m = table.shape
    if sp.issparse(table.values) and n * m > _MOST:
        raise ValueError(
            f"X is sparse, its zeros are data and it has {n}×{m} entries, too many to hide some of: take a part of its "
            "rows, or say missing='zeros' if what is not stored is unknown"
        )
    values = table.values if isinstance(table.values, np.ndarray) else table.values.toarray()
    known = np.ones((n, m), bool) if table.seen is None else np.asarray(table.seen)
    places = np.nonzero(known)
    rows, columns = _spared(places[0], places[1], share, (n, m), rng)
    truth = values[rows, columns].astype(np.float64)
    seen = np.where(known, values, np.nan).astype(values.dtype)
    seen[rows, columns] = np.nan
    return seen, "nan", (rows, columns, truth)


def _hide_stored(table: Table, share: float, rng: np.random.Generator):
    """A sparse copy without the entries that are hidden."""
    coo = table.values.tocoo()  # type: ignore[union-attr]
    rows, columns = _spared(coo.row, coo.col, share, table.shape, rng)
    width = table.shape[1]
    out = np.isin(coo.row.astype(np.int64) * width + coo.col, rows.astype(np.int64) * width + columns)
    left = sp.csr_array((coo.data[~out], (coo.row[~out], coo.col[~out])), shape=table.shape)
    return left, "zeros", (coo.row[out], coo.col[out], coo.data[out].astype(np.float64))


def _spared(rows: NDArray, columns: NDArray, share: float, shape, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Places to hide; a row or column that would lose all of its entries keeps them."""
    hidden = rng.random(len(rows)) < share
    left_rows = np.bincount(rows[~hidden], minlength=shape[0])
    hidden &= left_rows[rows] > 0
    left_columns = np.bincount(columns[~hidden], minlength=shape[1])
    hidden &= left_columns[columns] > 0
    if not hidden.any():
        raise ValueError(f"X has too few observed entries ({len(rows)}) to hide some of them; raise share")
    return rows[hidden], columns[hidden]


def _predicted(model: Any, codes, rows: NDArray, columns: NDArray, width: int) -> NDArray:
    """The model's predictions of some entries, a block of rows at a time."""
    out = np.empty(len(rows))
    order = np.argsort(rows, kind="stable")
    ascending = rows[order]
    for start, stop in chunks(codes.shape[0], max(1, _CELLS // width)):
        these = order[slice(*np.searchsorted(ascending, [start, stop]))]
        if len(these):
            table = np.asarray(model.inverse_transform(codes[start:stop]))
            out[these] = table[rows[these] - start, columns[these]]
    return out
