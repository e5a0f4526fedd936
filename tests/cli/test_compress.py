"""``unweave compress``: the data or --model choose, and what is left behind says what was found."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from PIL import Image
from scipy.io import wavfile

from tests.cli import files
from tests.cli.test_same_again import pasted
from unweave import load
from unweave.cli.compressing.pictures import peak_of
from unweave.cli.compressing.ways import WAYS, known, way_of
from unweave.cli.main import main


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def photo(here, rng):
    """A small grey picture: hills, an edge, and some noise; its sides are no multiples of a tile."""
    y, x = np.mgrid[:44, :61] / 44
    pixels = 120 + 80 * np.sin(4 * x + 3 * y * y) + 40 * (x > 0.7) + 4 * rng.normal(size=x.shape)
    path = here / "photo.png"
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path)
    return path


def said(capsys, *words) -> dict:
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def failed(capsys, *words) -> str:
    assert main(list(map(str, words))) == 1
    return capsys.readouterr().err.splitlines()[-1]


def pixels_of(path) -> np.ndarray:
    return np.asarray(Image.open(path)).astype(float)


def lines(path) -> list[dict]:
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_picture_is_compressed_tile_by_tile(photo, capsys):
    told = said(capsys, "compress", photo, "--out", "out")
    assert told["model"] == "OrthonormalBasis" and told["rows"] == 6 * 8
    assert {"compressed.png", "rates.csv", "codes.csv", "report.html", "model.unweave"} <= set(told["files"])
    left, true = pixels_of("out/compressed.png"), pixels_of(photo)
    assert left.shape == true.shape
    psnr = 10 * np.log10(255**2 / np.mean((left - true) ** 2))
    assert told["answer"]["psnr"] == pytest.approx(psnr, abs=0.1) and psnr > 30
    codes = np.array(
        [[float(value) for name, value in line.items() if name != "row"] for line in lines("out/codes.csv")]
    )
    assert codes.shape == (48, 64) and (np.count_nonzero(codes, axis=1) == 8).all()
    rates = lines("out/rates.csv")
    assert {line["basis"] for line in rates} == {"dct", "dct, own choice", "haar", "haar, own choice", "pca"}
    assert all(float(line["basis_bits"]) > 0 for line in rates if line["basis"] == "pca")
    page = (photo.parent / "out" / "report.html").read_text(encoding="utf-8")
    assert told["headline"] in page and "haar, own choice" in page and "could not be made" not in page
    assert "The picture before and after" in page and "The table before and after" not in page


def test_more_numbers_leave_a_better_picture(photo, capsys):
    found = [said(capsys, "compress", photo, "-k", k, "--out", f"k{k}")["answer"]["psnr"] for k in (2, 8, 32)]
    assert found == sorted(found)
    exact = said(capsys, "compress", photo, "-k", 64, "--out", "all")["answer"]["psnr"]
    assert exact is None or exact > 200, "all numbers leave the picture itself"


@pytest.mark.parametrize(
    ("model", "kind"),
    [("haar", "OrthonormalBasis"), ("fourier", "OrthonormalBasis"), ("pca", "PCA"), ("svd", "TruncatedSVD"),
     ("sparse-pca", "SparsePCA"), ("dictionary", "DictionaryLearning"), ("ica", "ICA"),
     ("autoencoder", "LinearAutoencoder")],
)  # fmt: skip
def test_a_picture_by_each_model_and_the_lines_give_the_same(photo, capsys, model, kind):
    count = ["-k", "20"] if model == "dictionary" else ["-k", "6"]
    told = said(capsys, "compress", photo, "--model", model, *count, "--out", "out")
    assert told["model"] == kind and told["answer"]["psnr"] > 20
    names = pasted("out")
    np.testing.assert_array_equal(names["model"].components_, load("out/model.unweave").components_)
    left = np.clip(np.rint(names["picture"]), 0, 255)
    assert np.abs(left - pixels_of("out/compressed.png")).max() <= 1


def test_another_picture_is_cut_as_the_first_was(photo, capsys):
    said(capsys, "compress", photo, "--out", "out")
    Image.fromarray(np.full((20, 9), 100, np.uint8)).save("other.png")
    assert main(["transform", "out/model.unweave", "other.png", "--out", "codes.csv", "--quiet"]) == 0
    found = lines("codes.csv")
    assert len(found) == 3 * 2 and found[0]["row"] == "line 1, tile 1"
    assert float(found[0]["component 1"]) == pytest.approx(800)


@pytest.fixture
def coloured(here):
    """A small picture whose colours differ though its brightness hardly does: half red, half green, with hills."""
    y, x = np.mgrid[:40, :50] / 40
    hills = 30 * np.sin(4 * x + 3 * y * y)
    pixels = np.dstack([200 - 120 * (x > 0.6) + hills, 80 + 60 * (x > 0.6) + hills, 60 + 40 * y])
    path = here / "coloured.png"
    Image.fromarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8)).save(path)
    return path


def test_a_picture_in_colour_stays_in_colour(coloured, capsys):
    told = said(capsys, "compress", coloured, "--out", "out")
    assert told["model"] == "OrthonormalBasis" and told["rows"] == 5 * 7 and told["columns"] == 192
    assert told["headline"].startswith("40 × 50 pixels in colour in 35 tiles of 12 numbers, 0.21 for each pixel")
    left, true = pixels_of("out/compressed.png"), pixels_of(coloured)
    assert left.shape == true.shape == (40, 50, 3)
    psnr = 10 * np.log10(255**2 / np.mean((left - true) ** 2))
    assert told["answer"]["psnr"] == pytest.approx(psnr, abs=0.1) and psnr > 30
    names = pasted("out")
    assert np.abs(np.clip(np.rint(names["picture"]), 0, 255) - left).max() <= 1
    assert "could not be made" not in (coloured.parent / "out" / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("model", ["pca", "dictionary", "haar"])
def test_a_picture_in_colour_by_other_models(coloured, capsys, model):
    told = said(capsys, "compress", coloured, "--model", model, "-k", "20", "--out", "out")
    assert told["answer"]["psnr"] > 25 and pixels_of("out/compressed.png").shape == (40, 50, 3)


def test_other_pictures_are_read_in_colour_or_grey_as_the_first_was(coloured, photo, capsys):
    said(capsys, "compress", coloured, "--out", "colour")
    said(capsys, "compress", photo, "--out", "grey")
    Image.fromarray(np.full((20, 9), 100, np.uint8)).save("flat.png")
    assert main(["transform", "colour/model.unweave", "flat.png", "--out", "codes.csv", "--quiet"]) == 0
    found = lines("codes.csv")
    assert len(found) == 3 * 2 and float(found[0]["component 1"]) == pytest.approx(800 * np.sqrt(3))
    assert main(["transform", "grey/model.unweave", str(coloured), "--out", "grey.csv", "--quiet"]) == 0
    assert len(lines("grey.csv")) == 35


def test_pictures_of_two_bytes_keep_them_and_transparency_is_said(here, capsys):
    ramp = np.linspace(0, 60000, 24 * 16).reshape(24, 16)
    Image.fromarray(ramp.astype(np.uint16)).save("deep.png")
    told = said(capsys, "compress", "deep.png", "--out", "deep")
    left = np.asarray(Image.open("deep/compressed.png"))
    assert left.max() > 50000 and told["answer"]["psnr"] > 40
    assert any("16 bits a pixel" in note for note in told["notes"])
    Image.fromarray(np.dstack([np.full((16, 16, 3), 90, np.uint8), np.full((16, 16), 7, np.uint8)])).save("clear.png")
    told = said(capsys, "compress", "clear.png", "--out", "clear")
    assert any("transparency is left out" in note for note in told["notes"])
    assert (pixels_of("clear/compressed.png") == 90).all() and told["answer"]["psnr"] is None, "nothing is lost"


def test_a_picture_smaller_than_a_tile(here, capsys):
    Image.fromarray(np.array([[0, 255], [90, 30], [7, 8]], np.uint8)).save("tiny.png")
    told = said(capsys, "compress", "tiny.png", "--out", "tiny")
    assert told["columns"] == 4 and pixels_of("tiny/compressed.png").shape == (3, 2)


def test_what_is_brightest():
    assert [peak_of(np.array(x)) for x in ([1.0], [0.2, 0.5], [300.0], [1e6])] == [255, 0.5, 65535, 1e6]


@pytest.mark.parametrize("model", ["pca", "svd", "sparse-pca", "dictionary", "ica", "autoencoder", "dct", "haar"])
def test_a_table_by_each_model_and_the_lines_give_the_same(here, capsys, model):
    files.write_wine(here / "table.csv")
    told = said(capsys, "compress", "table.csv", "--model", model, "-k", "4", "--out", "out")
    assert told["components"] == 4
    names = pasted("out")
    np.testing.assert_array_equal(names["model"].components_, load("out/model.unweave").components_)
    codes = np.array([float(line["component 1"]) for line in lines("out/codes.csv")])
    found = names["codes"]
    np.testing.assert_allclose((found.toarray() if hasattr(found, "toarray") else found)[:, 0], codes, rtol=1e-9)


def test_the_data_choose_unless_told(here, capsys):
    files.write_wine(here / "table.csv")
    assert said(capsys, "compress", "table.csv", "-k", "2", "--out", "a")["model"] == "PCA"
    (here / "pictures").mkdir()
    for i in range(6):
        Image.fromarray(np.random.default_rng(i).integers(0, 255, (8, 6)).astype(np.uint8)).save(f"pictures/{i}.png")
    assert said(capsys, "compress", "pictures", "-k", "2", "--out", "b")["model"] == "PCA"
    told = said(capsys, "compress", "pictures", "--model", "dct", "-k", "5", "--out", "c")
    assert told["model"] == "OrthonormalBasis" and load("c/model.unweave").shape_ == (8, 6)
    assert "--model dct" in load_asked("c")


def load_asked(folder) -> str:
    from unweave.persist import read_extra

    return read_extra(f"{folder}/model.unweave")["facts"]["asked"]


def test_a_model_that_there_is_not_or_that_does_not_suit(here, capsys, photo):
    files.write_wine(here / "table.csv")
    assert "did you mean --model pca?" in failed(capsys, "compress", "table.csv", "--model", "pcaa")
    assert "for a table there are pca, svd" in failed(capsys, "compress", "table.csv", "--model", "xyzzy")
    assert "--model cp is not for a table" in failed(capsys, "compress", "table.csv", "--model", "cp")
    assert "no rule that finds the number" in failed(capsys, "compress", "table.csv", "--model", "haar", "-k", "auto")
    assert "db99" in failed(capsys, "compress", photo, "--model", "db99")
    assert "-k 65 is too many" in failed(capsys, "compress", photo, "-k", "65")
    assert "leave out --max-iter" in failed(capsys, "compress", photo, "--max-iter", "5")
    files.write_holes(here / "holes.csv")
    assert "has holes, and --model ica takes none" in failed(capsys, "compress", "holes.csv", "--model", "ica")


def test_sound_is_unmixed_into_wav_files(here, capsys):
    t = np.arange(4000) / 8000
    sources = np.column_stack([np.sign(np.sin(80 * np.pi * t)), np.sin(126 * np.pi * t)])
    mixed = sources @ np.array([[1.0, 0.5], [0.4, 1.0]])
    for j in range(2):
        wavfile.write(f"ear{j}.wav", 8000, np.rint(10000 * mixed[:, j]).astype(np.int16))
    told = said(capsys, "compress", "ear0.wav", "ear1.wav", "--out", "out")
    assert told["model"] == "ICA" and {"source-1.wav", "source-2.wav", "codes.csv"} <= set(told["files"])
    found = np.column_stack([wavfile.read(f"out/source-{j}.wav")[1] for j in (1, 2)])
    alike = np.abs(np.corrcoef(found.T, sources.T)[:2, 2:])
    assert (alike.max(axis=1) > 0.999).all() and sorted(alike.argmax(axis=1)) == [0, 1]
    assert wavfile.read("out/source-1.wav")[0] == 8000 and 0.85 < np.abs(found).max() / 32767 < 0.95
    names = pasted("out")
    np.testing.assert_array_equal(names["model"].components_, load("out/model.unweave").components_)
    assert {one["loudest in"] for one in told["answer"]["sources"]} == {"ear0", "ear1"}
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "What was heard" in page and page.count('class="wave"') == 4 and "could not be made" not in page
    assert "give all recordings of the same moments" in failed(capsys, "compress", "ear0.wav")
    assert "--model haar is not for sound: use one of pca, ica" in failed(
        capsys, "compress", "ear0.wav", "ear1.wav", "--model", "haar"
    )


@pytest.mark.parametrize("holes", [False, True])
def test_a_tensor_becomes_components(here, capsys, rng, holes):
    factors = [rng.random((n, 2)) for n in (7, 12, 9)]
    X = np.einsum("ir,jr,kr->ijk", *factors)
    if holes:
        X[rng.random(X.shape) < 0.1] = np.nan
    np.savez("tensor.npz", X=X)
    told = said(capsys, "compress", "tensor.npz", "-k", "2", "--out", "out")
    assert told["model"] == "CP" and told["components"] == 2 and told["answer"]["kept"] > 0.999
    rows = lines("out/factors.csv")
    assert [sum(line["side"] == str(side) for line in rows) for side in (1, 2, 3)] == [7, 12, 9]
    by = np.array([[float(line[f"component {r}"]) for r in (1, 2)] for line in rows])
    weights = np.array([float(line["weight"]) for line in lines("out/weights.csv")])
    again = np.einsum("ir,jr,kr,r->ijk", by[:7], by[7:19], by[19:], weights)
    np.testing.assert_allclose(again, np.einsum("ir,jr,kr->ijk", *factors), atol=0.02)
    names = pasted("out")
    for one, other in zip(names["model"].factors_, load("out/model.unweave").factors_, strict=True):
        np.testing.assert_array_equal(one, other)
    codes = [float(line["component 1"]) for line in lines("out/codes.csv")]
    np.testing.assert_allclose(names["codes"][:, 0], codes, rtol=1e-6)
    assert "could not be made" not in (here / "out" / "report.html").read_text(encoding="utf-8")
    assert main(["show", "out/model.unweave", "--top", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["largest"][0][0].startswith("side ")


def test_jobs_on_tables_refuse_a_tensor(here, capsys, rng):
    np.save("tensor.npy", rng.random((3, 4, 5)))
    assert "run 'unweave compress'" in failed(capsys, "group", "tensor.npy")


def test_a_picture_and_sound_suggest_it(photo, capsys):
    wavfile.write("ears.wav", 8000, np.arange(40, dtype=np.int16).reshape(20, 2))
    for path in (photo, "ears.wav"):
        assert said(capsys, "describe", path)["suggested"] == "compress"


def test_plan_of_a_picture(photo, capsys):
    told = said(capsys, "plan", photo, "--job", "compress")
    assert told["model"] == "OrthonormalBasis" and "'dct'" in told["plan"]["problem"]


def test_every_way_has_a_model_and_every_sort_of_data_a_usual_one():
    assert {way.name for way in known()} <= {way.name for way in WAYS}
    for sort in ("table", "sparse", "pictures", "picture", "sound", "tensor"):
        assert sort in way_of("", sort).suits
