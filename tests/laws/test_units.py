"""Ratings mean the same in any units: fit(a·X + b) predicts a·p + b, for every solver, with times and features too."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave
from unweave.complete import SGD

N, M = 40, 25
SOLVERS = {
    "plain": {"weighting": "plain"},
    "root": {},
    "count": {"weighting": "count"},
    "given": {"ridge": 0.7},
    "auto rank": {"n_components": "auto"},
    "sgd": {"solver": "sgd", "max_iter": 20},
    "momentum": {"solver": SGD(momentum=0.5, schedule="inverse", decay=0.1), "max_iter": 20},
    "gibbs": {"solver": "gibbs", "max_iter": 20},
}


def drawn(seed, noise=0.5):
    """(entries, values, times, features of users, of items) of a small table of ratings."""
    rng = np.random.default_rng(seed)
    F, G = rng.normal(size=(N, 2)), rng.normal(size=(M, 2))
    truth = F @ G.T + rng.normal(size=(N, 1)) + rng.normal(size=M)
    rows, columns = np.nonzero(rng.random((N, M)) < 0.4)
    times = rng.random(len(rows))
    return (rows, columns), truth[rows, columns] + times + noise * rng.normal(size=len(rows)), times, F, G


def filled(at, values, dtype=np.float64):
    return sp.csr_array((values.astype(dtype), at), shape=(N, M))


def predicted(model, X, extra, times):
    users, items = np.divmod(np.arange(N * M), M)
    asked = {"timestamps": 0.3} if "timestamps" in extra else {}
    return model.fit(X, **extra).predict(users, items, **asked)


def both(options, seed, a, b, with_=(), dtype=np.float64):
    """Predictions of the table in its own units, and of a·X + b brought back to them."""
    at, values, times, F, G = drawn(seed)
    given_ = {"timestamps": times, "user_features": F, "item_features": G}
    extra = {name: given_[name] for name in with_}
    model = unweave.MatrixCompletion(**{"n_components": 2, "random_state": 0, **options})
    ours = predicted(model, filled(at, values, dtype), extra, times)
    theirs = predicted(model, filled(at, a * values + b, dtype), extra, times)
    return ours, (theirs - b) / a, values.std(), model


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", SOLVERS)
@settings(max_examples=3, deadline=None)
@given(a=st.sampled_from([1e-6, 0.05, 20.0, 1e5]), b=st.sampled_from([-7.0, 0.0, 50.0]), seed=st.integers(0, 10**6))
def test_any_units(name, a, b, seed):
    ours, theirs, spread, _ = both(SOLVERS[name], seed, a, b * a)
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * spread)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", [{}, {"solver": "gibbs", "max_iter": 15}], ids=["squares", "gibbs"])
@pytest.mark.parametrize(
    "with_", [("timestamps",), ("user_features", "item_features"), ("timestamps", "item_features")]
)
@settings(max_examples=2, deadline=None)
@given(a=st.sampled_from([0.05, 20.0]), seed=st.integers(0, 10**6))
def test_any_units_with_times_and_features(with_, options, a, seed):
    ours, theirs, spread, _ = both({"time_bins": 2, **options}, seed, a, 3.0, with_)
    np.testing.assert_allclose(ours, theirs, atol=1e-6 * spread)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["root", "sgd", "gibbs"])
def test_any_units_in_float32(name):
    ours, theirs, spread, model = both({**SOLVERS[name], "ridge": 0.5}, 3, 20.0, 1.0, dtype=np.float32)
    assert model.components_.dtype == np.float32
    np.testing.assert_allclose(ours, theirs, atol=0.05 * spread)


@pytest.mark.parametrize("name", ["given", "gibbs"])
def test_answers_about_newcomers_are_in_the_same_units(name):
    at, values, *_ = drawn(1)
    models = [unweave.MatrixCompletion(2, **SOLVERS[name]).fit(filled(at, v)) for v in (values, 20 * values + 3)]
    newcomer = {0: 1.0, 3: -0.5, 7: 2.0}
    people = [models[0].fold_in(newcomer), models[1].fold_in({item: 20 * x + 3 for item, x in newcomer.items()})]
    ours, theirs = (model.predict(person, np.arange(M)) for model, person in zip(models, people, strict=True))
    np.testing.assert_allclose(ours, (theirs - 3) / 20, atol=1e-6)
    one, two = (
        model.transform(filled(at, v)) @ model.components_ for model, v in zip(models, (values, 20 * values + 3))
    )
    np.testing.assert_allclose(one, (two - 3) / 20, atol=1e-6)
    assert models[1].objective_ == pytest.approx(400 * models[0].objective_)
    if name == "gibbs":
        assert models[1].predict_std(2, 3) == pytest.approx(20 * models[0].predict_std(2, 3))
    else:
        told = [model.explain(person, 5) for model, person in zip(models, people, strict=True)]
        np.testing.assert_allclose(20 * told[0].contributions, told[1].contributions, atol=1e-6)
        assert told[1].score == pytest.approx(20 * told[0].score + 3)


def test_numbers_at_the_ends_of_their_range():
    at, values, *_ = drawn(2)
    plain = unweave.MatrixCompletion(2, ridge=0.5).fit(filled(at, values)).predict(np.arange(20), np.arange(20))
    for a in (1e-140, 1e140):
        model = unweave.MatrixCompletion(2, ridge=0.5).fit(filled(at, a * values))
        np.testing.assert_allclose(model.predict(np.arange(20), np.arange(20)) / a, plain, atol=1e-6)
    same = unweave.MatrixCompletion(2, ridge=0.5).fit(filled(at, np.full_like(values, 0.1)))
    np.testing.assert_allclose(same.predict(np.arange(20), np.arange(20)), 0.1)
