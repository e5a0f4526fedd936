"""Kernel logistic regression of 5000 rows, Gaussian kernel: time to the objective of L-BFGS on the same table.

Minimised is Σ log(1 + exp(−y·f)) + ½‖f‖² over f = Σ αᵢ k(xᵢ, ·) + b. The peers are SciPy's L-BFGS over the weights α,
as one writes it down, and over w with f = L·w, L the Cholesky factor of the table, where the problem is much better
conditioned. Everybody computes its own table; the evaluator computes the objective from the weights with one and the
same table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.datasets import fashion
from benchmarks.harness import SLACK, Fit, Missing, Row

RIDGE = 1.0
SIZES = {"full": 5000, "quick": 1000, "tiny": 200}


class Cases(NamedTuple):
    """Rows, classes as 0 and 1, and γ."""

    X: np.ndarray
    y: np.ndarray
    gamma: float


def shirts(folder: Path, size: str) -> Cases:
    """Shirts against pullovers of Fashion-MNIST: the classes that are hardest to tell."""
    import gzip

    X = fashion(folder)
    with gzip.open(folder / "fashion-mnist" / "train-labels-idx1-ubyte.gz") as raw:
        label = np.frombuffer(raw.read()[8:], np.uint8)
    rows = np.flatnonzero((label[: len(X)] == 6) | (label[: len(X)] == 2))[: SIZES[size]]
    if len(rows) < SIZES[size]:
        raise Missing(f"{folder / 'fashion-mnist'} has too few rows")
    X = np.ascontiguousarray(X[rows], dtype=np.float64)
    return Cases(X, (label[rows] == 6).astype(float), 1.0 / (X.shape[1] * X.var()))


def drawn(folder: Path, size: str) -> Cases:
    """Two classes of a cube's corners, which scikit-learn draws."""
    from sklearn.datasets import make_classification

    X, y = make_classification(SIZES[size], 20, n_informative=8, flip_y=0.05, random_state=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Cases(X, y.astype(float), 1.0 / X.shape[1])


def table(data: Cases) -> np.ndarray:
    from sklearn.metrics.pairwise import rbf_kernel

    return rbf_kernel(data.X, gamma=data.gamma)


def objective(data: Cases, answer: tuple[np.ndarray, float]) -> float:
    alpha, b = answer
    f = table(data) @ alpha
    return float(np.logaddexp(0.0, f + b).sum() - data.y @ (f + b) + 0.5 * RIDGE * alpha @ f)


def ours(data: Cases, target: float | None) -> Fit:
    from unweave.predict import Gaussian, KernelLogistic

    stop = None if target is None else lambda progress: progress.objective <= target + SLACK * abs(target)
    model = KernelLogistic(Gaussian(gamma=data.gamma), ridge=RIDGE, random_state=0, callback=stop).fit(data.X, data.y)
    return Fit((model.dual_coef_[:, 0], float(model.intercept_[0])), model.n_iter_)


def _lbfgs(value_and_slope, n: int) -> Any:
    from scipy.optimize import minimize

    return minimize(
        value_and_slope, np.zeros(n + 1), jac=True, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 9000}
    )


def weights(data: Cases, threads: int) -> Fit:
    K = table(data)

    def f(at):
        alpha, b = at[:-1], at[-1]
        scores = K @ alpha
        z = scores + b
        value = np.logaddexp(0.0, z).sum() - data.y @ z + 0.5 * RIDGE * alpha @ scores
        slope = 1.0 / (1.0 + np.exp(-z)) - data.y
        return value, np.append(K @ (slope + RIDGE * alpha), slope.sum())

    found = _lbfgs(f, len(K))
    return Fit((found.x[:-1], found.x[-1]), found.nit)


def factor(data: Cases, threads: int) -> Fit:
    from scipy.linalg import cholesky, solve_triangular

    K = table(data)
    K[np.diag_indices_from(K)] += 1e-10
    L = cholesky(K, lower=True, overwrite_a=True, check_finite=False)

    def f(at):
        w, b = at[:-1], at[-1]
        z = L @ w + b
        value = np.logaddexp(0.0, z).sum() - data.y @ z + 0.5 * RIDGE * w @ w
        slope = 1.0 / (1.0 + np.exp(-z)) - data.y
        return value, np.append(L.T @ slope + RIDGE * w, slope.sum())

    found = _lbfgs(f, len(L))
    alpha = solve_triangular(L, found.x[:-1], lower=True, trans="T", check_finite=False)
    return Fit((alpha, found.x[-1]), found.nit)


ROWS = [
    Row(
        name=f"kernel-logistic-{name}",
        title=f"kernel logistic regression, 5000 rows: {title}",
        target=3.0,
        load=load,
        ours=ours,
        peers={"L-BFGS on the Gram": weights, "L-BFGS on its Cholesky factor": factor},
        objective=objective,
        dtype="float64",
        slack=1e-5,
        repeats=1,
        tuned_on="drawn classes of 3000 and 5000 rows with 20 columns",
    )
    for name, title, load in (("shirts", "shirts or pullovers", shirts), ("drawn", "drawn corners of a cube", drawn))
]
