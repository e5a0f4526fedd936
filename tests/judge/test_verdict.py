"""A model beside the baselines."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.complete.ratings import ratings
from unweave.complete.recommending.answers import Recommends
from unweave.judge import (
    Biases,
    Popularity,
    Verdict,
    auc,
    coverage,
    judge,
    mae,
    map_at,
    ndcg_at,
    precision_at,
    recall_at,
    relevant_items,
    rmse,
    split_ratings,
    split_users,
)
from unweave.judge.answers import Answers

BASELINES = ["Mean", "Biases", "MeanImputedSVD"]


class Recommender(unweave.MatrixCompletion, Recommends):
    """Explicit ratings that can recommend."""

    def _fit(self, X, weights=None):
        codes = super()._fit(X, weights)
        self._remember(X, X.X if hasattr(X, "X") else X)
        return codes


@pytest.fixture(scope="module")
def stars():
    """Ratings with taste in them, 80 × 60, as CSR."""
    rng = np.random.default_rng(0)
    X = 3 + rng.standard_normal((80, 2)) @ rng.standard_normal((2, 60)) + 0.1 * rng.standard_normal((80, 60))
    known = rng.random(X.shape) < 0.4
    return sp.csr_array((X[known], np.nonzero(known)), shape=X.shape)


@pytest.fixture(scope="module")
def parts(stars):
    return split_ratings(stars)


@pytest.fixture(scope="module")
def model(parts):
    return Recommender(2, ridge=1.0).fit(parts[0])


def test_ratings_are_judged_at_the_test_entries(model, parts):
    train, test = parts
    verdict = judge(model, train, test)
    assert list(verdict.scores) == ["Recommender", *BASELINES] and verdict.model == "Recommender"
    prediction = model.codes_ @ model.components_
    coo = test.tocoo()
    rest = prediction[coo.row, coo.col] - coo.data
    assert verdict.scores["Recommender"]["RMSE"] == pytest.approx(np.sqrt(np.mean(rest**2)), rel=1e-10)
    assert verdict.scores["Recommender"]["MAE"] == pytest.approx(np.mean(np.abs(rest)), rel=1e-10)
    assert verdict.scores["Biases"]["RMSE"] == rmse(Biases().fit(train), test)
    assert verdict.scores["Recommender"]["RMSE"] == rmse(model, test) and mae(model, test) > 0
    assert verdict.best("RMSE") == "Recommender"  # there is taste in the data
    assert verdict.test == {"entries": test.nnz, "users": len(set(coo.row)), "items": len(set(coo.col))}


def test_a_factorisation_that_cannot_recommend_is_judged_through_its_codes(parts):
    train, test = parts
    plain = unweave.MatrixCompletion(2, ridge=1.0).fit(train)
    verdict = judge(plain, train, test, kind="ratings")
    full = plain.inverse_transform(plain.transform(train))
    coo = test.tocoo()
    assert verdict.scores["MatrixCompletion"]["RMSE"] == pytest.approx(
        np.sqrt(np.mean((full[coo.row, coo.col] - coo.data) ** 2)), rel=1e-10
    )


def test_entries_are_asked_for_in_any_order(parts, monkeypatch):
    monkeypatch.setattr("unweave.judge.answers._SCORES", 130)  # two users at a time
    train, test = parts
    plain = unweave.MatrixCompletion(2, ridge=1.0).fit(train)
    rows, columns = np.array([7, 2, 7, 0, 79, 2]), np.array([1, 2, 1, 59, 0, 3])
    full = plain.inverse_transform(plain.transform(train))
    assert np.allclose(Answers(plain, test, train).entries(rows, columns), full[rows, columns], rtol=1e-12)


def test_ranking_is_what_the_measures_say(model, parts):
    train, test = parts
    verdict = judge(model, train, test, n=5, kind="ranking", at_least=4)
    liked = relevant_items(test, 4)
    lists = model.recommend(np.arange(80), 5, rows=True)[0]
    mine = verdict.scores["Recommender"]
    assert mine["precision@5"] == precision_at(lists, liked, 5) == precision_at(model, liked, 5)
    assert mine["recall@5"] == recall_at(lists, liked, 5) and mine["MAP@5"] == map_at(lists, liked, 5)
    assert mine["NDCG@5"] == ndcg_at(lists, liked, 5)
    assert mine["AUC"] == auc(model, liked)
    assert mine["AUC"] == pytest.approx(auc(model.codes_ @ model.components_, liked, given=train), abs=1e-12)
    assert mine["coverage"] == coverage(model, liked, 5)
    assert list(verdict.scores) == ["Recommender", "Popularity", "Biases", "MeanImputedSVD"]
    assert verdict.scores["Popularity"]["NDCG@5"] == ndcg_at(Popularity().fit(train), liked, 5)
    assert verdict.best("NDCG@5") == "Recommender"
    assert "relevant are test ratings of at least 4" in verdict.notes


def test_a_factorisation_without_recommend_never_lists_what_was_seen(parts):
    train, test = parts
    nmf = unweave.NMF(3, missing="zeros", random_state=0, max_iter=500).fit(abs(train))
    lists = Answers(nmf, test, abs(train)).lists(np.arange(80), 10)
    seen = train.toarray() != 0
    assert not seen[np.arange(80)[:, None], lists][lists >= 0].any()
    assert judge(nmf, abs(train), abs(test), kind="ranking").scores["NMF"]["AUC"] > 0


def test_new_users_are_folded_in(stars):
    train, given, hidden = split_users(stars, test=0.3)
    model = Recommender(2, ridge=1.0).fit(train)
    verdict = judge(model, train, hidden, given=given)
    full = model.inverse_transform(model.transform(given))
    coo = hidden.tocoo()
    expected = np.sqrt(np.mean((full[coo.row, coo.col] - coo.data) ** 2))
    assert verdict.scores["Recommender"]["RMSE"] == pytest.approx(expected, rel=1e-8)
    assert verdict.scores["Biases"]["RMSE"] == rmse(Biases().fit(train), hidden, given=given)
    assert verdict.best("RMSE") == "Recommender"
    lists = Answers(model, hidden, given).lists(np.flatnonzero(np.diff(hidden.indptr)), 60)
    known = given.toarray() != 0
    for user, L in zip(np.flatnonzero(np.diff(hidden.indptr)), lists, strict=True):
        assert set(L[L >= 0]) == set(np.flatnonzero(~known[user]))
    assert judge(model, train, hidden, given=given, kind="ranking").scores["Recommender"]["AUC"] > 0.3


def test_tables_with_ids_are_judged_like_plain_ones(stars, parts):
    coo = stars.tocoo()
    frame = {"u": [("user", int(i)) for i in coo.row], "i": [f"item {j}" for j in coo.col], "v": coo.data}
    table = ratings(frame, user="u", item="i", value="v")
    train, test = split_ratings(table, random_state=5)
    model = Recommender(2, ridge=1.0).fit(train)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdict = judge(model, train, test)
        listed = judge(model, train, test, kind="ranking")
    plain = Recommender(2, ridge=1.0).fit(train.X)
    assert verdict.scores["Recommender"] == judge(plain, train.X, test.X).scores["Recommender"]
    lists = model.recommend(list(table.user_ids), 10)[0]
    assert listed.scores["Recommender"]["NDCG@10"] == ndcg_at(lists, test, 10)
    order = np.arange(60)[::-1]
    moved = {"X": test.X[:, order], "item_ids": test.item_ids[order], "columns": test.columns[::-1], "times": None}
    assert rmse(model, test.with_(**moved)) == pytest.approx(rmse(model, test))
    dense = unweave.NamedTable(np.ones((80, 60)), columns=[f"item {j}" for j in range(60)])
    with pytest.raises(ValueError, match="other users or items than the model"):
        rmse(model, dense)


def test_pairs_without_values_are_ranked_against_popularity_alone(rng):
    X = sp.csr_array((rng.random((40, 30)) < 0.3).astype(float))
    train, test = split_ratings(X)
    verdict = judge(Popularity().fit(train), train, test, kind="ranking")
    assert list(verdict.scores) == ["model (Popularity)", "Popularity"]
    assert verdict.scores["model (Popularity)"] == verdict.scores["Popularity"]
    assert verdict.best("AUC") == "Popularity"  # a tie is no win
    assert any("only popularity" in note for note in verdict.notes)


def test_a_model_that_has_seen_the_test_part_is_told_on(stars, parts):
    train, test = parts
    with pytest.warns(UserWarning, match=f"{test.nnz} entries of the test part were in the fit"):
        verdict = judge(Recommender(2, ridge=1.0).fit(stars), train, test)
    assert any("flatter" in note for note in verdict.notes)
    with pytest.warns(UserWarning, match="were in train too"):
        judge(Biases().fit(stars), stars, test)


def test_many_users_are_sampled_for_the_auc(monkeypatch, model, parts):
    monkeypatch.setattr("unweave.judge.verdict._MOST", 10)
    verdict = judge(model, *parts, kind="ranking")
    assert any("10 of the users" in note for note in verdict.notes)


def test_a_verdict_prints_as_a_table_and_goes_into_json(model, parts):
    verdict = judge(model, *parts)
    lines = str(verdict).splitlines()
    assert lines[0].split() == ["RMSE", "MAE"]
    assert [line.split()[0] for line in lines[1:5]] == list(verdict.scores)
    assert len({len(line) for line in lines[:5]}) == 1
    assert f"{verdict.scores['Mean']['RMSE']:.4f}" in lines[2]
    assert Verdict(**json.loads(json.dumps(verdict.as_dict()))) == verdict
    with pytest.raises(ValueError, match="use one of RMSE, MAE"):
        verdict.best("NDCG")


def test_threads_do_not_change_a_bit(model, parts, two_threads):
    one, two = two_threads(lambda: judge(model, *parts, kind="ranking", n=7))
    assert one == two


def test_bad_questions_are_refused(model, parts):
    train, test = parts
    with pytest.raises(ValueError, match="kind='both' is not known"):
        judge(model, train, test, kind="both")
    with pytest.raises(ValueError, match="two parts of one table"):
        judge(model, train, test[:10])
    with pytest.raises(ValueError, match="lower at_least"):
        judge(model, train, test, kind="ranking", at_least=100)
    with pytest.raises(ValueError, match="no entry to judge by"):
        judge(model, train, sp.csr_array(train.shape))
    with pytest.raises(ValueError, match="n must be at least 1"):
        judge(model, train, test, kind="ranking", n=0)
    with pytest.raises(ValueError, match="the model knows 60 items, the test part has 9"):
        rmse(model, test[:, :9])
    with pytest.raises(ValueError, match="pass given="):
        rmse(unweave.PCA(2).fit(np.eye(60)), test)
    with pytest.raises(TypeError, match="not with a list of numbers"):
        rmse(model, [1.0, 2.0])
    with pytest.raises(ValueError, match="give parts of one table"):
        rmse(model, test, given=train[:5])
