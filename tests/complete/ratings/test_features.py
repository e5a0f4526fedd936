"""Features of users and items: planted effects are found, newcomers are predicted, and what may go wrong."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import unweave
from tests.tables import stored as table
from unweave.complete.ratings import ratings
from unweave.complete.ratings.features import features
from unweave.complete.ratings.side_information import FeatureMap

N, M, P = 200, 60, 4


def planted(rng, share=0.3, noise=0.1):
    """Vectors that are a linear map of features and a little besides."""
    F, G = rng.normal(size=(N, P)), rng.normal(size=(M, P))
    U = F @ rng.normal(size=(P, 2)) / 2 + 0.1 * rng.normal(size=(N, 2))
    Z = G @ rng.normal(size=(P, 2)) / 2 + 0.1 * rng.normal(size=(M, 2))
    truth = 3 + U @ Z.T + (F @ rng.normal(size=P) / 2)[:, None] + G @ rng.normal(size=P) / 2
    known = rng.random((N, M)) < share
    return truth, known, F, G, truth + noise * rng.normal(size=truth.shape)


def rmse(a, b):
    return float(np.sqrt(np.mean((a - b) ** 2)))


def test_whoever_was_never_seen_is_predicted_from_features(rng):
    truth, known, F, G, values = planted(rng)
    known[:20], known[:, :8] = False, False
    X = table(values, known)
    model = unweave.MatrixCompletion(2, ridge=0.3, max_iter=200).fit(X, user_features=F, item_features=G)
    plain = unweave.MatrixCompletion(2, ridge=0.3, max_iter=200).fit(X)
    ours, theirs = (m.inverse_transform(m.codes_) for m in (model, plain))
    cold = np.zeros_like(known)
    cold[:20], cold[:, :8] = True, True
    assert rmse(ours[cold], truth[cold]) < 0.45 * rmse(theirs[cold], truth[cold])
    assert rmse(ours[~known & ~cold], truth[~known & ~cold]) < 1.05 * rmse(
        theirs[~known & ~cold], truth[~known & ~cold]
    )
    items, _ = model.recommend(0, 5)
    assert truth[0, items].mean() > truth[0].mean() + truth[0].std() / 2


def test_the_ridge_is_chosen_with_the_features(rng):
    _, known, F, G, values = planted(rng, share=0.08)
    X = table(values, known)
    model = unweave.MatrixCompletion(2).fit(X, user_features=F, item_features=G)
    assert min(model.ridge_path_.values()) < 0.8 * min(unweave.MatrixCompletion(2).fit(X).ridge_path_.values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_objective_never_rises_and_is_the_one_stated(dtype, rng):
    _, known, F, G, values = planted(rng)
    X = table(values, known).astype(dtype)
    model = unweave.MatrixCompletion(2, ridge=1.0, tol=1e-7, max_iter=500).fit(X, user_features=F, item_features=G)
    assert np.all(np.diff(model.history_.objective) <= 1e-5 * np.array(model.history_.objective[:-1]))
    assert model.objective_ == pytest.approx(model.history_.objective[-1], rel=1e-3)
    assert model.codes_.dtype == dtype and model.certificate_.gap < 1e-2
    assert any("features" in reason for reason in model.plan_.reasons)


def test_the_score_is_still_the_product_and_codes_come_back(rng):
    _, known, F, G, values = planted(rng)
    known[3] = False
    X = table(values, known)
    model = unweave.MatrixCompletion(2, ridge=1.0).fit(X, user_features=F, item_features=G)
    assert model.predict(5, 7) == pytest.approx(float(model.codes_[5] @ model.components_[:, 7]))
    np.testing.assert_allclose(model.transform(X, user_features=F), model.codes_, atol=1e-8)
    row = dict(zip(X[[5]].indices.tolist(), X[[5]].data.tolist(), strict=True))
    np.testing.assert_allclose(model.fold_in(row, features=F[5]).code, model.codes_[5], atol=1e-8)
    np.testing.assert_allclose(model.fold_in({}, features=F[3]).code, model.codes_[3], atol=1e-8)
    np.testing.assert_allclose(model.fold_in(row).code, model.transform(X[[5]])[0], atol=1e-8)
    np.testing.assert_allclose(model.fold_in({}).code, model.transform(sp.csr_array(X[[3, 5]]))[0], atol=1e-8)
    ours = unweave.MatrixCompletion(2, ridge=1.0).fit_transform(X, user_features=F, item_features=G)
    assert np.array_equal(ours, model.codes_)


def test_unknown_ids_are_predicted_from_what_is_given(rng):
    truth, known, F, G, values = planted(rng)
    X = table(values[20:, 8:], known[20:, 8:])
    model = unweave.MatrixCompletion(2, ridge=0.3, max_iter=200).fit(X, user_features=F[20:], item_features=G[8:])
    cold = model.predict(np.arange(180, 200), np.zeros(20, int), user_features=F[:20])
    assert rmse(cold, truth[:20, 8]) < 0.5 * truth[:20, 8].std()
    both = model.predict([180, 181, 0], [52, 53, 0], user_features=F[[0, 1, 20]], item_features=G[[0, 1, 8]])
    assert rmse(both[:2], truth[[0, 1], [0, 1]]) < 1 and both[2] == pytest.approx(model.predict(0, 0))
    one = model.predict(999, 0, user_features=F[0])
    assert isinstance(one, float) and one == pytest.approx(model.predict(model.fold_in({}, features=F[0]), 0))
    with pytest.raises(ValueError, match="does not know the user"):
        model.predict(999, 0, item_features=G[[0]])
    with pytest.raises(ValueError, match="does not know the user"):
        model.predict(999, 0)
    blank = model.predict(999, 0, unknown="mean")
    assert blank == pytest.approx(float(model.fold_in({}).code @ model.components_[:, 0]))


def people(kind):
    data = {"who": ["ann", "bob", "cy", "new"], "age": [20, 30, 40, 50], "job": ["a", "b", "a", "b"]}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "dict": dict}[kind](data)


@pytest.mark.parametrize("kind", ["pandas", "polars", "dict"])
def test_frames_by_id_join_whoever_has_no_rating(kind):
    frame = {"u": ["bob", "ann", "cy", "ann"], "i": ["x", "x", "y", "y"], "v": [1.0, 2.0, 3.0, 4.0]}
    X = ratings(frame, user="u", item="i", value="v")
    known = features(people(kind), id="who")
    assert known.columns == ["age", "job=a", "job=b"] and repr(known) == "Features(4 ids × 3 columns)"
    model = unweave.MatrixCompletion(1, ridge=1.0).fit(X, user_features=known)
    assert model.user_ids_.tolist() == ["bob", "ann", "cy", "new"]
    assert np.isfinite(model.predict("new", "x")) and model.recommend("new", 2)[0].tolist().count(None) == 0
    folded = model.fold_in({}, features={"age": 50, "job": "b"})
    assert model.predict(folded, "x") == pytest.approx(model.predict("new", "x"))
    assert model.predict("zoe", "x", user_features={"age": 50, "job": "b"}) == pytest.approx(model.predict("new", "x"))
    assert model.fit_transform(X, user_features=known).shape == (3, 3)
    for bad, message in (({"age": 50}, "lack 'job'"), ({"age": 1, "job": "c"}, "no level 'c'")):
        with pytest.raises(ValueError, match=message):
            model.fold_in({}, features=bad)
    with pytest.raises(ValueError, match="no feature 'shoe'"):
        model.fold_in({}, features={"age": 50, "job": "b", "shoe": 1})


def test_sparse_features_and_frames_of_numbers_are_taken(rng):
    _, known, F, _, values = planted(rng)
    X = table(values, known)
    dense = unweave.MatrixCompletion(2, ridge=1.0).fit(X, user_features=F)
    for given_ in (sp.csr_array(F), pd.DataFrame(F), pl.DataFrame(F)):
        again = unweave.MatrixCompletion(2, ridge=1.0).fit(X, user_features=given_)
        np.testing.assert_allclose(again.codes_, dense.codes_, atol=1e-9)


def test_new_users_and_items_join_with_their_features(rng):
    truth, known, F, G, values = planted(rng)
    ids = np.arange(N)

    def part(rows, columns):
        i, j = np.nonzero(known[np.ix_(rows, columns)])
        frame = {"u": ids[rows][i], "i": columns[j] + 900, "v": values[rows[i], columns[j]]}
        return ratings(frame, user="u", item="i", value="v")

    def described(rows, array, first):
        return features({"id": rows + first, **{f"f{t}": array[rows, t] for t in range(P)}}, id="id")

    old, new, items = np.arange(150), np.arange(150, N), np.arange(M)
    model = unweave.MatrixCompletion(2, ridge=0.3, max_iter=200, tol=1e-3).fit(
        part(old, items[:50]), user_features=described(old, F, 0), item_features=described(items[:50], G, 900)
    )
    model.partial_fit(part(new, items[:50]), user_features=described(new, F, 0), item_features=described(items, G, 900))
    assert model.user_features_["table"].shape == (N, P + 1) and model.components_.shape[1] == M
    unseen = np.array([model.predict(u, 900 + M - 1) for u in range(0, N, 10)])
    assert rmse(unseen, truth[::10, M - 1]) < 0.6 * truth[::10, M - 1].std()
    model.partial_fit(ratings({"u": ["zoe"], "i": [900], "v": [3.0]}, user="u", item="i", value="v"))
    assert np.isfinite(model.predict("zoe", 905))


def test_drift_and_features_together_and_saved(rng, tmp_path):
    _, known, F, G, values = planted(rng)
    X, times = table(values, known), rng.random(int(known.sum()))
    model = unweave.MatrixCompletion(2, ridge=1.0, time_bins=2)
    model.fit(X, timestamps=times, user_features=F, item_features=G)
    np.testing.assert_allclose(model.transform(X, timestamps=times, user_features=F), model.codes_, atol=1e-8)
    again = unweave.load(model.save(tmp_path / "m.unweave"))
    assert again.predict(3, 4, timestamps=0.5) == model.predict(3, 4, timestamps=0.5)
    assert np.array_equal(again.fold_in({}, features=F[0]).code, model.fold_in({}, features=F[0]).code)
    told = model.explain(3, 4, n=M)
    assert told.score == pytest.approx(model.predict(3, 4)) and abs(told.rest) < 1e-3
    again.partial_fit(X[:5], timestamps=times[: X.indptr[5]], user_features=F[:5])
    assert again.codes_.shape[0] == N + 5


def test_refusals(rng):
    _, known, F, G, values = planted(rng)
    X = table(values, known)
    fit = unweave.MatrixCompletion(2, ridge=1.0).fit
    holes = F.copy()
    holes[2, 1] = np.nan
    for bad, kind, message in (
        (F[:-1], ValueError, "one row for each"),
        (holes, ValueError, "user_features hold NaN"),
        (np.full(F.shape, "a"), TypeError, "must be numbers"),
        (np.empty((N, 0)), ValueError, "from 1 to"),
        (features({"u": [1], "a": [2]}, id="u"), ValueError, "X has none"),
    ):
        with pytest.raises(kind, match=message):
            fit(X, user_features=bad)
    with pytest.raises(ValueError, match="alternating least squares"):
        unweave.MatrixCompletion(2, solver="sgd").fit(X, user_features=F)
    short = ratings({"u": [1, 2], "i": [1, 2]}, user="u", item="i")
    with pytest.raises(ValueError, match="does not know the user 2; add a row"):
        fit(short, user_features=features({"u": [1], "a": [2]}, id="u"))
    with pytest.raises(ValueError, match="fitted without user_features"):
        fit(X).fold_in({}, features=F[0])
    with pytest.raises(ValueError, match=f"{P} columns as in fit"):
        fit(X, user_features=F).fold_in({}, features=F[0, :2])
    with pytest.raises(ValueError, match="fitted without item_features"):
        fit(X, user_features=F).partial_fit(X, item_features=G)


@pytest.mark.parametrize(
    "frame, message",
    [
        ({"u": [1, 1], "a": [1, 2]}, "twice"),
        ({"u": [1, 2], "a": [None, "x"]}, "missing values"),
        ({"u": [1, 2]}, "no column besides"),
        ({"w": [1, 2]}, "not a column"),
        ({"u": [1, 2], "a": [1]}, "values for 2 ids"),
    ],
)
def test_frames_that_are_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        features(frame, id="u")


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 12), st.integers(1, 6), st.integers(0, 10_000))
def test_the_map_is_the_minimum(n, p, seed):
    rng = np.random.default_rng(seed)
    side, F, weights = FeatureMap(rng.integers(0, 3, (n, p)).astype(float)), rng.normal(size=(n, 2)), rng.random(n)
    A = side.learn(F, weights)

    def value(A):
        return 0.5 * np.sum(weights[:, None] * (F - side.towards(A)) ** 2) + side.penalty(A, weights)

    assert np.isfinite(A).all()
    assert all(value(A) <= value(A + 1e-3 * rng.normal(size=A.shape)) + 1e-12 for _ in range(5))


def test_a_settled_fit_is_certified_about_what_the_features_suggest(rng):
    _, known, F, G, values = planted(rng)
    X = table(values, known)
    model = unweave.MatrixCompletion(2, ridge=0.3, tol=1e-9, max_iter=2000).fit(X, user_features=F, item_features=G)
    assert model.certificate_.gap < 1e-3, "the ridge is about a map of the features, not about zero"
