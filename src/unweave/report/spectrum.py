"""Facts about how much each further component would add."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unweave.report.parts import in_columns
from unweave.report.view import View

_MOST = 50
_ROWS = 2000
_ENTRIES = 4_000_000


def spectrum_facts(model: Any, view: View | None) -> dict | None:
    """Shares in falling order and where they bend: of the table or a sample of it, else as the model has them."""
    if not in_columns(model):
        return None
    centred = any(hasattr(model, name) for name in ("cluster_centers_", "labels_", "noise_variance_"))
    if view is not None and view.X is not None and view.complete and min(view.n_rows, view.n_columns) >= 3:
        return _of_table(view, centred)
    ratio = getattr(model, "explained_variance_ratio_", None)
    if ratio is not None and len(ratio) > 1 and hasattr(model, "noise_variance_"):
        return _described(np.asarray(ratio, dtype=np.float64), "the model", centred=True)
    return None


def _of_table(view: View, centred: bool) -> dict | None:
    from unweave.solve.svd import truncated_svd

    rows = view.sample(max(3, min(_ROWS, _ENTRIES // view.n_columns)))
    part = view.take(rows)
    k = min(_MOST if not view.sparse else 20, *part.shape)
    svd = truncated_svd(part, k, shift="mean" if centred else None, codes=False)
    total = float(svd.total)
    if not total > 0:
        return None
    seen = "every row" if len(rows) == view.n_rows else f"{len(rows):,} rows drawn at random"
    return _described(np.square(svd.s.astype(np.float64)) / total, seen, centred)


def _described(shares: NDArray, seen: str, centred: bool) -> dict:
    shares = np.maximum(shares, 0)
    # Without centring the first direction is mostly the mean of the rows, and would hide any other bend.
    lead = 0 if centred else 1
    bend = knee(shares[lead:])
    bend = None if bend is None else bend + lead
    return {
        "shares": [float(share) for share in shares[:_MOST]],
        "cumulative": [float(share) for share in np.minimum(np.cumsum(shares), 1)[:_MOST]],
        "knee": bend,
        "of": "of the variance" if centred else "of the sum of squares",
        "centred": centred,
        "seen": seen,
    }


def knee(shares: NDArray) -> int | None:
    """How many components come before the bend: where the curve lies farthest below the line through its ends.

    None when there are fewer than four values or no clear bend.

    >>> knee(np.array([0.5, 0.3, 0.05, 0.04, 0.03, 0.02]))
    2
    """
    n = len(shares)
    if n < 4 or not shares[0] > shares[-1]:
        return None
    y = (shares - shares[-1]) / (shares[0] - shares[-1])
    below = 1 - np.arange(n) / (n - 1) - y
    at = int(np.argmax(below))
    return at if at > 0 and below[at] > 0.1 else None
