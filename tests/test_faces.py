"""The three ways to see faces run from data of this computer and leave one picture."""

from __future__ import annotations

import importlib.util
import struct
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
PATH = Path(__file__).resolve().parents[1] / "examples" / "faces.py"


@pytest.fixture(scope="module")
def faces():
    spec = importlib.util.spec_from_file_location("faces", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def size_of(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def test_digits_without_a_folder(faces, tmp_path, capsys):
    out = faces.main(["--out", str(tmp_path / "d.png"), "--components", "9"])
    wide, high = size_of(out)
    assert wide > high > 400
    said = capsys.readouterr().out
    assert "digits: 1797 pictures of 8×8, 9 components" in said and said.count("error 0.") == 3


def test_faces_from_a_folder(faces, tmp_path):
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "cbcl_19x19.npz", images=rng.integers(0, 255, size=(60, 19, 19)).astype(np.uint8))
    X, size, name = faces.load(tmp_path)
    assert X.shape == (60, 361) and size == (19, 19) and name == "cbcl_19x19" and X.max() <= 1
    assert size_of(faces.main([str(tmp_path), "--out", str(tmp_path / "f.png"), "--components", "4"]))[0] > 0


def test_the_constraints_show(faces):
    X, _, _ = faces.load(None)
    parts, prototypes, ghosts = faces.fit(X[:300], 6).values()
    assert parts.components_.min() >= 0 and ghosts.components_.min() < 0
    near = (np.linalg.norm(X[:300, None] - prototypes.components_, axis=2) < 6).any(axis=0)
    assert near.all()
    assert faces.error(ghosts, X[:300]) < faces.error(parts, X[:300]) < faces.error(prototypes, X[:300])


def test_a_folder_without_faces_and_a_row_that_is_not_there(faces, tmp_path):
    with pytest.raises(SystemExit, match="holds neither"):
        faces.main([str(tmp_path)])
    with pytest.raises(SystemExit):
        faces.main(["--row", "5000"])
