"""Every scheme keeps the protocol: old states stay as they were, a state that was saved goes on alike, nothing rises.

Schemes are met where they work: every registered estimator, and the fits that the law of resuming lists, are run, and
the loop hands every scheme that comes by to the law.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import pkgutil
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.laws.test_resume import CASES, counts, far, ratings
from unweave.penalties import Nuclear
from unweave.registry import lacking, small_table
from unweave.scale.kept import Kept
from unweave.solve import checkpoint, iterate
from unweave.solve.scheme import FactorScheme, Scheme

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

STEPS = 3  # of every loop are looked at
RISE = 1e-6  # relative: objectives are summed in float64, but factors may be float32


def frozen(state: dict, scheme: Scheme) -> dict:
    """A copy of what a step must leave alone."""
    return {name: copy.deepcopy(value) for name, value in state.items() if name not in scheme.reuses}


def same(a, b) -> bool:
    if isinstance(a, Kept):
        return len(a) == len(b) and all(
            same(own[name], b.own(i)[name]) for i in range(len(a)) for own in [a.own(i)] for name in own
        )
    if isinstance(a, np.random.Generator):
        return str(a.bit_generator.state) == str(b.bit_generator.state)
    return (
        np.array_equal(a, b, equal_nan=True)
        if isinstance(a, np.ndarray) and a.dtype.kind == "f"
        else np.array_equal(a, b)
    )


def through_a_file(state: dict, path) -> dict:
    """The state as a checkpoint gives it back."""
    from unweave.solve.history import History

    saved = checkpoint.Checkpoint(path, "law")
    saved.write(state, History())
    loaded = saved.load()
    assert loaded is not None
    return loaded[0]


class Law:
    """Watches the steps of every scheme that the loop is handed."""

    def __init__(self, path):
        self.path, self.met, self.broken = path, set(), []

    def __call__(self, scheme, state, loop):
        self.met.add(type(scheme))
        if not isinstance(scheme, Scheme):
            self.broken.append(f"{type(scheme).__name__} is no Scheme")
            return
        former = None
        for _ in range(min(STEPS, loop.max_iter)):
            kept = frozen(state, scheme)
            # Searches fit in threads of their own: each has its file.
            copied = through_a_file(copy.deepcopy(state), self.path.with_name(f"state-{threading.get_ident()}"))
            new, value = scheme.step(copy.deepcopy(state) if scheme.reuses else state)
            for name, was in kept.items():
                # A generator is drawn from: the state of the loop holds the one that goes on.
                if not isinstance(was, np.random.Generator) and not same(was, state[name]):
                    self.broken.append(f"{type(scheme).__name__} changed {name!r} of the old state")
            again, value_again = scheme.step(copied)
            if not np.isclose(value, value_again, rtol=1e-12, atol=0) or any(
                not same(new[name], again[name]) for name in new if not name.startswith("_")
            ):
                self.broken.append(f"{type(scheme).__name__} goes on otherwise from a saved state")
            if former is not None and not scheme.rises and value > former + RISE * abs(former):
                self.broken.append(f"{type(scheme).__name__} rose from {former} to {value}")
            state, former = new, value
            if scheme.fixed(state) or scheme.settled(state):
                break


@pytest.fixture
def law(monkeypatch, tmp_path):
    watching, real = Law(tmp_path / "state"), iterate.iterate

    def watched(scheme, state, loop):
        watching(scheme, {name: copy.deepcopy(value) for name, value in state.items()}, loop)
        return real(scheme, state, loop)

    for module in list(importlib.sys.modules.values()):
        if getattr(module, "__name__", "").startswith("unweave") and getattr(module, "iterate", None) is real:
            monkeypatch.setattr(module, "iterate", watched)
    return watching


def in_blocks(X) -> list:
    """A sparse table in three blocks."""
    return [sp.csr_array(block) for block in np.array_split(1.0 * X, 3)]


def half(n: int, m: int):
    """Zeros and ones, of each about half."""
    return (np.random.default_rng(0).random((n, m)) < 0.5).astype(float)


# Fits that come by schemes which the law of resuming does not meet.
MORE = {
    **{
        f"sources by {solver}": (lambda solver=solver: unweave.ICA(solver=solver), lambda: counts(200, 4), {})
        for solver in ("deflation", "likelihood", "ascent")
    },
    "atoms with their codes": (
        lambda: unweave.DictionaryLearning(3, n_nonzero=2, solver="ksvd", max_iter=8),
        lambda: far(60),
        {},
    ),
    "sources of blocks": (lambda: unweave.ICA(), lambda: np.array_split(1.0 * counts(200, 4), 3), {}),
    "network": (
        lambda: unweave.LinearAutoencoder(solver="adam", batch_size=50, max_iter=5),
        lambda: counts(200, 4),
        {},
    ),
    "batch": (lambda: unweave.LDA(3, inference="batch", max_iter=6), lambda: counts(30, 20), {}),
    "online": (lambda: unweave.LDA(3, inference="online", max_iter=4, batch_size=10), lambda: counts(30, 20), {}),
    "averaged draws": (lambda: unweave.LDA(20, max_iter=250), lambda: 1.0 * (counts(70, 200) > 4), {}),
    "sparse rows": (lambda: unweave.KMeans(4, repair=False, max_iter=20), lambda: sp.csr_array(counts(60, 12)), {}),
    "rows with holes": (lambda: unweave.KMeans(3, missing="nan", max_iter=20), ratings, {}),
    "swaps": (lambda: unweave.KMeans(30, max_iter=30), lambda: far(3000, 5).astype(np.float32), {}),
    "mixtures of rows": (lambda: unweave.Factorization(3, codes="simplex", components="hull"), lambda: far(40), {}),
    "shrinkage": (
        lambda: unweave.Factorization(3, codes=Nuclear(1.0), solver="shrinkage", missing="nan", max_iter=30),
        ratings,
        {},
    ),
    "blocks": (
        lambda: unweave.Factorization(3, codes="ridge", components="ridge", loss="huber", max_iter=20),
        lambda: np.array_split(far(60), 3),
        {},
    ),
    "blocks ahead": (lambda: unweave.NMF(3, max_iter=30), lambda: np.array_split(1.0 * counts(60, 12), 3), {}),
    "curved blocks ahead": (
        lambda: unweave.NMF(3, loss="kl", max_iter=30),
        lambda: np.array_split(1.0 + counts(60, 12), 3),
        {},
    ),
    "free blocks ahead": (lambda: unweave.SemiNMF(3, max_iter=30), lambda: np.array_split(far(60), 3), {}),
    "clusters of blocks": (lambda: unweave.KMeans(4, max_iter=20), lambda: np.array_split(far(300), 3), {}),
    "topics of blocks": (lambda: unweave.LDA(3, max_iter=10), lambda: in_blocks(counts(60, 20)), {}),
    "topics block by block": (
        lambda: unweave.LDA(3, inference="online", max_iter=3, batch_size=10),
        lambda: in_blocks(counts(60, 20)),
        {},
    ),
    "ratings in blocks": (
        lambda: unweave.MatrixCompletion(2, ridge=0.1, max_iter=15),
        lambda: in_blocks(counts(60, 12)),
        {},
    ),
    "interactions in blocks": (
        lambda: unweave.ImplicitALS(2, ridge=0.1, max_iter=10),
        lambda: in_blocks(counts(60, 12)),
        {},
    ),
    "items by items": (lambda: unweave.EASE(10.0), lambda: sp.csr_array(np.minimum(counts(40, 12), 1)), {}),
    "roles under limits": (lambda: unweave.RoleMiner(max_permissions_per_role=2, max_iter=5), lambda: half(20, 12), {}),
    "roles of a core": (lambda: unweave.RoleMiner(), lambda: half(12, 10), {}),
    "roles of a rich core": (lambda: unweave.RoleMiner(max_iter=2), lambda: half(40, 30), {}),
    "classes on a kernel": (
        lambda: unweave.KernelLogistic(tol=1e-12),
        lambda: far(60),
        {"y": np.arange(60) // 7 % 3},
    ),
    **{
        f"pairs of words by {solver}": (
            lambda solver=solver: unweave.GloVe(3, min_count=1, solver=solver, max_iter=6),
            lambda: small_table("GloVe"),
            {},
        )
        for solver in ("als", "adagrad")
    },
    "pairs of words at once": (
        lambda: unweave.GloVe(3, min_count=1, target="log1p", alpha=0, biases=False),
        lambda: small_table("GloVe"),
        {},
    ),
    "words by words": (lambda: unweave.SkipGram(3, min_count=1, epochs=3), lambda: small_table("SkipGram"), {}),
    "a tree": (
        lambda: unweave.DecisionTree(),
        lambda: counts(60, 4) // 3,
        {"y": np.arange(60) // 7 % 3},
    ),
    "representations in turn": (
        lambda: unweave.RepresentationClassifier(predictor="linear"),
        lambda: far(60),
        {"y": np.arange(60) // 7 % 3},
    ),
    "how many": (lambda: Choosing(), lambda: far(60), {}),
    "which model": (lambda: Comparing(), lambda: far(60), {}),
}
if not lacking("MLP"):
    MORE["a network"] = (lambda: unweave.MLP(max_iter=4), lambda: far(60), {"y": np.arange(60) // 7 % 3})
ALL = {**CASES, **MORE}
# Schemes that step inside another one, whose states and steps hold theirs; and a base.
INSIDE = {"BlockKrylov", "BlockSearch", "Power", "GaussianScheme", "GroupsScheme", "LowRankScheme", "Spectral"}
INSIDE |= {"Training"} if lacking("MLP") else set()  # make test-neural meets it


class Choosing:
    """A search for a number of clusters, as something to fit."""

    def fit(self, X):
        return unweave.select.choose(unweave.KMeans(), X, [2, 3, 4])


class Comparing:
    """A search for a model, as something to fit."""

    def fit(self, X):
        return unweave.select.best_model([unweave.KMeans(3), unweave.Agglomerative(3)], X)


@pytest.mark.parametrize("case", ALL)
def test_a_scheme_keeps_the_protocol(case, law):
    make, data, given = ALL[case]
    make().fit(data(), **given)
    assert law.met or case == "SpectralClustering"
    assert not law.broken


def concrete_schemes() -> set[type]:
    """Every scheme of the package that can be run."""
    for module in pkgutil.walk_packages(unweave.__path__, "unweave."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = set(), [Scheme]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if kind.__module__.startswith("unweave") and not inspect.isabstract(kind) and kind is not FactorScheme:
                found.add(kind)
    return found


def test_schemes_have_a_first_state():
    for kind in concrete_schemes():
        parameters = list(inspect.signature(kind.begin).parameters.values())
        assert [one.name for one in parameters[:2]] == ["self", "rng"], kind
        assert all(one.default is not inspect.Parameter.empty for one in parameters[1:]), kind


def test_no_scheme_is_left_out(monkeypatch):
    """The law above meets every scheme of the package, itself or inside another one."""
    wanted, met, real = concrete_schemes(), set(), iterate.iterate

    def watched(scheme, state, loop):
        met.add(type(scheme))
        return real(scheme, state, loop)

    for module in list(importlib.sys.modules.values()):
        if getattr(module, "__name__", "").startswith("unweave") and getattr(module, "iterate", None) is real:
            monkeypatch.setattr(module, "iterate", watched)
    for make, data, given in ALL.values():
        make().fit(data(), **given)
    assert {kind.__name__ for kind in wanted - met} <= INSIDE


class Ordered(Scheme):
    """A scheme that says in which order it is asked."""

    def __init__(self):
        self.asked: list[str] = []

    def adapt(self, loop):
        self.asked.append("adapt")
        return loop

    def begin(self, rng=None):
        self.asked.append("begin")
        return {"x": 0.0}

    def step(self, state):
        self.asked.append("step")
        return state, 0.0


def test_a_scheme_knows_its_limits_before_it_begins():
    """How topics begin depends on how many sweeps are allowed; asked the other way round, three sweeps cost fifteen."""
    from unweave.factorization.run import Run

    scheme = Ordered()
    Run(unweave.KMeans(2, max_iter=3)).through(scheme)
    assert scheme.asked[:3] == ["adapt", "begin", "step"]
