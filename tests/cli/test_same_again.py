"""“The same again in Python”: the lines that a job keeps run as pasted, and give what the command wrote."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tests.cli import files
from unweave import load, persist
from unweave.cli.main import main


def column(path, name):
    with open(path, encoding="utf-8") as file:
        return [line[name] for line in csv.DictReader(file)]


def pasted(folder) -> dict:
    """Run the lines that the model of a folder keeps, and return the names they define."""
    names: dict = {}
    exec(persist.read_extra(f"{folder}/model.unweave")["facts"]["code"], names)
    return names


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


CASES = [
    ("group", files.write_wine, "table.csv", ["-k", "3", "--seed", "4"]),
    ("compress", files.write_wine, "table.csv", ["-k", "2", "--scale", "standard"]),
    ("explain", files.write_wine, "table.csv", ["-k", "2"]),
    ("explain", files.write_notes, "notes.txt", ["-k", "3", "--lines"]),
    ("topics", files.write_notes, "notes.txt", ["-k", "3", "--stop-words", "none"]),
    ("complete", files.write_holes, "holes.csv", ["-k", "2"]),
    ("complete", files.write_people, "people.csv", []),
    ("complete", lambda path: files.write_ratings(path, times=True), "ratings.csv", ["-k", "2"]),
    ("recommend", files.write_clicks, "clicks.csv", ["-k", "4"]),
    ("recommend", files.write_ratings, "stars.csv", ["-k", "2", "--titles", "titles.csv"]),
    ("recommend", files.write_plays, "plays.csv", ["-k", "4"]),
    ("topics", files.write_messages, "sms.csv", ["-k", "3"]),
    ("group", files.write_pets, "pets.csv", ["-k", "3", "--ignore", "chipped", "--as", "kg=number"]),
    ("complete", files.write_pets, "pets.csv", []),
]


@pytest.mark.parametrize(("verb", "write", "name", "words"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_the_lines_run_as_pasted_and_give_the_same(here, verb, write, name, words):
    write(here / name)
    files.write_titles(here / "titles.csv")
    assert main([verb, name, *words, "--quiet", "--out", "out"]) == 0
    names, saved = pasted("out"), load("out/model.unweave")
    np.testing.assert_array_equal(names["model"].components_, saved.components_)
    if verb == "group":
        assert [str(group + 1) for group in names["groups"]] == column("out/groups.csv", "group")
    if verb == "compress":
        codes = np.array(column("out/codes.csv", "component 1"), dtype=float)
        np.testing.assert_allclose(names["codes"][:, 0], codes, rtol=1e-12)
    if verb == "recommend":
        assert names["items"].ravel().tolist() == column("out/recommendations.csv", "item")
    if name == "ratings.csv":
        assert names["items"].ravel().tolist() == column("out/predictions.csv", "item")
    if name == "holes.csv":
        filled = np.array(column("out/completed.csv", "c0"), dtype=float)
        holes = np.isnan(names["table"].X[:, 0])
        np.testing.assert_allclose(names["predicted"][holes, 0], filled[holes])
    if name == "pets.csv" and verb == "complete":
        assert names["completed"]["species"].to_list() == column("out/completed.csv", "species")
    if name == "people.csv":
        assert names["completed"]["town"].to_list() == column("out/completed.csv", "town")
