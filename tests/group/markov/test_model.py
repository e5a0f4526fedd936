"""Baum–Welch, planted chains, and what a fitted hidden Markov model can do."""

import numpy as np
import pytest

from tests.group.markov.chains import NO_PRIOR, planted, random_chain, staying, symbols_of
from tests.reference import markov as plain
from unweave.group.markov.model import HiddenMarkov


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_a_step_is_that_of_the_plain_algorithm(rng, kind):
    X, _, _, _ = planted(rng, 700)
    chain, lengths = random_chain(rng, 3, 2, kind), [400, 1, 299]
    init = {"start": chain.start, "transition": chain.transition, "means": chain.emission.means}
    init["covariances"] = chain.emission.covariances
    model = HiddenMarkov(3, covariance_type=kind, init=init, max_iter=1, tol=0.0, **NO_PRIOR).fit(X, lengths=lengths)
    total, *expected = plain.em_step(X, lengths, *init.values())
    for ours, theirs in zip(
        (model.start_probabilities_, model.transition_matrix_, model.means_, model.covariances_), expected
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9)
    after = plain.em_step(X, lengths, *expected)[0]
    assert model.objective_ == pytest.approx(-after, rel=1e-10) and after > total


@pytest.mark.parametrize("emission", ["diag", "full", "discrete"])
def test_the_objective_never_rises(rng, emission):
    X, states, _, _ = planted(rng, 2000, apart=1.0)
    options = {"covariance_type": emission}
    if emission == "discrete":
        X, options = rng.integers(3, size=(2000, 1)) + states[:, None], {"emission": "discrete", "n_init": 1}
    model = HiddenMarkov(4, max_iter=40, tol=0.0, **options).fit(X, lengths=[1500, 500])
    objective = np.asarray(model.history_.objective)
    assert (np.diff(objective) <= 1e-10 * np.abs(objective[0])).all() and objective[-1] < objective[0]


def test_planted_states_are_found(rng):
    X, states, means, transition = planted(rng)
    model = HiddenMarkov(3, covariance_type="full").fit(X)
    order = [int(np.argmin(((model.means_ - mean) ** 2).sum(axis=1))) for mean in means]
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(model.means_[order], means, atol=0.2)
    np.testing.assert_allclose(model.transition_matrix_[np.ix_(order, order)], transition, atol=0.03)
    assert (np.argsort(order)[model.labels_] == states).mean() > 0.97


def test_planted_symbols_are_found(rng):
    shown = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])
    _, states, _, _ = planted(rng, 4000, k=2, stay=0.95)
    symbols = (rng.random(4000)[:, None] > np.cumsum(shown, axis=1)[states]).sum(axis=1)
    model = HiddenMarkov(2, emission="discrete").fit([symbols[:1500], symbols[1500:]])
    order = np.argsort(model.emission_probabilities_[:, 2])
    np.testing.assert_allclose(model.emission_probabilities_[order], shown, atol=0.06)
    assert model.n_parameters_ == 1 + 2 + 4 and "8 starts" in str(model.plan_)


CHAINS = {
    "stay": lambda rng: (staying(rng, 4, 0.9), rng.dirichlet(np.full(8, 0.7), 4)),
    "fast": lambda rng: (staying(rng, 3, 0.0), rng.dirichlet(np.full(7, 0.3), 3)),
    "cycle": lambda rng: (0.92 * np.roll(np.eye(4), 1, axis=1) + 0.02, rng.dirichlet(np.full(5, 0.5), 4)),
    "alternate": lambda rng: (np.array([[0.1, 0.9], [0.9, 0.1]]), np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])),
    "coins": lambda rng: (np.array([[0.95, 0.05], [0.1, 0.9]]), np.array([[0.5, 0.5], [0.9, 0.1]])),
}


@pytest.mark.parametrize("kind", CHAINS)
def test_symbols_end_as_likely_as_under_the_chain_that_made_them(kind):
    good = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        transition, shown = CHAINS[kind](rng)
        X, truth = symbols_of(rng, transition, shown + 1e-9, 1000)
        good += HiddenMarkov(len(shown), emission="discrete").fit(X).score(X) * len(X) >= truth
    assert good >= 2


def test_a_fit_does_not_end_at_the_saddle_where_states_are_alike():
    rng = np.random.default_rng(1)
    transition, shown = CHAINS["coins"](rng)
    X, truth = symbols_of(rng, transition, shown, 2000)
    start = {"start": np.full(2, 0.5), "transition": np.array([[0.6, 0.4], [0.4, 0.6]])}
    start["probabilities"] = np.array([[0.652, 0.348], [0.648, 0.352]])
    model = HiddenMarkov(2, emission="discrete", init=start, max_iter=500).fit(X)
    assert model.score(X) * 2000 >= truth and model.n_iter_ > 10 and "of what the states explain" in str(model.history_)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_units_do_not_change_when_a_fit_ends(scale):
    X, _, _, _ = planted(np.random.default_rng(0), 900, apart=1.5)
    one, other = HiddenMarkov(3).fit(X), HiddenMarkov(3).fit(scale * X + 7 * scale)
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(scale * one.means_ + 7 * scale, other.means_, rtol=1e-4)


def test_order_in_time_tells_states_apart_that_rows_do_not(rng):
    X, states, _, _ = planted(rng, 4000, stay=0.98, apart=1.5, k=2)
    labels = HiddenMarkov(2).fit(X).labels_
    agreement = max((labels == states).mean(), (labels != states).mean())
    nearest = (np.abs(X[:, 0] - 1.5) > np.abs(X[:, 0])).mean()
    assert agreement > 0.95 > nearest


def test_a_list_of_sequences_is_rows_and_lengths(rng):
    X, _, _, _ = planted(rng, 600)
    one = HiddenMarkov(3, max_iter=5, tol=0).fit(X, lengths=[100, 1, 499])
    two = HiddenMarkov(3, max_iter=5, tol=0).fit([X[:100], X[100:101], X[101:]])
    np.testing.assert_array_equal(one.means_, two.means_)
    np.testing.assert_array_equal(one.predict(X, [300, 300]), two.predict([X[:300], X[300:]]))


def test_float32_rows_and_probabilities(rng):
    X, _, _, _ = planted(rng, 900)
    model = HiddenMarkov(3, max_iter=10, tol=0).fit(X.astype(np.float32))
    assert model.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(model.means_, HiddenMarkov(3, max_iter=10, tol=0).fit(X).means_, atol=1e-4)


def test_scores_criteria_and_anomalies(rng):
    X, _, _, _ = planted(rng, 800)
    model = HiddenMarkov(3).fit(X)
    scores = model.score_samples(X)
    logs = plain.gaussian_logs(X, model.means_, model.covariances_)
    steps, _, _ = plain.forward_backward(logs, model.start_probabilities_, model.transition_matrix_)
    np.testing.assert_allclose(scores, steps, atol=1e-8)
    assert model.score(X) == pytest.approx(scores.mean())
    assert model.n_parameters_ == 2 + 6 + 6 + 6
    assert model.aic(X) == pytest.approx(-2 * scores.sum() + 40)
    assert model.bic(X) == pytest.approx(-2 * scores.sum() + 20 * np.log(800))
    X[400] = [30.0, -30.0]
    assert model.anomaly_score(X).argmax() == 400
    assert model.bic(X) > HiddenMarkov(3).fit(X).bic(X)


def test_steps_not_seen_are_bridged(rng):
    X, states, _, _ = planted(rng, 2000)
    holed = X.copy()
    holed[rng.random(2000) < 0.2] = np.nan
    holed[rng.random(X.shape) < 0.1] = np.nan
    model = HiddenMarkov(3, missing="nan").fit(holed)
    order = np.array([np.bincount(states[model.labels_ == k], minlength=3).argmax() for k in range(3)])
    assert (order[model.labels_] == states).mean() > 0.93
    blank = np.isnan(holed).all(axis=1)
    assert model.score_samples(holed)[blank] == pytest.approx(0.0, abs=1e-12)
    assert np.isfinite(model.predict_proba(holed)).all()
    whole = np.where(np.isnan(holed).any(axis=1)[:, None], np.nan, holed)
    assert np.isfinite(HiddenMarkov(3, covariance_type="full", missing="nan").fit(whole).objective_)


def test_samples_follow_the_chain(rng):
    X, _, _, _ = planted(rng, 1500)
    for kind in ("diag", "full"):
        model = HiddenMarkov(3, covariance_type=kind).fit(X)
        drawn, states = model.sample(20_000, random_state=1)
        for k in range(3):
            np.testing.assert_allclose(drawn[states == k].mean(axis=0), model.means_[k], atol=0.15)
        moved = np.bincount(states[:-1] * 3 + states[1:], minlength=9).reshape(3, 3)
        np.testing.assert_allclose(moved / moved.sum(axis=1, keepdims=True), model.transition_matrix_, atol=0.02)
        assert np.array_equal(model.sample(5)[0], model.sample(5)[0])
    symbols = HiddenMarkov(2, emission="discrete").fit(rng.integers(4, size=(300, 1)))
    drawn, _ = symbols.sample(500)
    assert drawn.shape == (500, 1) and set(np.unique(drawn)) <= {0, 1, 2, 3}


def test_a_checkpoint_goes_on_where_it_was(rng, tmp_path):
    X, _, _, _ = planted(rng, 800, apart=1.0)
    path = tmp_path / "hmm.ckpt"
    whole = HiddenMarkov(3, max_iter=8, tol=0).fit(X)

    def stop(progress):
        if progress.iteration == 4:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        HiddenMarkov(3, max_iter=8, tol=0, checkpoint=path, callback=stop).fit(X)
    resumed = HiddenMarkov(3, max_iter=8, tol=0, checkpoint=path).fit(X)
    np.testing.assert_array_equal(resumed.means_, whole.means_)
    assert not path.exists()
