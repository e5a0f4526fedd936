"""AIC and BIC: the usual scale, the right likelihood and number of parameters for each kind of model."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import unweave
from unweave.select import aic, bic
from unweave.select.information import likelihood


def low_rank(rng, n=60, m=12, k=2, noise=0.1):
    return rng.standard_normal((n, k)) @ rng.standard_normal((k, m)) + noise * rng.standard_normal((n, m))


def test_a_mixture_is_asked_itself(rng):
    from sklearn.mixture import GaussianMixture

    X = rng.standard_normal((80, 2))
    model = GaussianMixture(2, random_state=0).fit(X)
    assert aic(model, X) == model.aic(X) and bic(model, X) == model.bic(X)


def test_a_density_that_counts_its_parameters(rng):
    class Normal:
        n_parameters_ = 2

        def score_samples(self, X):
            return stats.norm.logpdf(np.asarray(X)[:, 0])

    X = rng.standard_normal((50, 1))
    logs = stats.norm.logpdf(X).sum()
    assert aic(Normal(), X) == pytest.approx(-2 * logs + 4)
    assert bic(Normal(), X) == pytest.approx(-2 * logs + 2 * math.log(50))


def test_k_means_is_a_spherical_gaussian_a_cluster(rng):
    X = np.concatenate([rng.normal(c, 1, (n, 3)) for c, n in ((0, 40), (9, 60))])
    model = unweave.KMeans(2).fit(X)
    spread = math.sqrt(model.inertia_ / X.size)
    logs = stats.norm.logpdf(X, model.cluster_centers_[model.labels_], spread).sum()
    logs += np.log(np.bincount(model.labels_) / 100)[model.labels_].sum()
    found = likelihood(model, X)
    assert found.deviance == pytest.approx(-2 * logs)
    assert (found.parameters, found.observations) == (2 * 3 + 1 + 1, 100)
    assert bic(model, X) == pytest.approx(-2 * logs + 8 * math.log(100))


def test_a_clustering_without_centres_has_the_means_of_its_labels(rng):
    from sklearn.cluster import AgglomerativeClustering

    X = np.concatenate([rng.normal(c, 1, (30, 2)) for c in (0, 20)])
    ours = likelihood(unweave.KMeans(2).fit(X), X)
    assert likelihood(AgglomerativeClustering(2).fit(X), X).deviance == pytest.approx(ours.deviance)
    sparse = sp.csr_array(X)
    assert likelihood(unweave.KMeans(2).fit(sparse), sparse).deviance == pytest.approx(ours.deviance)


def test_holes_of_a_clustering_do_not_count(rng):
    X = np.concatenate([rng.normal(c, 1, (30, 2)) for c in (0, 20)])
    X[::7, 0] = np.nan
    model = unweave.KMeans(2, missing="nan").fit(X)
    gaps = X - model.cluster_centers_[model.labels_]
    seen = ~np.isnan(X)
    logs = stats.norm.logpdf(gaps[seen], 0, math.sqrt(np.square(gaps[seen]).mean())).sum() + 60 * math.log(0.5)
    assert likelihood(model, X).deviance == pytest.approx(-2 * logs, rel=1e-6)


def test_a_factorisation_under_squared_loss(rng):
    X = low_rank(rng)
    model = unweave.TruncatedSVD(2).fit(X)
    left = X - model.inverse_transform(model.transform(X))
    logs = stats.norm.logpdf(left, 0, math.sqrt(np.square(left).mean())).sum()
    found = likelihood(model, X)
    assert found.deviance == pytest.approx(-2 * logs, rel=1e-6)
    assert (found.parameters, found.observations) == (2 * (60 + 12 - 2) + 1, X.size)


def test_observed_entries_alone_are_counted(rng):
    X = low_rank(rng)
    X[rng.random(X.shape) < 0.2] = np.nan
    model = unweave.Factorization(2, missing="nan", codes="ridge", components="ridge", max_iter=500).fit(X)
    assert likelihood(model, X).observations == int((~np.isnan(X)).sum())
    stored = sp.csr_array(np.nan_to_num(X))
    model = unweave.Factorization(2, missing="zeros", codes="ridge", components="ridge", max_iter=500).fit(stored)
    assert likelihood(model, stored).observations == stored.nnz


def test_counts_have_the_likelihood_of_poisson(rng):
    X = rng.poisson(np.exp(0.5 * low_rank(rng))).astype(float)
    model = unweave.NMF(3, loss="kl").fit(X)
    mean = model.inverse_transform(model.transform(X))
    assert likelihood(model, X).deviance == pytest.approx(-2 * stats.poisson.logpmf(X, mean).sum(), rel=1e-4)


def test_zeros_and_ones_have_the_likelihood_of_coins(rng):
    X = (low_rank(rng) > 0).astype(float)
    model = unweave.Factorization(1, loss="logistic", codes="ridge", components="ridge").fit(X)
    chance = model.inverse_transform(model.transform(X))
    assert likelihood(model, X).deviance == pytest.approx(-2 * stats.bernoulli.logpmf(X, chance).sum(), rel=1e-4)


def test_absolute_errors_have_the_likelihood_of_laplace(rng):
    X = low_rank(rng)
    model = unweave.Factorization(2, loss="absolute").fit(X)
    gaps = np.abs(X - model.inverse_transform(model.transform(X)))
    assert likelihood(model, X).deviance == pytest.approx(
        -2 * stats.laplace.logpdf(gaps, 0, gaps.mean()).sum(), rel=1e-3
    )


def test_bic_finds_the_rank(rng):
    X = low_rank(rng, 200, 30, 3)
    scores = {k: bic(unweave.PCA(k).fit(X), X) for k in range(1, 7)}
    assert min(scores, key=lambda k: scores[k]) == 3


def test_no_error_at_all_stays_finite():
    X = np.repeat([[0.0, 1.0], [5.0, 2.0]], 4, axis=0)
    scores = {k: bic(unweave.KMeans(k).fit(X), X) for k in (1, 2)}
    assert np.isfinite(list(scores.values())).all() and scores[2] < scores[1]
    zeros = np.zeros((4, 2))
    assert math.isfinite(bic(unweave.KMeans(1).fit(zeros), zeros))


def test_what_has_no_likelihood_says_what_to_do(rng):
    X = (low_rank(rng) > 0).astype(float)
    with pytest.raises(ValueError, match="held-out"):
        aic(unweave.Factorization(1, loss="hinge", codes="ridge", components="ridge").fit(X), X)
    with pytest.raises(TypeError, match="no likelihood"):
        bic(unweave.TableImputer(1).fit(low_rank(rng)), X)
