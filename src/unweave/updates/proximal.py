"""Proximal gradient, accelerated: the update that can do every half-step."""

from __future__ import annotations

from unweave.updates.base import Half, Update, no_worse
from unweave.updates.descent import descend


class Proximal(Update):
    """F ← prox(F − step·∇f(F), step), with FISTA's momentum where the penalty is convex.

    Projected gradient when the penalty is a constraint, ISTA/FISTA when it is ℓ1. With the step 1/L the plain form
    never raises the objective even on sets that are not convex (each step minimises a bound that touches it); momentum
    is therefore used for convex penalties only, and its result is kept only where it is no worse.

    References
    ----------
    Beck and Teboulle (2009), A fast iterative shrinkage-thresholding algorithm. O'Donoghue and Candès (2015), Adaptive
    restart for accelerated gradient schemes.
    """

    name = "proximal"
    title = "accelerated proximal gradient"
    general = True

    def refuses(self, model, half):
        keeps_sign = half.penalty.nonnegative or half.penalty.is_fixed
        if model.nonnegative and not keeps_sign:
            return (
                "the loss needs predictions that are not negative: use 'nonnegative', 'simplex' or another "
                f"non-negative constraint instead of {half.penalty.name!r}"
            )
        return None

    def __call__(self, model, F, half, effort):
        new = descend(model, F, _move(half), effort, tied=half.tied, accelerate=half.penalty.convex)
        return no_worse(model, F, new, half)


def _move(half: Half):
    def move(F, gradient, step):
        return half.prox(F - step * gradient, step)

    return move
