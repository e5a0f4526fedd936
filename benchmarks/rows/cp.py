"""CP of tensors: dense and sparse to the peers' objective, and with holes to the error at entries that were hidden."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Fit, Row, stop_at

DENSE = {"full": (200, 20), "quick": (80, 8), "tiny": (12, 2)}
SPARSE = {"full": (1000, 10_500_000, 20), "quick": (200, 500_000, 10), "tiny": (15, 800, 2)}
HOLES = {"full": (100, 10), "quick": (40, 5), "tiny": (12, 2)}


@dataclass
class Planted:
    """A tensor, its number of components, the start that everybody gets, and what was hidden of it."""

    X: Any
    k: int
    start: list[np.ndarray]
    seen: np.ndarray | None = None
    truth: np.ndarray | None = None


def planted(n: int, k: int, seed: int, alike: float = 0.5, noise: float = 0.1) -> tuple[np.ndarray, list[np.ndarray]]:
    """A cube of k components whose columns lean on each other, with noise of a share of the spread; and a start."""
    rng = np.random.default_rng(seed)
    lean = np.linalg.cholesky(alike + (1 - alike) * np.eye(k)).T
    F = [rng.standard_normal((n, k)) @ lean for _ in range(3)]
    X = np.einsum("ir,jr,kr->ijk", *F, optimize=True)
    X += noise * X.std() * rng.standard_normal(X.shape)
    return X, [rng.standard_normal((n, k)) for _ in range(3)]


def load_dense(folder: Path, size: str) -> Planted:
    n, k = DENSE[size]
    X, start = planted(n, k, 7)
    return Planted(X, k, start)


def load_sparse(folder: Path, size: str) -> Planted:
    from unweave import SparseTensor

    n, entries, k = SPARSE[size]
    rng = np.random.default_rng(11)
    # blocks of places that go together, and entries scattered over everything
    group, place = rng.integers(0, k, entries), rng.random((entries, 3))
    inside = rng.random(entries) < 0.15
    coords = np.where(inside[:, None], (group[:, None] + place) * (n / k), place * n).astype(np.int64)
    X = SparseTensor.summed(coords, rng.random(entries) + 0.5, (n, n, n))
    return Planted(X, k, [rng.random((n, k)) for _ in range(3)])


def load_holes(folder: Path, size: str) -> Planted:
    n, k = HOLES[size]
    truth, start = planted(n, k, 13)
    seen = np.random.default_rng(14).random(truth.shape) >= 0.3
    return Planted(np.where(seen, truth, np.nan), k, start, seen, truth)


def ours(data: Planted, target: float | None) -> Fit:
    import unweave

    limit = {"max_iter": 3} if target is None else {"max_iter": 2000, "callback": stop_at(target), "tol": 0}
    model = unweave.CP(data.k, random_state=0, **limit).fit(data.X)
    return Fit([model.codes_, *model.factors_[1:]], model.n_iter_)


def ours_given(data: Planted, target: float | None) -> Fit:
    import unweave

    limit = {"max_iter": 3} if target is None else {"max_iter": 2000, "callback": stop_at(target), "tol": 0}
    model = unweave.CP(data.k, init=data.start, **limit).fit(data.X)
    return Fit([model.codes_, *model.factors_[1:]], model.n_iter_)


def ours_holes(data: Planted, target: float | None) -> Fit:
    import unweave

    model = unweave.CP(data.k, missing="nan", random_state=0).fit(data.X)
    return Fit([model.codes_, *model.factors_[1:]], model.n_iter_)


def tensorly(data: Planted, threads: int, **more: Any) -> Fit:
    from tensorly.cp_tensor import CPTensor
    from tensorly.decomposition import parafac

    init = more.pop("init", CPTensor((np.ones(data.k), [F.copy() for F in data.start])))
    options = {"n_iter_max": 200, "tol": 1e-7, "random_state": 0, **more}
    found, errors = parafac(np.nan_to_num(data.X), data.k, init=init, return_errors=True, **options)
    return Fit([found.factors[0] * found.weights, *found.factors[1:]], len(errors))


def tensorly_svd(data: Planted, threads: int) -> Fit:
    return tensorly(data, threads, init="svd")


def tensorly_line_search(data: Planted, threads: int) -> Fit:
    return tensorly(data, threads, init="svd", linesearch=True)


def tensorly_mask(data: Planted, threads: int) -> Fit:
    return tensorly(data, threads, init="random", mask=data.seen)


def pyttb_als(data: Planted, threads: int) -> Fit:
    import pyttb

    X = pyttb.sptensor(data.X.coords, data.X.values[:, None], data.X.shape)
    init = pyttb.ktensor([F.copy(order="F") for F in data.start])
    found, _, info = pyttb.cp_als(X, data.k, init=init, maxiters=10, stoptol=1e-6, printitn=0)
    return Fit([found.factor_matrices[0] * found.weights, *found.factor_matrices[1:]], info["iters"])


def pyttb_weighted(data: Planted, threads: int) -> Fit:
    import pyttb
    from pyttb.gcp import optimizers

    X = pyttb.tensor(np.nan_to_num(data.X))
    mask = data.seen.astype(float)  # type: ignore[union-attr]
    found, _, _ = pyttb.gcp_opt(
        X, data.k, pyttb.gcp.handles.Objectives.GAUSSIAN, optimizers.LBFGSB(maxiter=1000, iprint=-1), mask=mask,
        init=pyttb.ktensor([F.copy(order="F") for F in data.start]), printitn=0,
    )  # fmt: skip
    return Fit([found.factor_matrices[0] * found.weights, *found.factor_matrices[1:]])


def dense_loss(data: Planted, F: list[np.ndarray]) -> float:
    gap = data.X - np.einsum("ir,jr,kr->ijk", *F, optimize=True)
    return 0.5 * float(np.vdot(gap, gap))


def sparse_loss(data: Planted, F: list[np.ndarray]) -> float:
    """½‖X‖² − ⟨X, M⟩ + ½‖M‖²."""
    X, inner = data.X, 0.0
    for a in range(0, X.nnz, 1 << 20):
        c = X.coords[a : a + (1 << 20)]
        inner += float(X.values[a : a + (1 << 20)] @ (F[0][c[:, 0]] * F[1][c[:, 1]] * F[2][c[:, 2]]).sum(axis=1))
    model = float(np.prod([f.T @ f for f in F], axis=0).sum())
    return 0.5 * float(np.vdot(X.values, X.values)) - inner + 0.5 * model


def hidden_error(data: Planted, F: list[np.ndarray]) -> float:
    """Norm of the error at hidden entries over the norm of these entries."""
    gap = np.einsum("ir,jr,kr->ijk", *F, optimize=True) - data.truth
    return float(np.linalg.norm(gap[~data.seen]) / np.linalg.norm(data.truth[~data.seen]))  # type: ignore[index]


_SHARED = {"dtype": "float64", "tuned_on": "no data", "reported_on": "as named"}
_DRAWN_ALIKE = _SHARED | {"tuned_on": "smaller tensors drawn alike"}

ROWS = [
    Row(
        name="cp-dense", title="CP dense 200³ float64, 20 planted components with noise", target=3.0, load=load_dense,
        ours=ours, peers={"tensorly": tensorly, "tensorly svd start": tensorly_svd,
                          "tensorly line search": tensorly_line_search},
        objective=dense_loss, **_SHARED,
    ),
    Row(
        name="cp-sparse", title="CP sparse 1000³, 10⁷ entries, k=20, same start", target=3.0, load=load_sparse,
        ours=ours_given, peers={"pyttb cp_als": pyttb_als}, objective=sparse_loss, **_DRAWN_ALIKE,
    ),
    Row(
        name="cp-holes", title="CP 100³ with 30 % hidden, k=10: relative error at hidden entries", target=1.0,
        load=load_holes, ours=ours_holes, peers={"tensorly mask": tensorly_mask, "pyttb weighted": pyttb_weighted},
        objective=hidden_error, aim="below", value="error at hidden entries", **_SHARED,
    ),
]  # fmt: skip
