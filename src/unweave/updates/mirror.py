"""Mirror descent on the simplex: multiplicative weights."""

from __future__ import annotations

import numpy as np

from unweave.penalties import Simplex
from unweave.updates.base import Update, no_worse
from unweave.updates.descent import descend


class Mirror(Update):
    """f ← f·exp(−step·∇) / Σ, the gradient step in the geometry of the simplex.

    Keeps every code a distribution without projecting. For rows of U on the simplex with a smooth loss; steps are 1/L
    (the entropy is 1-strongly convex in the ℓ1 norm, which is never below the ℓ2 norm), or found by backtracking on the
    relative entropy. Slower near the boundary than projected gradient, which is why the planner prefers that.

    References
    ----------
    Beck and Teboulle (2003), Mirror descent and nonlinear projected subgradient methods for convex optimization.
    """

    name = "mirror"
    title = "mirror descent (multiplicative weights)"

    def refuses(self, model, half):
        if not isinstance(half.penalty, Simplex):
            return f"mirror descent needs a simplex constraint, not {half.penalty.name!r}"
        return None

    def __call__(self, model, F, half, effort):
        axis = 0 if half.transposed else 1
        start = np.maximum(F, np.finfo(F.dtype).eps)  # a weight of exactly zero would stay there
        start /= start.sum(axis=axis, keepdims=True)

        def move(F, gradient, step):
            push = -step * gradient
            push -= push.max(axis=axis, keepdims=True)
            new = F * np.exp(push)
            return new / new.sum(axis=axis, keepdims=True)

        new = descend(model, start, move, effort, tied=half.tied, accelerate=False, distance=_relative_entropy)
        return no_worse(model, F, new, half)


def _relative_entropy(new, old):
    tiny = np.finfo(old.dtype).tiny
    new, old = np.maximum(new, tiny).astype(np.float64), np.maximum(old, tiny).astype(np.float64)
    return (new * np.log(new / old) - new + old).sum(axis=1)
