"""Carry out one fit of ratings: choose, run a scheme in the one loop, and tell what was learned.

The functions here read the parameters of an estimator and return the attributes that it is to have; they set none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unweave.complete.ratings import posterior
from unweave.complete.ratings.answers import Answers
from unweave.complete.ratings.choice import Chosen, choose, given_ridges, prepare_sampler, with_bins
from unweave.complete.ratings.gibbs import Gibbs
from unweave.complete.ratings.growth import Grown
from unweave.complete.ratings.least_squares import CountedAlternate, InformedAlternate, Strengths, Task, alternating
from unweave.complete.ratings.sgd import Descent, how_to_descend
from unweave.complete.ratings.side_information import SideInformation
from unweave.complete.ratings.units import Units
from unweave.complete.recommending.ridge import power_of
from unweave.data.arguments import whole
from unweave.factorization.run import Run
from unweave.objectives import Objective, Observed
from unweave.objectives.observed import observed
from unweave.penalties import Free
from unweave.solve.alternate import Alternate, left_half_step
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan, describe
from unweave.solve.problem import Problem, check_size, well_posed
from unweave.updates import LeastSquares

_MORE_SWEEPS = 3  # over all ratings so far, when more of them come
_ALONE = "biases alone: vectors did not predict held-out ratings clearly better, so there are none"

Factoring = CountedAlternate | InformedAlternate | Descent


class Fitted(NamedTuple):
    """Hold the run of a fit, the attributes that it learned, and its certificate."""

    run: Run
    learned: dict[str, Any]
    certificate: Certificate


def set_task(model, X, objective: Objective, timestamps, features: tuple) -> Task:
    """Check the parameters of a model and what its `fit` was given, and standardise the table."""
    rank = 1 if model.n_components == "auto" else whole(model.n_components, "n_components", 1)
    side = SideInformation.read(X, objective, timestamps, features, model.time_bins, model.time_ridge)
    if not side.nothing:
        objective = observed(objective)
        if how_to_descend(model.solver) is not None:
            raise ValueError(
                f"timestamps and features need alternating least squares or 'gibbs', not solver={model.solver!r}"
            )
    units, power = Units.of(objective), power_of(model.weighting)
    task = Task(units.inward(objective), objective.loss, units, side, power, model.init, model.random_state)
    check_size(task.problem(rank, 0.0), *objective.shape)
    return task


def minimise(model, task: Task, given: tuple) -> Fitted:
    """Fit by least squares or by gradient descent; `given` is what a checkpoint belongs to besides the table."""
    chosen = choose(task, model.n_components, given_ridges(model.ridge, model.bias_ridge))
    task, chosen = with_bins(task, chosen, model.time_bins)
    strengths = Strengths(chosen.ridge, chosen.bias_ridge, task.power)
    problem = well_posed(task.problem(chosen.rank, chosen.ridge))
    check_size(problem, *task.table.shape)
    run, unit, how = Run(model, task.table, *given), task.units.square, how_to_descend(model.solver)
    scheme: Factoring
    if how is None:
        plan, plain, first = task.plan(task.table, problem, run.rng, model.solver)
        scheme = alternating(plain, first, strengths, task.side, unit)
    else:
        plan, plain, first = task.plan(observed(task.table), problem, run.rng)
        plain = Alternate(task.table, problem, plain.left, plain.right)
        scheme = Descent(CountedAlternate(plain, first, strengths, unit), how, run.rng)
        plan.solver, plan.codes, plan.components = "stochastic gradient descent", "", ""
        plan.start += ", made small"
    plan.reasons += _words(chosen, task)
    state = run.through(scheme, plan)
    learned, certificate = of_factors(scheme, state, replace(task.units, held=strengths.held))
    learned |= {"ridge_": chosen.ridge, "bias_ridge_": chosen.bias_ridge, "_left": plain.left}
    return Fitted(run, {**learned, **chosen.published(), "n_components_": chosen.rank}, certificate)


def of_factors(scheme: Factoring, state: dict, units: Units) -> tuple[dict[str, Any], Certificate]:
    """Tell what a scheme has learned, in the units of the data, and how far it is from settled."""
    at, Z = scheme.at(state), units.components_out(state["components"])
    inner = units.offsets_in(Z)  # what `transform` has to work with
    rows = at.objective.rows_given(inner)
    U = left_half_step(at.objective, at.problem, at.left, inner, rows, at.code_half)
    loss = float(at.objective.accurate_value(U, inner, rows))
    found = at.certificate(U, units.components_in(Z), loss)
    learned = {
        "_full_components": Z,
        "_sentence": at.problem,
        "codes_": units.codes_out(U),
        "item_bias_": Z[-1] - Z.dtype.type(units.mean),
        "reconstruction_err_": units.spread * float(np.sqrt(2 * loss)),
        **scheme.records(state, units).published(),
    }
    return learned, replace(found, objective=found.objective * units.square)


def sample(model, task: Task, given: tuple) -> Fitted:
    """Fit by sampling: take the drift off, ask whether vectors pay, run, and tell the draws."""
    ready = prepare_sampler(task, model.n_components, model.ridge, model.time_bins)
    task, rank, maps = ready.task, ready.chosen.rank, ready.maps
    problem, table, units = task.problem(rank, 0.0), observed(task.table), task.units
    check_size(problem, *table.shape)
    run = Run(model, task.table, *given)
    sweeps = run.loop.max_iter
    scheme = Gibbs(table, rank, sweeps, units.square, maps)
    words = f"{scheme.kept} draws are kept of {sweeps} sweeps; a prediction is their mean, with its spread"
    reasons = [*([] if rank else [_ALONE]), *task.side.words(), words]
    title = "Gibbs sampling (Bayesian matrix factorisation)"
    state = run.through(scheme, Plan(describe(task.table, problem), title, "", "", "random", reasons))
    draws = posterior.kept(state)
    records, shift = posterior.side_records(draws, maps, task.side, units)
    records = replace(records, drift=ready.drift)
    Z = posterior.components(draws, units, table.dtype)
    noise = units.spread * float(np.sqrt(np.mean(1 / draws["alphas"])))
    sentence = Problem(len(Z), task.loss, Free(), Free())
    answers = posterior.Posterior(units, Z, sentence, task.loss, records, Strengths(0.0, 0.0, task.power), draws, noise)
    U = answers.codes(table, shift)
    objective = units.square * answers.mean_loss(table, U)
    learned = {
        "_full_components": Z,
        "codes_": U,
        "item_bias_": (units.spread * draws["draws"][:, :, -1].mean(axis=0)).astype(table.dtype),
        "reconstruction_err_": float(np.sqrt(2 * objective)),
        **records.published(),
        **ready.chosen.published(),
        **{"draws_": draws, "noise_": noise, "ridge_": 0.0, "bias_ridge_": 0.0, "n_components_": rank},
        **{"_left": LeastSquares(), "_sentence": sentence},
    }
    return Fitted(run, learned, Certificate.none(objective, 0.0))


def sweep_again(model, grown: Grown, side: SideInformation, former: Answers) -> dict[str, Any]:
    """Sweep over all ratings so far from where a fitted model stands (`former`), and tell what is learned."""
    (n, m), problem, units, dtype = grown.seen.shape, former.problem, former.units, model.codes_.dtype
    U, Z = np.zeros((n, problem.width), dtype), np.zeros((problem.width, m), dtype)
    U[: len(model.codes_)] = units.codes_in(model.codes_)
    Z[:, : model.components_.shape[1]] = units.components_in(model._full_components)
    table = units.inward(Observed(grown.seen.astype(dtype), model._learned.loss))
    plain, first = Alternate(table, problem, model._left, model._left), {"codes": U, "components": Z}
    scheme = alternating(plain, first, former.strengths, side, units.square)
    state, history = iterate(scheme, scheme.resumed(former.records, units), Loop(max_iter=_MORE_SWEEPS, tol=0))
    learned, certificate = of_factors(scheme, scheme.finish(state), units)
    learned |= {"history_": history, "n_iter_": _MORE_SWEEPS, "n_features_in_": m}
    learned |= {"seen_": grown.seen, "user_ids_": grown.user_ids, "item_ids_": grown.item_ids}
    return {**learned, "objective_": certificate.objective, "certificate_": certificate}


def _words(chosen: Chosen, task: Task) -> list[str]:
    """Say in a plan what the rank and the ridges are, and what side information does."""
    power = f"·n^{task.power:g} with n ratings" if task.power else ""
    said = f"ridge, for ratings of spread 1: {chosen.ridge:.3g}{power}; of the biases {chosen.bias_ridge:.3g}"
    return [*([] if chosen.rank else [_ALONE]), said, *task.side.words()]
