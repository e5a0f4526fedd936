"""``unweave segment``: a picture in, a picture in few colours out. Needs the verb's entry in ``cli/app.py``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from unweave.cli.options import Settings
from unweave.cli.verbs import segment as verb


def settings(path, **more):
    return Settings("segment", **{"file": path, "k": 3, "quiet": True, "as_json": True, **more})


@pytest.fixture
def stripes(tmp_path):
    pixels = np.zeros((20, 30, 3), np.uint8)
    pixels[:, 10:20], pixels[:, 20:] = (250, 250, 250), (200, 10, 10)
    path = tmp_path / "flag.png"
    Image.fromarray(pixels).save(path)
    return path, pixels


def test_a_picture_of_three_segments(stripes, tmp_path, capsys):
    path, pixels = stripes
    assert verb.run(settings(path, out=tmp_path / "few.png")) == 0
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "few.png").convert("RGB")), pixels)
    answer = json.loads(capsys.readouterr().out)
    assert answer["segments"] == 3 and answer["mean_squared_error"] == 0
    np.testing.assert_allclose(answer["shares"], 1 / 3)


def test_the_name_unless_given_and_fewer_segments(stripes, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    verb.run(settings(stripes[0], k=2))
    assert (tmp_path / "flag-segments.png").is_file()
    assert json.loads(capsys.readouterr().out)["segments"] == 2


def test_what_cannot_be_read(tmp_path):
    (tmp_path / "text.png").write_text("no picture")
    with pytest.raises(ValueError, match="cannot be read as an image"):
        verb.run(settings(tmp_path / "text.png"))
    with pytest.raises(FileNotFoundError):
        verb.run(settings(tmp_path / "nothing.png"))
    with pytest.raises(ValueError, match="256"):
        verb.run(settings(tmp_path / "text.png", k=1000))
