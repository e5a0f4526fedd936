"""Lay vectors out in the plane, so that those near each other by cosine stay near: what a map of words shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave import parallel
from unweave.linalg.nearest import unit_rows
from unweave.linalg.scores import top_columns

if TYPE_CHECKING:
    from unweave.embed.vectors import Vectors

# Set on the 1000 most frequent words of GloVe's vectors of Wikipedia: neighbours kept after so many steps.
_NEIGHBOURS = 10
_EARLY, _STEPS, _PULL = 60, 240, 12.0
SHOWN_NEAR = 10  # neighbours listed for a word


def principal_plane(rows: NDArray) -> NDArray[np.float64]:
    """The two coordinates in which rows differ most; a column of zeros where there is but one.

    The farthest row of each axis (the first of equals) is on the positive side, so that a map repeats.

    >>> principal_plane(np.array([[0.0, 0, 1], [0, 0, 5]])).tolist()
    [[2.0, 0.0], [-2.0, 0.0]]
    """
    rows = np.asarray(rows, dtype=np.float64)
    centred = rows - rows.mean(axis=0)
    values, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :2][:, values[::-1][:2] > 1e-12 * max(values[-1], 1e-300)]
    spots = centred @ axes
    far = spots[np.abs(spots.round(9)).argmax(axis=0), np.arange(spots.shape[1])]
    spots = spots * np.where(far < 0, -1, 1)
    return np.hstack([spots, np.zeros((len(rows), 2 - spots.shape[1]))]) + 0.0


def neighbour_map(rows: NDArray) -> NDArray[np.float64]:
    """Places in the plane, found by t-SNE's descent from the principal plane, where each row pulls its ten nearest.

    The similarities of t-SNE are those of the graph of nearest neighbours, all alike, which changes maps hardly and
    needs no search for widths. Nothing is drawn, so a map repeats. Costs about 300·n² operations: for a few thousand.

    References
    ----------
    van der Maaten and Hinton (2008), Visualizing data using t-SNE.
    Böhm, Berens and Kobak (2022), Attraction–repulsion spectrum in neighbor embeddings.

    Examples
    --------
    >>> two = np.repeat(np.eye(2), 20, axis=0) + 0.01 * np.random.default_rng(0).random((40, 2))
    >>> spots = neighbour_map(two)
    >>> middles = spots[:20].mean(axis=0), spots[20:].mean(axis=0)
    >>> bool(np.linalg.norm(middles[0] - middles[1]) > 2 * spots[:20].std())
    True
    """
    units = unit_rows(rows)
    n = len(units)
    start = principal_plane(units)
    if n < 5:
        return start
    pulls = _pulls(units)
    spots = (1e-4 / max(float(start.std(axis=0)[0]), 1e-300) * start).astype(np.float32)
    spots[:, 1] += np.float32(1e-6) * np.cos(np.arange(n, dtype=np.float32))  # rows on one line may leave it
    speed, gains = np.zeros_like(spots), np.ones_like(spots)
    rate = np.float32(max(n / _PULL / 4, 1.0))
    scratch = np.empty((2, n, n), np.float32)
    with parallel.single_blas():
        for step in range(_EARLY + _STEPS):
            early = step < _EARLY
            slope = _slope(pulls, spots, np.float32(_PULL if early else 1.0), scratch)
            gains = np.where(slope * speed < 0, gains + np.float32(0.2), gains * np.float32(0.8)).clip(0.01)
            speed = np.float32(0.5 if early else 0.8) * speed - rate * gains * slope
            spots = spots + speed
            spots -= spots.mean(axis=0)
    return spots.astype(np.float64)


def _pulls(units: NDArray) -> sp.csr_array:
    """The graph of nearest neighbours, both ways, its entries adding up to one."""
    n = len(units)
    k = min(_NEIGHBOURS, n - 1)
    near, _ = top_columns(units, np.ascontiguousarray(units.T), k + 1)
    rows = np.repeat(np.arange(n), k + 1)
    keep = near.ravel() != rows
    graph = sp.csr_array((np.ones(keep.sum(), np.float32), (rows[keep], near.ravel()[keep])), shape=(n, n))
    both = graph + graph.T
    return sp.csr_array(both / both.sum())


def _slope(pulls: sp.csr_array, spots: NDArray, pull: np.float32, scratch: NDArray) -> NDArray:
    """Four times the slope of KL(P‖Q): pulls along the graph, pushes between all."""
    near, square = scratch
    lengths = np.einsum("ij,ij->i", spots, spots)
    np.matmul(np.float32(-2) * spots, spots.T, out=near)
    near += lengths[:, None] + np.float32(1)
    near += lengths
    np.maximum(near, np.float32(1), out=near)
    np.reciprocal(near, out=near)
    total = near.sum(dtype=np.float64) - len(spots)
    np.multiply(near, near, out=square)
    pushes = (square.sum(axis=1)[:, None] * spots - square @ spots) / np.float32(max(total, 1e-30))
    rows, columns = np.repeat(np.arange(len(spots)), np.diff(pulls.indptr)), pulls.indices
    weights = sp.csr_array((pulls.data * near[rows, columns], pulls.indices, pulls.indptr), shape=pulls.shape)
    attracts = weights.sum(axis=1)[:, None] * spots - weights @ spots
    return np.float32(4) * (pull * attracts - pushes)


# -- what the page shows -----------------------------------------------------------------------------------------------


def map_facts(vectors: Vectors, most: int = 1000, source: str = "") -> dict:
    """Collect what a map of the first `most` words shows, as lists of texts and whole numbers.

    Words are named by their numbers on the map; a neighbour that is not on it comes by its name.
    """
    units = vectors.units()
    (on,) = np.nonzero(units[:most].any(axis=1))
    if not len(on):
        raise ValueError("all vectors are zero: there is nothing to draw")
    spots = neighbour_map(units[on])
    low, span = spots.min(axis=0), max(float(np.ptp(spots, axis=0).max()), 1e-9)
    places = np.rint(1000 * (spots - low) / span).astype(int)
    number = {int(i): j for j, i in enumerate(on)}
    near, cosines = vectors.nearest(units[on], SHOWN_NEAR + 1)
    lists, scores = [], []
    for i, row, values in zip(on, near, cosines, strict=True):
        kept = [(int(p), float(v)) for p, v in zip(row, values, strict=True) if p != i and p >= 0][:SHOWN_NEAR]
        lists.append([number.get(p, str(vectors.symbols[p])) for p, _ in kept])
        scores.append([round(1000 * v) for _, v in kept])
    return {
        "symbols": len(vectors),
        "components": vectors.n_components,
        "source": source,
        "words": [str(vectors.symbols[i]) for i in on],
        "x": places[:, 0].tolist(),
        "y": (places[:, 1].max() - places[:, 1]).tolist(),
        "near": lists,
        "cosines": scores,
        "counts": None if vectors.counts is None else [int(vectors.counts[i]) for i in on],
    }
