"""What every model of the library promises, whatever it fits: a law over the registry."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import unweave
from unweave.registry import ESTIMATORS, takes
from unweave.registry import small_model as model
from unweave.registry import small_table as table

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

_ANSWERS = ("transform", "predict", "predict_proba", "score_samples", "anomaly_score", "document_topics")


def answers(fitted, X) -> dict[str, np.ndarray]:
    """Everything that a fitted model says about rows."""
    found = {name: getattr(fitted, name)(X) for name in _ANSWERS if hasattr(fitted, name)}
    assert found, "a model answers something"
    return {name: value.toarray() if sp.issparse(value) else np.asarray(value) for name, value in found.items()}


def assert_same(first: dict, second: dict) -> None:
    assert first.keys() == second.keys()
    for name, value in first.items():
        assert value.dtype == second[name].dtype, name
        np.testing.assert_array_equal(value, second[name], err_msg=name)


# What prepares tables for models (counts words, selects columns) learns no model, and predictors have laws of their own.
MODELS = [name for name, entry in ESTIMATORS.items() if entry.explains]
every_model = pytest.mark.parametrize("name", MODELS)


@every_model
def test_answers_are_finite_and_one_a_row(name):
    X = table(name)
    for what, value in answers(model(name).fit(X), X).items():
        assert value.shape[0] == len(X), what
        assert np.isfinite(value).all(), what


@every_model
def test_a_second_fit_and_one_thread_or_two_give_the_same_bits(name, two_threads):
    X, fitted = table(name), model(name)
    one, two = two_threads(lambda: answers(fitted.fit(X), X))
    assert_same(one, two)


@every_model
def test_the_bits_do_not_depend_on_where_the_heap_puts_arrays(name):
    """Loops over short arrays ask, when they run, whether these lie close together, and may add in another order."""
    rng, X = np.random.default_rng(0), table(name, 30, 20)
    wanted = answers(model(name).fit(X), X)
    for _ in range(10):
        junk = [np.empty(size, np.float32) for size in rng.integers(10, 5000, 200)]
        del junk
        assert_same(wanted, answers(model(name).fit(X), X))


def fits_in_threads() -> None:
    """Run in a process of its own, whose BLAS has threads: prints the models whose bits depend on who fits them."""
    for name in MODELS:
        X = table(name, 150, 40)  # large enough for BLAS to use its threads

        def fit(name=name, X=X):
            return answers(model(name).set_params(**({"max_iter": 3} if "max_iter" in takes(name) else {})).fit(X), X)

        wanted = fit()
        with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(2) as two:
            found = [one.submit(fit).result(), *(task.result() for task in [two.submit(fit) for _ in range(2)])]
        for where, answer in zip(("in a thread", "in two at once", "in two at once"), found):
            if any((answer[what] != value).any() for what, value in wanted.items()):
                print(name, where)


def test_whichever_python_thread_fits_it_the_bits_are_the_same(root):
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = [sys.executable, "-W", "ignore", "-c", f"from {__name__} import fits_in_threads; fits_in_threads()"]
    ran = subprocess.run(command, cwd=root, env=clean, capture_output=True, text=True, check=False, timeout=600)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""


@every_model
def test_saved_and_loaded_it_says_the_same(name, tmp_path):
    X = table(name)
    fitted = model(name).fit(X)
    loaded = unweave.load(fitted.save(tmp_path / "model.unweave"))
    assert type(loaded) is type(fitted)
    assert_same(answers(fitted, X), answers(loaded, X))
    assert_same(answers(fitted, X), answers(pickle.loads(pickle.dumps(fitted)), X))


@every_model
def test_what_there_is_after_a_fit(name):
    fitted = model(name).fit(table(name))
    assert np.isfinite(fitted.objective_)
    assert fitted.n_iter_ >= 1
    assert str(fitted.plan_)
    assert fitted.history_.stopped
    assert str(fitted.certificate_)


@every_model
def test_the_history_never_rises(name):
    objective = np.asarray(model(name).fit(table(name)).history_.objective)
    assert (np.diff(objective) <= 1e-9 * np.abs(objective[:-1]) + 1e-12).all()


@every_model
def test_a_callback_sees_the_fit_and_a_clone_is_unfitted(name):
    seen = []
    fitted = model(name).set_params(callback=lambda progress: seen.append(progress.iteration) and None)
    fitted.fit(table(name))
    assert seen and seen[0] == 1
    assert not hasattr(clone(fitted), "n_iter_")


@every_model
def test_a_report_and_a_card_can_be_made(name, tmp_path):
    X = table(name)
    fitted = model(name).fit(X)
    page = fitted.report(tmp_path / "report.html", X).read_text(encoding="utf-8")
    assert name in page and "</html>" in page
    assert name in fitted._repr_html_()


@every_model
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused_or_filled(name, value):
    X = table(name)
    X[0, 0] = value
    try:
        fitted = model(name).fit(X)
    except ValueError as error:
        assert "NaN" in str(error) or "nan" in str(error) or "inf" in str(error).lower(), str(error)
    else:
        assert np.isnan(value), "infinite values are never data"
        assert all(np.isfinite(found).all() for found in answers(fitted, X).values())
