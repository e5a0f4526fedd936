"""The command understands other words for its verbs, and speaks of options, not of Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.cli import files
from unweave.cli.app import app
from unweave.cli.main import main
from unweave.cli.options import settings_of
from unweave.cli.say import as_typed
from unweave.cli.synonyms import OTHER_WORDS, VERB_OF
from unweave.cli.work import command_line


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("word", "model"), [("cluster", "KMeans"), ("kmeans", "KMeans"), ("pca", "PCA"), ("nmf", "NMF")]
)
def test_other_words_for_verbs_are_understood(here, word, model, capsys):
    files.write_wine(here / "wine.csv")
    assert main([word, "wine.csv", "-k", "2", "--json"]) == 0
    said = capsys.readouterr()
    assert f"{word}: running `unweave {VERB_OF[word]}`" in said.err
    assert json.loads(said.out)["model"] == model


def test_other_words_are_of_verbs_that_exist_and_are_none_themselves():
    verbs = {command.name for command in app.registered_commands}
    assert set(OTHER_WORDS) <= verbs and not set(VERB_OF) & verbs
    for word in ("impute", "fill", "svd", "reduce", "parts", "lda", "info", "summary", "segments"):
        assert word in VERB_OF


@pytest.mark.parametrize(("word", "verb"), [("gruop", "group"), ("clustr", "group"), ("topcis", "topics")])
def test_unknown_verbs_suggest_the_nearest(word, verb, capsys):
    assert main([word, "x.csv"]) == 2
    assert f"did you mean `unweave {verb}`?" in capsys.readouterr().err


def test_a_job_that_does_not_suit_offers_the_command_that_does(here, capsys):
    files.write_wine(here / "wine.csv")
    files.write_notes(here / "notes.txt")
    files.write_clicks(here / "clicks.csv")
    asked = [
        (["topics", "wine.csv"], "`unweave group wine.csv`"),
        (["group", "notes.txt"], "`unweave topics notes.txt`"),
        (["complete", "wine.csv"], "`unweave compress wine.csv`"),
        (["complete", "clicks.csv", "--format", "pairs"], "`unweave recommend clicks.csv`"),
        (["recommend", "wine.csv"], "`unweave describe wine.csv`"),
    ]
    for words, command in asked:
        assert main(words) == 1
        assert command in capsys.readouterr().err.splitlines()[-1]


def test_options_of_columns_are_names_with_commas_and_kinds(capsys):
    settings = settings_of("group", {"columns": 'a, "b,c"', "ignore": "d", "kinds": ["when=date", "x=y=category"]})
    assert settings.columns == ["a", "b,c"] and settings.ignore == ["d"]
    assert settings.kinds == {"when": "date", "x=y": "category"}
    assert main(["group", "x.csv", "--as", "when=nonsense"]) == 2
    assert "NAME=KIND" in " ".join(capsys.readouterr().err.split())


def test_the_command_is_written_as_it_would_be_typed_again():
    given = {"files": ["my file.csv", "b.csv"], "k": "3", "ignore": "year", "kinds": ["code=category"], "lines": True}
    typed = command_line(settings_of("group", {**given, "quiet": True, "scale": "none"}))
    assert typed == "unweave group 'my file.csv' b.csv -k 3 --scale none --lines --ignore year --as code=category"


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("scale='standard' would fill it; use scale='unit'", "--scale 'standard' would fill it; use --scale 'unit'"),
        ("n_components=5 is too many", "-k 5 is too many"),
        ("raise max_iter or tol", "raise --max-iter"),
        ("stopped after max_iter=50 iterations", "stopped after 50 iterations"),
        ("X is too small (4×1) to hide blocks: give a number", "the table is too small (4×1) to hide blocks; give -k a "
         "number"),
        ("use ignore=['id', 'name']", "use --ignore id,name"),
        ("read it with text='message'", "read it with --as message=prose"),
    ],
)  # fmt: skip
def test_advice_names_options(python, shell):
    assert as_typed(python) == shell


def test_what_a_fit_warns_of_is_said_in_options(here, capsys):
    np.savetxt(here / "x.csv", np.random.default_rng(0).random((40, 6)), delimiter=",")
    assert main(["explain", "x.csv", "-k", "3", "--max-iter", "1"]) == 0
    said = capsys.readouterr().err
    assert "raise --max-iter" in said and "max_iter" not in said
