"""Kernels of vectors: linear, polynomial, Gaussian."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number, whole
from unweave.data.not_numbers import name_the_first
from unweave.data.storage import product, row_squares, sliceable, stored
from unweave.data.table import WITHOUT, need_finite
from unweave.predict.kernels.base import Kernel, Pairs


def vectors(X: Any, name: str = "X") -> Any:
    """A table of numbers in float64, dense or CSR, checked: finite, and with two sides."""
    from sklearn.utils.validation import check_array

    how = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "ensure_all_finite": False}
    try:
        checked = check_array(X, ensure_min_samples=0, input_name=name, **how)
    except ValueError:
        name_the_first(X, name, "kernels of strings are Substrings, Subsequences and Spectrum")
        raise
    need_finite(stored(checked), WITHOUT, allow_nan=False)
    return sliceable(checked)


class _Products(Pairs):
    """Blocks of inner products, and what a kernel makes of them."""

    def __init__(self, A, B, change):
        if A.shape[1] != B.shape[1]:
            raise ValueError(
                f"A has {A.shape[1]} columns and B has {B.shape[1]}: a kernel compares rows alike in length"
            )
        self.A, self.B, self.change, self.shape = A, B, change, (A.shape[0], B.shape[0])

    def rows(self, start, stop, width):
        return self.change(product(self.A[start:stop], self.B[:width].T))


class Linear(Kernel):
    """k(x, x') = ⟨x, x'⟩: no map at all.

    >>> Linear()([[1, 2], [3, 4]]).tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    """

    def read(self, X, name="X"):
        return vectors(X, name)

    def pairs(self, A, B):
        return _Products(A, B, lambda K: K)

    def own(self, A):
        return row_squares(A)


class Polynomial(Kernel):
    """k(x, x') = (scale·⟨x, x'⟩ + offset)^degree: all monomials up to that degree, at the cost of one product.

    With offset 0 they are those of exactly that degree. Of two columns there are 2³ = 8 ordered monomials of degree
    three, 4 of them distinct.

    Parameters
    ----------
    degree : int, default=3
    offset, scale : float, default=1.0
        Neither may be negative.

    Examples
    --------
    >>> Polynomial(2)([[1, 2]], [[3, 4]]).tolist()
    [[144.0]]
    """

    def __init__(self, degree=3, *, offset=1.0, scale=1.0):
        self.degree = degree
        self.offset = offset
        self.scale = scale

    def read(self, X, name="X"):
        return vectors(X, name)

    def _of(self, K: NDArray) -> NDArray:
        offset, scale = number(self.offset, "offset"), number(self.scale, "scale")
        with np.errstate(over="ignore"):  # infinity is refused where the table is made
            return (scale * K + offset) ** whole(self.degree, "degree", 1)

    def pairs(self, A, B):
        return _Products(A, B, self._of)

    def own(self, A):
        return self._of(row_squares(A))


class _Distances(_Products):
    """Blocks of exp(−γ‖x − x'‖²), about the mean of one list: distances do not depend on where the origin is."""

    def __init__(self, A, B, gamma: float):
        super().__init__(A, B, None)
        self.same, self.gamma = B is A, gamma
        if isinstance(A, np.ndarray) and isinstance(B, np.ndarray) and len(B):
            middle = B.mean(axis=0)
            self.A = A - middle
            self.B = self.A if self.same else B - middle
        self.left = row_squares(self.A)
        self.right = self.left if self.same else row_squares(self.B)

    def rows(self, start, stop, width):
        D = product(self.A[start:stop], self.B[:width].T)
        D *= -2.0
        D += self.left[start:stop, None]
        D += self.right[:width]
        np.maximum(D, 0.0, out=D)
        if self.same:
            mine = np.arange(start, min(stop, width))
            D[mine - start, mine] = 0.0
        D *= -self.gamma
        return np.exp(D, out=D)


class Gaussian(Kernel):
    """k(x, x') = exp(−‖x − x'‖² / (2σ²)) = exp(−γ‖x − x'‖²) with γ = 1/(2σ²): near rows are alike, far ones are not.

    Its features are all monomials of all degrees under a Gaussian envelope. σ is a distance in units of the columns:
    rows that far apart have k = e^−½ ≈ 0.61. (Some texts write 2σ below; theirs is our σ².) scikit-learn's ``gamma`` is
    ours.

    Parameters
    ----------
    sigma : float, default=1.0
        σ; not used where `gamma` is given.
    gamma : float, optional
        γ, in place of σ.

    Examples
    --------
    >>> Gaussian(sigma=2.0)([[0.0]], [[2.0]]).round(4).tolist()
    [[0.6065]]
    >>> Gaussian(gamma=0.125)([[0.0]], [[2.0]]).round(4).tolist()
    [[0.6065]]
    """

    _name_in_files = "GaussianKernel"  # a part of TableImputer has the other

    def __init__(self, sigma=1.0, *, gamma=None):
        self.sigma = sigma
        self.gamma = gamma

    @property
    def rate(self) -> float:
        """γ, from whichever was given."""
        if self.gamma is not None:
            return number(self.gamma, "gamma")
        sigma = number(self.sigma, "sigma")
        if sigma == 0:
            raise ValueError("sigma must be above 0: it is a distance")
        return 0.5 / sigma**2

    def read(self, X, name="X"):
        return vectors(X, name)

    def pairs(self, A, B):
        return _Distances(A, B, self.rate)

    def own(self, A):
        return np.ones(A.shape[0])

    def frequencies(self, n: int, columns: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw `n` frequencies whose waves average to the kernel: its Fourier transform is a Gaussian, too."""
        return np.sqrt(2 * self.rate) * rng.standard_normal((columns, n))
