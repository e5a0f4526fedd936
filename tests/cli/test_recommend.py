"""``unweave recommend``: lists by id in the terminal and as JSON."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import unweave
from unweave.cli.main import main


@pytest.fixture
def saved(tmp_path):
    rng = np.random.default_rng(0)
    frame = {"u": rng.choice([7, 8, 9], 30), "i": rng.integers(100, 120, 30), "v": rng.integers(1, 6, 30)}
    table = unweave.ratings(frame, user="u", item="i", value="v")
    model = unweave.MatrixCompletion(1, ridge=1.0).fit(table)
    return model, str(model.save(tmp_path / "m.unweave"))


def test_lists_are_those_of_the_model(saved, capsys):
    model, path = saved
    assert main(["recommend", path, "8", "7", "-n", "3", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["recommended"]
    items, scores = model.recommend([8, 7], 3)
    assert [one["user"] for one in answer] == ["8", "7"] and [one["items"] for one in answer] == items.tolist()
    np.testing.assert_allclose([one["scores"] for one in answer], scores)
    assert main(["recommend", path, "8", "-n", "2"]) == 0
    shown = capsys.readouterr()
    assert str(items[0][0]) in shown.err and shown.out == ""


def test_short_lists_are_short(saved, capsys):
    model, path = saved
    assert main(["recommend", path, "8", "-n", "1000", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    unrated = len(model.item_ids_) - model.seen_[[model.user_ids_.tolist().index(8)]].nnz
    assert len(answer["recommended"][0]["items"]) == unrated and f"{unrated} items" in answer["notes"][0]


def test_positions_where_there_are_no_ids(tmp_path, capsys):
    X = sp.csr_array(np.array([[5.0, 0, 3], [0, 4, 1]]))
    path = str(unweave.MatrixCompletion(1, ridge=1.0).fit(X).save(tmp_path / "m.unweave"))
    assert main(["recommend", path, "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recommended"][0]["items"] == [1]
    assert main(["recommend", path, "ann"]) == 1
    assert "whole numbers from 0" in capsys.readouterr().err


def test_what_cannot_be_answered_is_said(saved, tmp_path, capsys):
    _, path = saved
    assert main(["recommend", path, "nobody"]) == 1
    assert "does not know the user 'nobody'" in capsys.readouterr().err
    assert main(["recommend", path, "nobody", "8", "--unknown", "popular", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)["recommended"]
    assert answer[0]["user"] == "nobody" and len(answer[0]["items"]) == 10
    pca = str(unweave.PCA(1).fit(np.random.default_rng(0).normal(size=(5, 3))).save(tmp_path / "p.unweave"))
    assert main(["recommend", pca, "1"]) == 1
    assert "PCA, which does not recommend" in capsys.readouterr().err
    assert main(["recommend", path, "--json"]) == 0, "a few users as examples"
    examples = [one["user"] for one in json.loads(capsys.readouterr().out)["recommended"]]
    assert sorted(examples) == ["7", "8", "9"]
