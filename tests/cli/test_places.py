"""Nothing of the user's is overwritten: folders get numbers, --out is checked before the fit, --force replaces."""

from __future__ import annotations

import json

import pytest

from tests.cli import files
from unweave.cli.main import main


@pytest.fixture
def wine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return files.write_wine(tmp_path / "wine.csv")


def compress(*words, expect=0):
    assert main(["compress", "wine.csv", "-k", "2", "--quiet", *words]) == expect


def test_the_usual_folder_gets_a_number_if_it_is_taken(wine, tmp_path, capsys):
    for _ in range(3):
        compress()
    (tmp_path / "wine-group").mkdir()
    (tmp_path / "wine-group" / "thesis.txt").write_text("mine")
    assert main(["group", "wine.csv", "-k", "2", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["out"] == "wine-group-2"
    found = {path.name for path in tmp_path.iterdir()}
    assert found == {"wine.csv", "wine-compress", "wine-compress-2", "wine-compress-3", "wine-group", "wine-group-2"}
    assert [path.name for path in (tmp_path / "wine-group").iterdir()] == ["thesis.txt"]


def test_a_folder_with_results_needs_force(wine, tmp_path, capsys):
    compress("--out", "out")
    before = (tmp_path / "out" / "model.unweave").stat().st_mtime_ns
    compress("--out", "out", expect=1)
    said = capsys.readouterr().err
    assert "--out out holds results already (model.unweave" in said and "--force" in said
    assert (tmp_path / "out" / "model.unweave").stat().st_mtime_ns == before
    compress("--out", "out", "--force")
    assert (tmp_path / "out" / "model.unweave").stat().st_mtime_ns > before


def test_files_of_the_user_in_the_folder_stay(wine, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    compress("--out", "out")
    assert (tmp_path / "out" / "notes.txt").read_text() == "mine" and (tmp_path / "out" / "codes.csv").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "codes.csv").write_text("mine")
    compress("--out", "mine", expect=1)
    assert (tmp_path / "mine" / "codes.csv").read_text() == "mine" and "codes.csv" in capsys.readouterr().err


@pytest.mark.parametrize("out", ["wine.csv", "wine.csv/inner", "/proc/nowhere"])
def test_a_place_that_cannot_be_written_is_told_before_the_fit(wine, out, capsys):
    assert main(["compress", "wine.csv", "-k", "2", "--out", out]) == 1
    said = capsys.readouterr().err
    last = said.splitlines()[-1]
    assert last.startswith("unweave: ") and "PCA, " not in said, "one sentence, and no fit"
    assert "is a file" in last or "cannot write into" in last


def test_single_files_are_not_replaced_either(wine, tmp_path, capsys):
    compress("--out", "out")
    transform = ["transform", "out/model.unweave", "wine.csv", "--quiet"]
    assert main(transform) == main(transform) == 0
    assert (tmp_path / "wine-codes.csv").exists() and (tmp_path / "wine-codes-2.csv").exists()
    (tmp_path / "mine.csv").write_text("mine")
    assert main([*transform, "--out", "mine.csv"]) == 1
    assert (tmp_path / "mine.csv").read_text() == "mine" and "--force" in capsys.readouterr().err
    assert main([*transform, "--out", "mine.csv", "--force"]) == 0
    assert main(["report", "out/model.unweave", "--quiet"]) == 0, "the page of the model itself is made anew"
    assert main(["report", "out/model.unweave", "--out", "mine.csv"]) == 1


def test_a_fit_that_fails_leaves_no_folder(wine, tmp_path, capsys):
    assert main(["group", "wine.csv", "-k", "5000"]) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["wine.csv"]
