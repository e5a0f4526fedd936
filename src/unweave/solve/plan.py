"""The planner: reads a problem, picks the fastest right method, and says which and why."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from unweave.objectives import Objective
from unweave.objectives.models import RowModel
from unweave.solve.alternate import Alternate, AlternateMixtures, Extrapolated, sides
from unweave.solve.closed import ClosedForm, Spectral, why_not_closed
from unweave.solve.in_blocks import in_blocks, sums_for, why_not_one_visit
from unweave.solve.problem import Problem
from unweave.solve.scheme import FactorScheme
from unweave.solve.soft_impute import Shrinkage, why_not_shrinkage
from unweave.solve.start import STARTS, choose_start, first_block, make_start
from unweave.updates import UPDATES, Half, Proximal, Update

JOINT = ("svd", "power", "shrinkage")
_ENTRIES_EACH = 5  # observed entries for each unknown below which an unpenalised fit overfits


@dataclass
class Plan:
    """Which method was chosen for a problem, and why. Prints as text."""

    problem: str
    solver: str
    codes: str
    components: str
    start: str
    reasons: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [f"Problem: {self.problem}", f"Solver: {self.solver}"]
        if self.codes:
            lines += [f"  codes: {self.codes}", f"  components: {self.components}"]
        lines.append(f"Start: {self.start}")
        return "\n".join(lines + [f"- {reason}" for reason in self.reasons])

    def as_dict(self) -> dict:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def describe(objective: Objective, problem: Problem) -> str:
    """The problem as a sentence."""
    n, m = objective.shape
    partly = objective.is_sparse and not objective.complete
    kind = "partly observed table" if partly else "sparse" if objective.is_sparse else "dense"
    kind = "table" if objective.in_blocks else kind
    data = "" if objective.complete or partly else ", partly observed or weighted"
    blocks = " in blocks" if objective.in_blocks else ""
    return (
        f"{n}×{m} {kind}{blocks}{data} ≈ codes ({problem.codes.name}) · {problem.n_components} components "
        f"({problem.components.name}), {problem.loss.name} loss"
    )


def make_plan(
    objective: Objective, problem: Problem, solver: str, init, rng, tol: float | None = None
) -> tuple[Plan, FactorScheme, dict]:
    """The plan in words, the scheme that carries it out, and the state it begins with."""
    known = ("auto", *JOINT, *(update.name for update in UPDATES))
    if not isinstance(solver, str) or solver not in known:
        raise ValueError(f"solver={solver!r} is not known; use one of {', '.join(known)}")
    check_init(init)
    joint = _joint(objective, problem, solver, init, rng, tol)
    if joint is not None:
        scheme, title, why = joint
        plan = Plan(describe(objective, problem), title, "", "", "none needed", [*problem.notes, why])
        return plan, scheme, scheme.begin()
    return alternating(objective, problem, solver, init, rng)


def _joint(objective, problem: Problem, solver: str, init, rng, tol):
    """A scheme that finds both factors at once, or None."""
    closed, shrink = why_not_closed(objective, problem), why_not_shrinkage(objective, problem)
    if solver in ("svd", "power") and closed:
        raise ValueError(f"solver={solver!r} cannot do this problem: {closed}")
    if solver == "shrinkage":
        if closed is None and problem.is_nuclear:
            return (
                ClosedForm(objective, problem, "auto", rng, tol),
                "singular-value shrinkage",
                "one step is exact here",
            )
        if shrink:
            raise ValueError(f"solver='shrinkage' cannot do this problem: {shrink}")
        return Shrinkage(objective, problem, rng, tol), "singular-value shrinkage", "holes are filled by the prediction"
    if solver == "power":
        return ClosedForm(objective, problem, "power", rng, tol), "power method with deflation", "as asked"
    given = not isinstance(init, str) and init is not None
    if closed is None and (solver == "svd" or (solver == "auto" and not given)):
        scheme = ClosedForm(objective, problem, "auto", rng, tol)
        why = "squared loss, everything observed: the leading singular vectors are the answer"
        return scheme, *spectral_words(scheme, "closed form (singular value decomposition)", why)
    return None


def spectral_words(scheme: Spectral, closed: str, why: str) -> tuple[str, str]:
    """Title and reason of a scheme that decomposes the table at once, or searches for its triplets."""
    if scheme.search is None:
        return closed, f"{why}, no loop is needed"
    method = "block Krylov method" if scheme.search.method == "krylov" else "power method with deflation"
    return method, f"{why}; the table is only multiplied, being too large to decompose at once or as asked"


def alternating(objective: Objective, problem: Problem, solver: str, init, rng) -> tuple[Plan, FactorScheme, dict]:
    """The plan, the scheme and the first state of a fit by alternating half-steps."""
    mixtures = problem.components.mixes_rows
    if mixtures and objective.in_blocks:
        raise ValueError(
            f"components={problem.components.name!r}, mixtures Z = W·X of all rows, needs X as one table in memory, "
            "not as a sequence of blocks: stack them (numpy.vstack, or scipy.sparse.vstack)"
        )
    if mixtures and not objective.complete:
        raise ValueError(
            f"components={problem.components.name!r} are mixtures Z = W·X of all rows: every entry of X must be "
            "observed; fill those that are missing first (unweave.TableImputer)"
        )
    if mixtures and objective.n_predictions != objective.shape[1]:
        raise ValueError(
            f"components={problem.components.name!r} are mixtures of rows of X, but loss={problem.loss.name!r} takes "
            "several numbers to predict a column, one for each step or kind: choose other components ('free', "
            "'ridge'), or a loss in the units of X ('squared', 'huber')"
        )
    left, right = _choose_sides(objective, problem, solver)
    start, why = _name_of_start(objective, problem, init)
    plan = Plan(
        describe(objective, problem), "alternating half-steps", left.title, _right_title(problem, right), start,
        [*problem.notes, f"start: {why}", *_wild(objective, problem)],
    )  # fmt: skip
    if mixtures:
        of_rows = AlternateMixtures(objective, problem, left, right)
        return plan, of_rows, of_rows.begin(rng)
    U, Z = given_start(objective, problem, init) if start == "given" else make_start(objective, problem, start, rng)
    ahead = left.looks_ahead and right.looks_ahead and objective.complete
    ahead = ahead and problem.codes.nonnegative and problem.components.nonnegative
    if ahead:
        plan.solver = "alternating half-steps that look ahead (extrapolated)"
    several = why_not_one_visit(objective, problem) if objective.in_blocks else None
    if objective.in_blocks and several is None:
        blocked = in_blocks(objective, problem, left, right, ahead)
        plan.components = "fixed" if blocked.sums is None else f"{blocked.right.title}, {blocked.sums.title}"
        if start not in ("given", "random"):
            rows = objective.standing().shape[0]
            plan.reasons.append(f"the start is that of {rows} rows of all blocks, which one visit gathers")
        plan.reasons.append(f"each of the {len(objective.bounds) - 1} blocks is loaded once an iteration")
        return plan, blocked, blocked.start(U, Z)
    if several is not None:
        plan.reasons.append(several)
    scheme = (Extrapolated if ahead else Alternate)(objective, problem, left, right)
    return plan, scheme, scheme.start(U, Z)


def _wild(objective, problem: Problem) -> list[str]:
    """A word of caution where the observed entries are too few to hold the factors down."""
    (n, m), k = objective.shape, problem.n_components
    held = problem.codes.is_penalty or problem.components.is_penalty or problem.components.is_fixed
    if objective.complete or held or objective.n_observed >= _ENTRIES_EACH * k * (n + m):
        return []
    share = objective.n_observed / (k * (n + m))
    return [
        f"only {share:.1f} observed entries for each number to be found and no penalty on either side: predictions of "
        "the other entries may be wild; fewer components, or codes='ridge' and components='ridge', tame them"
    ]


def _choose_sides(objective, problem: Problem, solver: str) -> tuple[Update, Update]:
    """An update for each side: the named solver where it can, the planner's choice where it cannot."""
    chosen: list[Update] = []
    refusals: list[str] = []
    for side, model, half in zip(("codes", "components"), _probes(objective, problem), sides(problem), strict=True):
        penalty = getattr(problem, side)
        if side == "components" and (penalty.mixes_rows or penalty.is_fixed):
            chosen.append(Proximal())
            continue
        update = choose_update(solver, model, half)
        if isinstance(update, str):
            refusals.append(update)
            update = choose_update("auto", model, half)
        if isinstance(update, str):
            raise ValueError(f"{side}={penalty.name!r} cannot be solved with loss={problem.loss.name!r}: {update}")
        chosen.append(update)
    free_sides = 1 if problem.components.mixes_rows or problem.components.is_fixed else 2
    if len(refusals) == free_sides:
        raise ValueError(f"solver={solver!r} cannot do this problem: {refusals[0]}")
    return chosen[0], chosen[1]


def _name_of_start(objective, problem: Problem, init) -> tuple[str, str]:
    if init is not None and not isinstance(init, str):
        return "given", "as given"
    return choose_start(objective, problem) if init in (None, "auto") else (init, "as asked")


def _right_title(problem: Problem, right: Update) -> str:
    if problem.components.is_fixed:
        return "fixed"
    return f"{right.title} on the weights of the rows" if problem.components.mixes_rows else right.title


def _probes(objective: Objective, problem: Problem) -> tuple[RowModel, RowModel]:
    """Row models of a tiny piece of the table, to ask updates what they refuse."""
    k, dtype = problem.width, objective.dtype
    piece = first_block(objective)
    small = piece.take(np.arange(min(2, piece.shape[0]))) or piece
    U = np.ones((small.shape[0], k), dtype=dtype)
    Z = np.ones((k, objective.n_predictions), dtype=dtype)
    codes, components = small.rows_given(Z), small.columns_given(U)
    sums = sums_for(objective, problem) if objective.in_blocks else None
    if sums is not None and problem.codes.separable:
        components = sums.model(sums.of(small, U, Z), Z)
    elif objective.in_blocks and not (objective.squared and objective.complete):
        from unweave.objectives.models import SmoothColumns, SmoothRows

        codes, components = SmoothRows(small, Z), SmoothColumns(small, U)
    # The shapes that matter (more rows than components?) are those of the whole table.
    codes.shape, components.shape = (objective.shape[0], k), (objective.n_predictions, k)
    return codes.hold(U, problem.held_codes), components.hold(np.ascontiguousarray(Z.T), problem.held_components)


def choose_update(solver: str, model: RowModel, half: Half) -> Update | str:
    """The named update, or for "auto" the first that does not refuse; otherwise the reason in words."""
    named = [update for update in UPDATES if update.name == solver]
    reason = ""
    for update in named or UPDATES:
        refusal = update.refuses(model, half)
        if refusal is None:
            return update
        reason = reason or refusal
        if update.general and not named:
            reason = refusal
    return reason


def check_init(init) -> None:
    """Raise unless `init` is a known name or arrays."""
    if init is None or (isinstance(init, str) and init in STARTS):
        return
    if isinstance(init, str):
        raise ValueError(
            f"init={init!r} is not known; use one of {', '.join(STARTS)}, components, or (codes, components)"
        )
    for part in init if isinstance(init, tuple) else (init,):
        if np.ndim(part) != 2:
            raise ValueError("init must be an array of components (k × columns) or a tuple (codes, components)")


def given_start(objective: Objective, problem: Problem, init) -> tuple[NDArray | None, NDArray]:
    """Codes (or None) and components that the user gave, checked and with room for what the problem adds."""
    codes, components = init if isinstance(init, tuple) else (None, init)
    k, n, columns = problem.n_components, objective.shape[0], objective.n_predictions
    Z = np.zeros((problem.width, columns), dtype=objective.dtype)
    Z[:k] = _given("components", components, (k, columns))
    if codes is None:
        return None, Z
    U = np.zeros((n, problem.width), dtype=objective.dtype)
    U[:, :k] = _given("codes", codes, (n, k))
    return U, Z


def _given(name: str, values, shape: tuple[int, int]) -> NDArray:
    values = np.asarray(values, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(f"init: {name} must have the shape {shape}, got {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"init: {name} must be finite numbers")
    return values
