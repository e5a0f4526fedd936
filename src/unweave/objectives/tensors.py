"""A tensor under squared loss: hands out the row model of one side with the factors of the others fixed.

The loss of the rows of F_d, the others fixed, is that of a table: X unfolded along side d against the Khatri–Rao
product of the other factors. Neither is made: a :class:`Quadratic` needs the products A_d and the Gram B, which is the
entrywise product of the small Grams of the other factors; where entries are missing, each row has a Gram of its own,
summed by the same products over what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unweave.data.tensor import Tensor
from unweave.linalg.products import gram
from unweave.linalg.tensors import (
    DenseProducts,
    ListedProducts,
    Products,
    SmallProducts,
    compressed,
    pairs,
    squares_of_pairs,
)
from unweave.objectives.models import Quadratic, RowModel
from unweave.objectives.models.own_grams import SummedEntries


class Whole:
    """½‖X − Σ_r u_r∘v_r∘…‖² with every entry observed; what is not stored of a list of coordinates is zero.

    Attributes
    ----------
    shape, dtype : of the tensor
    half_norm : ½ Σ x², in float64
    n_observed : how many entries count
    complete : True; `holes` of the other kind
    """

    complete = True

    def __init__(self, products: Products, half_norm: float):
        self.products, self.half_norm = products, half_norm
        self.shape, self.dtype = products.shape, products.dtype
        self.n_observed = float(np.prod([float(side) for side in self.shape]))

    def models(self, factors: list[NDArray]) -> Iterator[tuple[int, RowModel]]:
        """(d, row model of side d) for one side after the other; factors that are replaced meanwhile count at once."""
        for d, cross in self.products.each(factors):
            yield d, self._model(cross, factors, d)

    def rows_given(self, factors: Sequence[NDArray], mode: int) -> RowModel:
        """The row model of one side."""
        return self._model(self.products.one(factors, mode), factors, mode)

    def _model(self, cross: NDArray, factors: Sequence[NDArray], mode: int) -> Quadratic:
        return Quadratic(cross, gram_of_others(factors, mode), self.half_norm)

    def loss(self, factors: Sequence[NDArray]) -> float:
        """The loss, by residuals where the tensor is in memory."""
        if isinstance(self.products, DenseProducts):
            return self.products.half_residual(factors)
        if isinstance(self.products, ListedProducts):
            return self._listed_loss(factors)
        return self.rows_given(factors, 0).value(factors[0])

    def _listed_loss(self, factors: Sequence[NDArray]) -> float:
        """Residuals where something is stored, and the square of the model everywhere else."""
        products = self.products
        assert isinstance(products, ListedProducts)
        wide = [F.astype(np.float64) for F in factors]
        everywhere = 0.5 * float(np.prod([F.T @ F for F in wide], axis=0).sum())
        stored = 0.5 * float(
            sum(
                np.square(products.predicted(wide, a, a + _STRETCH)).sum()
                for a in range(0, len(products.values), _STRETCH)
            )
        )
        return products.half_residual(wide) + max(0.0, everywhere - stored)


class Holes(Whole):
    """½ Σ w (x − Σ_r u_r·v_r·…)² over the observed entries, w being one there: every slice has a Gram of its own."""

    complete = False

    def __init__(self, products: Products, seen: Products, half_norm: float, n_observed: float):
        super().__init__(products, half_norm)
        self.seen, self.n_observed = seen, n_observed
        ones = [np.ones((side, 1), self.dtype) for side in self.shape]
        squared = _squared(products)
        self._constants = [0.5 * squared.one(ones, d)[:, 0].astype(np.float64) for d in range(len(self.shape))]

    def models(self, factors):
        doubled = [pairs(F) for F in factors]
        for (d, cross), (_, sums) in zip(self.products.each(factors), self.seen.each(doubled), strict=True):
            before = factors[d]
            yield d, self._own(cross, sums, d)
            if factors[d] is not before:
                doubled[d] = pairs(factors[d])

    def rows_given(self, factors, mode):
        return self._own(self.products.one(factors, mode), self.seen.one([pairs(F) for F in factors], mode), mode)

    def _own(self, cross: NDArray, sums: NDArray, mode: int) -> RowModel:
        return SummedEntries(cross, squares_of_pairs(sums, cross.shape[1]), self._constants[mode])

    def loss(self, factors):
        products = self.products
        if isinstance(products, DenseProducts):
            assert isinstance(self.seen, DenseProducts)
            return products.half_residual(factors, self.seen.X)
        assert isinstance(products, ListedProducts)
        return products.half_residual(factors)

    def filled(self, factors: Sequence[NDArray] | None) -> NDArray | None:
        """The tensor with its holes filled by the model (by the mean without one), or None where it is a list."""
        products = self.products
        if not isinstance(products, DenseProducts):
            return None
        assert isinstance(self.seen, DenseProducts)
        if factors is None:
            mean = products.X.sum(dtype=np.float64) / self.n_observed
            return np.where(self.seen.X > 0, products.X, products.X.dtype.type(mean))
        out = products.table.copy()
        holes = self.seen.table == 0
        for rows, predicted in products.rows_of_model(factors):
            np.copyto(out[rows], predicted, where=holes[rows])
        return out.reshape(products.shape)


def open_tensor(tensor: Tensor) -> Whole:
    """The objective of a tensor that the door let in."""
    values, seen = tensor.values, tensor.seen
    if tensor.sparse:
        listed = ListedProducts(values.coords, values.values, values.shape)
        half = 0.5 * _sum_of_squares(values.values)
        if seen is None:
            return Whole(listed, half)
        return Holes(listed, listed.with_values(np.ones_like(values.values)), half, float(len(values.values)))
    half = 0.5 * _sum_of_squares(values)
    if seen is None:
        return Whole(DenseProducts(values), half)
    return Holes(DenseProducts(values), DenseProducts(seen.astype(values.dtype)), half, float(seen.sum()))


def in_small(objective: Whole, rank: int, rng: np.random.Generator, model=None) -> Whole | None:
    """The objective of the tensor compressed to this rank along every side (holes filled); None where it is a list."""
    X = objective.filled(model) if isinstance(objective, Holes) else getattr(objective.products, "X", None)
    if X is None:
        return None
    small = compressed(X, [min(rank, side) for side in X.shape], rng)
    return Whole(small, 0.5 * _sum_of_squares(small.core.X))


def gram_of_others(factors: Sequence[NDArray], mode: int) -> NDArray[np.float64]:
    """The Gram of the Khatri–Rao product of all factors but one: the entrywise product of theirs."""
    k = factors[0].shape[1]
    product = np.ones((k, k))
    for d, F in enumerate(factors):
        if d != mode:
            product *= gram(F, dtype=np.float64)
    return product


def _squared(products: Products) -> Products:
    if isinstance(products, DenseProducts):
        return DenseProducts(np.square(products.X))
    assert isinstance(products, ListedProducts)
    return products.with_values(np.square(products.values))


_STRETCH = 1 << 18


def _sum_of_squares(X: NDArray) -> float:
    flat = X.ravel()
    return float(sum(np.square(flat[a : a + _STRETCH], dtype=np.float64).sum() for a in range(0, flat.size, _STRETCH)))


__all__ = ["Holes", "SmallProducts", "Whole", "gram_of_others", "in_small", "open_tensor"]
