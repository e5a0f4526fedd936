"""What hidden Markov models make of input that is wrong, poor or extreme."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tests.group.markov.chains import NO_PRIOR
from unweave.group.markov.emissions import spread_of
from unweave.group.markov.model import HiddenMarkov, chain_of
from unweave.group.markov.start import within_clusters


def test_a_state_never_visited_keeps_valid_rows(rng):
    X = rng.normal(size=(60, 1))
    init = {"start": np.array([1.0, 0.0]), "transition": np.array([[1.0, 0.0], [0.5, 0.5]])}
    init |= {"means": np.array([[0.0], [50.0]]), "covariances": np.ones((2, 1))}
    for prior in ({}, NO_PRIOR):
        model = HiddenMarkov(2, init=init, max_iter=5, tol=0, **prior).fit(X)
        for rows in (model.transition_matrix_, model.start_probabilities_[None]):
            np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        assert np.isfinite(model.means_).all() and np.isfinite(model.covariances_).all()
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("X", [np.ones((30, 2)), np.repeat(np.eye(2), 15, axis=0), np.array([[1e15], [1e15 + 1]] * 9)])
def test_duplicates_and_constant_columns(X):
    for kind in ("diag", "full"):
        model = HiddenMarkov(2, covariance_type=kind).fit(X)
        assert np.isfinite(model.score(X)) and np.isfinite(model.predict_proba(X)).all()


def test_rows_far_from_every_state_have_finite_scores(rng):
    model = HiddenMarkov(2, covariance_type="full").fit(rng.normal(size=(100, 2)))
    far = np.array([[1e6, -1e6], [0.0, 0.0], [1e8, 1e8]])
    assert np.isfinite(model.score_samples(far)).all() and np.isfinite(model.predict_proba(far)).all()
    assert np.isfinite(model.decode(far)[0])


def test_sequences_of_one_step(rng):
    X = rng.normal(size=(50, 2))
    model = HiddenMarkov(2, max_iter=20, tol=0).fit(X, lengths=[1] * 50)
    np.testing.assert_allclose(model.transition_matrix_, 0.5)
    assert model.predict(X[:1]).shape == (1,)


_ROWS = np.arange(10.0).reshape(5, 2)


@pytest.mark.parametrize(
    ("options", "X", "lengths", "says"),
    [
        ({}, _ROWS, [3, 0, 2], "sequence 1 has none"),
        ({}, _ROWS, [3, 3], "add up to 6"),
        ({}, _ROWS, [2.5, 2.5], "whole numbers"),
        ({}, [_ROWS, _ROWS[:0]], None, "sequence 1 of X has no steps"),
        ({}, [_ROWS, _ROWS[:, :1]], None, "sequence 1 of X has 1 columns"),
        ({}, [_ROWS], [5], "leave lengths out"),
        ({}, np.where(_ROWS == 3, np.nan, _ROWS), None, "missing='nan'"),
        ({"missing": "zeros"}, _ROWS, None, "missing='zeros'"),
        ({"missing": "nan"}, np.full((5, 2), np.nan), None, "no observed entry"),
        ({"missing": "nan", "covariance_type": "full"}, np.where(_ROWS == 3, np.nan, _ROWS), None, "only a part"),
        ({"n_components": 6}, _ROWS, None, "n_components=6"),
        ({"n_components": 0}, _ROWS, None, "n_components"),
        ({"emission": "poisson"}, _ROWS, None, "emission='poisson'"),
        ({"covariance_type": "tied"}, _ROWS, None, "covariance_type='tied'"),
        ({"emission": "discrete"}, _ROWS, None, "one column"),
        ({"emission": "discrete"}, _ROWS[:, :1] - 5, None, "whole numbers from 0"),
        ({"emission": "discrete"}, _ROWS[:, :1] + 0.5, None, "whole numbers from 0"),
        ({"emission": "discrete"}, _ROWS[:, :1] * 1e9, None, "without gaps"),
        ({"transition_prior": -1.0}, _ROWS, None, "transition_prior"),
        ({"init": {"start": [1.0]}}, _ROWS, None, "init must be None or a dict"),
    ],
)
def test_bad_input_is_named(options, X, lengths, says):
    with pytest.raises(ValueError, match=says):
        HiddenMarkov(**{"n_components": 2, **options}).fit(X, lengths=lengths)


def test_lengths_in_the_place_of_y_are_noticed():
    with pytest.raises(ValueError, match="by name"):
        HiddenMarkov(2).fit(_ROWS, [3, 2])


def test_new_symbols_are_refused(rng):
    model = HiddenMarkov(2, emission="discrete").fit(rng.integers(3, size=(50, 1)))
    with pytest.raises(ValueError, match="symbol 3"):
        model.predict([[0], [3]])


def test_collapsing_without_a_prior_is_an_error():
    with pytest.raises(ValueError, match="emission_prior"):
        HiddenMarkov(2, emission_prior=0.0, tol=0, max_iter=50).fit(np.repeat([[0.0], [1.0]], 10, axis=0))


@settings(max_examples=25)
@given(st.data())
def test_any_small_table_gives_finite_answers(data):
    n, d, k = data.draw(st.integers(3, 12)), data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    number = st.floats(-1e6, 1e6, width=32)
    X = np.array(data.draw(st.lists(st.lists(number, min_size=d, max_size=d), min_size=n, max_size=n)))
    cut_at = data.draw(st.integers(1, n - 1))
    kind = data.draw(st.sampled_from(["diag", "full"]))
    model = HiddenMarkov(k, covariance_type=kind, max_iter=8, tol=0).fit(X, lengths=[cut_at, n - cut_at])
    chain = chain_of(model)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-8)
    np.testing.assert_allclose(chain.transition.sum(axis=1), 1.0)
    objective = np.asarray(model.history_.objective)
    assert (np.diff(objective) <= 1e-7 * (1 + np.abs(objective[:-1]))).all()
    assert set(model.labels_) <= set(range(k)) and np.isfinite(model.score(X))
    assert model.decode(X)[0] <= model.score(X) * n + 1e-6 * (1 + abs(model.score(X) * n))


def test_parameters_are_left_as_given():
    model = HiddenMarkov(3, emission="discrete", n_init=2)
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_a_glitch_takes_a_state_of_its_own_and_leaves_the_others_alone(rng, kind):
    X = np.repeat(np.tile([0, 5.0], 4), 50)[:, None] + rng.normal(size=(400, 1))
    X[200] = 1e5
    model = HiddenMarkov(3, covariance_type=kind).fit(X)
    np.testing.assert_allclose(np.sort(model.means_.ravel()), [0, 5, 1e5], atol=0.3)
    assert sorted(np.bincount(model.labels_)) == [1, 199, 200] and model.covariances_.max() < 1.5


@pytest.mark.parametrize("apart", [10.0, 1e3, 1e6])
def test_the_prior_does_not_depend_on_how_far_apart_states_are(apart):
    noise = np.random.default_rng(0).normal(size=(400, 1))
    states = np.repeat(np.tile([0, 1], 4), 50)
    model = HiddenMarkov(2).fit(apart * states[:, None] + noise)
    wanted = [noise[states == k].var() for k in (0, 1)]
    np.testing.assert_allclose(model.covariances_.ravel()[np.argsort(model.means_.ravel())], wanted, rtol=1e-3)


def test_columns_that_vary_between_clusters_alone_count_with_their_variance():
    X = np.repeat([[0.0, 3.0], [5.0, 3.0]], 20, axis=0)
    spread = within_clusters(X, spread_of(X), 2)
    assert spread.expected.tolist() == [6.25, 1.0]
    step = np.array([0.1, 0.0])
    assert within_clusters(np.vstack([X + step, X - step]), spread_of(X), 2).expected[0] == pytest.approx(
        0.01 * 80 / 78
    )
    holes = np.vstack([X + step, X - step, [[np.nan, 3.0]]])
    assert within_clusters(holes, spread_of(holes), 2).expected[0] == pytest.approx(0.01, rel=0.3)


@pytest.mark.parametrize("wrap", [list, tuple, np.array])
def test_symbols_come_as_lists_of_sequences(wrap):
    sequences = [[0, 1, 0, 1], [1, 1], [0]]
    model = HiddenMarkov(2, emission="discrete").fit([wrap(part) for part in sequences])
    same = HiddenMarkov(2, emission="discrete").fit([[x] for part in sequences for x in part], lengths=[4, 2, 1])
    assert model.objective_ == same.objective_ and np.array_equal(model.predict(sequences), same.labels_)
    equal = HiddenMarkov(2, emission="discrete").fit([[0, 1], [1, 1]])
    assert len(equal.labels_) == 4 and "2 sequences" in equal.plan_.problem


def test_tables_come_as_nested_lists():
    tables = [[[0.0], [1.0], [3.0]], [[1.0], [4.0]]]
    model = HiddenMarkov(2).fit(tables)
    assert model.objective_ == HiddenMarkov(2).fit([np.array(table) for table in tables]).objective_


@pytest.mark.parametrize(
    "X, says",
    [
        ([[0.0, 1.0, 0.0], [1.0]], "unequal lengths: pass a list of tables"),
        ([np.zeros(4), np.zeros(2)], "unequal lengths: pass a list of tables"),
        ([[[0.0, 1.0], [1.0]], [[1.0, 2.0]]], "sequence 0 of X is not a table"),
        (np.random.default_rng(0).normal(size=(50, 2)) * 1e-170, "too small .* rescale X"),
    ],
)
def test_lists_and_scales_without_a_meaning_are_refused_in_words(X, says):
    with pytest.raises(ValueError, match=says):
        HiddenMarkov(2).fit(X)
