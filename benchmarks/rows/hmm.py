"""Hidden Markov models on one long sequence: seconds of a step of Baum–Welch, and of Viterbi, against hmmlearn."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Fit, Row

K, WIDTH, STEPS = 8, 4, 4
SIZES = {"full": 1_000_000, "quick": 100_000, "tiny": 3000}


@dataclass
class Sequence:
    """One sequence and the same start for everybody."""

    X: np.ndarray
    kind: str
    start: dict[str, np.ndarray]


def load(folder: Path, size: str, *, kind: str) -> Sequence:
    rng = np.random.default_rng(0)
    n = SIZES[size]
    states = np.repeat(rng.integers(K, size=n), rng.geometric(0.15, size=n))[:n]
    means = 2 * rng.normal(size=(K, WIDTH))
    X = means[states] + rng.normal(size=(n, WIDTH))
    spread = np.ones((K, WIDTH)) if kind == "diag" else np.stack([np.eye(WIDTH) + 0.2] * K)
    start = {"start": np.full(K, 1 / K), "transition": rng.dirichlet(np.full(K, 5.0), K)}
    start |= {"means": means + 0.5 * rng.normal(size=means.shape), "covariances": spread}
    return Sequence(X, kind, start)


def _model(data: Sequence, **options: Any):
    from unweave.group.markov.model import HiddenMarkov

    priors = {"start_prior": 0.0, "transition_prior": 0.0, "emission_prior": 0.0}
    return HiddenMarkov(K, covariance_type=data.kind, init=data.start, tol=0, **priors, **options)


def learn(data: Sequence, target: float | None) -> Fit:
    """Median seconds of a step."""
    ends: list[float] = []
    model = _model(data, max_iter=STEPS, callback=lambda _: ends.append(time.perf_counter())).fit(data.X)
    answer = model.start_probabilities_, model.transition_matrix_, model.means_, model.covariances_
    return Fit(answer, STEPS, float(np.median(np.diff(ends))))


def decode(data: Sequence, target: float | None) -> Fit:
    model = _model(data, max_iter=1).fit(data.X[:1000])
    _put(model, data)
    started = time.perf_counter()
    score, _ = model.decode(data.X)
    return Fit(score, 1, time.perf_counter() - started)


def _put(model, data: Sequence) -> None:
    """The parameters of the start, so that everybody decodes with the same."""
    model.start_probabilities_, model.transition_matrix_ = data.start["start"], data.start["transition"]
    model.means_, model.covariances_ = data.start["means"], data.start["covariances"]


def _peer(data: Sequence, steps: int):
    from hmmlearn.hmm import GaussianHMM

    model = GaussianHMM(
        K, covariance_type=data.kind, implementation="scaling", n_iter=steps, tol=-np.inf, init_params="",
        covars_prior=0.0, covars_weight=1.0,
    )  # fmt: skip
    model.n_features = WIDTH
    model.startprob_, model.transmat_ = data.start["start"], data.start["transition"]
    model.means_, model.covars_ = data.start["means"], data.start["covariances"]
    return model


def learn_hmmlearn(data: Sequence, threads: int) -> Fit:
    model = _peer(data, STEPS)
    started = time.perf_counter()
    model.fit(data.X)
    seconds = (time.perf_counter() - started) / STEPS
    covariances = model.covars_
    if data.kind == "diag":
        covariances = np.diagonal(covariances, axis1=1, axis2=2)
    return Fit((model.startprob_, model.transmat_, model.means_, covariances), STEPS, seconds)


def decode_hmmlearn(data: Sequence, threads: int) -> Fit:
    model = _peer(data, 1)
    started = time.perf_counter()
    score, _ = model.decode(data.X)
    return Fit(score, 1, time.perf_counter() - started)


def log_loss(data: Sequence, answer) -> float:
    """−log p(X) of the parameters."""
    model = _model(data, max_iter=1).fit(data.X[:1000])
    model.start_probabilities_, model.transition_matrix_, model.means_, model.covariances_ = answer
    return float(-model.score_samples(data.X).sum())


ROWS = [
    *(
        Row(
            name=f"hmm-{kind}",
            title=f"hidden Markov model, 10⁶ steps × {WIDTH}, {K} Gaussian states ({kind}), one step of Baum–Welch",
            target=3.0,
            load=partial(load, kind=kind),
            ours=learn,
            peers={"hmmlearn": learn_hmmlearn},
            objective=log_loss,
            dtype="float64",
            stops=False,
        )
        for kind in ("diag", "full")
    ),
    Row(
        name="hmm-viterbi",
        title=f"Viterbi, 10⁶ steps × {WIDTH}, {K} Gaussian states (diag)",
        target=2.0,
        load=partial(load, kind="diag"),
        ours=decode,
        peers={"hmmlearn": decode_hmmlearn},
        objective=lambda data, score: -score,
        dtype="float64",
        stops=False,
    ),
]
