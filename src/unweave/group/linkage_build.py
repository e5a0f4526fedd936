"""Which scheme builds a tree, and the loop that runs it."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import NDArray

from unweave.factorization.settings import make_loop
from unweave.group.linkage_single import Single
from unweave.group.linkage_table import MOST_ROWS, Table
from unweave.group.linkage_tree import Merges
from unweave.group.linkage_ward import Ward
from unweave.solve.history import History
from unweave.solve.iterate import iterate
from unweave.solve.plan import Plan

LINKAGES = ("ward", "single", "complete", "average")
METRICS = ("euclidean", "cityblock", "chebyshev", "cosine", "correlation", "hamming")


def build_tree(model, X: NDArray) -> tuple[dict, History, Plan]:
    """All joins of the rows of X by the model's linkage and metric, what happened, and the plan."""
    n, m = X.shape
    if n == 1:
        plan = Plan(f"tree of 1×{m} rows", "none", "", "", "every row alone", ["one row is a tree already"])
        return Merges.none(1), History(), plan
    scheme, title, why = _scheme(X, model.linkage, model.metric)
    # A tree is complete or not, so the loop has no limits of the user's to heed.
    loop = make_loop(_Unlimited(model, n), X)
    loop = replace(loop, tol=None, bar=type(model).__name__ if model.verbose else None)
    state, history = iterate(scheme.step, scheme.start(), loop, settled=Merges.complete)
    if Merges.complete(state):
        history.stopped = "the tree is complete"
        if loop.checkpoint is not None:
            loop.checkpoint.remove()
    return state, history, Plan(f"tree of {n}×{m} rows", title, "", "", "every row alone", [why])


class _Unlimited:
    """A model as the loop sees it, with as many iterations as there are joins."""

    def __init__(self, model, n: int):
        self.callback, self.checkpoint, self.verbose = model.callback, model.checkpoint, model.verbose
        self.max_iter, self.tol, self.get_params = n, 0.0, model.get_params


def _scheme(X: NDArray, linkage: str, metric: str):
    """The scheme that builds the tree, its title and why it was chosen."""
    if linkage == "ward":
        return Ward(X), "mutual nearest neighbours, means in tiles", "Ward needs only means and sizes: O(n) memory"
    if linkage == "single" and metric == "euclidean":
        return Single(X), "minimum spanning tree, rows in tiles", "its edges are the joins: O(n) memory"
    if len(X) > MOST_ROWS:
        raise ValueError(
            f"linkage={linkage!r} with metric={metric!r} keeps all distances of {len(X)} rows, and {MOST_ROWS} is the "
            "limit (1 GiB): use linkage='ward' or 'single' with metric='euclidean', or fit a sample of the rows"
        )
    why = "needs the distance of every pair of rows"
    return Table(X, linkage, metric), "mutual nearest neighbours in a table of distances", why
