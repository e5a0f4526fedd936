"""Power method with deflation: the plainest way to the largest eigenvalues of a symmetric matrix."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from unweave.solve.iterate import Loop, iterate


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
    if not 1 <= k <= A.shape[0]:
        raise ValueError(f"k must lie between 1 and {A.shape[0]}, got {k}")
    scheme = Power(A, k, tol=tol, max_steps=max_iter, seed=seed_of(rng))
    return scheme.result(iterate(scheme.step, scheme.begin(), scheme.pace(Loop()))[0])


def seed_of(rng: np.random.Generator | int | None) -> int:
    """A whole number drawn from a generator, or the seed itself."""
    return int(rng.integers(2**62)) if isinstance(rng, np.random.Generator) else int(rng or 0)


class Power:
    """The power method as a scheme of the one loop: a step finds one more eigenvalue and its vector.

    Vectors not found yet are zero, and the objective is minus half the sum of the absolute values found.
    """

    def __init__(self, A, k: int, *, tol: float, max_steps: int = 10_000, seed: int = 0):
        self.A, self.k, self.tol, self.max_steps, self.seed = A, k, tol, max_steps, seed

    def pace(self, loop: Loop) -> Loop:
        return replace(loop, max_iter=self.k, tol=0.0, ending="every component was found")

    def begin(self) -> dict:
        k = self.k
        return {"vectors": np.zeros((self.A.shape[0], k)), "values": np.zeros(k), "steps": np.zeros(k, int),
                "found": 0, "converged": True}  # fmt: skip

    def step(self, state: dict) -> tuple[dict, float]:
        i, new = state["found"], {name: np.copy(state[name]) for name in ("vectors", "values", "steps")}
        rng = np.random.default_rng((self.seed, i))
        largest = np.abs(new["values"]).max(initial=0.0)
        value, vector, count, done = _dominant(
            self.A, new["vectors"][:, :i], largest, self.tol, self.max_steps, rng
        )  # fmt: skip
        new["values"][i], new["vectors"][:, i], new["steps"][i] = value, vector, count
        converged = bool(state["converged"] and done)
        return {**new, "found": i + 1, "converged": converged}, -0.5 * float(np.abs(new["values"]).sum())

    def result(self, state: dict) -> PowerResult:
        """What was found, by falling absolute value."""
        values = state["values"]
        order = np.argsort(-np.abs(values), kind="stable")
        return PowerResult(values[order], state["vectors"][:, order], state["steps"].tolist(), state["converged"])


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
