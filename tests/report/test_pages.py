"""Pages of every estimator: well-formed, self-contained, small, and the same from facts alone."""

from __future__ import annotations

import json
import re
import time
import warnings

import numpy as np
import pytest

import unweave
from tests.report.pages import NASTY, blobs, cases, holed, pictures, ratings, read, topics
from unweave import report
from unweave.data.named import NamedTable
from unweave.losses import Weighted, get_loss

CASES = list(cases())


def fitted(model, data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few iterations are enough here
        return model.fit(data)


@pytest.mark.parametrize(("model", "data"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_every_estimator_has_a_page_with_and_without_its_data(model, data):
    fitted(model, data)
    for given in (data, None):
        facts = report.gather(model, given)
        assert facts["notes"] in ([], ["Only the first block of the data was looked at."])
        kept = json.dumps(facts, allow_nan=False)
        page = report.render(facts)
        assert report.render(json.loads(kept)) == page
        text = " ".join(read(page).text)
        assert type(model).__name__ in text and "Plan and certificate" in text and "fit(X)" in text
        assert len(kept) < 1_500_000 and len(page) < 3_000_000


def test_the_same_model_gives_the_same_facts():
    X = blobs()
    first, second = (report.gather(unweave.KMeans(3).fit(X), X) for _ in range(2))
    for facts in (first, second):
        facts["history"]["seconds"] = []
    assert first == second


def test_a_big_model_is_reported_in_seconds(rng):
    X = (rng.gamma(0.3, 1, (20_000, 20)) @ rng.random((20, 784))).astype(np.float32)
    model = fitted(unweave.NMF(20, max_iter=3), X)
    report.gather(fitted(unweave.NMF(3, max_iter=3), X[:100]), X[:100])  # kernels are compiled here, if at all
    began = time.process_time()
    page = report.render(report.gather(model, X))
    assert time.process_time() - began < 10 and len(page) < 3_000_000  # two cores may count twice


def test_a_hundred_components_show_twenty_and_say_so(rng):
    model = unweave.PCA(100).fit(rng.normal(size=(300, 120)))
    facts = report.gather(model)
    assert len(facts["factors"]["parts"]) == 20
    text = " ".join(read(report.render(facts)).text)
    assert "The first 20 of 100 axes" in text and "Axis 20" in text and "Axis 21" not in text


def test_factors_are_drawn_as_what_they_are():
    drawn = {}
    table = pictures()
    pixels = NamedTable(table.X, columns=[f"pixel_{i}_{j}" for i in range(8) for j in range(8)])
    others = NamedTable(table.X, columns=[f"size of {j}" for j in range(64)])
    for name, data in {"image": table, "pixels": pixels, "bare": table.X, "others": others, "words": topics()}.items():
        drawn[name] = report.gather(fitted(unweave.NMF(5, max_iter=20), data), data)["factors"]["drawn"]
    assert drawn == {"image": "images", "pixels": "images", "bare": "images", "others": "bars", "words": "topics"}


def test_curves_and_noise_are_not_taken_for_pictures(rng):
    for X in (rng.normal(size=(300, 64)), np.cumsum(rng.normal(size=(300, 64)), axis=1)):
        assert report.gather(unweave.PCA(6).fit(X), X)["factors"]["drawn"] == "bars"


def test_topics_show_their_heaviest_words():
    table = topics()
    model = fitted(unweave.NMF(3, loss="kl", max_iter=50), table)
    parts = report.gather(model, table)["factors"]["parts"]
    for row, part in zip(model.components_, parts):
        best = int(np.argmax(row))
        assert part["top"][0] == [f"word{best}", pytest.approx(row[best] / row.sum())]


def test_groups_have_sizes_centres_and_a_scatter():
    X = blobs()
    model = unweave.KMeans(3).fit(X)
    facts = report.gather(model, X)
    assert facts["groups"]["sizes"] == np.bincount(model.labels_).tolist()
    assert facts["scatter"]["group"] == model.labels_.tolist() and len(facts["scatter"]["centres"]) == 3
    own = np.array([facts["scatter"]["x"], facts["scatter"]["y"]]).T[model.labels_ == 0]
    assert np.allclose(own.mean(axis=0), facts["scatter"]["centres"][0], atol=0.02)
    z = (model.cluster_centers_ - X.mean(axis=0)) / X.std(axis=0)
    assert facts["factors"]["parts"][1]["top"][0][1] == pytest.approx(z[1][np.abs(z[1]).argmax()], rel=1e-6)


def test_quality_is_the_share_that_scikit_learn_would_report():
    X = blobs()
    pca = unweave.PCA(2).fit(X)
    assert report.gather(pca, X)["quality"]["share"] == pytest.approx(pca.explained_variance_ratio_.sum())
    groups = unweave.KMeans(3).fit(X)
    expected = 1 - groups.inertia_ / ((X - X.mean(axis=0)) ** 2).sum()
    assert report.gather(groups, X)["quality"]["share"] == pytest.approx(expected)
    parts = fitted(unweave.NMF(2, max_iter=50), X)
    share = report.gather(parts, X)["quality"]["share"]
    assert share == pytest.approx(1 - parts.reconstruction_err_**2 / (X**2).sum(), rel=1e-5)


def test_held_out_scores_tell_structure_from_noise(rng):
    low_rank = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 30)) + 0.05 * rng.normal(size=(200, 30))
    scores = dict(report.gather(unweave.PCA(2).fit(low_rank), low_rank)["held_out"]["scores"])
    assert scores["this model"] < 0.2 * scores["mean of the column"]
    noise = rng.normal(size=(200, 30))
    scores = dict(report.gather(unweave.PCA(5).fit(noise), noise)["held_out"]["scores"])
    assert scores["this model"] > 0.99 * scores["mean of the column"]
    found = report.gather(unweave.MatrixCompletion(2).fit(ratings()), ratings())["held_out"]
    assert dict(found["scores"])["this model"] < dict(found["scores"])["mean of the column"]


def test_held_out_scores_that_cannot_be_had_are_skipped_with_a_reason():
    X = blobs()
    assert "not at hand" in report.gather(unweave.PCA(2).fit(X))["held_out"]["skipped"]
    assert "as many components" in report.gather(unweave.PCA().fit(X), X)["held_out"]["skipped"]
    hull = fitted(unweave.Factorization(2, codes="simplex", components="hull", max_iter=5), X)
    assert "hull" in report.gather(hull, X)["held_out"]["skipped"]


def test_mixed_frames_name_the_levels_of_their_columns(rng):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"age": rng.normal(size=50), "town": np.array(["Bath", "Leeds", "York"])[np.arange(50) % 3]}
    )
    loss = {"age": "squared", "town": "categorical"}
    model = fitted(unweave.Factorization(1, loss=loss, codes="ridge", components="ridge", missing="nan"), frame)
    facts = report.gather(model, frame)
    names = {name for name, _ in facts["factors"]["parts"][0]["top"]}
    assert names == {"age", "town = Bath", "town = Leeds", "town = York"}
    read(report.render(facts))


def test_what_was_asked_is_on_the_page(tmp_path):
    X = blobs()
    model = unweave.PCA(2).fit(X)
    path = report.write(model, tmp_path / "r.html", X, code="import this\nprint(1)", asked="unweave compress x.csv")
    text = " ".join(read(path.read_text("utf-8")).text)
    assert "unweave compress x.csv" in text and "import this\nprint(1)" in text
    assert [p.name for p in tmp_path.iterdir()] == ["r.html"]


def test_several_reports_on_one_page_escape_their_names_and_link_to_them():
    X = blobs()
    facts = report.gather(unweave.PCA(2).fit(X), X)
    page = report.render_all(f"All <b>{NASTY[0]}", {NASTY[0]: facts, NASTY[1]: facts})
    assert "<img src=x" not in page and "<svg/onload" not in page and "://" not in page
    targets = re.findall(r'href="#([^"]+)"', page)
    assert len(targets) == 2 and all(page.count(f'id="{target}"') == 1 for target in targets)
    with pytest.raises(ValueError, match="version"):
        report.render_all("x", {"y": {}})


def test_decisions_made_while_reading_are_on_the_page():
    table = NamedTable(blobs(), notes=["column <i> was dropped"])
    assert "column &lt;i&gt; was dropped" in report.render(report.gather(unweave.PCA(2).fit(table), table))


def test_reproducing_lines_reproduce(tmp_path, monkeypatch):
    X = blobs()
    model = unweave.NMF(2, random_state=3, tol=1e-3).fit(X)
    lines = report.gather(model, X)["code"].splitlines()
    assert lines[-1] == 'model.report("report.html", X)'
    scope = {"X": X}
    exec("\n".join(line for line in lines if not line.startswith(("X =", "model.report"))), scope)
    assert np.array_equal(scope["model"].components_, model.components_)


def test_bad_input_is_refused_in_a_sentence(tmp_path):
    X = blobs()
    with pytest.raises(ValueError, match="not fitted"):
        report.gather(unweave.NMF(2))
    with pytest.raises(ValueError, match="is a folder"):
        report.write(unweave.PCA(2).fit(X), tmp_path)
    with pytest.raises(FileNotFoundError):
        report.write(unweave.PCA(2).fit(X), tmp_path / "nowhere" / "r.html")
    for facts in ({}, {"version": 99}, [], None):
        with pytest.raises(ValueError, match="version"):
            report.render(facts)
    with pytest.raises(ValueError, match="damaged"):
        report.render({"version": 1})


def test_holes_are_grey_and_constant_tables_do_not_break_a_page():
    X = holed(blobs())
    model = fitted(unweave.NMF(2, missing="nan", max_iter=10), X)
    assert report.gather(model, X)["matrix"]["holes"]
    flat = np.ones((30, 9))
    for model in (unweave.NMF(1, max_iter=5), unweave.PCA(2), unweave.KMeans(1)):
        read(report.render(report.gather(fitted(model, flat), flat)))


@pytest.mark.parametrize(
    ("loss", "share", "score"),
    [
        ("squared", True, True), (Weighted([1.0, 2.0, 1.0, 1.0, 0.5, 1.0]), True, True), ("huber", True, True),
        ("absolute", True, True), ("kl", True, True), ("itakura-saito", True, True), ("logistic", False, True),
        ("hinge", False, False), ("ordinal", False, False), ("categorical", False, False),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_in_the_units_of_the_table_is_compared_with_it(loss, share, score, rng):
    """One trait of the loss decides for the share explained and for the held-out score alike."""
    positive = loss in ("kl", "itakura-saito")
    X = rng.random((40, 2)) @ rng.random((2, 6)) + 0.1
    if isinstance(loss, str) and get_loss(loss).in_data_units is False:
        X = (np.median(X) < X).astype(float)
    kind = {"codes": "nonnegative", "components": "nonnegative"} if positive else {}
    model = unweave.Factorization(2, loss=loss, max_iter=30, tol=1e-2, random_state=0, **kind).fit(X)
    facts = report.gather(model, X)
    assert ("quality" in facts) is share
    assert ("scores" in facts["held_out"]) is score, facts["held_out"]
    if not score:
        assert "not numbers of the table's own units" in facts["held_out"]["skipped"]
