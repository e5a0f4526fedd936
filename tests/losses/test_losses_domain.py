"""Errors in words, and the edges of each loss."""

from __future__ import annotations

import numpy as np
import pytest

from unweave.losses import KL, Absolute, Categorical, Hinge, Huber, Logistic, Ordinal, Squared, Weighted, get_loss

NAN = np.nan


@pytest.mark.parametrize("name, bad, words", [
    ("logistic", 3.0, "loss='logistic' needs data of 0 and 1; found 3.0: recode"),
    ("hinge", -1.0, "loss='hinge' needs data of 0 and 1; found -1.0"),
    ("kl", -2.0, "loss='kl' needs data of at least 0; found -2.0"),
    ("squared", np.inf, "loss='squared' needs finite data; found inf"),
    ("categorical", -np.inf, "loss='categorical' needs finite data"),
])  # fmt: skip
def test_data_outside_the_domain(name, bad, words):
    X = np.array([[0.0, 1.0], [NAN, bad]])
    with pytest.raises(ValueError, match=words):
        get_loss(name).prepare(X)
    with pytest.raises(ValueError, match=words):
        get_loss(name).prepare(np.array([[0.0, 1.0]])).encode(X)


@pytest.mark.parametrize("loss, parameter", [
    (Huber(0.0), "delta"), (Huber(NAN), "delta"), (Huber("1"), "delta"), (Huber(True), "delta"),
    (Absolute(-1.0), "smoothing"), (Hinge(np.inf), "smoothing"), (Hinge(None), "smoothing"),
    (Weighted([1.0, -1.0]), "by_column"), (Weighted([NAN]), "by_column"), (Weighted("ab"), "by_column"),
    (Weighted([0.0, 0.0]), "by_column"), (Weighted([[1.0]]), "by_column"),
])  # fmt: skip
def test_bad_parameters_are_named(loss, parameter):
    with pytest.raises(ValueError, match=parameter):
        get_loss(loss)
    with pytest.raises(ValueError, match=parameter):
        loss.prepare(np.array([[0.0, 1.0]]))


def test_unknown_names_list_the_known_and_the_nearest():
    with pytest.raises(ValueError, match=r"unknown loss 'squard'.*squared, weighted, huber.*Did you mean 'squared'"):
        get_loss("squard")
    with pytest.raises(ValueError, match="unknown loss 'zzz'"):
        get_loss("zzz")
    with pytest.raises(ValueError, match="must be a name"):
        get_loss(3)


def test_get_loss_passes_losses_through():
    loss = Huber(2.0)
    assert get_loss(loss) is loss
    assert get_loss(["squared", loss]).name == "columns"


def test_numpy_parameters_keep_float32():
    x, p = np.zeros((2, 2), np.float32), np.ones((2, 2), np.float32)
    for loss in (Huber(np.float64(0.5)), Hinge(np.float64(0.5)), Weighted(np.array([1.0, 2.0]))):
        assert loss.value(x, p).dtype == loss.gradient(x, p).dtype == np.float32
    absolute = Absolute(np.float64(0.5)).prepare(np.array([[1.0, 2.0]], np.float32))
    assert absolute.weights(x, p).dtype == np.float32


def test_weighted_needs_a_weight_for_each_column():
    with pytest.raises(ValueError, match="by_column has 2 weights, the data have 3 columns"):
        Weighted([1.0, 2.0]).prepare(np.zeros((4, 3)))
    loss = Weighted([1.0, 2.0]).prepare(np.zeros((4, 2)))
    assert loss.curvature == 2.0
    assert np.array_equal(loss.column_weights(2), [1.0, 2.0])
    assert np.array_equal(Weighted().column_weights(3), np.ones(3))


def test_weighted_is_squared_times_weight():
    rng = np.random.default_rng(0)
    x, p = rng.standard_normal((2, 5, 3))
    w = np.array([1.0, 0.0, 4.0])
    np.testing.assert_allclose(Weighted(w).value(x, p), w * Squared().value(x, p))
    np.testing.assert_allclose(Weighted(w).gradient(x, p), w * Squared().gradient(x, p))


def test_absolute_follows_the_units_and_survives_constant_data():
    X = np.random.default_rng(0).standard_normal((50, 3))
    small, large = Absolute().prepare(X), Absolute().prepare(1000 * X)
    assert large.eps_ == pytest.approx(1000 * small.eps_)
    assert Absolute(0.1).prepare(np.full((3, 2), 5.0)).eps_ == pytest.approx(0.5)
    assert Absolute(0.1).prepare(np.zeros((3, 2))).eps_ == pytest.approx(0.1)
    assert Absolute(0.1).prepare(np.full((3, 2), NAN)).eps_ == pytest.approx(0.1)
    x = np.array([1.0, 2.0, 3.0, 100.0, 1000.0])
    assert Absolute(1e-4).prepare(x).constant(x)[0] == pytest.approx(3.0, abs=0.1)


def test_huber_constant_lies_between_mean_and_median():
    x = np.array([0.0, 0.1, -0.1, 50.0])
    centre = Huber(1.0).constant(x)[0]
    assert np.median(x) < centre < x.mean()
    assert Huber(1e6).constant(x)[0] == pytest.approx(x.mean())
    tiny = 1e-30 * x
    assert Huber(1e-30).constant(tiny)[0] == pytest.approx(1e-30 * centre, rel=1e-8)


def test_kl_at_the_edges():
    loss = KL()
    x, p = np.array([0.0, 0.0, 3.0, 3.0, 1e-300]), np.array([0.0, 2.0, 0.0, 3.0, 1.0])
    value = loss.value(x, p)
    assert value[0] < 1e-15 and value[1] == 2.0 and 100 < value[2] < 1000 and value[3] == 0.0
    assert np.isfinite(value).all() and np.isfinite(loss.gradient(x, p)).all()
    near = loss.value(np.float32([100.0]), np.float32([100.01]))
    assert near[0] == pytest.approx(0.01**2 / 200, rel=1e-2), "digits are kept where p is near x, even in float32"


@pytest.mark.parametrize("loss", [Logistic(), Hinge()])
def test_constants_of_one_sided_columns_are_finite(loss):
    ones, zeros = loss.constant(np.ones(9)), loss.constant(np.zeros(9))
    assert np.isfinite(ones).all() and ones[0] > 0 and zeros[0] == pytest.approx(-ones[0])
    assert loss.constant(np.array([0.0, 1.0]))[0] == pytest.approx(0.0, abs=1e-6)
    assert loss.constant(np.array([])).tolist() == [0.0]


def test_levels_are_learned_over_the_whole_table():
    X = np.array([[3.0, NAN], [1.0, 7.0]])
    for loss in (Ordinal().prepare(X), Categorical().prepare(X)):
        assert loss.levels_.tolist() == [1.0, 3.0, 7.0]
        assert np.array_equal(loss.encode(X), [[1.0, NAN], [0.0, 2.0]], equal_nan=True)
        with pytest.raises(ValueError, match=r"learned the levels 1, 3, 7; found 2\.0"):
            loss.encode(np.array([[2.0, 1.0]]))
    assert Ordinal().prepare(X).width == 2 and Categorical().prepare(X).width == 3


def test_levels_match_across_dtypes():
    X = np.array([[0.1, 0.2, 0.3]])
    for learn, new in ((np.float32, np.float64), (np.float64, np.float32)):
        loss = Categorical().prepare(X.astype(learn))
        assert loss.encode(X.astype(new)).tolist() == [[0.0, 1.0, 2.0]]


def test_too_few_levels():
    with pytest.raises(ValueError, match="at least 2 distinct values; found 1"):
        Ordinal().prepare(np.ones((3, 1)))
    with pytest.raises(ValueError, match="at least 1 distinct values; found 0"):
        Categorical().prepare(np.full((3, 1), NAN))
    one = Categorical().prepare(np.ones((3, 1)))
    assert one.value(np.zeros((3, 1)), np.ones((3, 1))).tolist() == [[0.0]] * 3
    assert not one.gradient(np.zeros((3, 1)), np.ones((3, 1))).any()


def test_ordinal_predicts_the_level_of_least_loss():
    rng = np.random.default_rng(3)
    loss = Ordinal().prepare(np.array([0.0, 1.0, 2.0, 3.0]))
    p = rng.standard_normal((200, 3))
    costs = np.stack([loss.value(np.full((200, 1), level), p)[:, 0] for level in range(4)])
    assert np.array_equal(loss.predict(p)[:, 0], costs.argmin(axis=0))


def test_logistic_keeps_digits_of_confident_predictions():
    sure = Logistic().value(np.float32([1.0]), np.float32([20.0]))
    assert sure[0] == pytest.approx(np.exp(-20.0), rel=1e-4)
    kind = Categorical().prepare(np.array([0.0, 1.0]))
    assert kind.value(np.float32([1.0]), np.float32([0.0, 20.0]))[0] == pytest.approx(np.exp(-20.0), rel=1e-4)
