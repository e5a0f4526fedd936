"""The eight exercises run small from data of this computer, and what their docstrings say is what they find."""

from __future__ import annotations

import gzip
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")
FOLDER = Path(__file__).resolve().parents[1] / "examples" / "exercises"
SIZES = {
    "svm_on_digits": 300, "monomials": 100, "svr_and_ridge": 400, "representer": 60, "signatures": 200, "parity": 2,
    "eigenfaces": 400, "pca_neighbours": 400,
}  # fmt: skip


@pytest.fixture(scope="module")
def exercise():
    """Import one of them as Python does when it is run: its folder is on the path."""
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module
    sys.path.remove(str(FOLDER))
    for name in (*SIZES, "telling"):
        sys.modules.pop(name, None)


def percent(cell: str) -> float:
    return float(cell.split()[0])


def test_there_are_eight_each_with_its_answer():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*SIZES, "telling"}
    first = [(FOLDER / f"{name}.py").read_text(encoding="utf-8").splitlines()[0] for name in SIZES]
    assert [int(re.match(r'"""Exercise (\d):', line)[1]) for line in first] == list(range(1, 9))
    assert all("?" in (FOLDER / f"{name}.py").read_text(encoding="utf-8").split('"""')[1] for name in SIZES)


@pytest.mark.parametrize("name", SIZES)
def test_an_exercise_says_its_table_and_leaves_its_picture(exercise, name, tmp_path, capsys):
    path = exercise(name).main(["--size", str(SIZES[name]), "--out", str(tmp_path / "pictures")])
    assert path == tmp_path / "pictures" / f"{name}.png"
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 10_000
    said = capsys.readouterr().out
    assert said.count("│") > 10 and f"{name}.png" in said.replace("\n", "")
    with pytest.raises(SystemExit):
        exercise(name).main(["--size", "1"])


# -- what they find --------------------------------------------------------------------------------------------------


def test_curved_kernels_read_digits_better(exercise):
    rows = {row["kernel"]: row for row in exercise("svm_on_digits").measure(500).rows}
    assert percent(rows["Gaussian"]["right"]) > percent(rows["linear"]["right"])
    assert rows["Gaussian"]["bias, %"] < rows["linear"]["bias, %"]


def test_monomials_and_kernel_give_one_answer_at_different_cost(exercise, rng):
    module = exercise("monomials")
    X = rng.normal(size=(6, 3))
    for k in (1, 2, 4):
        F = module.features(X, k)
        np.testing.assert_allclose(F @ F.T, (1 + X @ X.T) ** k, rtol=1e-8, atol=1e-12)
    assert len([one for one in module.monomials(1, 3)]) == 4  # of degree 3 in a column and the one of ones; ordered: 8
    rows = module.measure(100).rows
    assert all(float(row["apart"]) < 1e-9 for row in rows)
    assert rows[0]["steps, I"] < rows[0]["steps, II"] and rows[-1]["steps, I"] > rows[-1]["steps, II"]


def test_support_vectors_are_few(exercise):
    rows = exercise("svr_and_ridge").measure(400).rows
    kept = {row["method"]: row["weights"] for row in rows if row["rows"] == 400}
    assert kept["ridge"] == 400 and kept["support vectors"] < 150
    assert all(row["error"] < 0.15 for row in rows if row["rows"] >= 200)


def test_sums_of_rows_are_not_sparse(exercise):
    rows = exercise("representer").measure(60).rows
    pair, many = ({row["method"]: row for row in part} for part in (rows[:3], rows[3:]))
    for method in ("kernel logistic", "support vectors"):
        assert pair[method]["w₁"] == -pair[method]["w₂"] != 0 and many[method]["zeros"] == 0
    assert pair["lasso"]["w₂"] == 0 != pair["lasso"]["w₁"] and many["lasso"]["zeros"] > 30
    assert float(pair["kernel logistic"]["apart"]) < 1e-6, "the optimum over w is a sum of rows"
    assert percent(many["lasso"]["right"]) > percent(many["kernel logistic"]["right"])


def test_an_or_of_signatures_is_one_weight_vector(exercise, rng):
    module = exercise("signatures")
    rows = module.measure(300).rows
    assert all(percent(row["the OR itself"]) == 100 for row in rows)
    assert percent(rows[0]["substrings"]) > 95 and rows[0]["found"] == "1 of 1"
    assert all(percent(row["counts of letters"]) < 65 for row in rows)
    texts, ill = module.files(40, ["acgtac"], rng)
    assert ["acgtac" in text for text in texts] == ill.tolist()


def test_parity_is_written_down_and_hardly_learned(exercise, rng):
    module = exercise("parity")
    X, y = rng.choice([-1.0, 1.0], size=(12, 4)), rng.choice([-1.0, 1.0], size=12)
    loss, _ = module.network(X, y, 3)
    w = rng.normal(size=3 * 6 + 1)
    _, gradient = loss(w)
    for i in range(len(w)):
        step = np.eye(len(w))[i] * 1e-6
        assert gradient[i] == pytest.approx((loss(w + step)[0] - loss(w - step)[0]) / 2e-6, abs=1e-7)
    rows = module.measure(2).rows
    assert rows[0]["how"] == "written down" and rows[0]["best, new"] == "100.0 %"
    assert all(percent(row["new"]) < 100 for row in rows[1:])
    plain = {(row["bits"], row["how"]): percent(row["new"]) for row in rows[1:7]}
    assert plain["−1, 1", "sgd"] > plain["0, 1", "sgd"] + 15 and plain["0, 1", "l-bfgs"] > plain["0, 1", "sgd"]


def test_components_help_where_the_wide_directions_tell(exercise):
    right = {
        (row["table"], row["neighbours by"]): percent(row["right"])
        for row in exercise("pca_neighbours").measure(600).rows
    }
    wide, narrow = "the widest direction tells", "the narrowest tells"
    assert right[wide, "2 axes"] > 99 and right[narrow, "2 axes"] < 60
    assert right[narrow, "30 axes, whitened"] > right[narrow, "all columns"] + 10
    assert right[wide, "30 axes, whitened"] < right[wide, "all columns"] - 10
    assert right["digits", "20 axes"] > right["digits", "2 axes"] + 20


# -- folders ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def faces(tmp_path, rng):
    """Pictures of five people, ten each: a face of their own, and noise."""
    clean = np.repeat(rng.random((5, 12, 10)), 10, axis=0)
    images = (255 * np.clip(clean + 0.15 * rng.normal(size=clean.shape), 0, 1)).astype(np.uint8)
    np.savez(tmp_path / "olivetti_64x64.npz", images=images, subject=np.repeat(np.arange(5), 10))
    return tmp_path


def test_faces_from_a_folder(exercise, faces, capsys):
    module = exercise("eigenfaces")
    assert module.main([str(faces), "--out", str(faces)]).exists()
    assert "Olivetti faces: 50 pictures of 5," in capsys.readouterr().out
    rows = module.measure(50, faces).rows
    assert [row["sought in"] for row in rows] == ["all 120 pixels", "20 eigenfaces"]
    assert all(percent(row["plain"]) > 80 for row in rows), "these faces are easy"


def test_whitening_divides_by_the_spread_of_each_axis(exercise, rng):
    X = rng.normal(size=(80, 6)) * [9, 5, 3, 2, 1, 1]
    plain, white = (exercise("eigenfaces").codes(X, X[:10], 4, whiten)[0] for whiten in (False, True))
    sigma = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:4]
    np.testing.assert_allclose(white, plain / (sigma / np.sqrt(len(X) - 1)), rtol=1e-6)
    np.testing.assert_allclose(white.std(axis=0, ddof=1), 1, rtol=1e-6)


def test_pictures_in_the_format_of_mnist(exercise, tmp_path, rng):
    images, labels = rng.integers(0, 256, size=(60, 5, 4), dtype=np.uint8), np.arange(60, dtype=np.uint8) % 3
    for name, head, data in (
        ("train-images-idx3-ubyte.gz", [2051, 60, 5, 4], images),
        ("train-labels-idx1-ubyte.gz", [2049, 60], labels),
    ):
        with gzip.open(tmp_path / name, "wb") as file:
            file.write(np.array(head, ">i4").tobytes() + data.tobytes())
    X, y, size, name = exercise("telling").pictures(tmp_path)
    np.testing.assert_allclose(X, images.reshape(60, 20) / 255)
    assert y.tolist() == labels.tolist() and size == (5, 4) and name == tmp_path.name


@pytest.mark.parametrize("name", ["svm_on_digits", "eigenfaces", "pca_neighbours"])
def test_a_folder_without_data_is_told(exercise, name, tmp_path):
    with pytest.raises(SystemExit, match="holds no"):
        exercise(name).main([str(tmp_path)])
