"""Vectors whose products fit a number of each pair, by weighted least squares: alternating, or by AdaGrad.

    J = ½ Σ_ij w_ij (x_i·y_j + b_i + c_j − t_ij)² + ½ ridge (‖X‖² + ‖Y‖²)

Factors carry their biases: a row of the left one is (1, x, b), of the right one (c, y, 1), so that a product is the
whole prediction; without biases these are zeros.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.kernels.pairs import adapt_block, weighted_rows
from unweave.linalg.products import gram, matmul
from unweave.parallel import run
from unweave.solve.iterate import Loop
from unweave.solve.scheme import Scheme, State

_STEPS = 2  # of conjugate gradients a row in each half: with 1 it took more passes over the pairs, with 3 as many
_PIECE = 1 << 16  # pairs that one thread takes at a time
_PARTS = 8
_FLOOR = 1e-6  # of the largest eigenvalue: directions that no context has


class Pairs:
    """Holds the pairs row by row, and column by column where these differ.

    Parameters
    ----------
    table : sparse array (n, m)
        Holds what pairs there are; their targets and weights are given entry by entry.
    targets, weights : arrays (entries,)
    ridge : float
    """

    def __init__(self, table: sp.csr_array, targets: NDArray, weights: NDArray, ridge: float, symmetric: bool):
        self.shape: tuple[int, int] = table.shape
        self.ridge = np.float32(ridge)
        self.left = _Side(table.indptr, table.indices, targets, weights)
        self.right = self.left
        if not symmetric:
            order = sp.csr_array((np.arange(len(targets)), table.indices, table.indptr), shape=table.shape).tocsc()
            self.right = _Side(order.indptr, order.indices, targets[order.data], weights[order.data])

    def value(self, X: NDArray, Y: NDArray) -> float:
        """The objective at these factors."""
        return self._total(self.left.along(X, Y)[1], X, Y)

    def value_and_gradient(self, X: NDArray, Y: NDArray, side: str) -> tuple[float, NDArray]:
        """The objective, and its gradient for one factor; that of what is held (the ones) is to be left out."""
        P, Q = (X, Y) if side == "left" else (Y, X)
        gradient, values = getattr(self, side).along(P, Q)
        gradient += self.ridge * ridged(P)
        return self._total(values, X, Y), gradient

    def _total(self, values: NDArray[np.float64], X: NDArray, Y: NDArray) -> float:
        squares = sum(float(np.square(F[:, 1:-1], dtype=np.float64).sum()) for F in (X, Y)) if self.ridge else 0.0
        return 0.5 * float(values.sum()) + 0.5 * float(self.ridge) * squares


def ridged(F: NDArray) -> NDArray:
    """The factor without its biases, which bear no ridge."""
    F = F.copy()
    F[:, 0] = F[:, -1] = 0
    return F


class _Side:
    """The pairs of the rows of one factor."""

    def __init__(self, indptr: NDArray, indices: NDArray, targets: NDArray, weights: NDArray):
        self.indptr, self.indices = indptr.astype(np.int64), indices
        self.targets, self.weights = (np.asarray(a, np.float32) for a in (targets, weights))
        sums = np.concatenate([[0.0], np.cumsum(weights, dtype=np.float64)])[self.indptr]
        self.sums = np.diff(sums)
        ends = np.arange(0, self.indptr[-1] + _PIECE, _PIECE)
        self.cuts = np.unique(np.concatenate([[0], np.searchsorted(self.indptr, ends), [len(indptr) - 1]]))
        self.cuts = self.cuts[self.cuts < len(indptr)]

    def along(self, P: NDArray, Y: NDArray, aim: float = 1.0) -> tuple[NDArray, NDArray[np.float64]]:
        """Σ_j w r y_j of every row, and Σ_j w r², with r = p·y_j − aim·t."""
        out, values = np.empty_like(P), np.empty(len(P))
        pairs, cuts = (self.indptr, self.indices, self.targets, self.weights), self.cuts

        def task(i: int, _: int) -> None:
            weighted_rows(*pairs, np.float32(aim), P, Y, out, values, cuts[i], cuts[i + 1])

        run(task, len(cuts) - 1, 1)
        return out, values


def first_factors(shape: tuple[int, int], k: int, biases: bool, rng) -> tuple[NDArray, NDArray]:
    """Small random vectors, as published: uniform between −½/k and ½/k; no biases yet."""
    X, Y = (np.zeros((size, k + 2), np.float32) for size in shape)
    for F in (X, Y):
        F[:, 1:-1] = (rng.random((len(F), k), dtype=np.float32) - np.float32(0.5)) / np.float32(k)
    X[:, 0] = Y[:, -1] = float(biases)
    return X, Y


class AlternatePairs(Scheme):
    """Improve all rows of one factor by a few conjugate-gradient steps, then those of the other.

    Rows share a preconditioner, the mean of their matrices Σ_j w_ij y_j y_jᵀ up to scale, which makes two steps almost
    as good as the exact solution, at the price of three passes over the pairs. No step raises the objective.
    """

    def __init__(self, pairs: Pairs, k: int, biases: bool):
        self.pairs, self.k, self.biases = pairs, k, biases

    def begin(self, rng=None) -> State:
        X, Y = first_factors(self.pairs.shape, self.k, self.biases, np.random.default_rng(rng))
        value, gradient = self.pairs.value_and_gradient(X, Y, "left")
        return {"codes": X, "contexts": Y, "gradient": gradient, "value": value, "still": False}

    def step(self, state: State) -> tuple[State, float]:
        pairs, Y = self.pairs, state["contexts"]
        X = self._improved(pairs.left, pairs.right, state["codes"], Y, state["gradient"], 0)
        _, gradient = pairs.value_and_gradient(X, Y, "right")
        Y = self._improved(pairs.right, pairs.left, Y, X, gradient, -1)
        value, gradient = pairs.value_and_gradient(X, Y, "left")
        if value >= state["value"]:  # as far as single precision goes
            return {**state, "still": True}, state["value"]
        return {"codes": X, "contexts": Y, "gradient": gradient, "value": value, "still": False}, value

    def fixed(self, state: State) -> bool:
        return bool(state["still"])

    def _improved(self, side: _Side, other: _Side, P: NDArray, Y: NDArray, gradient: NDArray, held: int) -> NDArray:
        """Rows after `_STEPS` steps; column `held` stays."""
        ridge, solve = self.pairs.ridge, self._preconditioner(side, other, Y, held)
        P, residual = P.copy(), -gradient
        residual[:, held] = 0
        z = solve(residual)
        way, slope = z, _dots(residual, z)
        for i in range(_STEPS):
            bent, _ = side.along(way, Y, 0.0)
            bent += ridge * ridged(way)
            bent[:, held] = 0
            length = _quotient(slope, _dots(way, bent))
            P += length * way
            if i + 1 < _STEPS:
                residual -= length * bent
                z = solve(residual)
                after = _dots(residual, z)
                way, slope = z + _quotient(after, slope) * way, after
        return P

    def _preconditioner(self, side: _Side, other: _Side, Y: NDArray, held: int):
        """Return how rows of residuals are turned into steps: by (s_i·M + ridge)⁻¹, s_i the weights of row i."""
        total = max(float(other.sums.sum()), 1e-300)
        M = gram(Y, weights=other.sums / total)
        M[held] = M[:, held] = 0
        values, vectors = np.linalg.eigh(M)
        values = np.maximum(values, _FLOOR * max(float(values[-1]), 1e-30))
        Q = vectors.astype(np.float32)
        scale = (side.sums[:, None] * values + float(self.pairs.ridge)).astype(np.float32)
        scale[side.sums <= 0] = 1

        def solve(residual: NDArray) -> NDArray:
            step = matmul(matmul(residual, Q) / scale, np.ascontiguousarray(Q.T))
            step[:, held] = 0
            return step

        return solve

    def finish(self, state: State) -> State:
        return {**state, **balanced(state["codes"], state["contexts"])}


class AdaptPairs(Scheme):
    """AdaGrad as published, a pass over all pairs in random order a step; the objective is that of all pairs after it.

    Rows and columns are cut into eight parts. Eight blocks that share neither are worked on side by side, then the next
    eight, so the answer is the same on any number of threads.
    """

    rises = True

    def __init__(self, pairs: Pairs, k: int, biases: bool, rate: float):
        self.pairs, self.k, self.biases, self.rate = pairs, k, biases, np.float32(rate)
        side = pairs.left
        self.rows = np.repeat(np.arange(pairs.shape[0], dtype=np.int32), np.diff(side.indptr))
        # rows that follow each other differ in how often they occur: parts take turns, to have about as many pairs
        p, q = self.rows % _PARTS, side.indices % _PARTS
        cell = (((q - p) % _PARTS) * _PARTS + p).astype(np.int8)
        order, ends = np.argsort(cell, kind="stable"), np.cumsum(np.bincount(cell, minlength=_PARTS**2))
        found = np.split(order, ends[:-1])
        self.blocks = [found[s * _PARTS : (s + 1) * _PARTS] for s in range(_PARTS)]

    def adapt(self, loop: Loop) -> Loop:
        return replace(loop, tol=0.0, ending="all passes were made")

    def begin(self, rng=None) -> State:
        rng = np.random.default_rng(rng)
        X, Y = first_factors(self.pairs.shape, self.k, self.biases, rng)
        squares = np.ones_like(X), np.ones_like(Y)
        return {"codes": X, "contexts": Y, "x_squares": squares[0], "y_squares": squares[1],
                "pass": 0, "seed": int(rng.integers(2**62))}  # fmt: skip

    def step(self, state: State) -> tuple[State, float]:
        names = ("codes", "contexts", "x_squares", "y_squares")
        arrays = [state[name].copy() for name in names]
        rng = np.random.default_rng((state["seed"], state["pass"]))
        side = self.pairs.left
        pairs = (self.rows, side.indices, side.targets, side.weights)
        for stratum in rng.permutation(_PARTS):
            orders = [rng.permutation(block) for block in self.blocks[stratum]]

            def task(i: int, _: int, orders=orders) -> None:
                adapt_block(*pairs, orders[i], *arrays, self.rate)

            run(task, _PARTS, 1)
        value = self.pairs.value(arrays[0], arrays[1])
        if not np.isfinite(value):
            raise ValueError(f"AdaGrad ran away at learning_rate={self.rate:g}: give a smaller one")
        return {**state, **dict(zip(names, arrays, strict=True)), "pass": state["pass"] + 1}, value


def balanced(X: NDArray, Y: NDArray) -> dict[str, NDArray]:
    """The factors with the same products whose columns are orthogonal and alike in length on both sides.

    Otherwise what is left, and what is right, of a product would depend on the way there.
    """
    (Q, R), (P, S) = (np.linalg.qr(F[:, 1:-1].astype(np.float64)) for F in (X, Y))
    U, s, Vt = np.linalg.svd(R @ S.T)
    k, kept = X.shape[1] - 2, len(s)
    new = []
    for F, basis, turn in ((X, Q, U[:, :kept]), (Y, P, Vt[:kept].T)):
        F = F.copy()
        vectors = np.zeros((len(F), k))
        vectors[:, :kept] = (basis @ turn) * np.sqrt(s)
        F[:, 1:-1] = vectors
        new.append(F)
    signs = np.sign(new[0][np.abs(new[0][:, 1:-1]).argmax(axis=0), np.arange(1, k + 1)])
    for F in new:
        F[:, 1:-1] *= np.where(signs == 0, 1, signs)
    return {"codes": new[0], "contexts": new[1]}


def _dots(A: NDArray, B: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", A, B, dtype=np.float64)[:, None]


def _quotient(a: NDArray, b: NDArray) -> NDArray:
    """a / b where b is positive, else zero."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0).astype(np.float32)
