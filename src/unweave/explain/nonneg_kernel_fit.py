"""Convex NMF in the feature space of a kernel: fitting, new rows, and what a file must hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.explain.convex_nmf import kernel_plan
from unweave.explain.nonneg_gram import MOST_ROWS, GramMixtures, group_start, settled_codes
from unweave.explain.nonneg_kernel import between, dense_rows, training_table
from unweave.factorization.settings import generator, make_loop
from unweave.losses import Squared
from unweave.objectives import Dense
from unweave.objectives.models import Quadratic
from unweave.parallel import single_blas
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import iterate


def fit_kernel(model: Any, X) -> NDArray:
    """Fit `model` to the rows of X, or to their table of inner products; the codes."""
    rows = dense_rows(model, X, reset=True)
    if len(rows) > MOST_ROWS:
        raise ValueError(f"kernel: inner products of {len(rows)} rows do not fit; use at most {MOST_ROWS} rows")
    K = training_table(model.kernel, rows)
    problem = model._problem(Squared(), K.shape, False)
    k = problem.n_components
    scheme = GramMixtures(K)
    state = scheme.start(_spread(K, k, generator(model.random_state)), k)
    loop = make_loop(model, Dense(K, Squared()))
    state, model.history_ = iterate(scheme.step, state, loop, settled=scheme.settled)
    model.n_iter_ = len(model.history_)
    W = state["mixing"]
    if model.kind == "cone":
        norms = np.sqrt(np.maximum(np.diag(scheme.among(W)), np.finfo(np.float64).tiny))
        W = (W / norms[:, None]).astype(K.dtype)
    loss = scheme.model(W)
    U = settled_codes(loss)
    model.mixing_, model.codes_, model._among = W, U, loss.gram
    model._rows = None if _given(model.kernel) else rows.copy()  # the user may change theirs
    model.n_components_ = model._n_features_out = k
    model.objective_ = loss.value(U)
    model.certificate_ = Certificate("kkt", 0.0, scheme.residual(U, W), True, model.objective_)
    name = model.kernel if isinstance(model.kernel, str) else "given"
    words = f"{len(K)} rows under the {name} kernel ≈ codes (nonnegative) · {k} mixtures of rows ({model.kind})"
    model.plan_ = kernel_plan(words, len(K))
    model.plan_.start = "rows that lie far apart"
    if loop.checkpoint is not None and model.history_.stopped != "interrupted":
        loop.checkpoint.remove()
    return U


def codes_of(model: Any, X) -> tuple[NDArray, Quadratic]:
    """Codes of new rows, and the loss they minimise (up to a constant)."""
    with single_blas():
        rows = dense_rows(model, X, reset=False)
        K = rows if model._rows is None else between(model.kernel, rows, model._rows)
        loss = Quadratic(np.ascontiguousarray(K @ model.mixing_.T.astype(K.dtype)), model._among, 0.0)
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
    W, among = model.mixing_, model._among
    sound = isinstance(W, np.ndarray) and W.ndim == 2 and W.dtype in (np.float32, np.float64)
    if not sound or np.shape(among) != (len(W), len(W)) or among.dtype != np.float64:
        raise ValueError("the weights do not fit their inner products")
    rows = model._rows
    if (W.shape[1] != model.n_features_in_) if rows is None else (np.shape(rows) != (W.shape[1], model.n_features_in_)):
        raise ValueError("the weights do not fit the rows")
    if looked_at and not (np.isfinite(W).all() and np.isfinite(among).all()):
        raise ValueError("the weights must be finite")


def _given(kernel) -> bool:
    return isinstance(kernel, str) and kernel == "precomputed"


def _spread(K: NDArray, k: int, rng: np.random.Generator) -> NDArray:
    """k-means in feature space: rows drawn far apart, then ten rounds of Lloyd on inner products."""
    size, n = np.diag(K).astype(np.float64), len(K)
    chosen = [int(rng.integers(n))]
    least = np.full(n, np.inf)
    while len(chosen) < k:
        least = np.minimum(least, np.maximum(size + size[chosen[-1]] - 2 * K[chosen[-1]], 0))
        total = least.sum()
        pick = np.searchsorted(np.cumsum(least), rng.random() * total) if total > 0 else rng.integers(n)
        chosen.append(int(min(pick, n - 1)))
    labels = np.argmin(size[chosen][None, :] - 2 * K[:, chosen], axis=1)
    for _ in range(10):
        W = group_start(labels, k, K.dtype)[1]
        cross = K @ W.T
        labels = np.argmin(np.einsum("ij,ji->i", W, cross)[None, :] - 2 * cross, axis=1)
    return labels
