"""A network, its data and its loss as a function of one flat array of weights; torch computes the gradient."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.predict.networks.architecture import Architecture, Chance
from unweave.solve.optimise.schemes import Smooth

ROWS = 2048  # that go through a network at once where a pass takes all

# name → the mean loss of a batch, (torch, outputs, target) → number. Huber's is squared within one spread of y.
FOR_CLASSES: Mapping[str, Callable] = {"cross-entropy": lambda torch, f, y: torch.nn.functional.cross_entropy(f, y)}
FOR_NUMBERS: Mapping[str, Callable] = {
    "squared": lambda torch, f, y: 0.5 * ((f - y) ** 2).sum(dim=1).mean(),
    "absolute": lambda torch, f, y: (f - y).abs().sum(dim=1).mean(),
    "huber": lambda torch, f, y: torch.nn.functional.huber_loss(f, y, reduction="none").sum(dim=1).mean(),
}


class Trained(Smooth):
    """The mean loss over rows, plus ½ ridge·‖weights‖², as a function of the weights.

    Parameters
    ----------
    torch : module
    architecture : Architecture
    arrays : tuple of arrays
        Inputs, rows first.
    target : array, rows first
    loss : callable
        One of the tables above, or of the same kind.
    ridge : float
    dropout : float
    dtype : numpy type
        Of the numbers, float32 or float64.
    """

    n_rows: int

    def __init__(
        self, torch: Any, architecture: Architecture, arrays: tuple[NDArray, ...], target: NDArray, loss: Callable,
        ridge: float = 0.0, dropout: float = 0.0, dtype: type = np.float32,
    ):  # fmt: skip
        self.torch, self.architecture, self.loss, self.ridge, self.dtype = torch, architecture, loss, ridge, dtype
        self.arrays = tensors(torch, arrays, dtype)
        self.target = tensors(torch, (target,), dtype)[0]
        self.n_rows = len(self.target)
        self.chance = Chance(torch, None, dropout)
        shapes = architecture.shapes()
        self.names, self.sides = list(shapes), list(shapes.values())
        self.sizes = [int(np.prod(shape)) for shape in self.sides]

    def draw(self, seed: int | None) -> None:
        """Draw dropout and noise from this seed on; None draws nothing, as in answers."""
        self.chance.generator = None if seed is None else self.torch.Generator().manual_seed(seed)

    def value_and_gradient(self, x, rows=None):
        total, gradient = 0.0, np.zeros_like(x)
        for piece in self._pieces(rows):
            flat = self.torch.from_numpy(np.ascontiguousarray(x, dtype=self.dtype)).requires_grad_(True)
            loss = self._loss(flat, piece)
            loss.backward()
            share = self._share(piece, rows)
            total += share * float(loss.detach())
            gradient += share * flat.grad.numpy()
        if self.ridge:
            total, gradient = total + 0.5 * self.ridge * float(x @ x), gradient + self.ridge * x
        return total, gradient

    def value(self, x: NDArray) -> float:
        """The mean loss over all rows, without chance."""
        seed, self.chance.generator = self.chance.generator, None
        with self.torch.no_grad():
            flat = self.torch.from_numpy(np.ascontiguousarray(x, dtype=self.dtype))
            total = sum(self._share(piece, None) * float(self._loss(flat, piece)) for piece in self._pieces(None))
        self.chance.generator = seed
        return total

    def _loss(self, flat: Any, piece: Any) -> Any:
        parts = flat.split(self.sizes)
        W = {name: part.view(side) for name, part, side in zip(self.names, parts, self.sides, strict=True)}
        batch = tuple(array[piece] for array in self.arrays)
        found = self.architecture.forward(self.torch, W, batch, self.chance)
        return self.loss(self.torch, found, self.target[piece])

    def _pieces(self, rows: NDArray | None) -> list:
        """Rows that go through at once: a mini-batch as it is, all rows in pieces."""
        if rows is not None:
            return [self.torch.from_numpy(np.ascontiguousarray(rows))]
        return [slice(i, min(i + ROWS, self.n_rows)) for i in range(0, self.n_rows, ROWS)]

    def _share(self, piece: Any, rows: NDArray | None) -> float:
        return 1.0 if rows is not None else (piece.stop - piece.start) / self.n_rows


def tensors(torch: Any, arrays: tuple[NDArray, ...], dtype: type) -> tuple:
    """Arrays as tensors: numbers in the type of the weights, whole numbers as they are."""
    kept: list[NDArray] = [array.astype(dtype if array.dtype.kind == "f" else np.int64) for array in arrays]
    return tuple(torch.from_numpy(np.ascontiguousarray(array)) for array in kept)


def answers(torch: Any, W: Mapping[str, NDArray], arrays: tuple[NDArray, ...], ask: Callable) -> NDArray[np.float64]:
    """What a network says of rows, in pieces: `ask` takes tensors of weights and of a batch.

    In double precision, whatever it was trained in: what is said of a row should not depend on the rows beside it.
    """
    weights = dict(zip(W, tensors(torch, tuple(W.values()), np.float64), strict=True))
    found = []
    with torch.no_grad():
        for i in range(0, len(arrays[0]), ROWS):
            batch = tensors(torch, tuple(array[i : i + ROWS] for array in arrays), np.float64)
            found.append(ask(weights, batch).numpy())
    return np.concatenate(found)
