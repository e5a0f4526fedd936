"""``unweave predict``: one column told from the others, judged on held-out rows, saved, and applied to other files."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import unweave
from unweave.cli.main import main


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, rng = load_wine(), np.random.default_rng(0)
    names = ["Barolo", "Grignolino", "Barbera"]
    header = [*data.feature_names[:6], "colour", "cultivar"]
    rows = [[*(f"{v:g}" for v in x[:6]), ["red", "dark", ""][rng.integers(3)], names[t]]
            for x, t in zip(data.data, data.target)]  # fmt: skip
    with open("wine.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows[::3]])
    with open("new.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[header[6], *header[:6]], *([row[6], *row[:6]] for row in rows[1::3])])
    return tmp_path


def run(capsys, *words, expect=0):
    code = main([*map(str, words)])
    said = capsys.readouterr()
    assert code == expect, said.err
    return said


def test_classes_are_told_and_judged_and_new_rows_too(here, capsys):
    said = run(capsys, "predict", "wine.csv", "--target", "cultivar", "--new", "new.csv", "--out", "out", "--json")
    found = json.loads(said.out)
    assert found["task"] == "classes" and found["error"] < 0.5 * found["baseline_error"]
    assert {path.name for path in (here / "out").iterdir()} == set(found["files"]) == {
        "model.unweave", "report.html", "predictions.csv", "new-predictions.csv"
    }  # fmt: skip
    held, new = read("out/predictions.csv"), read("out/new-predictions.csv")
    assert held[0] == ["row", "true", "predicted", "share"] and len(held) == len(read("wine.csv"))
    assert np.mean([line[1] != line[2] for line in held[1:]]) == pytest.approx(found["error"])
    assert new[0][:3] == ["row", "predicted", "share"] and len(new) == len(read("new.csv"))
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    for words in ("What is taken for what", "Is it sure rightly", "What it relies on", "Would more rows help"):
        assert words in page
    assert "<script" not in page

    run(capsys, "transform", "out/model.unweave", "new.csv", "--out", "again.csv", "--quiet")
    assert read("again.csv") == new
    assert "cultivar is right" in run(capsys, "show", "out/model.unweave").err
    run(capsys, "report", "out/model.unweave", "--out", "page.html")
    assert (here / "page.html").read_text(encoding="utf-8") == page
    loaded = unweave.load("out/model.unweave")
    assert loaded.predict(unweave.read("new.csv")).tolist() == [line[1] for line in new[1:]]


def test_numbers_are_told_from_classes(here, capsys):
    found = json.loads(run(capsys, "predict", "wine.csv", "--target", "alcohol", "--json").out)
    assert found["task"] == "numbers" and found["model"] == "RepresentationRegressor"
    assert "Predicted and true" in (here / "wine-predict" / "report.html").read_text(encoding="utf-8")


def test_rows_without_a_target_are_predicted_instead(here, capsys):
    lines = read("wine.csv")
    for line in lines[5:9]:
        line[-1] = ""
    with open("gaps.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    said = run(capsys, "predict", "gaps.csv", "--target", "cultivar", "--out", "out")
    assert "4 of 60 rows, whose target is unknown" in said.err.replace("left out ", "")
    blank = [line for line in read("out/predictions.csv")[1:] if not line[1]]
    assert len(blank) == 4 and all(line[2] for line in blank)


def test_classes_that_are_whole_numbers_stay_whole_also_beside_unknown_ones(here, capsys):
    kinds = {"cultivar": "kind", "Barolo": "1", "Grignolino": "2", "Barbera": "3"}
    lines = [[*line[:-1], kinds[line[-1]]] for line in read("wine.csv")]
    lines[4][-1] = ""
    with open("kinds.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(lines)
    said = run(capsys, "predict", "kinds.csv", "--target", "kind", "--out", "out")
    assert ".0 is" not in said.err and ">2.0<" not in (here / "out" / "report.html").read_text(encoding="utf-8")
    rows = read("out/predictions.csv")[1:]
    assert {line[1] for line in rows} == {"", "1", "2", "3"} and {line[2] for line in rows} == {"1", "2", "3"}


@pytest.mark.parametrize(
    "words, told",
    [
        (["--target", "cultivars"], "did you mean 'cultivar'"),
        (["--target", "cultivar", "--task", "numbers"], "holds words"),
        (["--target", "cultivar", "--columns", "nothing"], "nothing"),
        (["--target", "cultivar", "--new", "missing.csv"], "missing.csv"),
    ],
)
def test_wrong_words_are_told_in_one_line(here, capsys, words, told):
    said = run(capsys, "predict", "wine.csv", *words, expect=1)
    assert told in said.err and said.err.count("\n") < 12 and not (here / "wine-predict").exists()


def test_a_new_file_that_lacks_columns_is_refused(here, capsys):
    run(capsys, "predict", "wine.csv", "--target", "cultivar", "--out", "out", "-q")
    with open("less.csv", "w", encoding="utf-8") as file:
        file.write("alcohol,ash\n13,2\n12,2\n")
    said = run(capsys, "transform", "out/model.unweave", "less.csv", expect=1)
    assert "lacks columns" in said.err and "malic_acid" in said.err
