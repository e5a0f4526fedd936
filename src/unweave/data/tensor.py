"""Tensors from outside: arrays of three or more sides, dense or as coordinates, checked before anything runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.named import NamedTable
from unweave.data.table import refuse_blocks

LEAST_ORDER = 3
_FARTHEST = {np.dtype(np.float32): 1e15, np.dtype(np.float64): 1e120}  # from one, up or down
_WIDE = 10_000_000  # a side longer than this, and a thousand times the entries, is a damaged file rather than data


@dataclass(frozen=True, eq=False)
class SparseTensor:
    """A tensor of which only some entries are stored, as a list of coordinates.

    Parameters
    ----------
    coords : array of whole numbers (entries, order)
        Where each entry lies, counted from 0.
    values : array (entries,)
        Finite numbers; float32 stays float32, everything else becomes float64.
    shape : sequence of int, optional
        Lengths of the sides; by default just long enough for the coordinates.

    Coordinates that are outside the shape or stand twice are refused; :meth:`summed` adds up those that stand twice.

    Examples
    --------
    >>> import unweave
    >>> X = unweave.SparseTensor([[0, 0, 1], [1, 2, 0]], [3.0, 4.0], (2, 3, 2))
    >>> X
    SparseTensor(2×3×2, 2 entries, float64)
    >>> X.toarray()[1, 2, 0]
    np.float64(4.0)
    """

    coords: NDArray
    values: NDArray
    shape: tuple[int, ...] = ()

    def __post_init__(self):
        coords = _coordinates(self.coords)
        values = np.ascontiguousarray(_real(self.values, "values"))
        if values.ndim != 1 or len(values) != len(coords):
            raise ValueError(f"values must hold one number for each of the {len(coords)} coordinates")
        if not np.isfinite(values).all():
            raise ValueError("values must be finite: leave out the entries that are missing, and say missing='zeros'")
        shape = _shape(self.shape, coords)
        _need_inside(coords, shape)
        if len(_keys(coords, shape)[1]) != len(coords):
            raise ValueError(
                "coords name some entry twice: use SparseTensor.summed(coords, values, shape), which adds these up"
            )
        for name, value in (("coords", coords), ("values", values), ("shape", shape)):
            object.__setattr__(self, name, value)

    @classmethod
    def summed(cls, coords, values, shape: Sequence[int] = ()) -> SparseTensor:
        """Make a tensor of coordinates that may stand several times: their values are added up.

        >>> SparseTensor.summed([[0, 0, 0], [0, 0, 0]], [1.0, 2.0]).values
        array([3.])
        """
        where, values = _coordinates(coords), _real(values, "values")
        if values.shape != (len(where),):
            raise ValueError(f"values must hold one number for each of the {len(where)} coordinates")
        sides = _shape(shape, where)
        _need_inside(where, sides)
        inverse, first = _keys(where, sides)
        total = np.bincount(inverse, weights=values, minlength=len(first)).astype(values.dtype)
        return cls(where[first], total, sides)

    @property
    def order(self) -> int:
        return len(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def nnz(self) -> int:
        return len(self.values)

    def __len__(self) -> int:
        return self.shape[0]

    def toarray(self) -> NDArray:
        """The tensor as a dense array, zeros where nothing is stored."""
        out = np.zeros(self.shape, self.values.dtype)
        out[tuple(self.coords.T)] = self.values
        return out

    def transposed(self, order: Sequence[int]) -> SparseTensor:
        """The same tensor with its sides in another order."""
        return SparseTensor(self.coords[:, list(order)], self.values, tuple(self.shape[d] for d in order))

    def __repr__(self) -> str:
        return f"SparseTensor({'×'.join(map(str, self.shape))}, {self.nnz} entries, {self.values.dtype})"


@dataclass(frozen=True)
class Tensor:
    """What the door lets in: numbers without holes, and which of them were seen.

    `values` is an array (zeros in its holes) or a SparseTensor; `seen` is None where everything is data (of a
    SparseTensor the zeros too), a Boolean array for an array with holes, and True where only what is stored was seen.
    """

    values: Any
    seen: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def sparse(self) -> bool:
        return isinstance(self.values, SparseTensor)

    def observed(self) -> tuple[NDArray, NDArray]:
        """(coordinates, values) of the entries that were seen, where some were not."""
        if self.sparse:
            return self.values.coords, self.values.values
        coords = np.argwhere(self.seen)
        return coords, self.values[tuple(coords.T)]

    def hiding(self, hidden: NDArray) -> Tensor:
        """The same tensor without some of the observed entries, told by a Boolean for each of them."""
        coords, values = self.observed()
        if self.sparse:
            return Tensor(SparseTensor(coords[~hidden], values[~hidden], self.shape), True)
        numbers, seen = self.values.copy(), np.array(self.seen)
        numbers[tuple(coords[hidden].T)] = 0
        seen[tuple(coords[hidden].T)] = False
        return Tensor(numbers, seen)


def check_tensor(estimator, X, missing, *, shape: tuple[int, ...] | None = None) -> Tensor:
    """Whatever a user passes as a tensor, checked; `shape` is that of a fitted model, whose first side may differ."""
    if isinstance(X, NamedTable):
        missing, X = X.missing if missing is None else missing, X.X
    refuse_blocks(estimator, X)
    if isinstance(X, list | tuple) and len(X) and getattr(X[0], "ndim", 0) > 2:
        raise ValueError(
            f"{type(estimator).__name__} needs X as one table in memory, not as a sequence of blocks: stack them "
            "(numpy.concatenate, or numpy.stack for slices)"
        )
    if X is None or (isinstance(X, str | bytes)):
        raise TypeError(f"X must be an array of numbers with three or more sides, got {type(X).__name__}")
    listed = as_listed(X)
    found = _listed_tensor(listed, missing) if listed is not None else _dense_tensor(X, missing)
    _need_sides(estimator, found.shape)
    _need_scale(found)
    if shape is not None and found.shape[1:] != shape[1:]:
        raise ValueError(
            f"X has the shape {_by(found.shape)}, but {type(estimator).__name__} was fitted to {_by(shape)}: new "
            "slices must agree in every side but the first"
        )
    return found


def as_listed(X) -> SparseTensor | None:
    """A tensor given as coordinates, ours or one of another library that has the same parts; None for anything else.

    `sparse.COO` holds (coords, data) with a row for each side, pyttb's `sptensor` (subs, vals) with a row for each
    entry.
    """
    if isinstance(X, SparseTensor):
        return X
    if sp.issparse(X):
        if X.ndim != 2:
            raise ValueError(
                "X is a sparse array that is not a table: give unweave.SparseTensor(coords, values, shape)"
            )
        _need_sides(None, X.shape)
    if hasattr(X, "coords") and hasattr(X, "data") and hasattr(X, "shape") and not hasattr(X, "__dask_graph__"):
        coords = np.asarray(X.coords)
        if coords.ndim == 2 and len(coords) == len(X.shape):
            if np.any(np.asarray(getattr(X, "fill_value", 0)) != 0):
                raise ValueError("X has a fill value other than 0: give SparseTensor(coords, values, shape) instead")
            return SparseTensor(coords.T, np.asarray(X.data), tuple(X.shape))
    if hasattr(X, "subs") and hasattr(X, "vals") and hasattr(X, "shape"):
        return SparseTensor(np.asarray(X.subs), np.asarray(X.vals).reshape(-1), tuple(X.shape))
    return None


# -- details -----------------------------------------------------------------------------------------------------------


def _need_scale(tensor: Tensor) -> None:
    """Refuse numbers whose products with factors, about their squares, would leave the range of their type."""
    numbers = tensor.values.values if tensor.sparse else tensor.values
    top = max(float(numbers.max(initial=0)), -float(numbers.min(initial=0)))
    limit = _FARTHEST[numbers.dtype]
    if top > limit or 0 < top < 1 / limit:
        wider = "" if numbers.dtype == np.float64 else ", or pass it as float64"
        size = "large" if top > 1 else "small"
        raise ValueError(
            f"the values of X are too {size} for {numbers.dtype} (the largest is {top:.1e}): rescale X{wider}"
        )


def _by(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape))


def _need_sides(estimator, shape: Sequence[int]) -> None:
    name = "CP" if estimator is None else type(estimator).__name__
    if len(shape) < LEAST_ORDER:
        raise ValueError(
            f"{name} needs a tensor of at least three sides, X has {len(shape)} (shape {_by(shape)}): a table is what "
            "PCA, NMF and Factorization take. Reshape your data if it has more sides."
        )
    if min(shape) < 1:
        raise ValueError(f"X has a side of length 0 (shape {_by(shape)}): there is nothing to fit")


def _real(X, name: str) -> NDArray:
    try:
        values = np.asarray(X)
        if values.dtype.kind == "O":
            values = values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers with sides of equal lengths") from None
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} holds complex numbers; take real and imaginary parts")
    if values.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold numbers, got {values.dtype}")
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)


def _dense_tensor(X, missing) -> Tensor:
    values = np.ascontiguousarray(_real(X, "X"))
    _need_sides(None, values.shape)
    mask = np.asarray(missing) if not isinstance(missing, str) and missing is not None else None
    holes = np.isnan(values)
    if np.isinf(values).any():
        raise ValueError("X contains infinity: leave such entries out as NaN with missing='nan'")
    if mask is not None:
        if mask.shape != values.shape or mask.dtype != bool:
            raise ValueError(f"missing: a mask must be Boolean and of the shape of X, {_by(values.shape)}")
        holes = holes | mask
    elif missing == "zeros":
        holes = holes | (values == 0)
    elif missing is None and holes.any():
        raise ValueError("X contains NaN: pass missing='nan' if NaN marks entries that were not observed")
    elif missing not in (None, "nan"):
        raise ValueError(f"missing={missing!r} is not known; use None, 'nan', 'zeros' or a Boolean mask")
    if not holes.any():
        return Tensor(values, None)
    if holes.all():
        raise ValueError("no entry of X is observed: there is nothing to fit")
    return Tensor(np.where(holes, values.dtype.type(0), values), ~holes)


def _listed_tensor(X: SparseTensor, missing) -> Tensor:
    if missing not in (None, "zeros", "nan") or not (missing is None or isinstance(missing, str)):
        raise ValueError(
            f"missing={missing!r} is not for tensors of coordinates: None takes what is not stored as zeros, "
            "'zeros' as not observed"
        )
    if not X.nnz and missing == "zeros":
        raise ValueError("no entry of X is observed: there is nothing to fit")
    return Tensor(X, True if missing == "zeros" else None)


def _coordinates(coords) -> NDArray[np.int64]:
    found = np.asarray(coords)
    if found.ndim != 2 or found.dtype.kind not in "iu":
        if found.size == 0 and found.ndim == 2:
            return found.astype(np.int64)
        raise ValueError("coords must be whole numbers with a row for each entry and a column for each side")
    if found.dtype.kind == "u" and found.size and int(found.max()) > np.iinfo(np.int64).max:
        raise ValueError("coords: a coordinate is outside of any tensor")
    return np.ascontiguousarray(found, dtype=np.int64)


def _shape(shape, coords: NDArray) -> tuple[int, ...]:
    order = coords.shape[1]
    if not len(shape):
        if not len(coords):
            raise ValueError("shape must be given where there are no coordinates")
        shape = coords.max(axis=0) + 1
    sides = tuple(int(side) for side in shape)
    if len(sides) != order:
        raise ValueError(f"shape has {len(sides)} sides, but coords have {order} columns")
    if min(sides) < 1:
        raise ValueError(f"shape has a side of length {min(sides)}: every side needs at least one place")
    if max(sides) > min(2**31 - 1, _WIDE + 1000 * len(coords)):
        raise ValueError(f"shape {_by(sides)} has a side far longer than {len(coords)} entries can fill; check it")
    return sides


def _need_inside(coords: NDArray, shape: tuple[int, ...]) -> None:
    outside = (coords < 0).any(axis=1) | (coords >= np.array(shape)).any(axis=1)
    if outside.any():
        i = int(np.flatnonzero(outside)[0])
        raise ValueError(f"coords: entry {i} lies at {coords[i].tolist()}, outside of the shape {_by(shape)}")


def _keys(coords: NDArray, shape: tuple[int, ...]) -> tuple[NDArray, NDArray]:
    """(the number of each entry's place, the first entry of every place): equal coordinates have equal numbers."""
    size = 1
    for side in shape:
        size *= side
    if size < 2**63:
        flat = np.zeros(len(coords), np.int64)
        for d, side in enumerate(shape):
            flat = flat * side + coords[:, d]
        _, first, inverse = np.unique(flat, return_index=True, return_inverse=True)
    else:
        _, first, inverse = np.unique(coords, axis=0, return_index=True, return_inverse=True)
    return inverse.reshape(-1), first
