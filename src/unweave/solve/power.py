"""Power method with deflation: the plainest way to the largest eigenvalues of a symmetric matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class PowerResult(NamedTuple):
    """Eigenvalues by falling absolute value, their vectors as columns, steps for each, and whether all converged."""

    values: np.ndarray
    vectors: np.ndarray
    steps: list[int]
    converged: bool


def power_method(
    A, k: int = 1, *, tol: float = 1e-10, max_iter: int = 10_000, rng: np.random.Generator | int | None = None
) -> PowerResult:
    """The k eigenvalues of largest absolute value of a symmetric A, one after the other.

    ``v <- A v / ||A v||`` kept orthogonal to the vectors already found (deflation), until
    ``||A v - lambda v|| <= tol * |lambda_1|``. The eigenvalue is ``lambda = v^T A v``: ``||A v||`` would lose its sign.
    A is anything with a shape that can be multiplied by a vector. The error falls by ``|lambda_2 / lambda_1|`` a step:
    use it to learn from, or when only products are to be had and gaps are wide; otherwise use Krylov methods. Where
    ``lambda`` and ``-lambda`` are both eigenvalues, v alternates between two vectors; one of the pair is then taken
    from their sum.

    Reference: Golub and Van Loan, "Matrix Computations" (2013), section 8.2.

    Examples
    --------
    >>> import numpy as np
    >>> values = power_method(np.array([[2.0, 0.0], [0.0, -3.0]]), k=2).values
    >>> [round(float(value), 6) for value in values]
    [-3.0, 2.0]
    """
    size = A.shape[0]
    if not 1 <= k <= size:
        raise ValueError(f"k must lie between 1 and {size}, got {k}")
    rng = np.random.default_rng(0 if rng is None else rng)
    vectors, values, steps, converged = np.zeros((size, k)), np.zeros(k), [], True
    for i in range(k):
        value, vector, count, done = _dominant(A, vectors[:, :i], np.abs(values).max(initial=0.0), tol, max_iter, rng)
        values[i], vectors[:, i] = value, vector
        steps.append(count)
        converged = converged and done
    order = np.argsort(-np.abs(values), kind="stable")
    return PowerResult(values[order], vectors[:, order], steps, converged)


def _deflate(v: np.ndarray, found: np.ndarray) -> np.ndarray:
    """v without its parts along `found`, twice so that rounding does not bring them back."""
    for _ in range(2):
        v = v - found @ (found.T @ v)
    return v


def _dominant(
    A, found: np.ndarray, largest: float, tol: float, max_iter: int, rng: np.random.Generator
) -> tuple[float, np.ndarray, int, bool]:
    v = _deflate(rng.standard_normal(A.shape[0]), found)
    v /= np.linalg.norm(v)
    value = 0.0
    for step in range(1, max_iter + 1):
        w = _deflate(np.asarray(A @ v, dtype=np.float64), found)
        value, length = float(v @ w), float(np.linalg.norm(w))
        scale = max(largest, length)
        if length <= tol * scale or np.linalg.norm(w - value * v) <= tol * scale:
            return value, v, step, True
        if step % 8 == 0:
            v = _split_pair(A, found, v, w, length, tol)
        else:
            v = w / length
    return value, v, max_iter, False


def _split_pair(A, found: np.ndarray, v: np.ndarray, w: np.ndarray, length: float, tol: float) -> np.ndarray:
    """The next v; where A^2 v = length^2 v although A v is no multiple of v, the nearer of the vectors of +-length."""
    twice = _deflate(np.asarray(A @ w, dtype=np.float64), found)
    if np.linalg.norm(twice - length**2 * v) > np.sqrt(tol) * length**2:
        return w / length
    both = w + (length if v @ w >= 0 else -length) * v
    return both / np.linalg.norm(both)
