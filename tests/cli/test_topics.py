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
    for file, words in (
        ("negative.csv", "is a table of measurements"),
        ("holes.csv", "has holes"),
        ("none.txt", "none.txt"),
    ):
        assert main(["topics", file, "-k", "2"]) == 1
        assert words in capsys.readouterr().err
    assert not (notes / "negative-topics").exists()
    assert main(["topics", "notes.txt", "-k", "no"]) == 2


def test_transform_takes_new_texts_with_words_the_model_does_not_know(notes, capsys):
    assert main(["topics", "notes.txt", "-k", "3", "--lines", "--out", "out", "--quiet"]) == 0
    (notes / "new.txt").write_text("the cat and the unseen dog\nviolin cello\nnothing known here\n")
    assert main(["transform", "out/model.unweave", "new.txt", "--out", "-"]) == 0  # lines, as for the fit
    said = capsys.readouterr()
    rows = [line.split(",") for line in said.out.splitlines()]
    assert rows[0] == ["row", "topic 0", "topic 1", "topic 2"] and [row[0] for row in rows[1:]] == [
        "line 1",
        "line 2",
        "line 3",
    ]
    codes = np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])
    np.testing.assert_allclose(codes.sum(axis=1), 1, atol=1e-6)
    assert codes[0].argmax() != codes[1].argmax() and codes[:2].max(axis=1).min() > 0.5
    assert "the model knows 4 of 10 words" in said.err
    assert "without a word that the model knows: 1 of 3 documents" in said.err


def test_transform_parts_documents_as_it_is_told(notes, capsys):
    assert main(["topics", "notes.txt", "-k", "3", "--lines", "--out", "out", "--quiet"]) == 0
    (notes / "new.txt").write_text("cat dog\nviolin cello\n")
    for flag, documents in (("--lines", 2), ("--no-lines", 1)):
        assert main(["transform", "out/model.unweave", "new.txt", flag, "--out", "-", "--quiet"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == documents + 1
    (notes / "other.txt").write_text("ничего знакомого\n")
    assert main(["transform", "out/model.unweave", "other.txt", "--quiet"]) == 1
    assert "other.txt has none of the 15 words of the model" in capsys.readouterr().err


@pytest.mark.parametrize(
    "verb", ["describe", "plan", "compress", "complete", "group", "explain", "topics", "transform"]
)
def test_every_verb_that_reads_takes_the_options_of_texts(verb, capsys):
    assert main([verb, "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(
        option in shown for option in ("--lines", "--no-lines", "--stop-words", "--min-documents", "--max-words")
    )


def test_options_of_texts_reach_the_reader(notes, capsys):
    (notes / "mixed.txt").write_text("the cat und the hund\n\nthe cat und der hund\n")
    assert main(["describe", "mixed.txt", "--stop-words", "english,german", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["columns"] == 2 and "2 documents × 2 words (text)" in said.err
    assert main(["describe", "mixed.txt", "--stop-words", "none", "--max-words", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == 3
    assert main(["describe", "mixed.txt", "--min-documents", "5"]) == 1
    assert "use --min-documents 1, or say --lines" in capsys.readouterr().err
    assert main(["describe", "notes.txt", "--stop-words", "klingon"]) == 1
    assert "--stop-words 'klingon' is not known" in capsys.readouterr().err


def test_the_number_of_topics_is_found(notes, capsys):
    assert main(["topics", "notes.txt", "-k", "auto", "--out", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["components"] == 3


def test_without_a_number_there_is_the_usual_one_and_it_is_said(notes, capsys):
    assert main(["topics", "notes.txt", "--out", "out"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "10 topics unless you say otherwise: -k 20, or -k auto" in said


def test_plan_of_topics(notes, capsys):
    assert main(["plan", "notes.txt", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["job"] == "topics" and answer["model"] == "LDA"
