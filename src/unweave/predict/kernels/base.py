"""What every kernel is: an inner product of things after some map, given as a table of all pairs.

A kernel says what it takes (`read`) and prepares two lists for comparison (`pairs`); whoever wants the table cuts it
into blocks of rows, which the pool computes side by side. Kernels have operators, because sums, products, polynomials
with positive coefficients and exponentials of kernels are kernels, and so is a kernel after any map.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from unweave.parallel import chunks, run, single_blas

if TYPE_CHECKING:
    from unweave.predict.kernels.algebra import Combined, Mapped, Normalised, OfKernel

# rows of a block of the table, blocks of a small one, and numbers in a block: all cores have work at a hundred rows
_ROWS, _BLOCKS, _NUMBERS = 128, 8, 1 << 22
_EPS = float(np.finfo(np.float64).eps)


class Pairs(ABC):
    """Two lists of things, read and ready to be compared with each other."""

    shape: tuple[int, int]

    @abstractmethod
    def rows(self, start: int, stop: int, width: int) -> NDArray[np.float64]:
        """A new array: the kernel of the things from `start` to `stop` with the first `width` of the other list.

        Of a list with itself what is above the diagonal is not looked at: it may hold any finite numbers.
        """

    def at_once(self) -> int:
        """Rows of a block: enough work to share, few enough that Ctrl-C is seen soon."""
        n, m = self.shape
        return max(1, min(_ROWS, -(-n // _BLOCKS), _NUMBERS // max(m, 1)))


class Semidefinite(NamedTuple):
    """Whether a table can hold inner products: it can if it has no eigenvalue below zero.

    `eigenvalue` is the smallest, `largest` the largest; `vector` has the smallest as its quadratic form.
    """

    holds: bool
    eigenvalue: float
    largest: float
    vector: NDArray[np.float64]

    def __str__(self) -> str:
        if self.holds:
            told = f"the smallest eigenvalue is {self.eigenvalue:.3g}, the largest {self.largest:.3g}"
            return f"positive semidefinite: {told}"
        return (
            f"not positive semidefinite: the smallest eigenvalue is {self.eigenvalue:.3g}, "
            f"{abs(self.eigenvalue) / max(self.largest, 1e-300):.2g} of the largest, {self.largest:.3g}"
        )


class Kernel(BaseEstimator, ABC):
    """An inner product k(x, x') = ⟨ψ(x), ψ(x')⟩ of things that need not be vectors.

    ``kernel(A, B)`` is the table of all pairs, and ``kernel(A)`` that of A with itself. Kernels are parameters: they
    are compared by class and parameters, cloned, pickled, and searched over (``kernel__gamma``).

    >>> from unweave.predict import Linear
    >>> Linear()([[1, 2], [3, 4]]).tolist()
    [[5.0, 11.0], [11.0, 25.0]]
    >>> (1 + Linear()) ** 2 == (1 + Linear()) ** 2, ((1 + Linear()) ** 2)([[1, 2]], [[3, 4]]).tolist()
    (True, [[144.0]])
    """

    __array_ufunc__ = None  # a NumPy number times a kernel asks the kernel
    definite = True  # whether it is an inner product by how it is made; of a function that is given nobody knows
    takes = "vectors"  # or "texts", "trees", "anything": what `read` makes of what it is given

    # -- what a kernel writes ------------------------------------------------------------------------------------------

    @abstractmethod
    def read(self, X: Any, name: str = "X") -> Any:
        """Check a list of things once; what comes back is what `pairs` and `own` take, and what models keep."""

    @abstractmethod
    def pairs(self, A: Any, B: Any) -> Pairs:
        """Two lists that were read, ready to be compared; `B` is `A` for the table of a list with itself."""

    @abstractmethod
    def own(self, A: Any) -> NDArray[np.float64]:
        """The kernel of each thing with itself, of a list that was read."""

    # -- tables --------------------------------------------------------------------------------------------------------

    def __call__(self, A: Any, B: Any = None) -> NDArray[np.float64]:
        """The table of all pairs; of A with itself if B is left out."""
        return self.gram(A, B)

    def gram(self, A: Any, B: Any = None, *, normalised: bool = False) -> NDArray[np.float64]:
        """The table of all pairs; `normalised` divides by the lengths of both: k(x, x') / √(k(x, x)·k(x', x'))."""
        if normalised:
            return self.normalised().gram(A, B)
        first = self.read(A, "A")
        return self.table(first, first if B is None or B is A else self.read(B, "B"))

    def table(self, A: Any, B: Any) -> NDArray[np.float64]:
        """The table of two lists that were read, in blocks of rows; the same bits on any number of threads."""
        with single_blas():
            pairs, same = self.pairs(A, B), B is A
            n, m = pairs.shape
            out, size = np.empty((n, m)), pairs.at_once()

            def task(start: int, stop: int) -> None:
                width = stop if same else m  # of a table with itself the lower half is enough
                out[start:stop, :width] = pairs.rows(start, stop, width)

            run(task, n, size)
        if same:
            for start, stop in chunks(n, size):
                out[:start, start:stop] = out[start:stop, :start].T
                block = out[start:stop, start:stop]
                upper = np.triu_indices(stop - start, 1)
                block[upper] = block.T[upper]
        if not np.isfinite(out).all():
            raise ValueError(f"{self} gave numbers that are not finite: rescale what it is given, or normalise it")
        return out

    def diagonal(self, A: Any) -> NDArray[np.float64]:
        """The kernel of each thing with itself, without the table."""
        return self.own(self.read(A, "A"))

    def check_psd(self, A: Any, *, tol: float = 1e-10) -> Semidefinite:
        """Whether the table of A with itself is positive semidefinite, and the eigenvalue that says so.

        >>> from unweave.predict import Gaussian
        >>> print(Gaussian().check_psd([[0.0], [1.0]]))
        positive semidefinite: the smallest eigenvalue is 0.393, the largest 1.61
        """
        return check_psd(self.gram(A), tol=tol)

    # -- operators -----------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Combined | OfKernel:
        from unweave.predict.kernels.algebra import Sum, polynomial

        return Sum(self, other) if isinstance(other, Kernel) else polynomial(self, [other, 1.0])

    def __mul__(self, other: Any) -> Combined | OfKernel:
        from unweave.predict.kernels.algebra import Product, polynomial

        return Product(self, other) if isinstance(other, Kernel) else polynomial(self, [0.0, other])

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, degree: int) -> OfKernel:
        from unweave.data.arguments import whole
        from unweave.predict.kernels.algebra import polynomial

        return polynomial(self, [0.0] * whole(degree, "the power of a kernel", 1) + [1.0])

    def polynomial(self, coefficients: Sequence[float]) -> OfKernel:
        """c₀ + c₁k + c₂k² + …, a kernel where no coefficient is negative."""
        from unweave.predict.kernels.algebra import polynomial

        return polynomial(self, coefficients)

    def exp(self) -> OfKernel:
        """e to the power of k, a polynomial of all degrees."""
        from unweave.predict.kernels.algebra import Exponential

        return Exponential(self)

    def after(self, mapping: Callable[[Any], Any]) -> Mapped:
        """k(h(x), h(x')) for any map h of one thing (a row, a string, a tree)."""
        from unweave.predict.kernels.algebra import Mapped

        return Mapped(self, mapping)

    def normalised(self) -> Normalised:
        """k(x, x') / √(k(x, x)·k(x', x')): the cosine of the angle; 0 where one of them is the zero vector."""
        from unweave.predict.kernels.algebra import Normalised

        return Normalised(self)

    # -- manners -------------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.get_params(deep=False) == other.get_params(deep=False)

    __hash__ = None  # type: ignore[assignment]  # parameters may be set

    @property
    def name(self) -> str:
        """What a plan calls it."""
        return type(self).__name__.lower()


def need_psd(K: NDArray[np.float64], what: str, remedy: Callable[[float], str]) -> None:
    """Raise ValueError, with the eigenvalue, if a table is not positive semidefinite.

    A Cholesky decomposition of the table, its diagonal raised by what counts as zero, tells that in a tenth of the time
    that eigenvalues take; these are looked at only where it fails. `remedy` is told how far below zero they are.
    """
    _need_symmetric(K, what)
    raised = np.array(K)
    # the largest eigenvalue lies between the mean of the rows' sums of squares and the largest sum of a row
    slack = 1e-10 * float(np.abs(raised).sum(axis=1).max(initial=0.0))
    raised[np.diag_indices_from(raised)] += slack
    try:
        with single_blas():
            np.linalg.cholesky(raised)
    except np.linalg.LinAlgError:
        told = check_psd(K)
        if not told.holds:
            raise ValueError(f"{what} is {told}; {remedy(-told.eigenvalue)}") from None


def _need_symmetric(K: NDArray, what: str) -> None:
    apart = float(np.abs(K - K.T).max(initial=0.0))
    if apart > 1e-8 * float(np.abs(K).max(initial=0.0)):
        raise ValueError(f"{what} must be symmetric: two halves differ by {apart:.3g}; pass (K + K.T) / 2 if they may")


def check_psd(gram: Any, *, tol: float = 1e-10) -> Semidefinite:
    """Whether a table can be one of inner products: symmetric, and without an eigenvalue below zero.

    Eigenvalues above −`tol` times the largest (and what rounding explains) count as zero. Takes n³ steps.

    >>> print(check_psd([[1.0, 2.0], [2.0, 1.0]]))
    not positive semidefinite: the smallest eigenvalue is -1, 0.33 of the largest, 3
    """
    K = np.asarray(gram, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not len(K):
        raise ValueError(f"gram must be a square table of inner products, got the shape {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError("gram must hold finite numbers")
    _need_symmetric(K, "gram")
    with single_blas():
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    largest = float(np.abs(values).max())
    slack = max(tol, 10 * len(K) * _EPS) * largest
    return Semidefinite(bool(values[0] >= -slack), float(values[0]), largest, vectors[:, 0])
