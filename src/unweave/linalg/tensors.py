"""Products of a tensor with factors along its sides, never unfolded anew: what each half-step of CP needs of the data.

For factors F_1 … F_N (rows: places along a side; columns: components) the product of mode d is

    A_d[i, r] = Σ over all entries x of slice i along side d of x · Π_{e≠d} F_e[place of x along e, r],

the unfolded tensor times the Khatri–Rao product of the other factors (MTTKRP).

References
----------
Phan, Tichavský and Cichocki (2013), Fast alternating LS algorithms for high order CANDECOMP/PARAFAC tensor
factorizations. Smith, Ravindran, Sidiropoulos and Karypis (2015), SPLATT: efficient and parallel sparse tensor-matrix
multiplication.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unweave import parallel
from unweave.kernels import APART
from unweave.kernels.tensors import slices_times_factors
from unweave.linalg.products import floating, matmul
from unweave.linalg.sparse import row_bounds

_LONG = 1 << 22  # entries of a prediction that are held at once


class Products(Protocol):
    """A tensor, seen through its products with factors."""

    shape: tuple[int, ...]
    dtype: np.dtype

    def each(self, factors: list[NDArray]) -> Iterator[tuple[int, NDArray]]:
        """(d, A_d) for one side after the other; a factor that is replaced meanwhile counts from then on."""
        ...

    def one(self, factors: Sequence[NDArray], mode: int) -> NDArray:
        """A_d of one side."""
        ...


def khatri_rao(factors: Sequence[NDArray]) -> NDArray:
    """All products of one row of each factor, the last factor running fastest.

    >>> khatri_rao([np.array([[1.0], [2.0]]), np.array([[3.0], [5.0]])]).ravel().tolist()
    [3.0, 5.0, 6.0, 10.0]
    """
    product = factors[0]
    for F in factors[1:]:
        product = (product[:, None, :] * F[None, :, :]).reshape(-1, F.shape[1])
    return np.ascontiguousarray(product)


def contracted(T: NDArray, factors: Sequence[NDArray], keep: int) -> NDArray:
    """Sum T (sides …, components) over all its sides but one, each entry times its rows of the factors.

    >>> contracted(np.ones((2, 3, 1)), [np.ones((2, 1)), np.ones((3, 1))], 0).ravel().tolist()
    [3.0, 3.0]
    """
    for side in reversed(range(T.ndim - 1)):
        if side == keep:
            continue
        # sides after `keep` go from the back, those before it from the front: the one that goes is always at an edge
        before = T.shape[:side]
        flat = T.reshape(int(np.prod(before, dtype=np.int64)), T.shape[side], -1, T.shape[-1])
        T = np.einsum("asbr,sr->abr", flat, factors[side]).reshape(*before, *T.shape[side + 1 :])
    return np.ascontiguousarray(T)


class DenseProducts:
    """A tensor in memory. Two matrix products serve all sides: one for the sides before a cut, one for those behind.

    The tensor as a matrix (sides before × sides behind) times the Khatri–Rao product of the factors behind is a small
    tensor, out of which every side before the cut is summed; and the other way round.
    """

    def __init__(self, X: NDArray):
        self.X = np.ascontiguousarray(X)
        self.shape, self.dtype = self.X.shape, self.X.dtype
        order = self.X.ndim
        sizes = [int(np.prod(self.shape[:h], dtype=np.int64)) for h in range(order + 1)]
        self.cut = min(range(1, order), key=lambda h: sizes[h] + sizes[order] // sizes[h])
        self._table = self.X.reshape(sizes[self.cut], -1)

    def each(self, factors):
        for sides, part in ((range(self.cut), self._front), (range(self.cut, len(self.shape)), self._back)):
            T = part(factors)
            for d in sides:
                yield d, contracted(T, factors[sides.start : sides.stop], d - sides.start)

    def one(self, factors, mode):
        front = mode < self.cut
        start, stop = (0, self.cut) if front else (self.cut, len(self.shape))
        return contracted((self._front if front else self._back)(factors), factors[start:stop], mode - start)

    def _front(self, factors: Sequence[NDArray]) -> NDArray:
        """The sides before the cut, with a last side of components."""
        T = matmul(self._table, khatri_rao(factors[self.cut :]))
        return T.reshape(*self.shape[: self.cut], -1)

    def _back(self, factors: Sequence[NDArray]) -> NDArray:
        T = matmul(self._table.T, khatri_rao(factors[: self.cut]))
        return T.reshape(*self.shape[self.cut :], -1)

    def rows_of_model(self, factors: Sequence[NDArray]) -> Iterator[tuple[slice, NDArray]]:
        """(rows, prediction) of stretches of the tensor as a matrix, cut as :attr:`table` is."""
        front, back = khatri_rao(factors[: self.cut]), khatri_rao(factors[self.cut :]).T
        for start, stop in parallel.chunks(len(front), max(1, _LONG // max(1, back.shape[1]))):
            yield slice(start, stop), matmul(front[start:stop], back)

    @property
    def table(self) -> NDArray:
        return self._table

    def half_residual(self, factors: Sequence[NDArray], seen: NDArray | None = None) -> float:
        """½ Σ (x − prediction)² over all entries, or those where the array `seen` is one, in float64."""
        total = 0.0
        for rows, predicted in self.rows_of_model(factors):
            gap = np.subtract(self._table[rows], predicted, out=predicted)
            if seen is not None:
                gap *= seen.reshape(self._table.shape)[rows]
            flat = gap.ravel()
            total += sum(
                float(np.square(flat[a:b], dtype=np.float64).sum()) for a, b in parallel.chunks(flat.size, 1 << 18)
            )
        return 0.5 * total


class SmallProducts:
    """A tensor that is a small core with a basis along each side (Tucker): products cost next to nothing."""

    def __init__(self, core: NDArray, bases: Sequence[NDArray]):
        self.core, self.bases = DenseProducts(core), list(bases)
        self.shape, self.dtype = tuple(len(basis) for basis in bases), core.dtype

    def each(self, factors):
        inside = [basis.T @ F for basis, F in zip(self.bases, factors, strict=True)]
        for d, product in self.core.each(inside):
            yield d, self.bases[d] @ product
            inside[d] = self.bases[d].T @ factors[d]

    def one(self, factors, mode):
        inside = [basis.T @ F for basis, F in zip(self.bases, factors, strict=True)]
        return self.bases[mode] @ self.core.one(inside, mode)


class ListedProducts:
    """A tensor of coordinates, its entries sorted once for each side so that every thread writes slices of its own.

    Parameters
    ----------
    coords : array (entries, order), values : array (entries,)
        Checked by who calls: a coordinate out of range is not caught here.
    """

    def __init__(self, coords: NDArray, values: NDArray, shape: tuple[int, ...]):
        self.shape, self.dtype = tuple(shape), values.dtype
        self.values, self.coords = values, coords
        self._starts = np.concatenate([[0], np.cumsum(shape)])
        if self._starts[-1] >= 2**32:
            raise ValueError("X: the sides of the tensor are longer than 2³² together")
        self._sorted = [self._sort(d) for d in range(len(shape))]

    def with_values(self, values: NDArray) -> ListedProducts:
        """Other values at the same places, sorted already."""
        other = copy(self)
        other.values = values
        other._sorted = [(*places, order, values[order]) for *places, order, _ in self._sorted]
        return other

    def _sort(self, mode: int) -> tuple[NDArray, ...]:
        """(indptr, lead, rest, order, values in this order): by slice, then by the shortest other side."""
        others = sorted((e for e in range(len(self.shape)) if e != mode), key=lambda e: self.shape[e])
        keys = [self.coords[:, e] for e in (*reversed(others), mode)]
        order = _sorted_by(keys, [self.shape[e] for e in (*reversed(others), mode)])
        counts = np.bincount(self.coords[:, mode], minlength=self.shape[mode])
        indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        places = [(self.coords[order, e] + self._starts[e]).astype(np.uint32) for e in others]
        rest = np.ascontiguousarray(np.stack(places[1:], axis=1))
        return indptr, np.ascontiguousarray(places[0]), rest, order, self.values[order]

    def each(self, factors):
        for d in range(len(self.shape)):
            yield d, self.one(factors, d)

    def one(self, factors, mode):
        stacked = np.concatenate(factors).astype(self.dtype, copy=False)
        indptr, lead, rest, _, values = self._sorted[mode]
        width = stacked.shape[1]
        out = np.empty((self.shape[mode], width), dtype=self.dtype)
        bounds = row_bounds(indptr, width * (1 + rest.shape[1]))

        def task(a: int, b: int) -> None:
            scratch = np.empty((2, width + APART), self.dtype)
            slices_times_factors(indptr, lead, rest, values, stacked, scratch, out, bounds[a], bounds[b])

        parallel.run(task, len(bounds) - 1, 1)
        return out

    def predicted(self, factors: Sequence[NDArray], start: int, stop: int) -> NDArray:
        """The model at some of the entries."""
        product = factors[0][self.coords[start:stop, 0]]
        for d in range(1, len(self.shape)):
            product = product * factors[d][self.coords[start:stop, d]]
        return product.sum(axis=1)

    def half_residual(self, factors: Sequence[NDArray]) -> float:
        """½ Σ (x − prediction)² over the stored entries, in float64."""
        parts = parallel.run(lambda a, b: self._gap(factors, a, b), len(self.values), 1 << 16)
        return 0.5 * float(sum(parts))

    def _gap(self, factors: Sequence[NDArray], start: int, stop: int) -> float:
        gap = self.values[start:stop] - self.predicted(factors, start, stop)
        return float(np.square(gap, dtype=np.float64).sum())


def _sorted_by(keys: list[NDArray], sides: list[int]) -> NDArray:
    """The order that sorts by the last key, then by the one before it, and so on: one number an entry where it fits."""
    size = 1
    for side in sides:
        size *= side
    if size >= 2**63:
        return np.lexsort(keys)
    flat = np.zeros(len(keys[0]), np.int64)
    for key, side in zip(reversed(keys), reversed(sides), strict=True):
        flat = flat * side + key
    return np.argsort(flat, kind="stable")


def pairs(F: NDArray) -> NDArray:
    """Products of every two columns s ≤ t of F, side by side: what Grams of single slices are summed from.

    >>> pairs(np.array([[2.0, 3.0]])).tolist()
    [[4.0, 6.0, 9.0]]
    """
    rows, columns = np.triu_indices(F.shape[1])
    return np.ascontiguousarray(F[:, rows] * F[:, columns])


def squares_of_pairs(P: NDArray, k: int) -> NDArray[np.float64]:
    """Rows of pairs as symmetric matrices (rows, k, k).

    >>> squares_of_pairs(np.array([[4.0, 6.0, 9.0]]), 2).tolist()
    [[[4.0, 6.0], [6.0, 9.0]]]
    """
    rows, columns = np.triu_indices(k)
    out = np.empty((len(P), k, k))
    out[:, rows, columns] = P
    out[:, columns, rows] = P
    return out


def compressed(X: NDArray, ranks: Sequence[int], rng: np.random.Generator) -> SmallProducts:
    """A small core and orthonormal bases that hold nearly all that a tensor of these ranks along its sides holds.

    One side after the other: a random sketch of the slices, multiplied by the data once more and orthogonalised, is
    the basis; then the tensor is projected on it, so that later sides work on less.

    Reference: Che and Wei (2019), Randomized algorithms for the approximations of Tucker and the tensor train
    decompositions; Vannieuwenhoven, Vandebril and Meerbergen (2012), a new truncation strategy for the HOSVD.
    """
    bases: list[NDArray] = []
    core = np.ascontiguousarray(X)
    for rank in ranks:
        table = core.reshape(core.shape[0], -1)
        basis = _basis(table, min(rank, *table.shape), core.shape[1:], rng)
        bases.append(basis)
        core = np.ascontiguousarray(matmul(basis.T, table).reshape(basis.shape[1], *core.shape[1:]))
        core = np.ascontiguousarray(np.moveaxis(core, 0, -1))
    return SmallProducts(core, bases)


def _basis(table: NDArray, rank: int, others: Sequence[int], rng: np.random.Generator) -> NDArray:
    dtype = floating(table.dtype)
    if rank >= len(table):
        return np.eye(len(table), dtype=dtype)
    sketch = khatri_rao([rng.standard_normal((n, rank)).astype(dtype) for n in others])
    Q = np.linalg.qr(matmul(table, sketch))[0]
    Q = np.linalg.qr(matmul(table, matmul(table.T, Q)))[0]
    return np.ascontiguousarray(Q)
