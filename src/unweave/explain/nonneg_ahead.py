"""Looking ahead where only the codes are non-negative."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.solve.alternate import Alternate, Extrapolated, half_step, transform_effort

_EXACT = 64  # components up to which exact codes cost no more than the products with the table
_SWEEPS = 20  # of coordinate descent before, which find most of what is zero


class AheadOfFree(Extrapolated):
    """:class:`Extrapolated` with free components: codes are cut at zero when carried on, components are not.

    The start counts as a value already reached, so that the fit never ends above it. Codes are found exactly as long as
    that is cheap: the components of semi-NMF drift towards one another, where coordinate descent hardly moves, and a
    fit that stands still there ends with huge components and a higher objective.
    """

    def start(self, U: NDArray | None, Z: NDArray) -> dict:
        state = super().start(U, Z)
        value = self.objective.accurate_value(state["codes"], state["components"])
        return {**state, "value": value + self.penalties(state["codes"], np.ascontiguousarray(state["components"].T))}

    def step(self, state: dict) -> tuple[dict, float]:
        # Codes and components may be of one shape, so which of the two is carried is told by turns.
        self._of_codes = True
        return super().step(state)

    def improve_codes(self, U: NDArray, Z: NDArray) -> NDArray:
        if U.shape[1] > _EXACT:
            return super().improve_codes(U, Z)
        effort = replace(transform_effort(U.dtype), sweeps=_SWEEPS)
        return half_step(self.objective.rows_given(Z), U, self.code_half, self.left, effort, self.problem.held_codes)

    def _carry(self, new: NDArray, former: NDArray, beta: float) -> NDArray:
        moved = new + new.dtype.type(beta) * (new - former)
        codes, self._of_codes = self._of_codes, False
        return np.maximum(moved, 0) if codes else moved


def look_ahead(plan, scheme, state: dict) -> tuple[object, object, dict]:
    """The plan with an extrapolated scheme, where both halves are those of semi-NMF on a table fully observed."""
    fits = type(scheme) is Alternate and (scheme.left.name, scheme.right.name) == ("coordinate", "least-squares")
    if not fits or not scheme.objective.complete:
        return plan, scheme, state
    ahead = AheadOfFree(scheme.objective, scheme.problem, scheme.left, scheme.right)
    plan.solver = "alternating half-steps that look ahead (extrapolated)"
    return plan, ahead, ahead.start(state["codes"], state["components"])
