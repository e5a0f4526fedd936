"""ImplicitALS: the ridge it takes by itself, users old, new and without interactions, and batches."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from tests.complete.implicit.test_als import counts, two_tastes
from unweave.complete.implicit.als import ImplicitALS
from unweave.complete.implicit.scheme import Interactions
from unweave.data.named import NamedTable


def test_beyond_the_vanishing_ridge_nothing_is_left(rng, dtype):
    X = counts(rng).astype(dtype)
    for weighting, power in (("plain", 0), ("root", 0.5), ("count", 1)):
        scale = [np.maximum((X > 0).sum(axis), 1.0) ** (-power / 2) for axis in (1, 0)]
        largest = np.linalg.norm(scale[0][:, None] * np.where(X > 0, 1 + 0.7 * X, 0) * scale[1], 2)
        found = Interactions(sp.csr_array(X), 0.7, 0.0, power).vanishing_ridge()
        assert 0.99 * largest < found < 1.00001 * largest
        model = ImplicitALS(3, alpha=0.7, weighting=weighting, max_iter=2).fit(X)  # too few pairs to hold any out
        assert 0 < model.ridge_ <= 1.00001 * largest / 4 and model.ridge_path_ == {}
        assert f"{model.ridge_:.3g}" in str(model.plan_)
        beyond = ImplicitALS(3, alpha=0.7, weighting=weighting, ridge=1.2 * largest, max_iter=100, tol=0).fit(X)
        within = ImplicitALS(3, alpha=0.7, weighting=weighting, ridge=0.8 * largest, max_iter=100, tol=0).fit(X)
        assert np.abs(beyond.predict(X)).max() < 1e-2 < np.abs(within.predict(X)).max()


def test_a_user_without_interactions_is_recommended_what_is_popular(rng):
    X = (rng.random((200, 12)) < np.linspace(0.05, 0.9, 12)).astype(float)
    X[[0, 7]] = 0
    model = ImplicitALS(3).fit(sp.csr_array(X))
    assert not model.codes_[[0, 7]].any() and not model.transform(X)[0].any()
    average = model.predict(X)[np.delete(np.arange(200), [0, 7])].mean(axis=0)
    items, scores = model.recommend(0, n=12)
    np.testing.assert_allclose(scores, average[items], rtol=1e-9)
    assert set(items[:4]) == set(np.argsort(-X.sum(axis=0))[:4])
    new = model.fold_in({})
    for same in (
        model.recommend(new, n=12)[0],
        model.recommend(model.fold_in({3: 0.0}), n=12, exclude_seen=False)[0],
        model.recommend([7, 1], n=12)[0][0],
        model.recommend(sp.csr_array(X[:1]), n=12)[0][0],
    ):
        np.testing.assert_array_equal(same, items)
    np.testing.assert_allclose(model.predict([0, 1], [3, 3])[0], average[3], rtol=1e-9)
    story = model.explain(0, 11)
    assert story.baseline == pytest.approx(story.score) and len(story.contributions) == 0
    np.testing.assert_allclose(model.recommend(5, n=3)[1], model.recommend([5, 0], n=3)[1][0])


def test_saving_keeps_the_average_user(rng, tmp_path):
    X = counts(rng).astype(np.float32)
    model = ImplicitALS(3).fit(X)
    model.save(tmp_path / "model.unweave")
    again = unweave.load(tmp_path / "model.unweave")
    np.testing.assert_array_equal(again.recommend(0)[1], model.recommend(0)[1])
    assert again.ridge_ == model.ridge_ and again.recommend(0)[1].any()


def test_a_folded_in_user_is_the_user(rng):
    X = two_tastes(rng)
    model = ImplicitALS(4, weighting="root", ridge=0.2).fit(X)
    new = model.fold_in({int(j): 1.0 for j in np.flatnonzero(X[5])})
    np.testing.assert_allclose(new.code, model.codes_[5], rtol=1e-8, atol=1e-10)
    with pytest.raises(ValueError, match="Negative"):
        model.fold_in({0: -1.0})


def test_an_explanation_adds_up_to_the_score(rng):
    X = two_tastes(rng) * rng.integers(1, 4, (60, 20))
    model = ImplicitALS(4, alpha=0.5).fit(X)
    story = model.explain(3, 15, n=100)
    assert story.baseline == 0 and story.rest == pytest.approx(0, abs=1e-9)
    assert story.contributions.sum() == pytest.approx(float(model.codes_[3] @ model.components_[:, 15]))


def test_partial_fit_appends_users_and_ends_like_a_transform(rng):
    X = two_tastes(rng)
    model = ImplicitALS(4).partial_fit(X[:40])
    before = model.objective_
    model.partial_fit(X[40:])
    assert model.codes_.shape == (60, 4) and model.seen_.shape == (60, 20) and model.objective_ > before
    np.testing.assert_array_equal(model.seen_.toarray(), X)
    np.testing.assert_allclose(model.transform(X), model.codes_)
    assert model.objective_ < 1.1 * ImplicitALS(4).fit(X).objective_
    assert model.recommend(50, n=2)[0].max() < 10


def test_partial_fit_adds_to_old_users_by_position_and_by_id(rng):
    X = two_tastes(rng)
    more = np.zeros((2, 20))
    more[0, 19], more[1, 0] = 3, 1
    model = ImplicitALS(4).fit(X).partial_fit(more, users=[4, 60])
    assert model.seen_[4, 19] == 3 + X[4, 19] and model.seen_[60, 0] == 1 and model.seen_.shape == (61, 20)
    names = NamedTable(sp.csr_array(X), rows=[f"u{i}" for i in range(60)], columns=[f"i{j}" for j in range(20)])
    model = ImplicitALS(4).fit(names)
    model.partial_fit(NamedTable(sp.csr_array(more), rows=["u4", "new"], columns=names.columns))
    assert model.seen_[4, 19] == 3 and model.user_ids_[-1] == "new" and len(model.user_ids_) == 61
    assert "i19" not in model.recommend("u4", n=5)[0]
    with pytest.raises(ValueError, match="users="):
        model.partial_fit(NamedTable(sp.csr_array(more), columns=names.columns))


def test_partial_fit_says_that_new_items_need_a_fit(rng):
    X = two_tastes(rng)
    with pytest.raises(ValueError, match=r"expecting 20 features as input; .*fit again with everything"):
        ImplicitALS(2).fit(X).partial_fit(np.ones((1, 21)))
    names = [f"i{j}" for j in range(20)]
    model = ImplicitALS(2).fit(NamedTable(sp.csr_array(X), rows=[f"u{i}" for i in range(60)], columns=names))
    batch = NamedTable(sp.csr_array(np.ones((1, 2))), rows=["u1"], columns=["i3", "novelty"])
    with pytest.raises(ValueError, match=r"'novelty'; .*fit again with everything"):
        model.partial_fit(batch)
    assert model.seen_.shape == (60, 20)


@pytest.mark.parametrize(("users", "match"), [([1], "one user per row"), ([1, 1], "twice"), ([1, 99], "gap")])
def test_partial_fit_refuses_users_that_make_no_sense(rng, users, match):
    model = ImplicitALS(2).fit(two_tastes(rng))
    with pytest.raises(ValueError, match=match):
        model.partial_fit(np.ones((2, 20)), users=users)
