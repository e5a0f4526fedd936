"""EASE: the closed form, the contract of a recommender, users old, new and blank, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import unweave
from tests.complete.implicit.test_als import counts, two_tastes
from unweave import EASE
from unweave.complete.implicit import ease
from unweave.data.named import NamedTable


def by_column(X: np.ndarray, ridge: float) -> np.ndarray:
    """Each column's ridge regression on the others: what the closed form must equal."""
    X, m = (X > 0).astype(float), X.shape[1]
    B = np.zeros((m, m))
    for j in range(m):
        rest = np.delete(np.arange(m), j)
        A = X[:, rest]
        B[rest, j] = np.linalg.solve(A.T @ A + ridge * np.eye(m - 1), A.T @ X[:, j])
    return B


@given(st.integers(0, 10**6), st.sampled_from([0.1, 3.0, 100.0]), st.sampled_from([np.float32, np.float64]))
def test_weights_are_the_ridge_regressions_of_every_item_on_the_others(seed, ridge, dtype):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 15, 2)
    X = np.where(rng.random((n, m)) < 0.4, rng.integers(1, 9, (n, m)), 0).astype(dtype)
    if not X.any():
        return
    model = EASE(ridge).fit(sp.csr_array(X))
    B, tol = by_column(X, ridge), 1e-4 if dtype == np.float32 else 1e-8
    np.testing.assert_allclose(model.components_, B, rtol=tol, atol=tol)
    assert not np.diag(model.components_).any() and model.components_.dtype == dtype
    ones = (X > 0).astype(float)
    truth = 0.5 * np.sum((ones - ones @ B) ** 2) + 0.5 * ridge * np.sum(B**2)
    assert model.objective_ == pytest.approx(truth, rel=1e-4, abs=1e-6)


def test_no_other_weights_are_better_and_the_certificate_knows(rng):
    X = counts(rng, 60, 30).astype(float)
    model = EASE(2.0).fit(X)
    assert model.certificate_.kind == "duality" and model.certificate_.gap < 1e-8
    ones, B = (X > 0).astype(float), model.components_
    for _ in range(20):
        other = B + 1e-2 * rng.standard_normal(B.shape)
        np.fill_diagonal(other, 0)
        assert 0.5 * np.sum((ones - ones @ other) ** 2) + np.sum(other**2) > model.certificate_.lower_bound
    kept = model.certificate_
    assert model.certify(sp.csr_array(X)).gap == pytest.approx(kept.gap, abs=1e-8)
    model.components_ = 0.9 * B
    assert model.certify(X).gap > 1e-4


def test_every_storage_gives_the_same_fit_and_threads_agree(rng, two_threads, dtype):
    X = counts(rng, 300, 80).astype(dtype)
    zeros = sp.csr_array(np.ones_like(X) * 0 + X)
    wanted = EASE(5.0).fit(X)
    for storage in (sp.csr_array(X), sp.csc_matrix(X), NamedTable(zeros, kind="ratings", missing="zeros")):
        np.testing.assert_array_equal(EASE(5.0).fit(storage).components_, wanted.components_)
    np.testing.assert_array_equal(EASE(5.0).fit(3 * X).components_, wanted.components_)  # what counts is whether
    one, two = two_threads(lambda: EASE(random_state=0).fit(X))
    np.testing.assert_array_equal(one.components_, two.components_)
    assert one.ridge_ == two.ridge_ and one.objective_ == two.objective_


def test_recommends_what_the_scores_say(rng):
    X = two_tastes(rng)
    model = EASE(5.0).fit(sp.csr_array(X))
    scores = X @ model.components_
    np.testing.assert_allclose(model.predict(X), scores)
    np.testing.assert_allclose(model.predict([3, 4], [5, 6]), scores[[3, 4], [5, 6]])
    assert model.predict(3, 5) == pytest.approx(scores[3, 5])
    for user in range(6):
        items, found = model.recommend(user, n=3)
        assert not X[user, items].any() and ((items < 10) == (user % 2 == 0)).all()
        np.testing.assert_allclose(found, scores[user, items])
    everybody = model.recommend(np.arange(60), 4)[0]
    for same in (model.recommend(X, 4), model.recommend(sp.csr_array(X), 4)):
        np.testing.assert_array_equal(same[0], everybody)
    assert set(model.recommend(0, 5, items=[1, 2, 15], exclude=[2], exclude_seen=False)[0]) == {1, 15, -1}
    near, cosines = model.similar(0, n=3)
    assert (near < 10).all() and 0 not in near and (np.diff(cosines) <= 0).all()
    assert (model.similar(0, n=3, exclude=near)[0] != near).all()
    people, cosines = model.similar_users(0, n=3)
    assert (people % 2 == 0).all() and 0 not in people and cosines.max() <= 1 + 1e-9


def test_two_items_that_always_go_together_are_alike(rng):
    X = (rng.random((200, 8)) < 0.3).astype(float)
    X[:, 7] = X[:, 2]
    model = EASE(1.0).fit(X)
    assert model.similar(2, n=1)[0][0] == 7 and model.similar(7, n=1)[0][0] == 2


def test_new_blank_and_unknown_users(rng):
    X = (rng.random((200, 12)) < np.linspace(0.05, 0.9, 12)).astype(float)
    X[[0, 7]] = 0
    model = EASE(20.0).fit(sp.csr_array(X))
    average = (X @ model.components_).mean(axis=0)
    items, scores = model.recommend(0, n=12)
    np.testing.assert_allclose(scores, average[items], rtol=1e-9)
    assert items[0] == X.sum(axis=0).argmax()
    for same in (
        model.recommend(model.fold_in({}), n=12)[0],
        model.recommend([7, 1], n=12)[0][0],
        model.recommend([3, 10**6], n=12, unknown="popular")[0][1],
        model.recommend(sp.csr_array(X[:1]), n=12)[0][0],
        model.recommend(X[:2], n=12)[0][0],
    ):
        np.testing.assert_array_equal(same, items)
    np.testing.assert_allclose(model.predict([0, 1], [3, 3])[0], average[3])
    story = model.explain(0, 11)
    assert story.baseline == pytest.approx(story.score) and len(story.contributions) == 0
    new = model.fold_in({int(j): 2.0 for j in np.flatnonzero(X[5])})
    np.testing.assert_array_equal(model.recommend(new, 5)[0], model.recommend(5, 5)[0])
    assert model.similar_users(new, 1)[1][0] == pytest.approx(1)
    story = model.explain(5, 3, n=100)
    assert story.baseline == 0 and story.rest == pytest.approx(0, abs=1e-9)
    assert story.contributions.sum() == pytest.approx(model.predict(5, 3))
    with pytest.raises(ValueError, match="Negative"):
        model.fold_in({0: -1.0})


def test_ids_saving_and_judging(rng, tmp_path):
    X = two_tastes(rng).astype(np.float32)
    names = NamedTable(sp.csr_array(X), rows=[f"u{i}" for i in range(60)], columns=[f"i{j}" for j in range(20)])
    model = EASE(5.0).fit(names)
    ids, scores = model.recommend(["u0", "u1"], 3)
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    same = again.recommend(["u0", "u1"], 3)
    assert ids.tolist() == same[0].tolist() and ids[0][0] in names.columns
    np.testing.assert_array_equal(scores, same[1])
    with pytest.raises(ValueError, match=r"'nobody'; .*unknown='popular'"):
        model.recommend(["u0", "nobody"])
    assert model.recommend(["u0", "nobody"], 3, unknown="popular")[0][0].tolist() == ids[0].tolist()
    assert "EASE" in model.report(tmp_path / "r.html", names).read_text(encoding="utf-8")


def test_partial_fit_is_a_fit_on_everything_under_the_same_ridge(rng):
    X = two_tastes(rng)
    model = EASE(5.0).partial_fit(X[:40]).partial_fit(X[40:])
    np.testing.assert_allclose(model.components_, EASE(5.0).fit(X).components_)
    more = np.zeros((2, 20))
    more[0, 19], more[1, 0] = 3, 1
    model.partial_fit(more, users=[4, 60])
    assert model.seen_.shape == model.codes_.shape == (61, 20) and model.seen_[4, 19] == 3 + X[4, 19]
    with pytest.raises(ValueError, match="fit again with everything"):
        model.partial_fit(np.ones((1, 21)))


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ({"ridge": -1}, ValueError, "ridge"),
        ({"ridge": 0}, ValueError, "above 0"),
        ({"ridge": "much"}, ValueError, "ridge"),
        ({"ridge": [1]}, TypeError, "ridge"),
        ({"missing": "nan"}, ValueError, "missing"),
        ({"callback": 3}, TypeError, "callback"),
    ],
)
def test_bad_parameters_are_named(rng, change, error, match):
    with pytest.raises(error, match=match):
        EASE(**change).fit(counts(rng).astype(float))


@pytest.mark.parametrize(("spoil", "match"), [(-1.0, "Negative"), (np.nan, "NaN"), (np.inf, "inf")])
def test_bad_values_are_refused(rng, spoil, match):
    good = counts(rng).astype(float)
    bad = good.copy()
    bad[5, 5] = spoil
    model = EASE(1.0).fit(good)
    for X in (bad, sp.csr_array(bad)):
        for call in (EASE().fit, model.transform, model.partial_fit):
            with pytest.raises(ValueError, match=match):
                call(X)


def test_too_many_items_are_refused_before_anything_is_made():
    with pytest.raises(ValueError, match=r"20001 items, .*use ImplicitALS"):
        EASE().fit(sp.csr_array(([1.0], ([0], [0])), shape=(2, ease.MOST_ITEMS + 1)))
    for X in (np.zeros((3, 4)), sp.csr_array((3, 4))):
        with pytest.raises(ValueError, match="no interaction"):
            EASE().fit(X)
