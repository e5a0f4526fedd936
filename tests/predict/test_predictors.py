"""Parts of plain arrays say what the models of scikit-learn say that they were taken from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR

from unweave.predict.learned import predictors
from unweave.predict.learned.predictors import fit_linear, fit_vectors
from unweave.predict.learned.trees import Boosted, Forest


def holes(X):
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_trees_as_arrays_say_the_same_to_the_bit(load):
    X, y = load(return_X_y=True)
    X = holes(X)
    forest = ExtraTreesClassifier(10, random_state=0).fit(X, y)
    np.testing.assert_array_equal(Forest.of(forest).answers(X), forest.predict_proba(X))
    boosted = HistGradientBoostingClassifier(max_iter=20).fit(X, y)
    np.testing.assert_allclose(Boosted.of(boosted).answers(X), boosted.predict_proba(X), rtol=1e-12, atol=1e-15)


def test_trees_for_numbers_too():
    X, y = load_diabetes(return_X_y=True)
    X = holes(X)
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    np.testing.assert_allclose(Forest.of(forest).answers(X)[:, 0], forest.predict(X), rtol=1e-12)
    boosted = HistGradientBoostingRegressor(max_iter=20).fit(X, y)
    np.testing.assert_array_equal(Boosted.of(boosted).answers(X)[:, 0], boosted.predict(X))


@pytest.mark.parametrize("kept", [predictors._PAIRS, 100])  # rows whose table of pairs is kept, or is not
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_support_vectors_call_the_same_classes(load, kept, monkeypatch):
    monkeypatch.setattr(predictors, "_PAIRS", kept)
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = fit_vectors(X, y, y.max() + 1, 3.0, 0)
    np.testing.assert_array_equal(ours.answers(X).argmax(axis=1), SVC(C=3.0).fit(X, y).predict(X))
    assert ours.sharpness > 0


@pytest.mark.parametrize("kept", [predictors._PAIRS, 100])
def test_support_vectors_for_numbers(kept, monkeypatch):
    monkeypatch.setattr(predictors, "_PAIRS", kept)
    X, y = load_diabetes(return_X_y=True)
    peer = SVR(C=2.0).fit(X, (y - y.mean()) / y.std()).predict(X) * y.std() + y.mean()
    np.testing.assert_allclose(fit_vectors(X, y, 0, 2.0, 0).answers(X)[:, 0], peer, rtol=1e-8)


def test_linear_shares_are_those_of_logistic_regression():
    for X, y in (load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        peer = LogisticRegression(max_iter=1000).fit(X, y)
        ours = fit_linear(X, y, y.max() + 1, 1.0, 0)
        np.testing.assert_allclose(ours.answers(X), peer.predict_proba(X), rtol=1e-9, atol=1e-12)
