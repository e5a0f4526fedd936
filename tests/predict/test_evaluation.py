"""Evaluation: the worked numbers, intervals that hold what they promise, and parts that add up."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LinearRegression
from sklearn.metrics import precision_recall_fscore_support
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from unweave.predict import bias_variance, calibration, confusion, learning_curve
from unweave.predict.evaluation.intervals import wilson


def test_thirty_photographs():
    """Catalogue, section 8: 17 cats of which 16 are found, and 3 of 13 others called so."""
    truth = ["cat"] * 17 + ["dog"] * 13
    said = ["cat"] * 16 + ["dog"] + ["cat"] * 3 + ["dog"] * 10
    found = confusion(truth, said, positive="cat")
    figures = found.accuracy, found.precision, found.recall, found.f
    assert [round(x, 3) for x in figures] == [0.867, 0.842, 0.941, 0.889]
    assert "0.867" in str(found) and found.matrix.tolist() == [[16, 1], [3, 10]]


def test_a_rare_class_that_is_never_called():
    """Catalogue, section 8: 9990 against 10, all called the first."""
    found = confusion([0] * 9990 + [1] * 10, [0] * 10_000)
    assert found.accuracy == 0.999 and found.recall == found.precision == found.f == 0
    assert found.of[1].recall_interval[1] < 0.3


def test_measures_of_many_classes_are_those_of_scikit_learn(rng):
    truth, said = rng.integers(0, 5, 200), rng.integers(0, 5, 200)
    found = confusion(truth, said)
    precision, recall, f, support = precision_recall_fscore_support(truth, said)
    table = found.table()
    for name, wanted in (("precision", precision), ("recall", recall), ("f", f), ("support", support)):
        np.testing.assert_allclose(table[name], wanted)
    assert found.f == pytest.approx(f.mean())
    for one in found.of.values():
        for name in ("precision", "recall", "f"):
            low, high = getattr(one, f"{name}_interval")
            assert 0 <= low <= getattr(one, name) <= high <= 1


def test_the_interval_of_wilson_holds_what_it_promises():
    """For every share the interval holds it about as often as it says (exact, over the binomial distribution)."""
    from scipy.stats import binom

    n, held = 40, []
    ends = np.array([wilson(hits, n) for hits in range(n + 1)])
    for share in np.linspace(0.02, 0.98, 49):
        inside = (ends[:, 0] <= share) & (share <= ends[:, 1])
        held.append(binom.pmf(np.arange(n + 1), n, share) @ inside)
    assert 0.94 < np.mean(held) < 0.97 and min(held) > 0.83
    assert wilson(0, 0) == (0.0, 1.0) and wilson(0, 5)[0] == 0 and wilson(5, 5)[1] == 1


def test_squared_error_is_parted_exactly(rng):
    X = rng.random((150, 1))
    y = np.sin(6 * X[:, 0]) + 0.3 * rng.normal(size=150)
    for estimator in (DecisionTreeRegressor(random_state=0), LinearRegression()):
        found = bias_variance(estimator, X, y, random_state=0, n_resamples=30)
        assert found.error == pytest.approx(found.bias + found.variance, rel=1e-12)
        assert f"{found.n_resamples} fits" in str(found) and found.plot().axes


def test_bias_and_variance_come_near_what_theory_says():
    """A mean of m draws from N(1, 1) has variance 1/m and no bias; a constant 0 has bias² 1 and no variance."""
    rng = np.random.default_rng(0)
    y, test = rng.normal(1, 1, 2000), rng.normal(1, 1, 4000)
    X, T = np.zeros((2000, 1)), np.zeros((4000, 1))
    found = bias_variance(LinearRegression(), X, y, test_X=T, test_y=test, noise=1.0, share=0.01, n_resamples=400,
                          random_state=0)  # fmt: skip
    assert found.variance == pytest.approx(1 / 20, rel=0.25)
    assert abs(found.bias) < 0.1 and found.error == pytest.approx(found.noise + found.bias + found.variance, rel=1e-12)


def test_wrong_rows_are_parted_as_by_domingos():
    X, y = load_wine(return_X_y=True)
    for estimator in (DecisionTreeClassifier(max_depth=1), DecisionTreeClassifier(random_state=0)):
        found = bias_variance(estimator, X, y, random_state=0, n_resamples=20)
        assert found.error == pytest.approx(found.bias + found.unbiased_variance - found.biased_variance)
        assert "variance that harms" in str(found) and found.plot().axes
    assert found.bias < 0.15


def test_learning_curves_fall_and_give_advice():
    X, y = load_wine(return_X_y=True)
    curve = learning_curve(GaussianNB(), X, y, random_state=0)
    assert curve.held_out[-1] < curve.held_out[0] and len(curve.sizes) == len(curve.fitted)
    assert curve.advice in str(curve) and curve.plot().axes
    flat = learning_curve(LinearRegression(), X[:, :2], X[:, 0], sizes=[20, 40, 80], n_repeats=2)
    assert flat.sizes.tolist() == [20, 40, 80] and flat.held_out.max() < 1e-9


def test_shares_that_come_true_are_called_so(rng):
    shares = rng.random(4000)
    good = calibration(rng.random(4000) < shares, shares)
    assert good.error < 0.03 and ((good.low <= good.said) & (good.said <= good.high)).mean() >= 0.7
    bold = calibration(rng.random(4000) < 0.5 + 0.2 * (shares - 0.5), shares)
    assert bold.error > 5 * good.error and "off by" in str(bold) and bold.plot().axes
    words = calibration(["no", "yes", "yes"], [0.1, 0.9, 0.8], positive="yes", n_bins=2)
    assert words.count.sum() == 3


BAD = [
    (lambda: confusion([], []), "empty"),
    (lambda: confusion([0, 1], [0, 1], positive=7), "none of the classes"),
    (lambda: confusion([0, 1], [0, 1], level=2), "between 0 and 1"),
    (lambda: calibration([0, 1], [0.5, 2]), "between 0 and 1"),
    (lambda: calibration(["a", "b"], [0.5, 0.2]), "positive="),
    (lambda: bias_variance(LinearRegression(), np.zeros((4, 1)), np.arange(4), share=1), "leaves none"),
    (lambda: bias_variance(LinearRegression(), np.zeros((4, 1)), np.arange(4), test_X=np.zeros((1, 1))), "neither"),
    (lambda: learning_curve(LinearRegression(), np.zeros((8, 1)), np.arange(8), sizes=[8]), "held out"),
]


@pytest.mark.parametrize("call, words", BAD, ids=[words for _, words in BAD])
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(ValueError, match=words):
        call()
