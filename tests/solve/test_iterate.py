"""The one loop: stopping, callbacks, interruption, NaN."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import unweave
from unweave.solve.history import History
from unweave.solve.iterate import Loop, iterate
from unweave.solve.scheme import Scheme


class Steps(Scheme):
    """Functions as a scheme."""

    def __init__(self, step, settled=None, fixed=None):
        self._step = step
        self._settled, self._fixed = settled or super().settled, fixed or super().fixed

    def begin(self, rng=None):
        return {}

    def step(self, state):
        return self._step(state)

    def settled(self, state):
        return self._settled(state)

    def fixed(self, state):
        return self._fixed(state)


def halving(state):
    value = state["value"] / 2
    return {"value": value}, 1 + value


def test_stops_when_the_relative_fall_is_below_tol():
    state, history = iterate(Steps(halving), {"value": 1.0}, Loop(max_iter=100, tol=1e-3))
    assert history.change[-1] <= 1e-3 < history.change[-2]
    assert "tol" in history.stopped
    assert len(history.objective) == len(history.change) == len(history.seconds) == len(history)
    assert history.objective[-1] == 1 + state["value"]


def test_tol_zero_stops_only_at_a_fixed_point():
    def still(state):
        return state, 1.0

    _, history = iterate(Steps(still, settled=lambda state: True), {}, Loop(max_iter=7, tol=0))
    assert len(history) == 7
    _, history = iterate(Steps(halving, fixed=lambda s: s["value"] < 0.2), {"value": 1.0}, Loop(max_iter=7, tol=0))
    assert len(history) == 3 and history.stopped == "nothing changes any more"


def test_settled_ends_the_loop_and_says_so():
    _, history = iterate(
        Steps(halving, settled=lambda s: s["value"] < 0.1), {"value": 1.0}, Loop(max_iter=50, tol=1e-12)
    )
    assert len(history) == 4
    assert history.stopped == "nothing changes any more"


@pytest.mark.parametrize("answer", [True, np.True_, 1, "yes", np.array(True)])
def test_any_true_answer_of_the_callback_stops(answer):
    seen = []

    def callback(progress):
        seen.append((progress.iteration, progress.objective, progress.change, progress.seconds))
        return answer if progress.iteration == 3 else None

    _, history = iterate(Steps(halving), {"value": 1.0}, Loop(max_iter=50, tol=0, callback=callback))
    assert [s[0] for s in seen] == [1, 2, 3]
    assert [s[1] for s in seen] == history.objective.tolist()
    assert "callback" in history.stopped


def test_an_objective_that_is_not_finite_raises_with_the_remedy():
    with pytest.raises(ValueError, match="rescale X"):
        iterate(Steps(lambda state: (state, np.nan)), {}, Loop(max_iter=3))


def test_max_iter_warns_unless_tol_is_zero():
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        iterate(Steps(halving), {"value": 1.0}, Loop(max_iter=2, tol=1e-9))


def test_interruption_keeps_the_last_finished_state():
    def step(state):
        if state["value"] < 0.2:
            raise KeyboardInterrupt
        return halving(state)

    with pytest.warns(UserWarning, match="interrupted after 3"):
        state, history = iterate(Steps(step), {"value": 1.0}, Loop(max_iter=50, tol=0))
    assert state["value"] == 0.125
    assert history.stopped == "interrupted"


def test_history_survives_json():
    _, history = iterate(Steps(halving), {"value": 1.0}, Loop(max_iter=4, tol=0))
    again = History.from_dict(json.loads(json.dumps(history.as_dict())))
    assert again.objective.tolist() == history.objective.tolist()
    assert again.stopped == history.stopped


@pytest.mark.parametrize(
    "model",
    [
        unweave.Factorization(3, codes="nonnegative", components="nonnegative"),
        unweave.NMF(3),
        unweave.NMF(3, loss="kl"),
        unweave.KMeans(3),
        unweave.MatrixCompletion(2, ridge=1.0),
        unweave.Factorization(2, loss="huber"),
    ],
    ids=str,
)
def test_the_objective_told_is_that_of_the_state_kept(model, rng):
    """Stopped at iteration 3, the fitted objective is at most what the callback was told, and close to it."""
    X = rng.random((50, 4)) @ rng.random((4, 9)) + 0.1 * rng.random((50, 9))
    told = []

    def callback(progress):
        told.append(progress.objective)
        return progress.iteration == 3

    model.set_params(callback=callback, tol=0)
    model.fit(X)
    assert model.n_iter_ == 3
    assert model.history_.objective.tolist() == told
    assert (np.diff(told) <= 1e-9 * told[0]).all()
    assert model.objective_ <= told[-1] * (1 + 1e-9)


def test_verbose_draws_a_bar_with_the_objective(rng, capsys):
    unweave.NMF(2, verbose=True, max_iter=5, tol=0).fit(rng.random((20, 6)))
    shown = capsys.readouterr()
    assert "objective" in shown.err
    assert shown.out == ""


@pytest.mark.slow
def test_a_real_ctrl_c_leaves_a_usable_estimator():
    script = """
        import sys, warnings, numpy as np, unweave
        X = np.random.default_rng(0).random((3000, 300))
        def callback(p):
            if p.iteration == 2:
                print("running", flush=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = unweave.NMF(20, max_iter=100000, tol=0, callback=callback).fit(X)
        assert any("interrupted" in str(w.message) for w in caught), caught
        assert np.isfinite(model.transform(X[:5])).all()
        print("kept", model.n_iter_, model.history_.stopped, flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "running"
    time.sleep(0.3)
    sent = time.perf_counter()
    os.kill(process.pid, signal.SIGINT)
    try:
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "interrupted" in out
    assert time.perf_counter() - sent < 30
