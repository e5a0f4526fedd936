"""A loss of its own for each column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from unweave.losses.base import Loss, as_floats


class _Group(NamedTuple):
    """Data columns with equal losses, evaluated in one call."""

    loss: Loss
    columns: np.ndarray
    outputs: np.ndarray
    spread: np.ndarray


def _mean_at_best_constant(loss: Loss, x: np.ndarray) -> float:
    """Mean loss of an encoded column's observed entries at their best constant; 1 where that says nothing."""
    if x.size == 0 or x.min() == x.max():
        return 1.0
    p = np.broadcast_to(loss.constant(x).astype(x.dtype), (x.size, loss.width))
    mean = float(loss.value(x[:, None], p).mean(dtype=np.float64))
    return mean if mean > 0 else 1.0


class ColumnLosses(Loss):
    """l(x, p) = l_j(x, p) / s_j for an entry of column j, where s_j is column j's mean loss at its best constant.

    Use it for tables of mixed kinds. Dividing by s_j makes every column cost 1 on average before anything is
    explained, so units do not vote; a constant column is divided by 1. Each column owns as many prediction columns as
    its loss is wide, side by side in the order of the data. Reference: Udell, Horn, Zadeh and Boyd, "Generalized low
    rank models", 2016, section 4.

    Parameters
    ----------
    losses : one loss, or name of one, for each data column

    Attributes
    ----------
    losses_, scales_, widths_ : the prepared loss, the divisor s_j and the width of each column
    slices_ : the prediction columns of each data column
    width_total_ : the number of prediction columns

    >>> X = np.array([[10.0, 1.0], [30.0, 0.0], [20.0, np.nan]])
    >>> loss = ColumnLosses(["squared", "logistic"]).prepare(X)
    >>> loss.constants(loss.encode(X))
    array([20.,  0.])
    >>> loss.width_total_, loss.value(np.array([[10.0, 1.0]]), np.array([[20.0, 0.0]]))
    (2, array([[1.5, 1. ]]))
    """

    name = "columns"
    per_column = True

    def __init__(self, losses: Sequence[Any] = ()) -> None:
        self.losses = losses

    def _parts(self) -> list[Loss]:
        from unweave.losses import get_loss

        if not self.losses:
            raise ValueError("a list of losses must name at least one loss, one for each data column")
        for part in self.losses:
            if not isinstance(part, str | Loss) or isinstance(part, ColumnLosses):
                raise ValueError(f"a list of losses must hold losses or their names, one for each column; got {part!r}")
        return vars(self).get("losses_") or [get_loss(part) for part in self.losses]

    def validate(self) -> Self:
        self._parts()
        return self

    @property
    def width(self) -> int | None:  # type: ignore[override]
        """The width all columns share, or None if they differ (see `widths_`)."""
        widths = set(self._learned("widths_").tolist())
        return widths.pop() if len(widths) == 1 else None

    @property
    def nonnegative(self) -> bool:  # type: ignore[override]
        return any(loss.nonnegative for loss in self._parts())

    @property
    def convex(self) -> bool:  # type: ignore[override]
        return all(loss.convex for loss in self._parts())

    @property
    def reweights(self) -> bool:  # type: ignore[override]
        """Whether every column has a quadratic majoriser."""
        return all(type(loss).weights is not Loss.weights for loss in self._parts())

    @property
    def curvature(self) -> float | None:
        bounds = self.column_curvature(len(self.losses_))
        return None if bounds is None else float(bounds.max())

    def prepare(self, X: np.ndarray) -> Self:
        X = self._table(X)
        ready = type(self)(self.losses)
        ready.losses_ = [self._named(j, part.prepare, X[:, [j]]) for j, part in enumerate(self._parts())]
        ready.widths_ = np.array([loss.width for loss in ready.losses_])
        stops = np.cumsum(ready.widths_)
        ready.slices_ = [slice(int(stop - width), int(stop)) for stop, width in zip(stops, ready.widths_, strict=True)]
        ready.width_total_ = int(stops[-1])
        coded = ready.encode(X)
        ready.scales_ = np.array(
            [_mean_at_best_constant(loss, x[~np.isnan(x)]) for loss, x in zip(ready.losses_, coded.T, strict=True)]
        )
        ready._groups = ready._grouped()
        return ready

    def encode(self, X: np.ndarray) -> np.ndarray:
        X = self._table(X)
        out = np.empty_like(X)
        for j, loss in enumerate(self._learned("losses_")):
            out[:, [j]] = self._named(j, loss.encode, X[:, [j]])
        return out

    def value(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        out = np.empty(x.shape, dtype=p.dtype)
        for g in self._learned("_groups"):
            scale = self.scales_[g.columns].astype(p.dtype)
            out[..., g.columns] = g.loss.value(x[..., g.columns], p[..., g.outputs]) / scale
        return out

    def gradient(self, x: np.ndarray, p: np.ndarray) -> np.ndarray:
        out = np.empty_like(p)
        for g in self._learned("_groups"):
            out[..., g.outputs] = g.loss.gradient(x[..., g.columns], p[..., g.outputs]) / g.spread.astype(p.dtype)
        return out

    def weights(self, x: np.ndarray, p: np.ndarray) -> np.ndarray | None:
        if not self.reweights:
            return None
        out = np.empty_like(p)
        for g in self._learned("_groups"):
            out[..., g.outputs] = g.loss.weights(x[..., g.columns], p[..., g.outputs]) / g.spread.astype(p.dtype)
        return out

    def column_curvature(self, m: int) -> np.ndarray | None:
        if m != len(self._learned("losses_")):
            raise ValueError(f"the list of losses has {len(self.losses_)} entries, the data have {m} columns")
        bounds = [loss.column_curvature(1) for loss in self.losses_]
        if any(bound is None for bound in bounds):
            return None
        return np.concatenate([bound / scale for bound, scale in zip(bounds, self.scales_, strict=True)])

    def constant(self, x: np.ndarray) -> np.ndarray:
        raise TypeError("each column has its own loss: use constants(X)")

    def constants(self, X: np.ndarray) -> np.ndarray:
        parts = zip(self._learned("losses_"), as_floats(X).T, strict=True)
        return np.concatenate([loss.constant(x[~np.isnan(x)]) for loss, x in parts])

    def predict(self, p: np.ndarray) -> np.ndarray:
        parts = zip(self._learned("losses_"), self.slices_, strict=True)
        return np.concatenate([loss.predict(p[..., own]) for loss, own in parts], axis=-1).astype(p.dtype, copy=False)

    def prediction_columns(self, m: int) -> int:
        return self._learned("width_total_")

    def _grouped(self) -> list[_Group]:
        members: dict[tuple, list[int]] = {}
        for j, loss in enumerate(self.losses_):
            members.setdefault(loss._key(), []).append(j)
        groups = []
        for columns in map(np.array, members.values()):
            outputs = np.concatenate([np.arange(self.slices_[j].start, self.slices_[j].stop) for j in columns])
            spread = np.repeat(self.scales_[columns], self.widths_[columns])
            groups.append(_Group(self.losses_[columns[0]], columns, outputs, spread))
        return groups

    def _table(self, X: np.ndarray) -> np.ndarray:
        X = as_floats(X)
        if X.ndim != 2 or X.shape[1] != len(self._parts()):
            raise ValueError(
                f"the list of losses has {len(self._parts())} entries, one for each data column; "
                f"the data have the shape {X.shape}"
            )
        return X

    @staticmethod
    def _named(j: int, method: Any, x: np.ndarray) -> Any:
        try:
            return method(x)
        except ValueError as error:
            raise ValueError(f"column {j}: {error}") from None
