"""What every predictor promises, and every network: a law over the registry, as for models in tests/laws."""

from __future__ import annotations

import pickle
import shutil
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone

import unweave
from unweave.registry import ESTIMATORS, find, lacking, small_table, small_target, takes
from unweave.registry import small_model as model
from unweave.solve.checkpoint import Checkpoint

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

_ANSWERS = ("predict", "predict_proba", "transform")
LEARNING = [name for name, entry in ESTIMATORS.items() if entry.target or entry.needs]
every_predictor = pytest.mark.parametrize("name", LEARNING)
STEPPING = [name for name in LEARNING if "checkpoint" in takes(name)]


@pytest.fixture(autouse=True)
def installed(request):
    """Skip what is not there, with the reason."""
    name = getattr(request.node, "callspec", None) and request.node.callspec.params.get("name")
    if name and "absent" not in request.node.name and (lack := lacking(name)):
        pytest.skip(lack)


def fit(made, name):
    return made.fit(small_table(name), small_target(name) if ESTIMATORS[name].target else None)


def answers(fitted, X) -> dict[str, np.ndarray]:
    found = {what: np.asarray(getattr(fitted, what)(X)) for what in _ANSWERS if hasattr(fitted, what)}
    assert found
    return found


def assert_same(first, second) -> None:
    assert first.keys() == second.keys()
    for what, value in first.items():
        assert value.dtype == second[what].dtype, what
        np.testing.assert_array_equal(value, second[what], err_msg=what)


@every_predictor
def test_answers_are_finite_one_a_row_and_right(name):
    fitted, X = fit(model(name), name), small_table(name)
    for what, value in answers(fitted, X).items():
        assert len(value) == len(X), what
        assert value.dtype.kind in "US" or np.isfinite(value).all(), what
    if ESTIMATORS[name].target == "classes":
        assert fitted.classes_.tolist() == ["first", "second", "third"]
        np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1, rtol=1e-9)


@every_predictor
def test_a_second_fit_and_one_thread_or_two_give_the_same_bits(name, two_threads):
    made, X = model(name), small_table(name)
    one, two = two_threads(lambda: answers(fit(made, name), X))
    assert_same(one, two)


@every_predictor
def test_saved_and_loaded_it_says_the_same(name, tmp_path):
    fitted, X = fit(model(name), name), small_table(name)
    loaded = unweave.load(fitted.save(tmp_path / "model.unweave"), check=True)
    assert type(loaded) is find(name)
    assert_same(answers(fitted, X), answers(loaded, X))
    assert_same(answers(fitted, X), answers(pickle.loads(pickle.dumps(fitted)), X))
    assert not hasattr(clone(fitted), "n_iter_")


@every_predictor
def test_what_there_is_after_a_fit(name):
    fitted = fit(model(name), name)
    assert np.isfinite(fitted.objective_) and fitted.n_iter_ >= 1
    assert str(fitted.plan_) and fitted.history_.stopped and str(fitted.certificate_)


class Killed(Exception):
    pass


@pytest.mark.parametrize("name", STEPPING)
def test_killed_after_any_iteration_it_ends_as_if_it_had_not_been(name, tmp_path, monkeypatch):
    path, X, copies = tmp_path / "run.ckpt", small_table(name), []

    def offer(self, state, history):
        self.write(state, history)
        copies.append(shutil.copy(self.path, tmp_path / f"after-{len(history)}"))

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(Checkpoint, "offer", offer)
        wanted = answers(fit(model(name, checkpoint=path), name), X)
    assert copies and not path.exists()
    for copy in {copies[0], copies[len(copies) // 2], copies[-1]}:
        shutil.copy(copy, path)
        assert_same(wanted, answers(fit(model(name, checkpoint=path), name), X))
        assert not path.exists()
    shutil.copy(copies[0], path)
    made = model(name, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to another fit"):
        made.fit(X[::-1], small_target(name) if ESTIMATORS[name].target else None)


@pytest.mark.parametrize("name", STEPPING)
def test_a_callback_sees_and_ends_the_fit_and_one_that_raises_leaves_no_trace(name):
    seen = []
    fitted = fit(model(name, callback=lambda progress: seen.append(progress.iteration) or True), name)
    assert seen == [1] and fitted.history_.stopped == "the callback said stop"

    def stop(progress):
        raise Killed

    made = model(name, callback=stop)
    before = dict(vars(made))
    with pytest.raises(Killed):
        fit(made, name)
    assert vars(made) == before


@pytest.mark.parametrize("name", STEPPING)
def test_ctrl_c_keeps_the_last_state(name):
    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted after 1 iterations"):
        fitted = fit(model(name, callback=interrupt), name)
    assert fitted.history_.stopped == "interrupted" and answers(fitted, small_table(name))


WITHOUT = """
import sys, numpy as np
from importlib.machinery import PathFinder

class Without:  # finds what PathFinder finds, but for torch
    def find_spec(self, name, path=None, target=None):
        return None if name.split(".")[0] == "torch" else PathFinder.find_spec(name, path, target)

sys.meta_path[:] = [Without() if finder is PathFinder else finder for finder in sys.meta_path]
import unweave
X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
assert unweave.RBFNetwork(3).fit(X, y).predict(X).shape == (30,)
for name in ("MLP", "CNN", "RNN", "Autoencoder"):
    made = getattr(unweave, name)()
    repr(made), made.get_params()
    try:
        made.fit(X, y)
    except ImportError as error:
        assert str(error) == f"{name} needs torch, which is not installed: pip install 'unweave[neural]'", error
    else:
        raise AssertionError(name)
"""


def test_absent_torch_is_told_in_one_sentence():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_predicting_without_networks_does_not_load_torch():
    code = "import sys, unweave; unweave.MLP(); unweave.DecisionTree().fit([[1], [2]], [0, 1])"
    code += "; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
