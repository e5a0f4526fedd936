"""A factorisation problem: what is asked, without how."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from unweave.losses.base import Loss
from unweave.penalties import Both, L2Ball, Orthonormal, Ridge
from unweave.penalties.base import Penalty
from unweave.solve.progress import warn_user


@dataclass(frozen=True)
class Problem:
    """Loss + penalty on the codes + penalty on the components, for k components.

    `offset` adds a component whose code is held at one (a free row of means). `biases` adds that and a code whose
    component is held at one (a free number for each row).
    """

    n_components: int
    loss: Loss
    codes: Penalty
    components: Penalty
    offset: bool = False
    biases: bool = False
    notes: tuple[str, ...] = field(default=())

    @property
    def width(self) -> int:
        """Columns of U: the components asked for, then the bias code, then the ones."""
        return self.n_components + int(self.biases) + int(self.offset or self.biases)

    @property
    def held_codes(self) -> list[int]:
        """Columns of U that are held at one."""
        return [self.width - 1] if self.offset or self.biases else []

    @property
    def held_components(self) -> list[int]:
        """Rows of Z that are held at one."""
        return [self.n_components] if self.biases else []

    @property
    def is_nuclear(self) -> bool:
        """Whether both sides carry a ridge: together they are the nuclear norm of the product U·Z."""
        return isinstance(self.codes, Ridge) and isinstance(self.components, Ridge)

    def with_note(self, note: str, **changes) -> Problem:
        return replace(self, notes=(*self.notes, note), **changes)


def well_posed(problem: Problem) -> Problem:
    """The problem with what was left unsaid decided: the nuclear norm as two ridges, no side that may run away."""
    problem = _split_nuclear(problem)
    if problem.codes.is_penalty and problem.components.scale_free:
        return _keep_in_ball(problem, "components", "codes")
    if problem.components.is_penalty and problem.codes.scale_free:
        return _keep_in_ball(problem, "codes", "components")
    return problem


def _split_nuclear(problem: Problem) -> Problem:
    for side, other in (("codes", "components"), ("components", "codes")):
        penalty, opposite = getattr(problem, side), getattr(problem, other)
        if not penalty.on_product:
            continue
        if not (opposite.is_free or opposite.on_product):
            raise ValueError(
                f"{side}='nuclear' is a penalty on the product U·Z, so the other side must be 'free', "
                f"not {other}={opposite.name!r}"
            )
        ridge = Ridge(strength=penalty.strength)
        note = f"the nuclear norm of U·Z ({penalty.strength:g}) is the least of ½({penalty.strength:g})(‖U‖² + ‖Z‖²)"
        return problem.with_note(note, codes=ridge, components=ridge)
    return problem


def _keep_in_ball(problem: Problem, bounded: str, penalised: str) -> Problem:
    if getattr(problem, bounded).separable_terms() is None:
        side, penalty = getattr(problem, bounded).name, getattr(problem, penalised).name
        raise ValueError(
            f"{penalised}={penalty!r} beside {bounded}={side!r} has no minimum: the {penalised} shrink and the "
            f"{bounded} grow without end. Leave the penalty on the {penalised} out, or bound the {bounded} by "
            "'l2-ball', 'l1-ball' or 'unit-norm' instead"
        )
    note = (
        f"a penalty on the {penalised} with {getattr(problem, bounded).name} {bounded} has no minimum (their scale "
        f"runs away), so each of the {bounded} is kept in the unit ℓ2 ball"
    )
    warn_user(note + f"; say {bounded}='l2-ball' to agree")
    former, ball = getattr(problem, bounded), L2Ball()
    return problem.with_note(note, **{bounded: Both("nonnegative", ball) if former.nonnegative else ball})


def check_size(problem: Problem, n_rows: int, n_columns: int) -> None:
    """Refuse a number of components that the table cannot carry."""
    k, longest = problem.n_components, max(n_rows, n_columns)
    if problem.codes.picks_one and k > n_rows:
        raise ValueError(f"n_samples={n_rows} should be >= n_components={k}: there cannot be more groups than rows")
    if k > longest and not problem.components.is_fixed:
        raise ValueError(f"n_components={k} is more than the table's longer side ({longest}); use at most {longest}")
    for side, length in (("codes", n_rows), ("components", n_columns)):
        if isinstance(getattr(problem, side), Orthonormal) and k > length:
            raise ValueError(f"{side}='orthonormal' needs n_components <= {length}, got {k}")


def ones_held(problem: Problem, U: np.ndarray, Z: np.ndarray) -> None:
    """Write the held ones into both factors, in place."""
    U[:, problem.held_codes] = 1
    Z[problem.held_components, :] = 1
