"""Weights and given arrays: checked once, for every model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unweave import PCA, BernoulliMixture, GaussianMixture, KMeans, coreset
from unweave.data.arguments import finite_weights, numbers, row_weights

X = np.random.default_rng(0).normal(size=(12, 2))
WRONG = [
    (np.full(12, np.nan), ValueError, "finite"),
    (-np.ones(12), ValueError, "negative"),
    (np.zeros(12), ValueError, "all are zero"),
    ([1.0, 2.0], ValueError, "X has 12 rows, it has 2"),
    (np.ones((12, 1)), ValueError, "1D"),
    ("heavy", TypeError, "sample_weight must be a number"),
    (["a"] * 12, TypeError, "sample_weight must hold"),
    (float("nan"), ValueError, "finite"),
]
USES = [
    lambda w: KMeans(2).fit(X, sample_weight=w),
    lambda w: KMeans(2).partial_fit(X, sample_weight=w),
    lambda w: KMeans(2).fit(X).partial_fit(X, sample_weight=w),
    lambda w: KMeans(2).fit(X).score(X, sample_weight=w),
    lambda w: GaussianMixture(2).fit(X, sample_weight=w),
    lambda w: GaussianMixture(2).fit(X).score(X, sample_weight=w),
    lambda w: BernoulliMixture(2).partial_fit(X > 0, sample_weight=w),
]


@pytest.mark.parametrize("use", range(len(USES)))
@pytest.mark.parametrize("weights, error, says", WRONG)
def test_wrong_weights_are_named(use, weights, error, says):
    with pytest.raises(error, match=says):
        USES[use](weights)


def test_one_number_counts_for_every_row():
    assert KMeans(2).fit(X).score(X, sample_weight=3) == pytest.approx(3 * KMeans(2).fit(X).score(X))
    stream = KMeans(2, init=X[:2]).partial_fit(X)
    assert KMeans(2, init=X[:2]).partial_fit(X, sample_weight=2.0).inertia_ == pytest.approx(2 * stream.inertia_)
    model = GaussianMixture(2).fit(X)
    assert model.score(X, sample_weight=5) == pytest.approx(model.score(X))
    with pytest.raises(ValueError, match="1D"):
        coreset(X, 5, sample_weight=2.0)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20))
def test_sound_weights_pass_as_they_are(values):
    if any(values):
        assert row_weights(values, len(values)).tolist() == values == finite_weights(values).tolist()
    assert row_weights(None, 3) is None


@pytest.mark.parametrize(
    "value, error, says",
    [
        (np.mean, TypeError, "init must be an array of numbers of the shape \\(2, 2\\), got <function mean"),
        ([[1, 2], [3]], TypeError, "array of numbers"),
        (np.ones((3, 2)), ValueError, "shape \\(2, 2\\), got \\(3, 2\\)"),
        ([[1, np.inf], [0, 0]], ValueError, "finite"),
    ],
)
def test_given_arrays_are_checked(value, error, says):
    with pytest.raises(error, match=says):
        numbers(value, "init", (2, 2))
    for model in (KMeans(2, init=value), GaussianMixture(2, init=value), BernoulliMixture(2, init=value)):
        with pytest.raises(error, match="init"):
            model.fit(X > 0)


@pytest.mark.parametrize("missing", [np.nan, 0, 3.5])
def test_missing_that_is_a_number(missing):
    with pytest.raises(ValueError, match="missing='nan'"):
        PCA(2, missing=missing).fit(np.eye(4))
