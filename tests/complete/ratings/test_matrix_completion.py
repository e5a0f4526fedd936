"""Ratings by alternating least squares: what is chosen, what is predicted, and what more ratings do."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import unweave
from unweave.complete.ratings import ratings
from unweave.complete.ratings.growth import grow
from unweave.complete.recommending.ids import objects


def planted(rng, n=300, m=120, k=3, share=0.25, noise=0.5):
    """Ratings with biases whose popularity is skewed: some users have rated much, some little."""
    truth = 3 + rng.normal(size=(n, k)) @ rng.normal(size=(k, m)) / np.sqrt(k)
    truth += 0.5 * rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=m)
    busy = rng.beta(0.6, 1.8, size=(n, 1)) * 4 * share
    known = rng.random((n, m)) < np.minimum(busy, 1)
    known[np.arange(n), rng.integers(0, m, n)] = True
    X = sp.csr_array(np.where(known, truth + noise * rng.normal(size=truth.shape), 0))
    return X, truth, known


def error(model, truth, known):
    return np.sqrt(np.mean((model.inverse_transform(model.codes_) - truth)[~known] ** 2))


def test_the_ridge_that_is_chosen_is_nearly_the_best(rng):
    X, truth, known = planted(rng)
    chosen = unweave.MatrixCompletion(3, max_iter=100).fit(X)
    errors = [
        error(unweave.MatrixCompletion(3, ridge=r, max_iter=100, tol=1e-3).fit(X), truth, known)
        for r in chosen.ridge_ * np.geomspace(0.1, 10, 9)
    ]
    assert error(chosen, truth, known) < 1.05 * min(errors)
    assert chosen.ridge_path_[chosen.ridge_] == min(chosen.ridge_path_.values()) == chosen.rank_path_[3]


def test_the_rank_is_found(rng):
    X, truth, known = planted(rng, k=4, share=0.5, noise=0.2)
    model = unweave.MatrixCompletion("auto", max_iter=100).fit(X)
    assert model.n_components_ in (4, 8) and model.rank_path_[2] > model.rank_path_[4] < model.rank_path_[0]
    assert model.choice_.best == model.n_components_ and model.choice_.scores == model.rank_path_
    assert set(model.rank_path_) <= {0, 2, 4, 8, 16}, "it stops looking when nothing more is to be had"
    assert error(model, truth, known) < 0.6 * error(unweave.MatrixCompletion(1, max_iter=100).fit(X), truth, known)


@pytest.mark.parametrize("weighting", ["plain", "root", "count"])
def test_new_rows_are_solved_as_the_old_ones_were(weighting, rng):
    X, _, _ = planted(rng)
    model = unweave.MatrixCompletion(3, ridge=1.0, weighting=weighting, tol=1e-3).fit(X)
    np.testing.assert_allclose(model.transform(X), model.codes_, atol=1e-8)
    np.testing.assert_allclose(model.transform(X[5:9]), model.codes_[5:9], atol=1e-8)
    newcomer = model.fold_in(dict(zip(X[[7]].indices.tolist(), X[[7]].data.tolist(), strict=True)))
    np.testing.assert_allclose(newcomer.code, model.codes_[7], atol=1e-8)


def test_an_unknown_weighting_is_named(rng):
    with pytest.raises(ValueError, match="weighting='heavy'"):
        unweave.MatrixCompletion(2, weighting="heavy").fit(planted(rng)[0])


def frame(rng, users, items, n):
    data = {"who": rng.choice(users, n), "what": rng.choice(items, n), "stars": rng.integers(1, 6, n)}
    return pd.DataFrame(data).drop_duplicates(["who", "what"])


def test_more_ratings_of_old_and_new_users_and_items(rng):
    first = ratings(frame(rng, ["ann", "bob", "cy"], [10, 20, 30, 40], 200), user="who", item="what", value="stars")
    model = unweave.MatrixCompletion(1, ridge=0.5).fit(first)
    more = pd.DataFrame({"who": ["ann", "dee", "dee"], "what": [10, 10, 50], "stars": [1, 5, 4]})
    model.partial_fit(ratings(more, user="who", item="what", value="stars"))
    assert list(model.user_ids_) == [*first.user_ids, "dee"] and list(model.item_ids_) == [*first.item_ids, 50]
    assert model.predict("ann", 10) < model.predict("dee", 10)
    ids, _ = model.recommend("dee", n=10)
    assert 10 not in ids and 50 not in ids and ids[-1] is None
    again = unweave.MatrixCompletion(1, ridge=0.5, max_iter=300, tol=0).fit(model.seen_)
    assert model.objective_ == pytest.approx(again.objective_, rel=0.05), "a few sweeps over everything known"


def test_without_ids_the_rows_are_new_users(rng):
    X, _, _ = planted(rng)
    model = unweave.MatrixCompletion(2, ridge=1.0, tol=1e-3).fit(X[:200])
    model.partial_fit(X[200:])
    assert model.codes_.shape[0] == 300 and (model.seen_ != X).nnz == 0
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :50])


def test_a_newer_rating_takes_the_place_of_the_old_one():
    old = sp.csr_array(np.array([[5.0, 3.0]]))
    new = sp.csr_array(np.array([[1.0, 0.0]]))
    who, what = objects(["ann"]), objects(["tea", "jam"])
    assert grow(old, who, what, new, who, what).seen.toarray().tolist() == [[1.0, 3.0]]
    with pytest.raises(ValueError, match="give ids both times"):
        grow(old, who, what, new, None, what)


def test_saved_recommenders_recommend_the_same(rng, tmp_path):
    table = ratings(frame(rng, ["ann", "bob", "cy"], [10, 20, 30, 40], 60), user="who", item="what", value="stars")
    model = unweave.MatrixCompletion(1, ridge=0.5).fit(table)
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    for one, two in zip(model.recommend("ann", 3, exclude_seen=False), again.recommend("ann", 3, exclude_seen=False)):
        assert one.tolist() == two.tolist()
    assert again.predict("bob", 20) == model.predict("bob", 20)


def test_a_table_of_more_rows_than_a_certificate_looks_at(rng):
    known = rng.random((5000, 12)) < 0.3
    X = sp.csr_array(np.where(known, rng.normal(size=(5000, 1)) + rng.normal(size=known.shape), 0))
    model = unweave.MatrixCompletion(1, ridge=1.0, tol=1e-8, max_iter=500).fit(X)
    assert model.certificate_.gap < 1e-3


@pytest.mark.parametrize("solver", ["auto", "sgd", "gibbs"])
def test_a_fit_that_raises_leaves_the_model_as_it_was(solver, rng):
    X, _, _ = planted(rng, n=60, m=40)
    model = unweave.MatrixCompletion(2, ridge=1.0, solver=solver, max_iter=4, tol=1e-2).fit(X)
    before, codes = dict(vars(model)), model.codes_.copy()

    def fail(progress):
        raise KeyError("no")

    model.callback = fail
    with pytest.raises(KeyError):
        model.fit(X[:30])
    assert vars(model) == {**before, "callback": fail}
    np.testing.assert_array_equal(model.codes_, codes)


def test_what_only_a_fit_needs_is_not_kept(rng):
    X, _, _ = planted(rng, n=60, m=40)
    given = {"timestamps": rng.random(X.nnz), "user_features": rng.normal(size=(60, 2))}
    for solver in ("auto", "gibbs"):
        model = unweave.MatrixCompletion(2, ridge=1.0, solver=solver, max_iter=5, tol=1e-2).fit(X, **given)
        kept = {name for name in vars(model) if name.startswith("_")}
        assert kept <= {"_learned", "_sentence", "_left", "_full_components", "_n_features_out", "_frame_kind"}
