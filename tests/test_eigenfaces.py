"""The table of eigenfaces runs from data of this computer, and its whitening is the one it says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
PATH = Path(__file__).resolve().parents[1] / "examples" / "eigenfaces.py"


@pytest.fixture(scope="module")
def eigenfaces():
    spec = importlib.util.spec_from_file_location("eigenfaces", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path, rng):
    """Pictures of five people, ten each: a face of their own, and noise."""
    faces = rng.random((5, 12, 10))
    images = np.repeat(faces, 10, axis=0) + 0.15 * rng.normal(size=(50, 12, 10))
    images = (255 * np.clip(images, 0, 1)).astype(np.uint8)
    np.savez(tmp_path / "olivetti_64x64.npz", images=images, subject=np.repeat(np.arange(5), 10))
    return tmp_path


def test_a_table_and_a_picture(eigenfaces, folder, capsys):
    out = eigenfaces.main([str(folder), "--out", str(folder / "e.png"), "--components", "3", "8"])
    assert out.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("Olivetti faces: 50 pictures of 5,")
    assert [line.split("  ")[0] for line in said[1:-1]] == [
        "all 120 pixels", "3 eigenfaces", "3 eigenfaces, whitened", "8 eigenfaces", "8 eigenfaces, whitened"
    ]  # fmt: skip
    assert all(float(line.split()[-4]) > 80 for line in said[1:-1]), "these faces are easy"


def test_whitening_divides_by_the_spread_of_each_axis(eigenfaces, rng):
    X = rng.normal(size=(80, 6)) * [9, 5, 3, 2, 1, 1]
    plain, white = (eigenfaces.codes(X, X[:10], 4, whiten)[0] for whiten in (False, True))
    m = len(X)
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:4]
    np.testing.assert_allclose(white, plain / (sigma / np.sqrt(m - 1)), rtol=1e-6)
    np.testing.assert_allclose(white.std(axis=0, ddof=1), 1, rtol=1e-6)


def test_numbers_that_there_are_not(eigenfaces, folder, tmp_path_factory):
    with pytest.raises(SystemExit):
        eigenfaces.main([str(folder), "--components", "500"])
    with pytest.raises(SystemExit, match="holds no"):
        eigenfaces.main([str(tmp_path_factory.mktemp("empty"))])
