"""compare_bases counts what is sent, to the bit, and measures what is received."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import unweave
from unweave.compress.bases.compare import log2_choices


@pytest.fixture(scope="module")
def digits():
    return load_digits().data[:300]


def test_what_each_basis_costs(digits):
    found = unweave.compare_bases(digits, ["dct", "pca"], shape=(8, 8), counts=[5], bits=32)
    dct, own, pca = found.rates
    n, m = digits.shape
    assert (dct.basis, own.basis, pca.basis) == ("dct", "dct, own choice", "pca")
    assert dct.code_bits == own.code_bits == pca.code_bits == n * 5 * 32
    assert dct.index_bits == pytest.approx(math.log2(math.comb(m, 5)))
    assert own.index_bits == pytest.approx(n * math.log2(math.comb(m, 5)))
    assert (dct.basis_bits, own.basis_bits, pca.index_bits) == (0, 0, 0)
    assert pca.basis_bits == (5 * m + m) * 32, "five components and the mean"
    for rate in found.rates:
        assert rate.bits == rate.code_bits + rate.index_bits + rate.basis_bits
        assert rate.bits_per_number == pytest.approx(rate.bits / digits.size)


def test_what_is_received_is_what_the_models_say(digits):
    found = unweave.compare_bases(digits, ["dct", "pca"], shape=(8, 8), counts=[6], bits=64, peak=16)
    models = [
        unweave.OrthonormalBasis("dct", keep=6, shape=(8, 8)),
        unweave.OrthonormalBasis("dct", keep=6, shape=(8, 8), per_row=True),
        unweave.PCA(6),
    ]
    for rate, model in zip(found.rates, models, strict=True):
        lost = 2 * model.fit(digits).objective_
        assert rate.error == pytest.approx(math.sqrt(lost / np.square(digits).sum()), rel=1e-6)
        assert rate.psnr == pytest.approx(10 * math.log10(16**2 * digits.size / lost), abs=1e-4)


def test_numbers_are_rounded_before_they_are_used(digits):
    errors = [
        unweave.compare_bases(digits, ["dct"], shape=(8, 8), counts=[64], bits=bits).rates[0].error
        for bits in (16, 32, 64)
    ]
    assert 1e-5 < errors[0] < 1e-3 and 1e-9 < errors[1] < 1e-6 and errors[2] < 1e-13
    huge = unweave.compare_bases(1e30 * digits, ["dct"], shape=(8, 8), counts=[64]).rates[0]
    assert huge.error == pytest.approx(errors[0], rel=0.05), "a scale is sent, so that nothing overflows"


def test_learning_pays_where_rows_are_many_and_not_where_they_are_few():
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(64, 3)))[0].T  # no wave is like these
    many, few = rng.normal(size=(2000, 3)) @ directions, rng.normal(size=(2, 3)) @ directions
    for X, best in ((many, "pca"), (few, "dct")):
        found = unweave.compare_bases(X, ["dct", "pca"], counts=[1, 2, 3, 8, 24, 64])
        cheapest = min((rate for rate in found.rates if rate.error < 0.05), key=lambda rate: rate.bits)
        assert cheapest.basis.startswith(best)


def test_between_the_rates_that_were_tried(digits):
    found = unweave.compare_bases(digits, ["dct", "haar", "pca"], shape=(8, 8), counts=[2, 4, 8, 16])
    at = found.at()
    values = [value for value in at.values() if not math.isnan(value)]
    assert values == sorted(values, reverse=True) and len(at) == 5
    line = found.of("dct")
    assert found.at(line[1].bits_per_number)["dct"] == pytest.approx(line[1].psnr)
    assert all(math.isnan(value) for value in found.at(1e6).values())


def test_it_is_shown_as_a_table_a_frame_and_a_picture(digits):
    found = unweave.compare_bases(digits, ["haar", "pca"], shape=(8, 8), counts=[3, 9])
    text = str(found)
    assert text.splitlines()[0] == "300 rows of 64 numbers, 16 bits for each number that is sent"
    assert len(text.splitlines()) == 2 + 6 and "haar, own choice" in text
    frame = found.frame()
    assert frame.height == 6 and frame["bits"].to_list() == [rate.bits for rate in found.rates]
    pyplot = pytest.importorskip("matplotlib.pyplot")
    labels = [text.get_text() for text in found.plot().axes[0].get_legend().get_texts()]
    assert labels == ["haar", "haar, own choice", "pca", "pca, were it free to send"]
    pyplot.close("all")


def test_sparse_tables_and_tables_of_pictures_say_the_same(digits):
    wanted = unweave.compare_bases(digits, ["dct"], shape=(8, 8), counts=[4]).rates
    named = unweave.NamedTable(digits, kind="images", image=(8, 8))
    for X, more in ((sp.csr_array(digits), {"shape": (8, 8)}), (named, {})):
        assert unweave.compare_bases(X, ["dct"], counts=[4], **more).rates == wanted


def test_as_many_axes_as_there_are_and_no_more():
    X = np.random.default_rng(0).normal(size=(5, 20))
    found = unweave.compare_bases(X, ["dct", "pca"], counts=[3, 20])
    assert [rate.kept for rate in found.of("pca")] == [3]


def test_tables_that_say_nothing_have_an_answer():
    for X in (np.zeros((4, 6)), np.ones((4, 6)), np.ones((1, 1))):
        for rate in unweave.compare_bases(X, ["dct", "haar", "pca"]).rates:
            assert rate.error < 1e-3 and not math.isnan(rate.psnr) and rate.bits > 0


@pytest.mark.parametrize(
    "given, said",
    [
        ({"bits": 8}, "bits=8 must be one of 16, 32, 64"),
        ({"counts": [0]}, "counts"),
        ({"counts": []}, "counts must name numbers from 1 to 64"),
        ({"counts": [65]}, "counts must name numbers from 1 to 64"),
        ({"bases": []}, "bases is empty"),
        ({"bases": ["dcd"]}, "dcd"),
        ({"peak": -1}, "peak"),
        ({"peak": 0}, "peak=0"),
        ({"shape": (5, 5)}, "shape"),
    ],
)
def test_a_wrong_setting_is_named(given, said, digits):
    with pytest.raises(ValueError, match=said):
        unweave.compare_bases(digits, **given)


def test_holes_and_blocks_are_refused_with_the_remedy(digits):
    X = digits.copy()
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        unweave.compare_bases(X, ["dct"])
    with pytest.raises(ValueError, match="one table in memory"):
        unweave.compare_bases([digits[:100], digits[100:]], ["dct"])


def test_choices_are_counted():
    assert [log2_choices(8, k) for k in (0, 1, 8)] == [0, 3, 0]
    assert log2_choices(64, 8) == pytest.approx(math.log2(math.comb(64, 8)))
