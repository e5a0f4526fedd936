"""What the draws of a Gibbs sampler predict: the mean over draws, and how far they spread.

A draw s gives codes (u, a, 1) and components (z, 1, mean + b). Set side by side, the codes divided by the number of
draws, they are one pair of factors whose product is the mean prediction, so everything that works with codes and
components works here too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unweave.complete.gibbs import draw_about, draw_rows
from unweave.complete.units import Units
from unweave.objectives import Observed


def kept(state: dict) -> dict[str, NDArray]:
    """The draws of a state, as arrays that are saved with the model."""
    n = max(1, state["n"])
    more = [name for name in ("users_maps", "items_maps", "item_means") if name in state]
    draws = {name: state[name][:n] for name in ("draws", "precisions", "means", "alphas", *more)}
    if not state["n"]:  # stopped before any was kept: the last state stands in
        d = state["items"].shape[1]
        draws |= {"draws": state["items"][None], "precisions": np.eye(d)[None], "means": np.zeros((1, d)),
                 "alphas": np.array([state["alpha"]])}  # fmt: skip
    return {name: np.ascontiguousarray(value) for name, value in draws.items()}


def components(draws: dict[str, NDArray], units: Units, dtype) -> NDArray:
    """(z, 1, mean + b) of every draw in units of the data, below each other: S·(k + 2) rows."""
    items = draws["draws"] * units.of_free(draws["draws"].shape[2] + 1)
    S, m, d = items.shape
    Z = np.ones((S, d + 1, m))
    Z[:, : d - 1] = items[:, :, :-1].transpose(0, 2, 1)
    Z[:, d] = units.mean + items[:, :, -1]
    return Z.reshape(S * (d + 1), m).astype(dtype)


def codes(draws: dict[str, NDArray], standard: Observed, units: Units, shift: NDArray | None = None) -> NDArray:
    """Codes (u, a, 1)/S of the rows of a table, drawn given each draw of the components, side by side.

    `standard` is the standardised table; the codes are in units of the data. `shift` (rows × S × d) is what features
    add to the prior means of the rows.

    The random numbers are the same for every row and come in pairs of opposite sign: a row's codes depend on nothing
    but its own entries, spread as they should, and their mean is nearly exact.
    """
    table, items = standard.by_row, draws["draws"]
    S, m, d = items.shape
    U = np.ones((table.n_rows, S, d + 1))
    data, normal = table.data.astype(np.float64), np.random.default_rng(0).standard_normal((S, d))
    normal[1::2] = -normal[: S - S % 2 : 2]
    for s in range(S):
        H = np.hstack([items[s][:, :-1], np.ones((m, 1))])
        hyper = {"precision": draws["precisions"][s], "mean": draws["means"][s]}
        rest = data - items[s][table.indices, -1]
        alpha, numbers = float(draws["alphas"][s]), _every_row(normal[s], table)
        if shift is None:
            U[:, s, :d] = draw_rows(table, rest, H, hyper, alpha, numbers)
        else:
            U[:, s, :d] = draw_about(table, rest, H, hyper["mean"] + shift[:, s], hyper["precision"], alpha, numbers)
    U[:, :, :d] *= units.of_free(d + 1)
    return (U / S).reshape(table.n_rows, S * (d + 1)).astype(standard.dtype)


def _every_row(numbers: NDArray, table) -> NDArray:
    return np.broadcast_to(numbers, (table.n_rows, len(numbers))).copy()


def spread(noise: float, S: int, U: NDArray, Z: NDArray) -> NDArray:
    """Standard deviation of ratings with codes U and components Z (pairs × width of S draws): draws and noise."""
    each = (U.astype(np.float64) * Z).reshape(len(U), S, -1).sum(axis=2) * S
    return np.sqrt(each.var(axis=1) + noise**2)
