"""Notebook cards, and the matplotlib figure."""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pytest

import unweave
from tests.report.pages import blobs, cases, pictures, read
from unweave import report
from unweave.report.answer import answer

CASES = list(cases())


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.mark.parametrize(("model", "data"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_model_can_be_drawn_and_carded(model, data, pyplot, tmp_path):
    assert "not fitted" in report.card(model) and "components of" not in report.card(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(data)
    card = report.card(model)
    read(card)
    assert type(model).__name__ in card and "not fitted" not in card
    for given in (data, None):
        figure = report.plot(model, given)
        figure.savefig(tmp_path / "f.png", dpi=40)
        assert (tmp_path / "f.png").stat().st_size > 1000


def test_pictures_are_drawn_as_such(pyplot):
    table = pictures()
    model = unweave.KMeans(4).fit(table)
    axes = report.plot(model, table).axes
    images = [axis.images[0].get_array() for axis in axes if axis.images]
    assert len(images) == 4 and all(image.shape == (8, 8) for image in images)
    centre = model.cluster_centers_[2].reshape(8, 8)
    assert np.allclose(images[2] / 254 * centre.max(), centre, atol=centre.max() / 200)


def test_bars_carry_the_weights(pyplot):
    model = unweave.PCA(2).fit(blobs())
    axis = next(axis for axis in report.plot(model).axes if axis.get_title().startswith("axis 1"))
    widths = sorted(abs(bar.get_width()) for bar in axis.patches)
    assert np.allclose(widths, np.sort(np.abs(model.components_[0])))


def test_drawing_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"unweave\[plot\]"):
        report.plot(unweave.PCA(2).fit(blobs()))


def test_drawing_needs_a_fit(pyplot):
    with pytest.raises(ValueError, match="not fitted"):
        report.plot(unweave.PCA(2))


def test_a_card_says_what_was_found_and_nothing_of_the_optimiser():
    model = unweave.KMeans(3, random_state=1).fit(blobs())
    card, told = report.card(model), answer(model)
    assert "random_state=1" in card and told.headline in card and all(row[0] in card for row in told.rows)
    assert "iteration" not in card and "objective" not in card and "ended because" not in card
    assert model._repr_html_() == card
