"""Semi-NMF and convex NMF against the published multiplicative updates in plain NumPy, which no package runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import evaluate
from benchmarks.harness import Fit, Row, stop_at

SEMI = {"full": (5000, 500, 20), "quick": (1000, 100, 10), "tiny": (100, 20, 3)}
CONVEX = {"full": (2000, 300, 10), "quick": (600, 80, 6), "tiny": (80, 20, 3)}
ROUNDS = 200  # iterations of the peer: what scikit-learn gives its own multiplicative updates
TINY = 1e-12


@dataclass
class Problem:
    """A table of both signs and clusters of its rows, where everybody begins."""

    X: np.ndarray
    member: np.ndarray


def _load(sizes: dict[str, tuple[int, int, int]]):
    def load(folder: Path, size: str) -> Problem:
        import unweave

        n, m, k = sizes[size]
        rng = np.random.default_rng(0)
        codes = rng.gamma(0.5, size=(n, k)) * (rng.random((n, k)) < 0.4)
        X = codes @ rng.normal(size=(k, m)) + 0.5 * rng.normal(size=(n, m))
        return Problem(X, np.eye(k)[unweave.KMeans(k).fit(X).labels_])

    return load


def _plus(A: np.ndarray) -> np.ndarray:
    return (np.abs(A) + A) / 2


def _minus(A: np.ndarray) -> np.ndarray:
    return (np.abs(A) - A) / 2


def semi_rule(data: Problem, threads: int) -> Fit:
    """Ding, Li and Jordan (2010): Z by least squares, U ← U·√((A⁺ + U·B⁻)/(A⁻ + U·B⁺))."""
    X, U = data.X, data.member + 0.2
    for _ in range(ROUNDS):
        Z = np.linalg.solve(U.T @ U, U.T @ X)
        A, B = X @ Z.T, Z @ Z.T
        U = U * np.sqrt((_plus(A) + U @ _minus(B)) / np.maximum(_minus(A) + U @ _plus(B), TINY))
    return Fit((U, np.linalg.solve(U.T @ U, U.T @ X)), ROUNDS)


def convex_rule(data: Problem, threads: int) -> Fit:
    """Ding, Li and Jordan (2010) on K = X·Xᵀ, whose two parts are made once."""
    X, U = data.X, data.member + 0.2
    W = (data.member + 0.2) / data.member.sum(axis=0)
    K = X @ X.T
    P, N = _plus(K), _minus(K)
    for _ in range(ROUNDS):
        PW, NW = P @ W, N @ W
        U = U * np.sqrt((PW + U @ (W.T @ NW)) / np.maximum(NW + U @ (W.T @ PW), TINY))
        G = U.T @ U
        W = W * np.sqrt((P @ U + NW @ G) / np.maximum(N @ U + PW @ G, TINY))
    return Fit((U, W.T @ X), ROUNDS)


def semi_ours(data: Problem, target: float | None) -> Fit:
    from unweave.explain.parts.semi import SemiNMF

    U = data.member + 0.2  # where the multiplicative rule begins, which cannot leave zero
    start = (U, U.T @ data.X / U.sum(axis=0)[:, None])
    limit = 3 if target is None else 500  # warming up takes a few iterations
    model = SemiNMF(U.shape[1], init=start, callback=stop_at(target), tol=0, max_iter=limit).fit(data.X)
    return Fit((model.codes_, model.components_), model.n_iter_)


def convex_ours(data: Problem, target: float | None) -> Fit:
    from unweave.explain.parts.convex import ConvexNMF

    model = ConvexNMF(data.member.shape[1], callback=stop_at(target), tol=0, max_iter=3 if target is None else 500)
    model.fit(data.X)
    return Fit((model.codes_, model.components_), model.n_iter_)


def objective(data: Problem, answer: tuple[Any, Any]) -> float:
    return evaluate.squared(data.X, *answer)


ROWS = [
    Row(
        name="semi-nmf",
        title="semi-NMF, dense 5000×500 float64, k=20, from the same clusters",
        target=5.0,
        load=_load(SEMI),
        ours=semi_ours,
        peers={"published updates": semi_rule},
        objective=objective,
        dtype="float64",
    ),
    Row(
        name="convex-nmf",
        title="convex NMF, dense 2000×300 float64, k=10 (ours finds its own start)",
        target=5.0,
        load=_load(CONVEX),
        ours=convex_ours,
        peers={"published updates": convex_rule},
        objective=objective,
        dtype="float64",
    ),
]
