"""What the terminal says is what the model and the JSON say, for every verb."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import unweave
from tests.cli import files
from unweave.cli.main import main
from unweave.report.answer import answer
from unweave.report.numbers import percent, readable


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def run(capsys, *words, expect=0):
    """What a command printed for people, and its JSON; given twice, so that both are of the same fit."""
    assert main([*words]) == expect
    said = capsys.readouterr().err
    assert main([*words, "--json", "--force"]) == expect
    return said, json.loads(capsys.readouterr().out)


def test_groups_tell_their_sizes_and_what_sets_them_apart(here, capsys):
    files.write_wine(here / "wine.csv")
    said, result = run(capsys, "group", "wine.csv", "-k", "3")
    model = unweave.load("wine-group/model.unweave")
    sizes = np.bincount(model.labels_)
    groups = result["answer"]["groups"]
    assert [one["rows"] for one in groups] == sizes.tolist()
    assert result["headline"] == f"178 rows in 3 groups: {sizes[0]}, {sizes[1]} and {sizes[2]}" in said
    table = unweave.read("wine.csv")
    for one in groups:
        inside = model.labels_ == one["group"] - 1
        for found in one["apart"]:
            column = table.X[:, table.columns.index(found["column"])]
            assert found["mean"] == pytest.approx(column[inside].mean())
            assert found["others"] == pytest.approx(column[~inside].mean())
            deviations = (column[inside].mean() - column[~inside].mean()) / column.std()
            assert found["deviations"] == pytest.approx(deviations)
            assert f"{found['column']} {readable(found['mean'])} ({readable(found['others'])})" in said
    assert said.index("178 rows in 3 groups") < said.index("KMeans, "), "what was found stands before how"


def test_axes_tell_what_they_keep_and_are_made_of(here, capsys):
    files.write_wine(here / "wine.csv")
    said, result = run(capsys, "compress", "wine.csv", "-k", "2")
    model = unweave.load("wine-compress/model.unweave")
    axes = result["answer"]["axes"]
    np.testing.assert_allclose([axis["share"] for axis in axes], model.explained_variance_ratio_)
    assert f"keep {percent(model.explained_variance_ratio_.sum())} of the spread" in said
    best = int(np.abs(model.components_[0]).argmax())
    assert axes[0]["made_of"][0]["column"] == model.feature_names_in_[best]
    assert f"{model.feature_names_in_[best]} {readable(model.components_[0, best])}" in said
    assert "No better answer of this size exists." in said and "residual" not in said


def test_the_number_that_was_chosen_is_told_in_a_sentence(here, capsys):
    files.write_wine(here / "wine.csv")
    said, result = run(capsys, "compress", "wine.csv")
    chosen = unweave.load("wine-compress/model.unweave").choice_
    assert result["components"] == result["answer"]["chosen"]["best"] == chosen.best
    assert f"The number {chosen.best} was chosen because hidden blocks" in said


def test_topics_tell_their_words(here, capsys):
    files.write_notes(here / "notes.txt")
    said, result = run(capsys, "topics", "notes.txt", "-k", "3")
    rows = {row.topic: row for row in unweave.load("notes-topics/model.unweave").describe(10)}
    for topic in result["answer"]["topics"]:
        assert topic["words"] == rows[topic["topic"]].words and topic["share"] == rows[topic["topic"]].share
        assert " ".join(topic["words"][:5]) in said
    assert "3 topics in 60 documents" in said


def test_parts_tell_their_words(here, capsys):
    files.write_notes(here / "notes.txt")
    said, result = run(capsys, "explain", "notes.txt", "-k", "3")
    found = sorted(" ".join(sorted(part["words"])) for part in result["answer"]["parts"])
    assert found == sorted(" ".join(sorted(theme.split())) for theme in files.THEMES)
    assert all(" ".join(part["words"]) in said for part in result["answer"]["parts"])


def test_fills_are_told_with_their_error_beside_simple_means(here, capsys):
    files.write_holes(here / "holes.csv")
    said, result = run(capsys, "complete", "holes.csv")
    model, told = unweave.load("holes-complete/model.unweave"), result["answer"]
    holes = int(np.isnan(unweave.read("holes.csv").X).sum())
    assert told["holes"] == holes and f"{holes} holes filled in 8 columns of 60 rows" in said
    assert told["errors"]["this model"] == model.rank_path_[model.n_components_]
    assert told["errors"]["row and column effects alone"] == model.rank_path_[0]
    assert told["errors"]["this model"] < 0.5 * told["errors"]["the mean of the column"]
    assert readable(told["errors"]["this model"]) in said
    with open("holes-complete/completed.csv", encoding="utf-8") as file:
        completed = list(csv.DictReader(file))
    for one in told["examples"]:
        i = int(one["row"].split()[1]) - 1
        assert float(completed[i][one["column"]]) == pytest.approx(one["filled"])
        assert f"{one['row']}, {one['column']}: {readable(one['filled'])}" in said


def test_fills_of_mixed_columns_tell_how_sure_they_are(here, capsys):
    files.write_people(here / "people.csv")
    said, result = run(capsys, "complete", "people.csv")
    columns = {one["column"]: one for one in result["answer"]["columns"]}
    unsure = unweave.load("people-complete/model.unweave").uncertainty_
    assert columns["age"]["holes"] == 8 and columns["age"]["error"] == np.nanmedian(unsure[:, 0])
    assert columns["town"]["chance"] == np.nanmedian(unsure[:, 1])
    assert "16 holes filled in 2 columns of 80 rows" in said and f"± {readable(columns['age']['error'])}" in said


@pytest.mark.parametrize("times", [False, True], ids=["plain", "with times"])
def test_ratings_are_predicted_for_every_user(here, capsys, times):
    files.write_ratings(here / "ratings.csv", times)
    said, result = run(capsys, "complete", "ratings.csv", "-k", "2")
    assert ("the times of the ratings are used" in said) == times
    model = unweave.load("ratings-complete/model.unweave")
    assert hasattr(model, "drift_") == times
    with open("ratings-complete/predictions.csv", encoding="utf-8") as file:
        predicted = list(csv.DictReader(file))
    items, _ = model.recommend(["person 0"], 10)
    mine = [line for line in predicted if line["user"] == "person 0"]
    assert [line["item"] for line in mine] == items[0].tolist()
    assert len(predicted) == 50 * 10 and all(1 <= float(line["predicted"]) <= 5 for line in predicted)
    assert "predictions.csv" in result["files"] and f"{items[0][0]} (" in said
    assert "against" in said and "the mean of each item" in said


def test_clicks_are_recommended_from(here, capsys):
    files.write_clicks(here / "clicks.csv")
    said, result = run(capsys, "recommend", "clicks.csv", "person 3", "-n", "2")
    model = unweave.load("clicks-recommend/model.unweave")
    items, _ = model.recommend(["person 3"], 2)
    assert result["model"] == "ImplicitALS"
    assert result["recommended"][0]["items"] == items[0].tolist() and all(item in said for item in items[0])
    assert {int(item.split()[1]) // 10 for item in items[0]} == {1}, "what people of the same kind took"
    assert "40 users, 20 items, 240 interactions" in said
    with open("clicks-recommend/recommendations.csv", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["item"] for line in lines if line["user"] == "person 3"][:2] == items[0].tolist()


def test_show_says_the_same_without_loading_the_model(here, capsys):
    files.write_wine(here / "wine.csv")
    _, result = run(capsys, "group", "wine.csv", "-k", "3")
    assert main(["show", "wine-group/model.unweave", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["answer"] == result["answer"] and shown["headline"] == result["headline"]
    model = unweave.load("wine-group/model.unweave")
    model.save("plain.unweave")  # without an answer beside it: the model is asked
    assert main(["show", "plain.unweave"]) == 0
    assert result["headline"] in capsys.readouterr().err


def test_an_answer_needs_no_table_and_no_names():
    X = np.random.default_rng(0).random((30, 4))
    for model in (unweave.KMeans(2, random_state=0), unweave.PCA(2), unweave.NMF(2, random_state=0)):
        model.fit(X)
        with_table, alone = answer(model, X), answer(model)
        assert with_table.headline and alone.headline and len(alone.rows) == len(with_table.rows) == 2
        json.dumps(with_table.data)


def test_flags_are_told_as_shares_and_holes_are_left_out_of_means():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.1, (20, 2)), rng.normal(9, 0.1, (20, 2))])
    X = np.column_stack([X, np.arange(40) >= 20])
    X[3, 0] = np.nan
    model = unweave.KMeans(2, random_state=0, missing="nan").fit(X)
    told = answer(model, unweave.NamedTable(X, columns=["a", "b", "member"], missing="nan"))
    member = [one for one in told.data["groups"][model.labels_[0]]["apart"] if one["column"] == "member"]
    assert member[0]["mean"] == 0 and member[0]["others"] == 1
    assert f"member {percent(0)} ({percent(1)})" in told.rows[model.labels_[0]][3]
