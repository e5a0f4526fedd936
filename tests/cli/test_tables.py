"""Tables as people have them, through the verbs: texts in a column, categories and dates, several files, titles."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import unweave
from tests.cli import files
from unweave.cli.main import main


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("verb", ["topics", "explain"])
def test_a_column_of_texts_is_found_and_used(here, verb, capsys):
    files.write_messages(here / "sms.csv")
    assert main([verb, "sms.csv", "-k", "3", "--json"]) == 0
    said = capsys.readouterr()
    answer = json.loads(said.out)["answer"]
    words = sorted(" ".join(sorted(one["words"][:5])) for one in answer["topics" if verb == "topics" else "parts"])
    assert words == sorted(" ".join(sorted(theme.split())) for theme in files.THEMES)
    assert "'text'" in said.err and "'label' is kept beside the texts" in said.err
    assert main(["transform", f"sms-{verb}/model.unweave", "sms.csv", "--out", "again.csv", "--quiet"]) == 0
    first, again = table(f"sms-{verb}/codes.csv"), table("again.csv")
    assert [row["row"] for row in first] == [row["row"] for row in again] == [f"m{i:03d}" for i in range(90)]
    values = [[[float(v) for k, v in row.items() if k != "row"] for row in rows] for rows in (first, again)]
    np.testing.assert_allclose(values[0], values[1], atol=1e-6)


def test_groups_of_mixed_columns_are_told_in_the_units_of_the_file(here, capsys):
    files.write_pets(here / "pets.csv")
    assert main(["group", "pets.csv", "-k", "3", "--ignore", "chipped,bought", "--json"]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert any("'nr'" in note for note in result["notes"])
    apart = [one for group in result["answer"]["groups"] for one in group["apart"]]
    levels = [one for one in apart if one["column"].startswith("species=")]
    assert levels and all(one["flag"] and 0 <= one["mean"] <= 1 for one in levels), "means of levels are shares"
    assert any(20 < one["mean"] < 30 for one in apart if one["column"] == "kg"), "and of numbers in their own units"
    assert not any("chipped" in one["column"] or one["column"] == "nr" for one in apart)
    rows = table("pets-group/groups.csv")
    kinds = [("cat", "dog", "mouse")[i % 3] for i in range(90)]
    assert len({(row["group"], kind) for row, kind in zip(rows, kinds, strict=True)}) == 3


def test_what_is_no_measurement_stays_as_it_is_when_holes_are_filled(here, capsys):
    files.write_pets(here / "pets.csv")
    assert main(["complete", "pets.csv", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {one["column"] for one in result["answer"]["columns"]} == {"species", "kg"}
    was, now = table("pets.csv"), table("pets-complete/completed.csv")
    for i, (before, after) in enumerate(zip(was, now, strict=True)):
        assert (after["nr"], after["bought"], after["chipped"]) == (str(i + 1), before["bought"], before["chipped"])
        assert after["species"] == ("cat", "dog", "mouse")[i % 3] and after["kg"]
    assert main(["transform", "pets-complete/model.unweave", "pets.csv", "--out", "again.csv", "--quiet"]) == 0
    assert table("again.csv") == now


def test_several_files_are_one_table(here, capsys):
    lines = files.write_wine(here / "wine.csv").read_text().splitlines()
    files.write_lines(here / "a.csv", lines[:90])
    files.write_lines(here / "b.csv", [lines[0], *lines[90:]])
    for words, folder in ((["wine.csv"], "one"), (["a.csv", "b.csv"], "two")):
        assert main(["group", *words, "-k", "3", "--quiet", "--out", folder]) == 0
    one, two = (unweave.load(f"{folder}/model.unweave") for folder in ("one", "two"))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert main(["group", "a.csv", "wine-missing.csv", "-k", "3"]) == 1
    assert "wine-missing.csv" in capsys.readouterr().err


def test_items_have_their_titles(here, capsys):
    files.write_ratings(here / "ratings.csv")
    files.write_titles(here / "films.csv")
    assert main(["recommend", "ratings.csv", "person 1", "-k", "2", "--titles", "films.csv", "--json"]) == 0
    items = json.loads(capsys.readouterr().out)["recommended"][0]["items"]
    assert all(item.startswith("Story ") for item in items)
    names = set(unweave.load("ratings-recommend/model.unweave").item_ids_)
    assert "Story 2, The" in names and {"Story 1, The [film 0]", "Story 1, The [film 1]"} <= names
    files.write_lines(here / "other.csv", ["id,title", "x,y"])
    assert main(["recommend", "ratings.csv", "--titles", "other.csv"]) == 1
    assert "other.csv has a title for none of the items" in capsys.readouterr().err


def test_counts_of_plays_are_no_ratings(here, capsys):
    files.write_plays(here / "plays.csv")
    assert main(["recommend", "plays.csv", "person 4", "-n", "3", "--json"]) == 0
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert result["model"] == "ImplicitALS" and "how often something was used" in said.err
    assert {int(item.split()[1]) // 10 for item in result["recommended"][0]["items"]} == {0}


def test_titles_may_stand_in_a_file_of_tabs(here, capsys):
    files.write_clicks(here / "clicks.csv")
    files.write_lines(here / "names.tsv", ["id\tname\turl", *(f'thing {i}\t"Big" thing, {i}\tx,y' for i in range(20))])
    assert main(["recommend", "clicks.csv", "person 1", "-n", "1", "--titles", "names.tsv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommended"][0]["items"][0].startswith('"Big" thing, 1')


def test_a_user_who_is_not_there_is_told_before_the_fit(here, capsys):
    files.write_clicks(here / "clicks.csv")
    assert main(["recommend", "clicks.csv", "nobody"]) == 1
    assert "has no user 'nobody'; --unknown popular" in capsys.readouterr().err
    assert not list(here.glob("clicks-*"))
