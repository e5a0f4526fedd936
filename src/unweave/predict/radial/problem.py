"""The loss of a radial network and its gradient: over the output weights alone, or over centres and widths too."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.solve.optimise.schemes import Smooth


def squared_distances(X: NDArray, centers: NDArray) -> NDArray[np.float64]:
    """‖x − c‖² for every row and every centre, none negative."""
    squares = (X * X).sum(axis=1)[:, None] - 2.0 * (X @ centers.T) + (centers * centers).sum(axis=1)
    return np.maximum(squares, 0.0)


def units(X: NDArray, centers: NDArray, betas: NDArray) -> NDArray[np.float64]:
    """exp(−β_j‖x − c_j‖²)."""
    return np.exp(-betas * squared_distances(X, centers))


def softmax(scores: NDArray) -> NDArray[np.float64]:
    """Shares that add up to one in each row."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


class Outputs(Smooth):
    """Mean loss of Φ·W + b plus ½ ridge·‖W‖², as a function of W and b, for units Φ that are fixed. Convex.

    Parameters
    ----------
    phi : array (n, h)
    target : array (n, t)
        Amounts, or ones where the class is.
    classes : bool
        Whether the loss is the cross-entropy of softmax outputs, otherwise half the squares.
    ridge : float
    """

    def __init__(self, phi: NDArray, target: NDArray, classes: bool, ridge: float):
        self.phi, self.target, self.classes, self.ridge = phi, target, classes, ridge

    def value_and_gradient(self, x, rows=None):
        W, b = self.parts(x)
        value, slope = self.loss(self.phi @ W + b)
        value += 0.5 * self.ridge * float((W * W).sum())
        gradient = self.phi.T @ slope + self.ridge * W
        return value, np.concatenate([gradient.ravel(), slope.sum(axis=0)])

    def parts(self, x: NDArray) -> tuple[NDArray, NDArray]:
        h, t = self.phi.shape[1], self.target.shape[1]
        return x[: h * t].reshape(h, t), x[h * t :]

    def loss(self, scores: NDArray) -> tuple[float, NDArray]:
        """The mean loss of these scores, and its gradient by them."""
        n = len(scores)
        if not self.classes:
            away = scores - self.target
            return 0.5 * float((away * away).sum()) / n, away / n
        top = scores.max(axis=1)
        shares = np.exp(scores - top[:, None])
        total = shares.sum(axis=1)
        value = float((np.log(total) + top - (scores * self.target).sum(axis=1)).sum()) / n
        return value, (shares / total[:, None] - self.target) / n

    def least_squares(self) -> NDArray:
        """The answer for squares, in closed form."""
        n = len(self.phi)
        mean, level = self.phi.mean(axis=0), self.target.mean(axis=0)
        A = self.phi - mean
        gram = A.T @ A / n
        gram[np.diag_indices_from(gram)] += max(self.ridge, 1e-10 * float(np.trace(gram)) / len(gram), 1e-300)
        W = np.linalg.solve(gram, A.T @ (self.target - level) / n)
        return np.concatenate([W.ravel(), level - mean @ W])


class Everything(Smooth):
    """The same loss as a function of centres, logarithms of β, W and b: all of the network is learned."""

    def __init__(self, X: NDArray, n_units: int, target: NDArray, classes: bool, ridge: float):
        self.X, self.n_units = X, n_units
        self.outputs = Outputs(np.empty((len(X), n_units)), target, classes, ridge)

    def value_and_gradient(self, x, rows=None):
        centers, betas, rest = self.parts(x)
        distances = squared_distances(self.X, centers)
        phi = np.exp(-betas * distances)
        W, b = self.outputs.parts(rest)
        value, slope = self.outputs.loss(phi @ W + b)
        ridge = self.outputs.ridge
        value += 0.5 * ridge * float((W * W).sum())
        pull = (slope @ W.T) * phi  # of each row on each unit
        to_centers = 2.0 * betas[:, None] * (pull.T @ self.X - pull.sum(axis=0)[:, None] * centers)
        to_betas = -betas * (pull * distances).sum(axis=0)
        to_weights = phi.T @ slope + ridge * W
        return value, np.concatenate([to_centers.ravel(), to_betas, to_weights.ravel(), slope.sum(axis=0)])

    def parts(self, x: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Centres, β, and what :class:`Outputs` takes apart."""
        size = self.n_units * self.X.shape[1]
        centers = x[:size].reshape(self.n_units, -1)
        return centers, np.exp(np.clip(x[size : size + self.n_units], -60.0, 60.0)), x[size + self.n_units :]

    def start(self, centers: NDArray, betas: NDArray, rest: NDArray) -> NDArray:
        return np.concatenate([centers.ravel(), np.log(betas), rest])
