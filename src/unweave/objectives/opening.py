"""Turn what a user passes to `fit` into an objective: tables, blocks, weights and losses meet here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from unweave.data.mixed import column_specs, encode_frame
from unweave.data.named import NamedTable
from unweave.data.table import (
    BlockLook,
    BlockTables,
    Table,
    check_table,
    first_look,
    is_blocks,
    refuse_blocks,
    seen_blocks,
)
from unweave.data.tiny_values import need_squares
from unweave.losses import get_loss
from unweave.losses.base import Loss, Pieces
from unweave.losses.squared import Squared
from unweave.objectives.base import Objective
from unweave.objectives.blocks import Blocks, NewRows
from unweave.objectives.dense import Dense
from unweave.objectives.observed import Observed
from unweave.objectives.sparse import Sparse
from unweave.scale.door import as_blocks
from unweave.scale.visits import Loader, visits_now


@dataclass
class Learned:
    """What reading the training table taught: the loss with its levels and scales, and levels of text columns.

    `weighted` says that the call gave weights, without which a certificate would be one of another problem.
    """

    loss: Loss
    levels: dict[int, list]
    mixed: bool
    weighted: bool = False

    def need_weights(self, weights, name: str) -> None:
        """Raise where the fit had weights and whoever asks about it has not."""
        if self.weighted and weights is None:
            raise ValueError(f"the model was fitted with {name}: pass them to certify too, certify(X, {name}=...)")


def open_table(estimator, X, missing, loss, *, weights=None) -> tuple[Objective, Learned]:
    """The objective of a training table."""
    specs = column_specs(loss, X)
    X = as_blocks(_plain(X, specs is not None))
    if is_blocks(X):
        if not getattr(estimator, "_takes_blocks", True):
            refuse_blocks(estimator, X)
        return _open_blocks(estimator, X, missing, get_loss(loss), weights)
    levels: dict[int, list] = {}
    if specs is not None:
        X, levels = encode_frame(X, None)
        missing = "nan" if missing is None and levels else missing
    table = check_table(estimator, X, missing, reset=True)
    if specs is not None and len(specs) != table.shape[1]:
        raise ValueError(f"loss has {len(specs)} entries, but X has {table.shape[1]} columns: give one loss a column")
    need_squares(table.values)
    ready = _prepare(get_loss(specs if specs is not None else loss), lambda: [table])
    learned = Learned(ready, levels, specs is not None, weights is not None)
    return make_objective(table, ready, weights), learned


def reopen_table(estimator, X, missing, learned: Learned, *, weights=None) -> Objective:
    """The objective of new rows under what was learned."""
    X = as_blocks(_plain(X, bool(learned.levels)))
    if is_blocks(X):
        return _new_rows(estimator, X, missing, learned, weights)
    if learned.levels:
        X, _ = encode_frame(X, learned.levels)
        missing = "nan" if missing is None else missing
    table = check_table(estimator, X, missing, reset=False)
    if learned.loss.takes_weights and weights is None and learned.loss.by_column is None:
        weights = np.ones((1, table.shape[1]))  # new rows whose weights nobody gave count evenly
    return make_objective(table, learned.loss, weights)


def _plain(X, as_frame: bool):
    """A table that was read from a file as a data frame, where its columns are treated one by one."""
    if isinstance(X, NamedTable) and (as_frame or not X.numeric):
        return X.frame()
    return X


def _prepare(loss: Loss, tables: Callable[[], Iterable[Table]]) -> Loss:
    """The loss with what all tables together teach it, however they are stored."""
    if loss.any_number:
        return clone(loss.validate())
    if loss.per_column:
        (table,) = map(_unpacked, tables())
        return loss.prepare(_entries(table)[0])
    return loss.prepare_from(Pieces(lambda: map(_entries, tables())))


def _entries(table: Table) -> tuple[NDArray, int]:
    """The entries of a table that are written out (NaN: not observed), and the number of zeros that are not."""
    values: Any = table.values
    if sp.issparse(values):
        return values.data, _zeros(table)
    return (values if table.seen is None else np.where(table.seen, values, np.nan).astype(values.dtype)), 0


def _zeros(table: Table) -> int:
    """Zeros that are data and not stored."""
    values: Any = table.values
    return table.shape[0] * table.shape[1] - values.nnz if sp.issparse(values) and table.seen is None else 0


def _unpacked(table: Table) -> Table:
    """The same table as an array."""
    values: Any = table.values
    if not sp.issparse(values):
        return table
    if table.seen is None:
        return Table(values.toarray(), None)
    stored = sp.csr_array((np.ones(values.nnz, bool), values.indices, values.indptr), shape=values.shape)
    return Table(values.toarray(), stored.toarray())


def make_objective(table: Table, loss: Loss, weights=None) -> Objective:
    """The storage that fits: dense, sparse with zeros as data, or stored entries only."""
    weights = _entry_weights(loss, table.shape, weights)
    values = table.values
    if sp.issparse(values):
        return _sparse_objective(table, loss, weights)
    encoded = _encoded(loss, values, table.seen)
    weights = None if weights is None else weights.astype(encoded.dtype)
    if table.seen is not None:
        seen = np.asarray(table.seen, dtype=encoded.dtype)
        weights = seen if weights is None else weights * seen
    # The weights of the entries hold those of the columns already, so the loss must not count them again.
    return Dense(encoded, Squared() if loss.takes_weights else loss, weights)


def _encoded(loss: Loss, values: NDArray, seen) -> NDArray:
    if loss.any_number:
        return values  # unobserved entries are zero already
    if seen is None:
        return np.ascontiguousarray(loss.encode(values), dtype=values.dtype)
    encoded = loss.encode(np.where(seen, values, np.nan))
    return np.ascontiguousarray(np.where(seen, encoded, 0), dtype=values.dtype)


def _sparse_objective(table: Table, loss: Loss, weights) -> Objective:
    values: Any = table.values
    if weights is not None:
        raise ValueError("weights need a dense X; pass X.toarray() with missing='zeros' if zeros are unobserved")
    zero = np.zeros(min(1, _zeros(table)), values.dtype)
    if loss.per_column or loss.prediction_columns(1) != 1 or loss.encode(zero).any():
        return make_objective(_unpacked(table), loss)
    coded = sp.csr_array((loss.encode(values.data), values.indices, values.indptr), shape=values.shape)
    return Sparse(coded, loss) if table.seen is None else Observed(coded, loss)


def _entry_weights(loss: Loss, shape: tuple[int, int], weights) -> NDArray | None:
    """Weights of all entries, from the call and from the loss's own weights of columns; None when there are none."""
    if not loss.takes_weights:
        if weights is not None:
            raise ValueError("weights need loss='weighted'")
        return None
    by_column = loss.column_weights(shape[1]) if loss.by_column is not None else None
    if weights is None and by_column is None:
        raise ValueError("loss='weighted' needs weights: pass fit(X, weights=W), or loss=Weighted(by_column=...)")
    checked = np.ones((1, shape[1])) if weights is None else np.asarray(weights, dtype=np.float64)
    if checked.shape not in (shape, (1, shape[1])):
        raise ValueError(f"weights must have the shape of X {shape}, got {checked.shape}")
    if not np.isfinite(checked).all() or (checked < 0).any():
        raise ValueError("weights must be finite and not negative")
    return np.ascontiguousarray(np.broadcast_to(checked if by_column is None else checked * by_column, shape))


def _open_blocks(estimator, X, missing, loss: Loss, weights) -> tuple[Objective, Learned]:
    if weights is not None or loss.takes_weights or loss.per_column:
        refuse_blocks(estimator, X, " with a loss for each column" if loss.per_column else " with weights")
    look = first_look(estimator, X, missing, reset=True)
    found = visits_now().total(Loader(X, _Noting(look, loss.validate()).__call__), _as_it_is)
    ready = clone(loss) if loss.any_number else loss.prepare_from(Pieces(lambda: found["notes"]))
    return _blocks(seen_blocks(X, look, found), ready), Learned(ready, {}, False)


@dataclass(frozen=True)
class _Noting:
    """Look at a block for the first time, and note what the loss learns from it."""

    look: BlockLook
    loss: Loss

    def __call__(self, block, i: int) -> dict[str, list]:
        table = self.look.table(block, i)
        notes = [] if self.loss.any_number or not table.shape[0] else [self.loss.note(*_entries(table))]
        return {**self.look.found(table), "notes": notes}


def _look(estimator, X, missing, *, reset: bool) -> BlockTables:
    """Check every block in one visit that keeps none."""
    look = first_look(estimator, X, missing, reset=reset)
    found = visits_now().total(Loader(X, look.__call__), _as_it_is)
    return seen_blocks(X, look, found)


def _as_it_is(block, state, own):
    return block, None


def _blocks(blocks: BlockTables, loss: Loss) -> Blocks:
    light = replace(blocks, source=())  # a worker is sent how blocks are made, not the blocks

    def make(block, i: int) -> Objective:
        return make_objective(light.made(block, i), loss)

    loader = Loader(blocks.source, make, blocks.places)
    return Blocks(loader, blocks.sizes, loader(0), blocks.complete, visits_now(), blocks.totals)


def _new_rows(estimator, X, missing, learned: Learned, weights) -> NewRows:
    """New rows in blocks; whoever asks each row on its own looks at every block once."""
    if weights is not None or learned.levels:
        refuse_blocks(estimator, X, " with weights" if not learned.levels else " with columns of words", new=True)
    look, loss = first_look(estimator, X, missing, reset=False), learned.loss
    even = np.ones((1, look.n_columns)) if loss.takes_weights and loss.by_column is None else None

    def make(block, i: int) -> Objective | None:
        table = look.table(block, i)
        return make_objective(table, loss, even) if table.shape[0] else None

    def opened() -> Blocks:
        return _blocks(_look(estimator, X, missing, reset=False), loss)

    return NewRows(Loader(X, make), opened, visits_now())
