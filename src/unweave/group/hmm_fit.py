"""Between the estimator and the scheme: from its parameters to a chain, a fit, and its attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from unweave.data.arguments import number, whole
from unweave.group.hmm_baum_welch import BaumWelch, Priors
from unweave.group.hmm_chain import Chain, Emission
from unweave.group.hmm_choice import stretches
from unweave.group.hmm_discrete import Symbols
from unweave.group.hmm_gaussian import GAUSSIANS, Spread, spread_of
from unweave.group.hmm_input import check_rows, check_symbols
from unweave.group.hmm_segments import cut
from unweave.group.hmm_start import gaussian_start, given_start, symbols_start, within_clusters
from unweave.group.race import race
from unweave.solve.certificate import Certificate
from unweave.solve.iterate import Loop, iterate
from unweave.solve.plan import Plan

_TRIES = {"gaussian": 6, "discrete": 8}
_BLOCK = 1 << 15
_NO_SPREAD = Spread(np.zeros(1), np.ones(1), np.ones(1))  # needed by fits alone


class Fitting:
    """One fit of a :class:`HiddenMarkov`."""

    def __init__(self, model, X: NDArray, lengths: NDArray, k: int):
        if model.emission not in _TRIES:
            raise ValueError(f"emission={model.emission!r} is not known; use 'gaussian' or 'discrete'")
        if model.covariance_type not in GAUSSIANS:
            raise ValueError(f"covariance_type={model.covariance_type!r} is not known; use 'diag' or 'full'")
        self.model, self.X, self.lengths, self.k = model, X, lengths, k
        self.discrete = model.emission == "discrete"
        if self.discrete:
            self.n_symbols = check_symbols(X, k, None)
        else:
            check_rows(X, model.covariance_type)
            self.spread = within_clusters(X, spread_of(X), k)
        self.tries = _TRIES[model.emission] if model.n_init is None else whole(model.n_init, "n_init", 1)
        self.segments = cut(lengths, k)
        priors = (number(getattr(model, name), name) for name in ("start_prior", "transition_prior", "emission_prior"))
        self.scheme = BaumWelch(X, self.segments, Priors(*priors), self._chain, self._arrays)

    def _chain(self, state: dict) -> Chain:
        if self.discrete:
            return Chain(state["start"], state["transition"], Symbols(state["probabilities"]))
        kind = GAUSSIANS[self.model.covariance_type]
        return Chain(state["start"], state["transition"], kind(state["means"], state["covariances"], self.spread))

    def _arrays(self, emission) -> dict[str, NDArray]:
        if self.discrete:
            return {"probabilities": emission.probabilities}
        return {"means": emission.means, "covariances": emission.covariances}

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        k, d = self.k, self.X.shape[1]
        shapes: dict[str, tuple[int, ...]] = {"start": (k,), "transition": (k, k)}
        if self.discrete:
            return {**shapes, "probabilities": (k, self.n_symbols)}
        return {**shapes, "means": (k, d), "covariances": (k, d) if self.model.covariance_type == "diag" else (k, d, d)}

    def _settling(self, X: NDArray, tol: float) -> Callable[[dict], bool]:
        """Whether a step gained no more than `tol` of what the states explain.

        They explain log p(X) beyond that of a single state: near a saddle, where all states are alike, that is nothing
        and the fit goes on, whatever the units of X. It counts as at least one nat in all, at most one for each row.
        """
        n, least = len(X), alone(X, self._one(), self.scheme.priors.emission)
        return lambda state: state["gain"] * n <= tol * min(max(state["log_likelihood"] - least, 1.0), n)

    def _one(self) -> Emission:
        """An emission of one state, to be improved: its numbers do not matter."""
        d = self.X.shape[1]
        if self.discrete:
            return Symbols(np.full((1, self.n_symbols), 1.0 / self.n_symbols))
        unit = np.ones((1, d)) if self.model.covariance_type == "diag" else np.eye(d)[None]
        return GAUSSIANS[self.model.covariance_type](np.zeros((1, d)), unit, self.spread)

    def _start(self, X: NDArray, lengths: NDArray, rng: np.random.Generator, trial: int = 0) -> Chain:
        if self.model.init is not None:
            return self._chain(given_start(self.model.init, self.k, self._shapes()))
        if self.discrete:
            return symbols_start(X, self.k, self.n_symbols, rng, trial)
        return gaussian_start(X, lengths, self.k, self.model.covariance_type, self.spread, rng, trial)

    def _first(self, rng: np.random.Generator, tol: float) -> dict:
        """The best of several starts, which is found on a part of a long table."""
        if self.tries == 1 or self.model.init is not None or self.k == 1:
            return self.scheme.begin(self._start(self.X, self.lengths, rng))
        parts = stretches(self.X, self.lengths)
        lengths = np.array([len(part) for part in parts])
        few = replace(self.scheme, X=np.concatenate(parts), segments=cut(lengths, self.k))
        starts = [few.begin(self._start(few.X, lengths, rng, trial)) for trial in range(self.tries)]
        return self.scheme.begin(self._chain(race(few.step, starts, self._settling(few.X, tol))))

    def run(self, loop: Loop, rng: np.random.Generator, tol: float) -> None:
        """Fit; with ``tol=0`` to the last step."""
        state, settled = self._first(rng, tol), None
        if tol:
            loop, settled = replace(loop, tol=None), self._settling(self.X, tol)
        self.state, self.history = iterate(self.scheme.step, state, loop, settled=settled)
        if self.history.stopped == "nothing changes any more":
            self.history.stopped = f"a step gained no more than tol={tol:g} of what the states explain"

    def publish(self) -> None:
        """Set the attributes of the estimator."""
        model, state = self.model, self.state
        chain = self._chain(state)
        found = self._arrays(chain.emission)
        model.start_probabilities_, model.transition_matrix_ = chain.start, chain.transition
        if self.discrete:
            model.emission_probabilities_ = model.components_ = found["probabilities"]
        else:
            model.means_, model.covariances_ = found["means"], found["covariances"]
            model.components_ = model.means_
        model.n_components_ = self.k
        model.n_parameters_ = self.k - 1 + self.k * (self.k - 1) + chain.emission.n_parameters()
        model.history_, model.n_iter_ = self.history, len(self.history)
        model.objective_ = float(self.history.objective[-1])
        model.certificate_ = Certificate("none", float("-inf"), float("inf"), False, model.objective_)
        model.plan_ = self._plan(int(state["run_up"]))
        model._run_up = int(state["run_up"])

    def _plan(self, run_up: int) -> Plan:
        (n, d), many = self.X.shape, len(self.lengths)
        start = (
            "given" if self.model.init is not None else "random shares" if self.discrete else "k-means of single rows"
        )
        if self.segments.opens.all():
            how = "sequences are short enough to be run side by side whole"
        elif run_up:
            how = (
                f"long sequences are cut into {len(self.segments)} segments, each entered by a run-up of {run_up} steps"
            )
        else:
            how = "the chain forgets too slowly for run-ups: boundaries of segments are found from end to end"
        tried = (
            []
            if self.tries == 1 or self.model.init is not None
            else [f"{self.tries} starts, of which the best went on"]
        )
        told = f"{n}×{d} rows in {many} sequence{'s' * (many > 1)}, {self.k} states ({self.model.emission})"
        return Plan(told, "Baum–Welch", "", "", start, [*tried, how])


def alone(X: NDArray, one: Emission, prior: float) -> float:
    """log p(X) where a single state shows all rows."""
    sums = one.zeros()
    for x in _columns(X):
        one.add(sums, x, np.ones((1, x.shape[1])))
    fitted = one.improved(sums, prior)
    return sum(float(fitted.logs(x).sum()) for x in _columns(X))


def _columns(X: NDArray) -> Iterator[NDArray]:
    for i in range(0, len(X), _BLOCK):
        yield np.ascontiguousarray(X[i : i + _BLOCK].T, dtype=np.float64)


def chain_of(model) -> Chain:
    """The chain of a fitted model."""
    if model.emission == "discrete":
        emission: Emission = Symbols(model.emission_probabilities_)
    else:
        # Copies, because the arrays of a loaded model may be read-only, for which kernels would be compiled anew.
        kind = GAUSSIANS[model.covariance_type]
        emission = kind(np.array(model.means_), np.array(model.covariances_), _NO_SPREAD)
    return Chain(model.start_probabilities_, model.transition_matrix_, emission)


def check_arrays(model, looked_at: bool) -> None:
    """Raise ValueError unless the arrays of a loaded model fit together."""
    k, d = model.n_components_, model.n_features_in_
    if type(k) is not int or type(d) is not int or min(k, d) < 1 or type(model._run_up) is not int or model._run_up < 0:
        raise ValueError("n_components_, n_features_in_ and the run-up must be whole numbers")
    shapes: dict[str, tuple] = {"start_probabilities_": (k,), "transition_matrix_": (k, k)}
    if model.emission == "discrete":
        shapes["emission_probabilities_"] = (k, np.shape(model.emission_probabilities_)[-1])
    elif model.emission == "gaussian" and model.covariance_type in GAUSSIANS:
        shapes["means_"] = (k, d)
        shapes["covariances_"] = (k, d) if model.covariance_type == "diag" else (k, d, d)
    else:
        raise ValueError("the emission of the model is not known")
    for name, shape in shapes.items():
        array = getattr(model, name)
        if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
            raise ValueError(f"{name} should be numbers of the shape {shape}")
        if looked_at and not np.isfinite(array).all():
            raise ValueError(f"{name} must be finite")
