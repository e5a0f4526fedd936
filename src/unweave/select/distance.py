"""How far two clusterings of the same points are apart, whatever their labels are called."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def clustering_distance(a, b) -> float:
    """The share of points on which two clusterings disagree, under the relabelling that suits them best.

    d(a, b) = 1 − max over π of Σ_i [a_i = π(b_i)] / n, where π pairs every label of `b` with at most one of `a`; the
    best π is found by the Hungarian method on the table of how often labels meet. 0 says that both are the same
    clustering; it is symmetric, obeys the triangle inequality and stays below 1. Points, not entries of the one-hot
    tables, are counted: ‖Z − πZ′‖₀ counts each of them twice.

    The numbers of labels may differ: a label that is left without a partner disagrees on all of its points. Points
    without a label on either side (−1, None, NaN, or masked) are left out; at least one must remain.

    Parameters
    ----------
    a, b : arrays (n,)
        Labels: numbers or text.

    Examples
    --------
    >>> clustering_distance([0, 0, 1, 1], [5, 5, 3, 3])
    0.0
    >>> clustering_distance([0, 0, 1, 1], [0, 1, 1, 1])
    0.25
    >>> clustering_distance(["x", "x", "y"], [2, 2, None])
    0.0

    References
    ----------
    Kuhn (1955), The Hungarian method for the assignment problem. Meilă (2007), Comparing clusterings, section 3.
    """
    (a, seen_a), (b, seen_b) = _codes(a, "a"), _codes(b, "b")
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} labels and b has {len(b)}: give two labellings of the same points")
    both = seen_a & seen_b
    if not both.any():
        raise ValueError("a and b have no labelled point in common, so nothing can be compared")
    return disagreement(a[both], b[both])


def disagreement(a: NDArray, b: NDArray) -> float:
    """:func:`clustering_distance` of whole numbers from 0, nothing missing."""
    from scipy.optimize import linear_sum_assignment

    width = int(b.max()) + 1
    meetings = np.bincount(a.astype(np.int64) * width + b, minlength=(int(a.max()) + 1) * width).reshape(-1, width)
    rows, columns = linear_sum_assignment(meetings, maximize=True)
    return (len(a) - int(meetings[rows, columns].sum())) / len(a)


def _codes(labels: Any, name: str) -> tuple[NDArray, NDArray]:
    """Labels as 0, 1, 2, … and where there is one."""
    hidden = np.ma.getmaskarray(labels) if isinstance(labels, np.ma.MaskedArray) else False
    values = np.asarray(np.ma.getdata(labels) if isinstance(labels, np.ma.MaskedArray) else labels)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} must hold one label for each point, at least one, got shape {values.shape}")
    if values.dtype.kind not in "biufUSO":
        raise TypeError(f"{name} must hold labels (numbers or text), got {values.dtype}")
    if values.dtype.kind == "O":
        seen = np.array([not _missing(label) for label in values])
        values = np.array([str(label) for label in values])
    else:
        seen = values == values
        if values.dtype.kind in "if":
            seen &= values != -1
    return np.unique(values, return_inverse=True)[1].reshape(-1), seen & ~np.asarray(hidden)


def _missing(label: Any) -> bool:
    return label is None or label != label or (not isinstance(label, str) and label == -1)
