"""Find leading singular triplets by products alone, for tables too large to decompose: block Krylov or power method."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from unweave.linalg.operators import Flipped, weighted_operator
from unweave.linalg.products import column_lengths, gram, matmul
from unweave.solve.iterate import Loop, iterate
from unweave.solve.krylov import BlockKrylov, Normal
from unweave.solve.scheme import Scheme


class SVDResult(NamedTuple):
    """``X - 1 shift^T ~ U diag(s) Vt``.

    `tail` is the sum of the squared singular values beyond k, `exact` says whether s are singular values of X up to
    rounding (gram, full) or lower bounds of them (krylov, power), `total` is ``||X - 1 shift^T||^2``. `column_means`
    are those of X, where the search met them on its way.
    """

    U: np.ndarray | None
    s: np.ndarray
    Vt: np.ndarray
    tail: float
    exact: bool
    method: str
    shift: np.ndarray | None = None
    total: float = 0.0
    converged: bool = True
    column_means: np.ndarray | None = None


def unit_columns(W: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Columns of W at length 1; those of vanishing singular values become directions orthogonal to the others."""
    eps = np.sqrt(np.finfo(np.float64).eps) if W.dtype == np.float64 else np.finfo(np.float32).eps
    good = s > max(eps * s[0], 0.0) * 10
    lengths = column_lengths(W)
    unit = np.divide(W, np.where(good, lengths, 1.0), out=np.empty_like(W), casting="same_kind")
    for j in np.flatnonzero(~good):
        others = np.flatnonzero(good | (np.arange(len(s)) < j))
        unit[:, j] = _orthogonal_to(unit[:, others])
    return unit


def _orthogonal_to(Q: np.ndarray) -> np.ndarray:
    v = np.random.default_rng(0).standard_normal(len(Q))
    for _ in range(3):
        v = v - Q @ (Q.T @ v)
        v /= np.linalg.norm(v)
    return v


class Search(Scheme):
    """``X - 1 shift^T ~ U diag(s) Vt`` by block Krylov or the power method on the shorter side.

    The objective of a state is half of what its k values leave of ``||X - 1 shift^T||^2``. `tol` is on the vectors:
    1e-3 for krylov; 1e-8, or 1e-5 in float32, for power unless given. With `weights` each row is times its root.
    """

    def __init__(
        self,
        product,
        k: int,
        shift: np.ndarray | str | None,
        method: str,
        tol: float | None,
        seed: int,
        weights: np.ndarray | None = None,
    ):
        self.shift = product.column_means(weights) if isinstance(shift, str) else shift
        self.method, self.k = method, k
        A = weighted_operator(product, self.shift, weights)
        self.total = A.squared_norm()
        self.wide = A.shape[0] < A.shape[1]
        self.side = Flipped(A) if self.wide else A
        self.scheme: BlockKrylov | Power
        if method == "krylov":
            self.scheme = BlockKrylov(Normal(self.side), k, total=self.total, tol=tol or 1e-3, seed=seed)
        else:
            floor = 1e-8 if self.side.dtype == np.float64 else 1e-5
            self.scheme = Power(_NormalMatrix(self.side), k, tol=max(tol or 0.0, floor), seed=seed)

    @property
    def reuses(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.scheme.reuses

    def adapt(self, loop: Loop) -> Loop:
        return self.scheme.adapt(loop)

    def begin(self, rng=None) -> dict:
        return self.scheme.begin()

    def step(self, state: dict) -> tuple[dict, float]:
        state, _ = self.scheme.step(state)
        return state, 0.5 * max(self.total - float(self.values(state).sum()), 0.0)

    def settled(self, state: dict) -> bool:
        return self.scheme.settled(state)

    def values(self, state: dict) -> np.ndarray:
        """The squares of the k singular values as they stand."""
        return np.maximum(state["values"][: self.k], 0.0)

    def result(self, state: dict, codes: bool) -> SVDResult:
        """Rayleigh-Ritz on ``W = A V``: s are the singular values of W, so never above those of X."""
        V, converged = self._vectors(state)
        W = self.side.dot(V)
        values, R = linalg.eigh(gram(W), check_finite=False)
        R = np.ascontiguousarray(R[:, ::-1])
        s = np.sqrt(np.maximum(values[::-1], 0.0))
        if codes or not self.wide:
            V = matmul(V, R.astype(V.dtype))
        if codes or self.wide:
            W = unit_columns(matmul(W, R.astype(W.dtype)), s)
        U, Vt = (V, W.T) if self.wide else (W, V.T)
        tail = self.total - float(s @ s)
        return SVDResult(U if codes else None, s, Vt, tail, False, self.method, self.shift, self.total, converged)

    def _vectors(self, state: dict) -> tuple[np.ndarray, bool]:
        """Orthonormal vectors of the shorter side, and whether they reached the tolerance."""
        if isinstance(self.scheme, BlockKrylov):
            ritz = self.scheme.ritz(state)
            return ritz.V, ritz.converged
        found = self.scheme.result(state)
        # Stopped early, some are still zero: any directions orthogonal to the others stand in for them.
        lengths = np.arange(self.k) < state["found"]
        complete = state["found"] == self.k
        V = found.vectors if complete else unit_columns(found.vectors, lengths.astype(np.float64))
        return V.astype(self.side.dtype), found.converged and complete


class _NormalMatrix:
    """``A^T A`` as something to multiply vectors by."""

    def __init__(self, A):
        self.A, self.shape = A, (A.shape[1], A.shape[1])

    def __matmul__(self, v: np.ndarray) -> np.ndarray:
        return self.A.tdot(self.A.dot(v.astype(self.A.dtype)[:, None]))[:, 0]


# -- the power method --------------------------------------------------------------------------------------------------


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
    return scheme.result(iterate(scheme, scheme.begin(), scheme.adapt(Loop()))[0])


def seed_of(rng: np.random.Generator | int | None) -> int:
    """A whole number drawn from a generator, or the seed itself."""
    return int(rng.integers(2**62)) if isinstance(rng, np.random.Generator) else int(rng or 0)


class Power(Scheme):
    """The power method as a scheme of the one loop: a step finds one more eigenvalue and its vector.

    Vectors not found yet are zero, and the objective is minus half the sum of the absolute values found.
    """

    def __init__(self, A, k: int, *, tol: float, max_steps: int = 10_000, seed: int = 0):
        self.A, self.k, self.tol, self.max_steps, self.seed = A, k, tol, max_steps, seed

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, max_iter=self.k, tol=0.0, ending="every component was found")

    def begin(self, rng=None) -> dict:
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
