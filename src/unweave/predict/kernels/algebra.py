"""Kernels made of kernels: sums, products, polynomials, exponentials, maps before them, and division by the lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number
from unweave.predict.kernels.base import Kernel, Pairs


class _Joined(Pairs):
    """Blocks made of the blocks of other pairs."""

    def __init__(self, parts: Sequence[Pairs], join: Callable[..., NDArray]):
        self.parts, self.join, self.shape = parts, join, parts[0].shape

    def rows(self, start, stop, width):
        return self.join(*(part.rows(start, stop, width) for part in self.parts))


class Combined(Kernel):
    """Two kernels of the same things, joined number by number."""

    def __init__(self, left, right):
        self.left = left
        self.right = right

    def _join(self, first: NDArray, second: NDArray) -> NDArray:
        raise NotImplementedError

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.left.definite and self.right.definite

    @property
    def takes(self) -> str:  # type: ignore[override]
        kinds = {self.left.takes, self.right.takes} - {"anything"}
        if len(kinds) > 1:
            raise ValueError(
                f"{self.left} takes {self.left.takes} and {self.right} takes {self.right.takes}: map one of them first "
                "(kernel.after)"
            )
        return kinds.pop() if kinds else "anything"

    def read(self, X, name="X"):
        takes = self.takes
        return (self.left if self.left.takes == takes else self.right).read(X, name)

    def pairs(self, A, B):
        return _Joined([self.left.pairs(A, B), self.right.pairs(A, B)], self._join)

    def own(self, A):
        return self._join(self.left.own(A), self.right.own(A))


class Sum(Combined):
    """k₁ + k₂: the features of both, one after the other."""

    def _join(self, first, second):
        return first + second


class Product(Combined):
    """k₁·k₂: every feature of the one times every feature of the other."""

    def _join(self, first, second):
        return first * second


class OfKernel(Kernel):
    """A function of one kernel, number by number."""

    kernel: Kernel

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.kernel.definite

    @property
    def takes(self) -> str:  # type: ignore[override]
        return self.kernel.takes

    def read(self, X, name="X"):
        return self.kernel.read(X, name)

    def _of(self, K: NDArray) -> NDArray:
        raise NotImplementedError

    def pairs(self, A, B):
        return _Joined([self.kernel.pairs(A, B)], self._of)

    def own(self, A):
        return self._of(self.kernel.own(A))


class PolynomialOf(OfKernel):
    """c₀ + c₁k + c₂k² + … with coefficients that are not negative: sums, multiples and powers of one kernel."""

    def __init__(self, kernel, coefficients=(0.0, 1.0)):
        self.kernel = kernel
        self.coefficients = coefficients

    def _of(self, K):
        weights = [number(c, "coefficients of a polynomial of a kernel") for c in self.coefficients]
        value = np.full_like(K, weights[-1] if weights else 0.0)
        with np.errstate(over="ignore"):
            for c in weights[-2::-1]:
                value = value * K + c
        return value


class Exponential(OfKernel):
    """exp(k): all polynomials of k at once."""

    def __init__(self, kernel):
        self.kernel = kernel

    def _of(self, K):
        with np.errstate(over="ignore"):  # infinity is refused where the table is made
            return np.exp(K)


def polynomial(kernel: Kernel, coefficients: Sequence[float]) -> OfKernel:
    """A polynomial of a kernel; a coefficient that is no number or negative is told at once."""
    for c in coefficients:
        number(c, "what a kernel is added to or multiplied by")
    return PolynomialOf(kernel, tuple(float(c) for c in coefficients))


class _Divided(Pairs):
    def __init__(self, inner: Pairs, left: NDArray, right: NDArray):
        self.inner, self.left, self.right, self.shape = inner, left, right, inner.shape

    def rows(self, start, stop, width):
        return self.inner.rows(start, stop, width) * self.left[start:stop, None] * self.right[:width]


class Normalised(OfKernel):
    """k(x, x') / √(k(x, x)·k(x', x')): 1 for a thing and itself; 0 with what has no features, an empty string say."""

    def __init__(self, kernel):
        self.kernel = kernel

    def _scales(self, A) -> NDArray:
        own = self.kernel.own(A)
        return np.divide(1.0, np.sqrt(np.maximum(own, 0.0)), out=np.zeros_like(own), where=own > 0)

    def pairs(self, A, B):
        left = self._scales(A)
        return _Divided(self.kernel.pairs(A, B), left, left if B is A else self._scales(B))

    def own(self, A):
        return (self.kernel.own(A) > 0).astype(np.float64)


class Mapped(Kernel):
    """k(h(x), h(x')): a kernel of what a map makes of each thing."""

    takes = "anything"

    def __init__(self, kernel, mapping):
        self.kernel = kernel
        self.mapping = mapping

    @property
    def definite(self) -> bool:  # type: ignore[override]
        return self.kernel.definite

    def read(self, X, name="X"):
        if isinstance(X, str) or not hasattr(X, "__len__"):
            raise ValueError(f"{name} must be a list of things to compare, got {X!r:.60}")
        return X

    def _mapped(self, A):
        items = [A[i] for i in range(len(A))]
        return self.kernel.read([self.mapping(item) for item in items], "what the map gave")

    def pairs(self, A, B):
        left = self._mapped(A)
        return self.kernel.pairs(left, left if B is A else self._mapped(B))

    def own(self, A):
        return self.kernel.own(self._mapped(A))


class Function(Kernel):
    """A function of two tables that somebody else wrote, such as those of ``sklearn.metrics.pairwise``.

    >>> from sklearn.metrics.pairwise import laplacian_kernel
    >>> Function(laplacian_kernel)([[0.0], [1.0]]).round(3).tolist()
    [[1.0, 0.368], [0.368, 1.0]]
    """

    definite = False
    takes = "vectors"

    def __init__(self, function):
        self.function = function

    def read(self, X, name="X"):
        from unweave.predict.kernels.vectors import vectors

        return vectors(X, name)

    def pairs(self, A, B):
        return _Asked(self.function, A, B)

    def own(self, A):
        return np.array([float(np.asarray(self.function(A[i : i + 1], A[i : i + 1]))[0, 0]) for i in range(len(A))])

    @property
    def name(self):
        return getattr(self.function, "__name__", "given")


class _Asked(Pairs):
    """Blocks that a function is asked for."""

    def __init__(self, function, A, B):
        self.function, self.A, self.B, self.shape = function, A, B, (A.shape[0], B.shape[0])

    def rows(self, start, stop, width):
        block = np.asarray(self.function(self.A[start:stop], self.B[:width]), dtype=np.float64)
        if block.shape != (stop - start, width):
            raise ValueError(f"kernel must give a table of the shape {(stop - start, width)}, got {block.shape}")
        return block
