"""Do one of Lloyd's steps for the rows of one block: labels and bounds stay with them, sums and counts are handed back.

These are tasks of :mod:`unweave.scale.visits`: they run wherever the block is, and know of other blocks only what is
asked of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from unweave.data.storage import as_dense, row_squares
from unweave.group.kmeans.labels import nearest_by_entries
from unweave.group.kmeans.lloyd import add_moves
from unweave.group.kmeans.passes import LongRows, PassChoice, ShortRows, assign, row_norms, squares_to_own

_GRAIN = {True: 4.0, False: 8.0}  # times the precision: a row this near to its centre lies on it


def rows_by(choice: PassChoice, X: NDArray, k: int, norms: NDArray) -> ShortRows | LongRows:
    """Make the pass over these rows that was chosen."""
    return (ShortRows if choice.method == "low" else LongRows)(X, k, choice.groups, norms)


@dataclass(frozen=True)
class Asked:
    """Say what every block is asked for.

    Parameters
    ----------
    centres : array (k, m)
        Less `shift`, as the rows are.
    shift : array (m,)
    arrays : bool
        Whether every block is an array with all entries seen.
    choice : PassChoice, optional
        With which bounds rows are labelled; afresh if none.
    paths : dict
        How far the centres went since the bounds were made.
    afresh : bool
        Whether sums are those of all rows, or only of rows that have moved.
    losses : bool
        Whether the loss of every row is added up, from differences.
    wanted : int
        Rows far from their centres to hand back, for clusters that have none.
    labels : bool
        Whether the labels are handed back.
    """

    centres: NDArray
    shift: NDArray
    arrays: bool
    choice: PassChoice | None = None
    paths: dict[str, Any] = field(default_factory=dict)
    afresh: bool = True
    losses: bool = False
    wanted: int = 0
    labels: bool = False


def lloyd_visit(block, asked: Asked, own: dict | None) -> tuple[dict, dict]:
    """Label the rows of a block and sum over its clusters; labels and bounds are kept with them."""
    own = own or {}
    summary, labels, kept = (_array_visit if asked.arrays else _entries_visit)(block, asked, own)
    small = labels.astype(np.min_scalar_type(max(1, len(asked.centres) - 1)), copy=False)
    summary["moved"] = len(labels) if "labels" not in own else int(np.count_nonzero(own["labels"] != small))
    if asked.labels:
        summary["labels"] = [small]
    kept["labels"] = small
    if "weights" in own:
        kept["weights"] = own["weights"]
    return summary, kept


def _array_visit(block, asked: Asked, own: dict) -> tuple[dict, NDArray, dict]:
    X = np.ascontiguousarray(as_dense(block.X))
    if asked.shift.any():
        X = X - asked.shift
    n, k = len(X), len(asked.centres)
    weights, stride = own.get("weights", np.ones(1)), int("weights" in own)
    old = own["labels"].astype(np.int32) if "labels" in own else np.full(n, -1, np.int32)
    labels, bounds = _labelled(X, asked, own, old)
    sums, counts = np.zeros(asked.centres.shape), np.zeros(k)
    add_moves(X, weights, stride, np.full_like(old, -1) if asked.afresh else old, labels, sums, counts)
    summary: dict[str, Any] = {"sums": sums, "counts": counts}
    if asked.afresh:
        summary["total"] = _weighed(row_norms(X), weights, stride)
    if asked.losses or asked.wanted:
        squares = squares_to_own(X, asked.centres, labels)
        if asked.losses:
            summary["losses"] = 0.5 * _weighed(squares, weights, stride)
        if asked.wanted:
            sizes = row_norms(X) + float(np.square(asked.shift, dtype=np.float64).sum())
            grain = (_GRAIN[True] * float(np.finfo(X.dtype).eps)) ** 2
            costs = np.where((squares <= grain * sizes) | (weights == 0.0), 0.0, squares)
            summary.update(_farthest(costs, labels, weights, asked.wanted, k, lambda rows: (X[rows], None)))
    return summary, labels, bounds


def _labelled(X: NDArray, asked: Asked, own: dict, old: NDArray) -> tuple[NDArray, dict]:
    """Find the nearest centre of each row, and the bounds to keep; those that were kept stay as they are."""
    if asked.choice is None:
        return assign(X, asked.centres)[0], {}
    norms = row_norms(X) if asked.choice.method == "high" else np.empty(0)
    rows = rows_by(asked.choice, X, len(asked.centres), norms)
    state: dict[str, Any]
    if "upper" in own:
        state = {**asked.paths, "upper": own["upper"].copy(), "lower": own["lower"].copy()}
    else:
        state = {**rows.reset({"centres": asked.centres, **asked.paths}), **asked.paths}
    labels = rows.labels(state, asked.centres, old)
    return labels, {"upper": state["upper"], "lower": state["lower"]}


def _entries_visit(block, asked: Asked, own: dict) -> tuple[dict, NDArray, dict]:
    """Label rows by the entries seen; counts are those of each column."""
    n, k = block.shape[0], len(asked.centres)
    weights = own.get("weights", np.ones(n))
    labels, losses = nearest_by_entries(block, asked.centres)
    values, seen = block.values_and_seen()
    rows = sp.csr_array((weights, (labels, np.arange(n))), shape=(k, n))
    sums = as_dense(rows @ values)
    counts = np.asarray(rows.sum(axis=1)).reshape(-1, 1) if seen is None else as_dense(rows @ seen)
    squares = row_squares(values)
    summary: dict[str, Any] = {
        "sums": sums,
        "counts": np.broadcast_to(counts, sums.shape).astype(np.float64),
        "total": float(weights @ squares),
        "losses": float(weights @ losses),
    }
    if asked.wanted:
        grain = _GRAIN[False] * float(np.finfo(block.dtype).eps)
        costs = np.where((losses <= grain * squares) | (weights == 0.0), 0.0, 2.0 * losses)
        summary.update(_farthest(costs, labels, weights, asked.wanted, k, lambda rows: _dense(block, rows)))
    return summary, labels, {}


def _dense(block, rows: NDArray) -> tuple[NDArray, NDArray | None]:
    part = block.take(rows)
    return part.dense_rows(0, len(rows))


def _farthest(costs: NDArray, labels: NDArray, weights: NDArray, many: int, k: int, read) -> dict:
    """Take the rows that cost most: what they are, cost and weigh, and how many rows of each cluster can be spared."""
    apart = np.flatnonzero(costs > 0.0)
    order = apart[np.argsort(-costs[apart], kind="stable")[:many]]
    X, seen = read(order)
    weighty = np.broadcast_to(weights > 0.0, len(labels))
    return {
        "far": [X],
        "far_seen": [np.ones(X.shape) if seen is None else np.asarray(seen, dtype=np.float64)],
        "far_costs": [costs[order]],
        "far_labels": [labels[order]],
        "far_weights": [np.broadcast_to(weights, len(labels))[order]],
        "apart": np.bincount(labels[apart], minlength=k),
        "near": np.bincount(labels[(costs == 0.0) & weighty], minlength=k),
    }


def _weighed(numbers: NDArray, weights: NDArray, stride: int) -> float:
    return float(numbers @ weights) if stride else float(numbers.sum())
