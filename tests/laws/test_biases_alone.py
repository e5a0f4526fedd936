"""Ratings are never predicted worse than by biases alone, at the entries that the search held out; then it is those."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave


def ratings(seed, k, noise, share, n=60, m=40):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(n, k)) @ rng.normal(size=(k, m)) + rng.normal(size=(n, 1)) + rng.normal(size=m)
    rows, columns = np.nonzero(rng.random((n, m)) < share)
    values = truth[rows, columns] + noise * rng.normal(size=len(rows))
    return sp.csr_array((values, (rows, columns)), shape=(n, m)), rng.random(len(rows))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_components", [3, "auto"])
@pytest.mark.parametrize("weighting", ["plain", "root", "count"])
@settings(max_examples=3, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(0, 2),
    noise=st.sampled_from([0.1, 1.0, 5.0]),
    share=st.sampled_from([0.1, 0.5]),
)
def test_never_worse_than_biases_alone(n_components, weighting, seed, k, noise, share):
    X, _ = ratings(seed, k, noise, share)
    model = unweave.MatrixCompletion(n_components, weighting=weighting, random_state=0).fit(X)
    chosen = model.ridge_path_[model.ridge_]
    assert chosen == min(model.ridge_path_.values()) == model.rank_path_[model.n_components_]
    assert chosen <= model.rank_path_[0] and ("biases alone" in str(model.plan_)) == (model.n_components_ == 0)


def test_a_sampler_of_biases_draws_biases_alone(tmp_path):
    X, times = ratings(0, 0, 1.0, 0.3)
    F = np.random.default_rng(0).normal(size=(60, 2))
    for given_ in ({}, {"timestamps": times, "user_features": F}):
        model = unweave.MatrixCompletion(4, solver="gibbs", max_iter=40, random_state=0).fit(X, **given_)
        assert model.n_components_ == 0 and "biases alone" in str(model.plan_)
        np.testing.assert_allclose(model.transform(X, **given_), model.codes_, atol=1e-8)
        assert model.recommend(3, 5)[0].shape == (5,) and model.similar(2, 3)[0].shape == (3,)
        assert np.isfinite(model.predict(model.fold_in({1: 2.0}), 7)) and model.predict_std(1, 2) > 0
        again = unweave.load(model.save(tmp_path / "m.unweave"))
        assert again.predict(3, 4) == model.predict(3, 4)
    taste, _ = ratings(0, 2, 0.3, 0.5)
    model = unweave.MatrixCompletion(4, solver="gibbs", max_iter=40, random_state=0).fit(taste)
    assert model.n_components_ == 4 and model.rank_path_[4] < 0.8 * model.rank_path_[0]


@pytest.mark.parametrize("solver", ["auto", "sgd"])
def test_a_table_of_biases_is_biases_alone_in_everything(solver, tmp_path):
    X, times = ratings(0, 0, 1.0, 0.3)
    for given_ in ({}, {"timestamps": times}) if solver == "auto" else ({},):
        model = unweave.MatrixCompletion(4, solver=solver, random_state=0).fit(X, **given_)
        assert model.n_components_ == 0 and model.components_.shape == (2, 40) and model.codes_.shape == (60, 2)
        a, b = model.codes_[:, 0], model.item_bias_
        np.testing.assert_allclose(model.predict(np.arange(40), np.arange(40)), model.mean_ + a[:40] + b, atol=1e-9)
        np.testing.assert_allclose(model.transform(X, **given_), model.codes_, atol=1e-9)
        assert np.array_equal(model.recommend(3, 5)[0], model.recommend([3], 5)[0][0])
        assert model.similar(2, 3)[0].shape == (3,) and model.similar_users(2, 3)[0].shape == (3,)
        newcomer = model.fold_in({1: 2.0, 5: -1.0})
        told = model.explain(newcomer, 7)
        assert told.score == pytest.approx(model.predict(newcomer, 7))
        assert told.score == pytest.approx(told.baseline + told.contributions.sum() + told.rest)
        again = unweave.load(model.save(tmp_path / "m.unweave"))
        assert again.predict(3, 4) == model.predict(3, 4)
        model.report(tmp_path / "m.html", X)
        assert model.plan_.solver in str(model.plan_) and (tmp_path / "m.html").stat().st_size > 1000
        assert np.isfinite(model.certificate_.gap) and model.certificate_.objective == model.objective_
        model.partial_fit(X[:5], **{name: value[: X[:5].nnz] for name, value in given_.items()})
        assert model.codes_.shape == (65, 2)


def test_vectors_are_kept_where_they_predict():
    X, _ = ratings(0, 2, 0.3, 0.5)
    model = unweave.MatrixCompletion(4, random_state=0).fit(X)
    assert model.n_components_ == 4 and model.rank_path_[4] < 0.8 * model.rank_path_[0]
    again = unweave.MatrixCompletion(4, ridge=model.ridge_, bias_ridge=model.bias_ridge_, random_state=0).fit(X)
    np.testing.assert_array_equal(again.components_, model.components_)


@pytest.mark.parametrize(("options", "says"), [({"bias_ridge": 1.0}, "goes with a ridge"),
                                               ({"ridge": 0.0, "bias_ridge": 1.0}, "above 0"),
                                               ({"ridge": 1.0, "bias_ridge": -1.0}, "bias_ridge")])  # fmt: skip
def test_ridges_that_make_no_sense(options, says):
    with pytest.raises(ValueError, match=says):
        unweave.MatrixCompletion(2, **options).fit(ratings(0, 1, 1.0, 0.5)[0])


def test_ratings_that_are_all_alike():
    X, _ = ratings(0, 0, 1.0, 0.4)
    X.data[:] = 4.0
    model = unweave.MatrixCompletion(3).fit(X)
    assert model.n_components_ == 0
    np.testing.assert_allclose(model.predict(np.arange(40), np.arange(40)), 4.0)
