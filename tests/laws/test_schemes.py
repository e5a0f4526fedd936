"""Every scheme keeps the protocol: old states stay as they were, a state that was saved goes on alike, nothing rises.

Schemes are met where they work: every registered estimator, and the fits that the law of resuming lists, are run, and
the loop hands every scheme that comes by to the law.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import unweave
from tests.laws.test_resume import CASES
from unweave.solve import checkpoint, iterate
from unweave.solve.scheme import FactorScheme, Scheme

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

STEPS = 3  # of every loop are looked at
RISE = 1e-6  # relative: objectives are summed in float64, but factors may be float32


def frozen(state: dict, scheme: Scheme) -> dict:
    """A copy of what a step must leave alone."""
    return {name: copy.deepcopy(value) for name, value in state.items() if name not in scheme.reuses}


def same(a, b) -> bool:
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
            copied = through_a_file(copy.deepcopy(state), self.path)
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


_MET: set[type] = set()


@pytest.mark.parametrize("case", CASES)
def test_a_scheme_keeps_the_protocol(case, law):
    make, data, given = CASES[case]
    make().fit(data(), **given)
    _MET.update(law.met)
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
