"""``unweave topics``: from a file or a folder of texts to topics, a saved model and a map."""

from __future__ import annotations

import json

import numpy as np
import pytest

import unweave
from unweave.cli.main import main

THEMES = ["cat dog horse sheep goat", "violin piano flute drum cello", "rain snow wind cloud storm"]


def lines(n=60):
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice(THEMES[i % 3].split(), 12)) for i in range(n)]


def sorted_words(topics):
    return sorted(" ".join(sorted(topic["words"][:5])) for topic in topics)


@pytest.fixture
def notes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("\n".join(lines()) + "\n")
    return tmp_path


def test_a_file_of_lines(notes, capsys):
    assert main(["topics", "notes.txt", "-k", "3", "--lines", "--out", "out", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["model"] == "LDA" and answer["components"] == 3 and answer["map"] == "out/topics.html"
    assert sorted_words(answer["topics"]) == sorted(" ".join(sorted(theme.split())) for theme in THEMES)
    assert sum(topic["share"] for topic in answer["topics"]) == pytest.approx(1)
    found = {path.name for path in (notes / "out").iterdir()}
    assert found == {"model.unweave", "report.html", "codes.csv", "components.csv", "topics.csv", "topics.html"}
    model = unweave.load(notes / "out" / "model.unweave")
    np.testing.assert_allclose(model.topics_.sum(axis=1), 1, atol=1e-6)
    page = (notes / "out" / "topics.html").read_text(encoding="utf-8")
    assert "3 topics of 60 documents, 15 different words" in page and "notes.txt" in page
    table = (notes / "out" / "topics.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == "topic,share,words" and len(table) == 4


def test_a_folder_of_files_and_a_table_on_the_screen(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "letters").mkdir()
    for i, line in enumerate(lines(12)):
        (tmp_path / "letters" / f"{i}.txt").write_text(line)
    assert main(["topics", "letters", "-k", "3", "--seed", "1"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and "3 topics" in said.err and "letters-topics/topics.html" in said.err
    assert (tmp_path / "letters-topics" / "topics.html").is_file()


def test_a_bag_of_words(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X = np.zeros((40, 6))
    X[:20, :3], X[20:, 3:] = 3, 2
    X += np.random.default_rng(0).poisson(1.0, X.shape) * (X > 0)
    np.savetxt(tmp_path / "counts.csv", X, fmt="%d", delimiter=",", header="a,b,c,d,e,f", comments="")
    assert main(["topics", "counts.csv", "-k", "2", "--json"]) == 0
    topics = json.loads(capsys.readouterr().out)["topics"]
    assert sorted("".join(sorted(topic["words"][:3])) for topic in topics) == ["abc", "def"]


def test_what_is_no_count_of_words(notes, capsys):
    np.savetxt(notes / "negative.csv", np.arange(12).reshape(4, 3) - 5.0, delimiter=",")
    (notes / "holes.csv").write_text("a,b\n1,2\n,3\n4,1\n2,2\n")
    for file, words in (("negative.csv", "cannot be negative"), ("holes.csv", "has holes"), ("none.txt", "none.txt")):
        assert main(["topics", file, "-k", "2"]) == 1
        assert words in capsys.readouterr().err
    assert not (notes / "negative-topics").exists()
    assert main(["topics", "notes.txt", "-k", "no"]) == 2
