"""Find components that are mixtures of rows from the inner products of the rows alone.

That is convex NMF on a table of at most 8192 rows, and convex NMF in the feature space of a kernel: the scheme, the
kernels (by name, as a function, or as a table of inner products), and the fit, new rows and checks of such a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import need_rows_compared
from unweave.data.storage import as_dense
from unweave.data.table import check_table
from unweave.explain.parts.base import indicator
from unweave.factorization.run import Run
from unweave.kernels.nonneg import mix_sweep
from unweave.linalg.products import gram, matmul
from unweave.losses import Squared
from unweave.objectives.models import Quadratic
from unweave.parallel import single_blas
from unweave.penalties import NonNegative
from unweave.solve.alternate import transform_effort
from unweave.solve.certificate import Certificate
from unweave.solve.plan import Plan
from unweave.solve.scheme import FactorScheme
from unweave.solve.start import far_apart
from unweave.updates import Coordinate, Effort, Half, first_rows

MOST_ROWS = 8192  # rows whose table of inner products is kept (512 MiB in float64)
SIDE = Half(NonNegative())
KERNELS = ("linear", "rbf", "polynomial", "sigmoid", "cosine", "laplacian", "chi2")
_SWEEPS, _DROP = 20, 0.02  # a half-step on the weights ends when a sweep moves little against its first


@dataclass
class GramMixtures(FactorScheme):
    """½‖X − U·W·X‖² over U ≥ 0, W ≥ 0, from K = X·Xᵀ: codes by coordinate descent, then each row of W by the same.

    Given U the objective in one row w of W is ½g·wKwᵀ − w·s, g = ‖u‖². The scale of w may go over to u at no cost, so
    rows are kept at sum one: cone and hull have the same best objective where codes are non-negative.
    """

    K: NDArray
    labels: NDArray  # the clusters that the fit begins at
    n_components: int
    left = Coordinate()

    def __post_init__(self):
        self.constant = 0.5 * float(np.trace(self.K, dtype=np.float64))

    def begin(self, rng=None) -> dict:
        """The state at the clusters: with one-hot codes the objective is that of their means."""
        U, W = group_start(self.labels, self.n_components, self.K.dtype)
        return {"codes": U, "mixing": W, "value": np.inf, "still": False}

    def settled(self, state: dict) -> bool:
        """Whether the last step gained nothing: inner products in float32 are too coarse to tell small falls."""
        return state["still"]

    def model(self, W: NDArray) -> Quadratic:
        """The loss of the codes given W."""
        return Quadratic(np.ascontiguousarray(matmul(self.K, W.T)), self.among(W), self.constant)

    def among(self, W: NDArray) -> NDArray:
        """Inner products of the components, W·K·Wᵀ, float64."""
        return symmetric(np.asarray(matmul(matmul(W, self.K), W.T), dtype=np.float64))

    def step(self, state: dict) -> tuple[dict, float]:
        W = state["mixing"]
        Q = matmul(W, self.K)
        among = symmetric(np.asarray(matmul(W, Q.T), dtype=np.float64))
        U = self.left(
            Quadratic(np.ascontiguousarray(Q.T), among, self.constant),
            state["codes"],
            SIDE,
            Effort(sweeps=20, drop=0.01),
        )
        G, B = gram(U), np.ascontiguousarray(matmul(self.K, U).T)
        W, Q = self._improve(W.copy(), np.ascontiguousarray(Q), G, B)
        inner = float(np.einsum("ij,ij->", W, B, dtype=np.float64))
        square = float(np.vdot(G, matmul(W.astype(np.float64), Q.T.astype(np.float64))))
        value = max(0.0, self.constant - inner + 0.5 * square)
        if value > state["value"]:  # half-steps fall, so this is rounding
            return {**state, "still": True}, state["value"]
        return {**self._scaled(U, W, Q), "value": value, "still": False}, value

    def _improve(self, W: NDArray, Q: NDArray, G: NDArray, B: NDArray) -> tuple[NDArray, NDArray]:
        """Each row of W (and of Q = W·K) in turn, the others fixed; both in place."""
        for c in range(len(W)):
            if not G[c, c] > 0:
                continue
            weights = G[c].copy()
            weights[c] = 0
            s = B[c] - (weights.astype(Q.dtype) @ Q)
            curvature, first = Q.dtype.type(G[c, c]), 0.0
            for sweep in range(_SWEEPS):
                moved = float(mix_sweep(self.K, s, W[c], Q[c], curvature))
                first = moved if sweep == 0 else first
                if moved <= _DROP * first:
                    break
        return W, Q

    def _scaled(self, U: NDArray, W: NDArray, Q: NDArray) -> dict:
        """Rows of W at sum one, their scale in the codes; a component without rows or codes moves to a misfit row."""
        sums = W.sum(axis=1)
        alive = (sums > 0) & U.any(axis=0)
        scale = np.where(sums > 0, sums, 1).astype(W.dtype)
        W, U = W / scale[:, None], U * scale
        if not alive.all():
            fitted = matmul(U, np.asarray(matmul(W, Q.T) / scale[:, None], dtype=U.dtype))
            misfit = np.diag(self.K) - np.einsum("ij,ij->i", U, 2 * (Q / scale[:, None]).T - fitted)
            worst = np.argsort(-misfit, kind="stable")
            for c, i in zip(np.flatnonzero(~alive), worst, strict=False):
                W[c], U[:, c] = 0, 0
                W[c, i] = 1
        return {"codes": U, "mixing": W}

    def residual(self, U: NDArray, W: NDArray) -> float:
        """How far a scaled projected gradient step moves W, relative to W."""
        G = gram(U)
        slope = matmul(G.astype(W.dtype), matmul(W, self.K)) - matmul(U.T, self.K)
        size = np.outer(np.diag(G), np.diag(self.K))
        step = np.divide(slope, size, out=np.zeros_like(slope), where=size > 0)
        return float(np.linalg.norm(np.maximum(W - step, 0) - W) / max(float(np.linalg.norm(W)), 1e-30))


def group_start(labels: NDArray, k: int, dtype) -> tuple[NDArray, NDArray]:
    """One-hot codes (n × k), and the weights of the rows in the mean of their cluster; an empty one gets one row."""
    U = indicator(labels, k, dtype)
    W = np.ascontiguousarray(U.T)
    for c in np.flatnonzero(~W.any(axis=1)):
        W[c, c] = 1
    return U, W / W.sum(axis=1, keepdims=True)


def settled_codes(model: Quadratic) -> NDArray:
    """Non-negative codes, each row on its own, from a fixed start until it settles."""
    update = Coordinate()
    return update(model, first_rows(model, SIDE, update), SIDE, transform_effort(model.dtype))


def symmetric(A: NDArray) -> NDArray:
    """The mean of a square table and its transpose: rounding leaves the two halves unequal."""
    return 0.5 * (A + A.T)


def gram_plan(words: str, n: int, start: str = "k-means") -> Plan:
    """The plan of a fit on inner products."""
    reasons = [f"{n} rows: the {n}×{n} inner products are kept, and a weight that stays zero costs nothing"]
    names = ("coordinate descent (HALS)", "coordinate descent on the weights of the rows")
    return Plan(words, "alternating half-steps on inner products", *names, start, reasons)


# -- kernels -----------------------------------------------------------------------------------------------------------


def check_kernel(kernel) -> None:
    """Raise unless `kernel` is None, "precomputed", a known name or a function of two tables."""
    need_rows_compared(kernel, "kernel")
    if kernel is None or callable(kernel) or (isinstance(kernel, str) and kernel in ("precomputed", *KERNELS)):
        return
    raise ValueError(
        f"kernel={kernel!r} is not known; use None, 'precomputed', one of {', '.join(KERNELS)}, or a function of two "
        "tables"
    )


def dense_rows(estimator, X, *, reset: bool) -> NDArray:
    """A checked table as an array."""
    return as_dense(check_table(estimator, X, None, reset=reset).values)


def training_table(kernel, X: NDArray) -> NDArray:
    """Inner products of all rows, checked to be such."""
    if isinstance(kernel, str) and kernel == "precomputed" and X.shape[0] != X.shape[1]:
        raise ValueError(f"kernel='precomputed' needs a square table of inner products, got the shape {X.shape}")
    K = X if isinstance(kernel, str) and kernel == "precomputed" else between(kernel, X, X)
    diagonal = np.diag(K)
    slack = 100 * np.finfo(K.dtype).eps * max(float(np.abs(K).max(initial=0)), np.finfo(K.dtype).tiny)
    if np.abs(K - K.T).max(initial=0) > 1e3 * slack:
        raise ValueError("kernel: the table of inner products must be symmetric")
    most = np.outer(diagonal, diagonal) + 1e3 * slack * np.abs(K).max(initial=0)
    if (diagonal < -slack).any() or (np.square(K) > most).any():
        raise ValueError(
            f"kernel: these are not inner products (k(x, y)² is above k(x, x)·k(y, y) somewhere){_instead(kernel)}"
        )
    return np.ascontiguousarray(symmetric(K), dtype=K.dtype)


def _instead(kernel) -> str:
    if isinstance(kernel, str) and kernel == "sigmoid":
        return "; tanh is one for few tables only: use 'rbf' or 'cosine', or a function with another slope and offset"
    return ""


def between(kernel, X: NDArray, rows: NDArray) -> NDArray:
    """Inner products of the rows of X with `rows`."""
    if callable(kernel):
        K = np.asarray(kernel(X, rows))
    else:
        from sklearn.metrics.pairwise import pairwise_kernels

        K = pairwise_kernels(X, rows, metric=kernel)
    if K.shape != (len(X), len(rows)):
        raise ValueError(f"kernel must give a table of the shape {(len(X), len(rows))}, got {K.shape}")
    if not np.isfinite(K).all():
        raise ValueError("kernel gave numbers that are not finite")
    return np.ascontiguousarray(K, dtype=X.dtype)


# -- a model in the feature space of a kernel --------------------------------------------------------------------------


def fit_kernel(model: Any, X) -> NDArray:
    """Fit `model` to the rows of X, or to their table of inner products; the codes."""
    rows = dense_rows(model, X, reset=True)
    if len(rows) > MOST_ROWS:
        raise ValueError(f"kernel: inner products of {len(rows)} rows do not fit; use at most {MOST_ROWS} rows")
    K = training_table(model.kernel, rows)
    problem = model._problem(Squared(), K.shape, False)
    k = problem.n_components
    run = Run(model, K)
    scheme = GramMixtures(K, kernel_labels(K, k, run.rng), k)
    name = model.kernel if isinstance(model.kernel, str) else "given"
    words = f"{len(K)} rows under the {name} kernel ≈ codes (nonnegative) · {k} mixtures of rows ({model.kind})"
    W = run.through(scheme, gram_plan(words, len(K), "rows that lie far apart"))["mixing"]
    if model.kind == "cone":
        norms = np.sqrt(np.maximum(np.diag(scheme.among(W)), np.finfo(np.float64).tiny))
        W = (W / norms[:, None]).astype(K.dtype)
    loss = scheme.model(W)
    U = settled_codes(loss)
    model.row_weights_, model.codes_, model._among = W, U, loss.gram
    model._rows = None if _is_table(model.kernel) else rows.copy()  # the user may change theirs
    model.n_components_ = model._n_features_out = k
    value = loss.value(U)
    run.close(value, Certificate("kkt", 0.0, scheme.residual(U, W), True, value))
    return U


def codes_of(model: Any, X) -> tuple[NDArray, Quadratic]:
    """Codes of new rows, and the loss they minimise (up to a constant)."""
    with single_blas():
        rows = dense_rows(model, X, reset=False)
        K = rows if model._rows is None else between(model.kernel, rows, model._rows)
        loss = Quadratic(np.ascontiguousarray(K @ model.row_weights_.T.astype(K.dtype)), model._among, 0.0)
        return settled_codes(loss), loss


def kernel_score(model: Any, X) -> float:
    """Minus the mean over rows of ½‖φ(x) − u·W·φ(X)‖², without ½k(x, x) where the kernel is precomputed."""
    U, loss = codes_of(model, X)
    values = loss.row_values(U)
    if model._rows is not None:
        rows = dense_rows(model, X, reset=False)
        values = values + 0.5 * np.array([between(model.kernel, row[None], row[None])[0, 0] for row in rows])
    return -float(values.mean())


def check_kernel_model(model: Any, looked_at: bool) -> None:
    """Raise ValueError unless the arrays of a loaded model fit together."""
    W, among = model.row_weights_, model._among
    sound = isinstance(W, np.ndarray) and W.ndim == 2 and W.dtype in (np.float32, np.float64)
    if not sound or np.shape(among) != (len(W), len(W)) or among.dtype != np.float64:
        raise ValueError("the weights do not fit their inner products")
    rows = model._rows
    if (W.shape[1] != model.n_features_in_) if rows is None else (np.shape(rows) != (W.shape[1], model.n_features_in_)):
        raise ValueError("the weights do not fit the rows")
    if looked_at and not (np.isfinite(W).all() and np.isfinite(among).all()):
        raise ValueError("the weights must be finite")


def _is_table(kernel) -> bool:
    """Whether the user passes inner products in place of rows."""
    return isinstance(kernel, str) and kernel == "precomputed"


def kernel_labels(K: NDArray, k: int, rng: np.random.Generator) -> NDArray:
    """Cluster rows by k-means in feature space: rows drawn far apart, then ten rounds of Lloyd on inner products.

    It is a start that nobody is told of, so it runs outside the one loop.
    """
    size = np.diag(K).astype(np.float64)
    labels = far_apart(len(K), k, rng, lambda rows: size + size[rows, None] - 2 * K[rows])[1]
    for _ in range(10):
        W = group_start(labels, k, K.dtype)[1]
        cross = K @ W.T
        labels = np.argmin(np.einsum("ij,ji->i", W, cross)[None, :] - 2 * cross, axis=1)
    return labels
