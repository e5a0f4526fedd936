"""Selectors of columns: against scikit-learn and by hand, and what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.feature_selection import VarianceThreshold, mutual_info_classif
from sklearn.linear_model import Lasso
from sklearn.pipeline import make_pipeline

import unweave

SELECTORS = (unweave.SelectByVariance, unweave.SelectByInformation, unweave.SelectByPath)


def table(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Column 1 says most of y, column 4 something, column 2 is constant."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6)) * [1, 2, 0, 5, 1, 0.1] + 3
    return X, 2 * X[:, 1] - 1.5 * X[:, 4] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("selector", SELECTORS)
def test_scikit_learns_manners(selector, tmp_path):
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    fitted = selector(2).fit(frame, y)
    kept = fitted.get_support(indices=True)
    assert len(kept) == 2 and fitted.get_feature_names_out().tolist() == [frame.columns[i] for i in kept]
    np.testing.assert_array_equal(np.asarray(fitted.transform(frame)), X[:, kept])
    back = fitted.inverse_transform(np.asarray(fitted.transform(frame)))
    assert back.shape == X.shape and not back[:, ~fitted.get_support()].any()
    assert sp.issparse(selector(2).fit(X, y).transform(sp.csr_array(X)))
    loaded = unweave.load(fitted.save(tmp_path / "selector.unweave"))
    np.testing.assert_array_equal(loaded.get_support(), fitted.get_support())
    model = make_pipeline(selector(3), unweave.PCA(2)).fit(X, y)
    assert model.transform(X).shape == (120, 2)


@pytest.mark.parametrize("selector", SELECTORS)
def test_what_they_refuse(selector):
    X, y = table()
    for value in (0, -1, 1.5, "two"):
        with pytest.raises((ValueError, TypeError), match="n_features"):
            selector(value).fit(X, y)
    with pytest.raises(ValueError, match="needs X as one table"):
        selector().fit([X, X], y)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        selector().fit(X, y)


@pytest.mark.parametrize("storage", ["dense", "sparse", "float32"])
def test_variances_are_those_of_scikit_learn_and_weights_are_repetition(storage):
    X, _ = table()
    X[:, 5] = np.where(X[:, 5] > 3, X[:, 5], 0)
    X = X.astype(np.float32) if storage == "float32" else X
    data = sp.csr_array(X) if storage == "sparse" else X
    loose = 1e-5 if storage == "float32" else 1e-10
    theirs = VarianceThreshold().fit(X.astype(np.float64))
    ours = unweave.SelectByVariance().fit(data)
    wanted = X.var(axis=0, dtype=np.float64)
    wanted[2] = 0
    np.testing.assert_allclose(ours.variances_, wanted, rtol=loose, atol=1e-15)
    np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = unweave.SelectByVariance().fit(data, sample_weight=weights)
    repeated = np.repeat(X, weights, axis=0)
    repeated = sp.csr_array(repeated) if storage == "sparse" else repeated
    np.testing.assert_allclose(weighted.variances_, unweave.SelectByVariance().fit(repeated).variances_, rtol=loose)


def test_variance_with_holes_thresholds_and_the_most():
    X, _ = table()
    X[:4, 0] = np.nan
    X[:, 5] = np.nan
    fitted = unweave.SelectByVariance(missing="nan").fit(X)
    np.testing.assert_allclose(fitted.variances_[:5], np.nanvar(X[:, :5], axis=0), atol=1e-12)
    assert fitted.variances_[5] == 0 and fitted.get_support(indices=True).tolist() == [0, 1, 3, 4]
    assert np.isnan(fitted.transform(X)).sum() == 4
    assert unweave.SelectByVariance(2, missing="nan").fit(X).get_support(indices=True).tolist() == [1, 3]
    assert unweave.SelectByVariance(threshold=2.0, missing="nan").fit(X).get_support(indices=True).tolist() == [1, 3]
    with pytest.raises(ValueError, match="No feature in X meets"):
        unweave.SelectByVariance(threshold=1e9, missing="nan").fit(X)
    with pytest.raises(ValueError, match="missing"):
        unweave.SelectByVariance(missing="zeros").fit(X)
    for nothing in (np.zeros((5, 3)), np.ones((5, 3)), np.ones((1, 3))):
        with pytest.raises(ValueError, match="No feature"):
            unweave.SelectByVariance().fit(nothing)


def test_information_is_that_of_scikit_learn_and_finds_what_no_line_shows():
    X, y = table(300)
    kinds = (np.abs(X[:, 1] - 3) > 1.5).astype(int)
    fitted = unweave.SelectByInformation(1).fit(X, kinds)
    assert fitted.get_support(indices=True).tolist() == [1]
    assert fitted.information_.min() >= 0 and fitted.information_[2] < 0.05
    words = unweave.SelectByInformation(1).fit(X, np.where(kinds, "far", "near"))
    np.testing.assert_allclose(words.information_, fitted.information_)
    whole = np.rint(X)
    ours = unweave.SelectByInformation(discrete=True).fit(whole, kinds)
    theirs = mutual_info_classif(whole, kinds, discrete_features=True)
    np.testing.assert_allclose(ours.information_, np.maximum(theirs, 0), atol=1e-12)
    some = unweave.SelectByInformation(discrete=[0, 1]).fit(whole, y)
    assert np.isfinite(some.information_).all()
    with pytest.raises(ValueError, match="discrete"):
        unweave.SelectByInformation(discrete=[77]).fit(X, y)
    with pytest.raises(ValueError, match="toarray"):
        unweave.SelectByInformation(discrete=False).fit(sp.csr_array(X), y)


def test_the_order_of_the_path_is_that_of_lassos():
    X, y = table()
    fitted = unweave.SelectByPath().fit(X, y)
    A = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 1e-9, X.std(axis=0), 1)
    assert fitted.order_[0] == 1 and 2 not in fitted.order_ and fitted.strengths_[2] == 0
    for j in fitted.order_[:3]:
        strength = fitted.strengths_[j]
        before = Lasso(alpha=1.001 * strength, tol=1e-10, max_iter=100_000).fit(A, y).coef_
        after = Lasso(alpha=0.98 * strength, tol=1e-10, max_iter=100_000).fit(A, y).coef_
        assert abs(before[j]) < 1e-9 and abs(after[j]) > 1e-6
    assert (np.diff(fitted.strengths_[fitted.order_]) <= 0).all()
    for same in (X * [1, 10, 1, 0.1, 3, 1], X + 100, X.astype(np.float32), sp.csr_array(X)):
        np.testing.assert_array_equal(unweave.SelectByPath().fit(same, y).order_[:3], fitted.order_[:3])


def test_the_path_of_classes_takes_the_column_that_tells_them_apart():
    X, _ = table(150)
    two = X[:, 3] > 3
    assert unweave.SelectByPath(1).fit(X, two.astype(int)).get_support(indices=True).tolist() == [3]
    three = np.select([X[:, 0] > 3.5, X[:, 1] > 4], ["a", "b"], "c")
    fitted = unweave.SelectByPath(2, n_strengths=20).fit(X, three)
    assert fitted.get_support(indices=True).tolist() == [0, 1]
    with pytest.raises(ValueError, match="one class"):
        unweave.SelectByPath().fit(X, np.ones(150, dtype=int))
    with pytest.raises(ValueError, match="task"):
        unweave.SelectByPath(task="both").fit(X, two)
    with pytest.raises(ValueError, match="smallest"):
        unweave.SelectByPath(smallest=2).fit(X, two)
    flat = unweave.SelectByPath(task="numbers").fit(X, np.ones(150))
    assert not flat.get_support().any() and len(flat.order_) == 0
