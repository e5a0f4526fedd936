"""What the door advises can be followed by the model that asked."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave import (
    BFR,
    CURE,
    Agglomerative,
    BernoulliMixture,
    Divisive,
    GaussianMixture,
    KMeans,
    SoftClustering,
    coreset,
)
from unweave.select import silhouette

X = np.random.default_rng(0).normal(size=(30, 2))
HOLES, ENDLESS = X.copy(), X.copy()
HOLES[4, 1], ENDLESS[4, 1] = np.nan, np.inf
WITHOUT = {
    "BFR": BFR(2).fit,
    "CURE": CURE(2).fit,
    "coreset": lambda X: coreset(X, 5),
    "silhouette": lambda X: silhouette(X, np.arange(30) % 2),
    "blocks": lambda table: BFR(2).fit([X, table]),
    "Agglomerative": Agglomerative(2).fit,
    "Divisive": Divisive(2).fit,
    "SpectralClustering": unweave.SpectralClustering(2).fit,
}


@pytest.mark.parametrize("name", WITHOUT)
@pytest.mark.parametrize("table, says", [(HOLES, "NaN"), (ENDLESS, "inf")])
def test_models_without_missing_do_not_advise_it(name, table, says):
    with pytest.raises(ValueError, match=says) as caught:
        WITHOUT[name](table)
    assert "missing=" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", [KMeans, SoftClustering, GaussianMixture, BernoulliMixture])
@pytest.mark.parametrize("missing", [None, "nan"])
def test_a_sparse_table_with_nan_is_told_what_works(model, missing):
    table = sp.csr_array(np.where(np.isnan(HOLES), np.nan, HOLES > 0))
    with pytest.raises(ValueError, match="missing='zeros'") as caught:
        model(2, missing=missing).fit(table)
    assert "X.toarray()" in str(caught.value)
    for remedy in (model(2, missing="nan", max_iter=5), model(2, missing="zeros", max_iter=5)):
        remedy.fit(table.toarray() if remedy.missing == "nan" else table)


@pytest.mark.parametrize("model", [KMeans(2), GaussianMixture(2)])
def test_models_with_missing_advise_it(model):
    with pytest.raises(ValueError, match="missing='nan'"):
        model.fit(HOLES)


@pytest.mark.parametrize("use", [BFR(2).fit, CURE(2).fit, lambda X: coreset(X, 5), GaussianMixture(2).fit])
def test_the_block_of_another_width_is_named(use):
    with pytest.raises(ValueError, match="block 2 of X has 1 columns, but block 0 has 2"):
        use([X, X, X[:5, :1]])


@pytest.mark.parametrize("use", [BFR(2).fit, KMeans(2).fit, GaussianMixture(2).fit, lambda X: coreset(X, 5)])
def test_a_generator_is_refused_in_words(use):
    with pytest.raises(TypeError, match="generator, which can be read only once"):
        use(part for part in (X, X))
