"""A fit that was killed goes on to the answer it would have had, whenever that was; no other fit goes on from it."""

from __future__ import annotations

import inspect
import os
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import unweave
from tests.laws.test_every_model import answers, assert_same
from unweave.registry import ESTIMATORS, find, takes
from unweave.registry import small_model as model
from unweave.registry import small_table as table
from unweave.solve.checkpoint import Checkpoint

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RESUMING = [name for name, entry in ESTIMATORS.items() if entry.explains and "checkpoint" in takes(name)]
STATES = 4  # of those that a fit wrote are resumed, the first and the last among them


def registered(name: str):
    """A model that ends as it would for a user: by its tolerance, within thirty iterations or not."""
    made = model(name)
    return made.set_params(max_iter=30) if "max_iter" in made.get_params() else made


def far(n: int, m: int = 3) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, m))


def counts(n: int, m: int) -> np.ndarray:
    return np.random.default_rng(1).poisson(2.0, size=(n, m)).astype(float)


def ratings() -> np.ndarray:
    X = np.random.default_rng(2).normal(size=(40, 12))
    X[np.random.default_rng(3).random(X.shape) < 0.4] = np.nan
    return X


# name -> (model, table, what else `fit` is given): schemes that the registered models above do not come by.
MORE = {
    "many groups, repaired": (lambda: unweave.KMeans(9, init="random"), lambda: far(200), {}),
    "no repair": (lambda: unweave.KMeans(12, repair=False), lambda: far(300), {}),
    "weighted rows": (lambda: unweave.KMeans(5), lambda: far(200), {"sample_weight": np.arange(200.0)}),
    "coreset": (lambda: unweave.KMeans(5, coreset=60), lambda: far(300), {}),
    "axes, weighted rows": (
        lambda: unweave.PCA(3, solver="power"),
        lambda: far(90),
        {"sample_weight": 1 + np.arange(90.0)},
    ),
    "directions, weighted rows": (
        lambda: unweave.TruncatedSVD(3, solver="power"),
        lambda: far(90),
        {"sample_weight": 1 + np.arange(90.0)},
    ),
    "basis, weighted rows": (
        lambda: unweave.OrthonormalBasis("haar", keep=0.9),
        lambda: far(90, 8),
        {"sample_weight": 1 + np.arange(90.0)},
    ),
    "autoencoder, weighted rows": (
        lambda: unweave.LinearAutoencoder(3, max_iter=20),
        lambda: far(90),
        {"sample_weight": 1 + np.arange(90.0)},
    ),
    "concepts, weighted rows": (
        lambda: unweave.LSA(3),
        lambda: np.abs(far(90)),
        {"sample_weight": 1 + np.arange(90.0)},
    ),
    "roles, weighted users": (
        lambda: unweave.MultiAssignmentClustering(2),
        lambda: (far(90) > 0).astype(float),
        {"sample_weight": 1 + np.arange(90.0)},
    ),
    **{
        f"{linkage} linkage": (lambda linkage=linkage: unweave.Agglomerative(3, linkage=linkage), lambda: far(600), {})
        for linkage in ("ward", "single", "complete", "average")
    },
    "tied distances": (lambda: unweave.Agglomerative(3, linkage="average"), lambda: np.round(2 * far(500)), {}),
    "mixture, weighted rows": (
        lambda: unweave.GaussianMixture(3),
        lambda: far(150),
        {"sample_weight": 1 + np.arange(150.0)},
    ),
    "mixture, several starts": (lambda: unweave.GaussianMixture(3, n_init=3, init="random"), lambda: far(150), {}),
    "coins, weighted rows": (
        lambda: unweave.BernoulliMixture(3),
        lambda: (far(150) > 0).astype(float),
        {"sample_weight": 1 + np.arange(150.0)},
    ),
    "symbols": (
        lambda: unweave.HiddenMarkov(2, emission="discrete", max_iter=20),
        lambda: counts(90, 1),
        {"lengths": [30, 60]},
    ),
    "gibbs": (lambda: unweave.LDA(3, inference="gibbs", max_iter=12), lambda: counts(30, 20), {}),
    "draws": (lambda: unweave.MatrixCompletion(3, solver="gibbs", missing="nan", max_iter=10), ratings, {}),
    "descent": (lambda: unweave.MatrixCompletion(3, solver="sgd", missing="nan", max_iter=10), ratings, {}),
    "drift and features": (
        lambda: unweave.MatrixCompletion(3, ridge=1.0, time_bins=2, missing="nan", max_iter=12),
        ratings,
        {"timestamps": np.arange(480.0).reshape(40, 12), "user_features": far(40), "item_features": far(12)},
    ),
    "weighted entries": (
        lambda: unweave.Factorization(3, loss="weighted", max_iter=60),
        lambda: far(40, 8),
        {"weights": 0.1 + np.random.default_rng(4).random((40, 8))},
    ),
    "kernel": (lambda: unweave.ConvexNMF(3, kernel="rbf", max_iter=30), lambda: far(40), {}),
    "robust": (lambda: unweave.Factorization(3, loss="huber", max_iter=40), lambda: far(50, 8), {}),
    "power": (lambda: unweave.Factorization(4, solver="power"), lambda: far(50, 8), {}),
    "extrapolated": (lambda: unweave.NMF(4, max_iter=60), lambda: np.abs(far(80, 12)), {}),
    "kullback-leibler": (lambda: unweave.NMF(4, loss="kl", max_iter=60), lambda: counts(60, 12), {}),
    "float32": (lambda: unweave.NMF(4, max_iter=60), lambda: np.abs(far(80, 12)).astype(np.float32), {}),
    "a path": (lambda: unweave.SoftImpute(strength=0.5, missing="nan", max_iter=40), ratings, {}),
}
CASES = {
    **{name: (lambda name=name: registered(name), lambda name=name: table(name), {}) for name in RESUMING},
    **MORE,
}
every_case = pytest.mark.parametrize("case", CASES)


class Killed(Exception):
    pass


def written(monkeypatch, fitted, X, given: dict, most: float = np.inf) -> list[Path]:
    """Fit until it ends or has done `most` iterations, and the checkpoint as it was after each."""
    files: list[Path] = []

    def offer(self, state, history):
        self.write(state, history)
        files.append(self.path.with_name(f"after-{len(history)}"))
        shutil.copy(self.path, files[-1])
        if len(history) >= most:
            raise Killed

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(Checkpoint, "offer", offer)
        patch.setattr(os, "fsync", lambda handle: None)  # nobody pulls the plug here
        fitted.fit(X, **given)
    return files


def everything(fitted, X) -> dict[str, np.ndarray]:
    """What a fitted model says and how it came about."""
    history = fitted.history_
    found = answers(fitted, X) | {
        "objective": history.objective,
        "change": history.change,
        "ends at": np.asarray(fitted.objective_),
        "stopped": np.asarray(history.stopped),
        "iterations": np.asarray(fitted.n_iter_),
    }
    return found | {name: value for name, value in vars(fitted).items() if isinstance(value, np.ndarray)}


@every_case
def test_killed_after_any_iteration_it_ends_as_if_it_had_not_been(case, tmp_path, monkeypatch):
    make, data, given = CASES[case]
    X, path = data(), tmp_path / "run.ckpt"
    whole = make().set_params(checkpoint=path)
    files = written(monkeypatch, whole, X, given)
    assert files and not path.exists(), "removed when the fit ended"
    wanted = everything(whole, X)
    for at in np.unique(np.linspace(0, len(files) - 1, STATES).astype(int)):
        shutil.copy(files[at], path)
        again = make().set_params(checkpoint=path).fit(X, **given)
        assert_same(wanted, everything(again, X))
        assert not path.exists()


def seeded(made, random_state):
    return made.set_params(random_state=random_state) if "random_state" in made.get_params() else made


def refused(made, path, X, given: dict) -> None:
    with pytest.raises(ValueError, match="belongs to another fit"):
        made.set_params(checkpoint=path).fit(X, **given)
    assert path.exists(), "what another fit left is not touched"


@every_case
def test_it_does_not_go_on_from_other_data_parameters_or_generators(case, tmp_path, monkeypatch):
    make, data, given = CASES[case]
    X, path = data(), tmp_path / "run.ckpt"

    def fresh(seed=1):
        return seeded(make(), np.random.default_rng(seed))

    written(monkeypatch, fresh().set_params(checkpoint=path), X, given, most=1)
    assert path.exists()
    other = X + 1 if case == "SymmetricNMF" else X[::-1].copy()
    refused(fresh(), path, other, {k: v[::-1] if len(v) == len(X) else v for k, v in given.items()})
    refused(changed(fresh()), path, X, given)
    if hasattr(make(), "random_state"):
        refused(fresh(2), path, X, given)
    fresh().set_params(checkpoint=path).fit(X, **given)
    assert not path.exists(), "its own fit did go on"


def changed(made):
    """The same model with one number that is another."""
    numbers = ("n_components", "n_clusters", "strength", "step", "ridge", "keep", "max_roles")
    name = next(name for name in numbers if name in made.get_params())
    value = getattr(made, name)
    return made.set_params(
        **{name: 2 if value in ("auto", None) else value - 1 if isinstance(value, int) else value / 2}
    )


@pytest.mark.parametrize("case", [name for name, (_, _, given) in MORE.items() if given])
def test_it_does_not_go_on_with_other_weights_lengths_times_or_features(case, tmp_path, monkeypatch):
    make, data, given = CASES[case]
    path = tmp_path / "run.ckpt"
    written(monkeypatch, make().set_params(checkpoint=path), data(), given, most=1)
    for name in given:
        refused(make(), path, data(), given | {name: given[name][::-1]})
        if name != "weights":  # their loss has no meaning without
            refused(make(), path, data(), {key: value for key, value in given.items() if key != name})


def test_whatever_a_fit_can_be_given_is_among_the_cases():
    """A new argument of a `fit` belongs to its checkpoint too."""
    tried = {(type(make()).__name__, name) for make, _, given in MORE.values() for name in given}
    for name in RESUMING:
        takes = set(inspect.signature(find(name).fit).parameters) - {"self", "X", "y", "client"}  # who works is no data
        assert takes <= {what for who, what in tried if who == name}, name


def test_a_limit_that_was_raised_is_heeded_and_one_that_was_met_ends_the_fit(tmp_path, monkeypatch):
    X, path = np.abs(far(80, 12)), tmp_path / "run.ckpt"
    written(monkeypatch, unweave.NMF(4, max_iter=5, tol=1e-12, checkpoint=path), X, {})
    shutil.copy(tmp_path / "after-5", path)
    longer = unweave.NMF(4, max_iter=9, tol=1e-12, checkpoint=path).fit(X)
    assert_same(everything(longer, X), everything(unweave.NMF(4, max_iter=9, tol=1e-12).fit(X), X))
    shutil.copy(tmp_path / "after-5", path)
    assert unweave.NMF(4, max_iter=9, tol=0.9, checkpoint=path).fit(X).n_iter_ == 5
    shutil.copy(tmp_path / "after-5", path)
    stopped = unweave.NMF(4, max_iter=9, tol=1e-12, checkpoint=path, callback=lambda p: p.iteration == 5).fit(X)
    assert stopped.n_iter_ == 5 and stopped.history_.stopped == "the callback said stop"
