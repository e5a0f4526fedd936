"""The topic map: distances, places, facts, the page, and the page at work in a browser."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon, pdist, squareform

from tests.report.pages import NASTY, topics
from tests.report.test_browser import BOXES, CONTRAST, browser, opened, overlapping  # noqa: F401
from unweave.data.named import NamedTable
from unweave.report.topic_map import SHOWN, STEPS, fit_to_frame, map_facts, plane, shannon_distances, write_topic_map
from unweave.report.topic_page import render_topic_map


def model(k=8, m=400, seed=0, names=None):
    """Something with topics: Zipf's law, and stretches of words of its own for each topic."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(m, 0.05), k) + 0.3 * rng.dirichlet(1 / np.arange(1, m + 1))
    shares = rng.dirichlet(np.full(k, 2.0))
    names = np.array(names or [f"word{j}" for j in range(m)], dtype=object)
    return SimpleNamespace(topics_=P / P.sum(axis=1, keepdims=True), topic_shares_=shares, feature_names_in_=names)


def page_of(it, **more) -> str:
    return render_topic_map(map_facts(it, **more))


def data_of(page: str) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])


def relevance(it, t, step):
    """Sievert and Shirley's formula as they write it."""
    overall = it.topic_shares_ @ it.topics_
    weight = step / STEPS
    return weight * np.log(it.topics_[t]) + (1 - weight) * np.log(it.topics_[t] / overall)


def test_distances_are_those_of_scipy():
    P = model(6, 50).topics_
    expected = squareform(pdist(P, lambda p, q: jensenshannon(p, q, base=2)))
    np.testing.assert_allclose(shannon_distances(P), expected, atol=1e-7)


def test_many_words_make_topics_no_farther():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.full(9000, 0.02), 4)
    expected = squareform(pdist(P, lambda p, q: jensenshannon(p, q, base=2)))
    found = shannon_distances(P)
    assert (found <= expected + 1e-9).all() and np.abs(found - expected).max() < 0.02


@pytest.mark.parametrize("k", [1, 2, 3, 20])
def test_classical_scaling_gives_back_points_of_the_plane(k):
    points = np.random.default_rng(k).normal(size=(k, 2))
    D = squareform(pdist(points)) if k > 1 else np.zeros((1, 1))
    found = plane(D)
    assert found.shape == (k, 2)
    if k > 1:
        np.testing.assert_allclose(squareform(pdist(found)), D, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(0, 10_000), st.booleans())
def test_circles_stay_in_the_frame_and_numbers_apart(k, seed, same):
    rng = np.random.default_rng(seed)
    points = np.zeros((k, 2)) if same else rng.normal(size=(k, 2)) * rng.random(2)
    radii = 60 * np.sqrt(rng.dirichlet(np.ones(k)))
    spots = fit_to_frame(points, radii, 600, 560, 20.0)
    assert (spots - radii[:, None] >= 0).all() and (spots + radii[:, None] <= [600, 560]).all()
    assert k == 1 or pdist(spots).min() > 17


def test_every_word_that_the_slider_can_show_is_there():
    it = model()
    facts = map_facts(it)
    for t, topic in enumerate(facts["topics"]):
        kept = {facts["words"][j] for j in topic["ids"]}
        for step in range(STEPS + 1):
            best = np.argsort(-relevance(it, t, step))[: SHOWN - 1]  # the last may be tied in thousandths
            assert {f"word{j}" for j in best} <= kept
        assert len(kept) < 200
        assert [facts["words"][j] for j in topic["top"]] == [f"word{j}" for j in np.argsort(-it.topics_[t])[:10]]


def test_counts_give_the_overall_frequencies():
    it, counts = model(3, 30), topics().X
    facts = map_facts(it, counts)
    place = facts["words"].index("word4")
    total = np.asarray(counts.sum(axis=0)).ravel()
    assert np.exp(-facts["overall"][place] / 1000) == pytest.approx(total[4] / total.sum(), rel=1e-3)
    assert facts["documents"] == 40 and map_facts(it)["documents"] is None
    assert map_facts(it, topics())["source"] == "words.txt"


def test_a_large_map_is_below_a_megabyte(tmp_path):
    path = write_topic_map(model(50, 5000), tmp_path / "map.html")
    assert 50_000 < path.stat().st_size < 1_000_000


def test_one_topic_few_words_and_words_of_no_topic():
    it = model(1, 3)
    assert len(data_of(page_of(it))["topics"][0]["ids"]) == 3
    it.topics_ = np.array([[1.0, 0.0, 0.0]])
    assert data_of(page_of(it))["words"] == ["word0"]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_names_from_the_data_never_become_markup():
    def parsed(page):
        reader = Tags()
        reader.feed(page)
        return reader

    nasty, tame = page_of(model(3, 12, names=NASTY)), page_of(model(3, 12))
    assert parsed(nasty).found == parsed(tame).found and parsed(nasty).attributes == parsed(tame).attributes
    assert not any(name.startswith("on") for name in parsed(nasty).attributes)
    assert parsed(nasty).found & {"img", "b", "iframe", "link"} == {"b"}
    raw = nasty.split('id="data">')[1].split("</script>")[0]
    assert not set("<>&") & set(raw) and len(data_of(nasty)["words"]) == 12
    for page in (nasty, tame):
        assert "://" not in page and "src=" not in page.replace("src=x onerror", "") and "url(" not in page


BAD = {
    "no topics": (lambda: write_topic_map(object(), "never.html"), "has no topics_"),
    "columns": (lambda: map_facts(model(2, 5), np.ones((2, 4))), "5 columns"),
    "negative": (lambda: map_facts(model(2, 5), -np.ones((2, 5))), "counts of words"),
    "nothing": (lambda: map_facts(model(2, 5), sp.csr_array((2, 5))), "counts of words"),
    "vocabulary": (lambda: map_facts(model(2, 5), vocabulary=["a"]), "1 words"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    call, words = BAD[case]
    with pytest.raises(ValueError, match=words):
        call()


# -- in a browser ------------------------------------------------------------------------------------------------------


def shown_words(tab) -> list[str]:
    return tab.locator("#words li .name").all_text_contents()


def test_slider_and_topics_change_the_bars(browser, tmp_path):  # noqa: F811
    it = model()
    tab, complaints = opened(browser, page_of(it), tmp_path / "p.html", 1200)
    first = int(np.argmax(it.topic_shares_))
    for step in (12, 20, 0):
        tab.evaluate("s => { const l = document.getElementById('lambda'); l.value = s; "
                     "l.dispatchEvent(new Event('input')); }", step)  # fmt: skip
        values = relevance(it, first, step)
        found = [int(word.removeprefix("word")) for word in shown_words(tab)]
        assert len(set(found)) == SHOWN  # in order, but for ties in thousandths
        np.testing.assert_allclose(values[found], -np.sort(-values)[:SHOWN], atol=2e-3)
        assert tab.locator("#value").text_content() == f"{step / STEPS:.2f}"
    tab.locator("#lambda").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#value").text_content() == "0.05"
    before = shown_words(tab)
    tab.locator("g.topic").last.click()
    assert shown_words(tab) != before
    chosen = int(tab.locator("g.topic[aria-pressed=true]").get_attribute("data-topic"))
    tab.locator("g.topic[aria-pressed=true]").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator("#which").text_content() == f"Topic {(chosen + 1) % 8}"
    assert tab.locator("g.topic[aria-pressed=true]").count() == 1
    tab.locator("#before").click()
    assert tab.locator("#which").text_content() == f"Topic {chosen}"
    tab.locator("#table tr[data-topic='3']").click()
    assert tab.locator("#which").text_content() == "Topic 3"
    assert complaints == []
    tab.context.close()


def test_pointing_at_a_word_shows_its_topics(browser, tmp_path):  # noqa: F811
    it = model()
    tab, complaints = opened(browser, page_of(it), tmp_path / "p.html", 1200)
    radius = "t => document.querySelector(`g.topic[data-topic='${t}'] circle`).getAttribute('r')"
    joint = it.topics_ * it.topic_shares_[:, None]
    before = tab.evaluate(radius, 0)
    tab.locator("#words li").first.hover()
    j = int(shown_words(tab)[0].removeprefix("word"))
    most = int(joint[:, j].argmax())
    percent = round(100 * joint[most, j] / joint[:, j].sum())
    assert float(tab.evaluate(radius, most)) == pytest.approx(70 * np.sqrt(percent / 100))
    tab.mouse.move(5, 5)
    assert tab.evaluate(radius, 0) == before and complaints == []
    tab.context.close()


@pytest.mark.parametrize("width", [400, 1200])
def test_page_fits_its_window_and_nothing_covers_text(browser, tmp_path, width):  # noqa: F811
    for it in (model(), model(40, 800), model(3, 12, names=NASTY)):
        tab, complaints = opened(browser, page_of(it), tmp_path / "p.html", width)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        boxes = tab.evaluate(BOXES)
        assert len(boxes) > 30 and max(box[2] for box in boxes) <= width
        assert overlapping(boxes) == [] and complaints == []
        tab.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(browser, tmp_path, scheme):  # noqa: F811
    tab, complaints = opened(browser, page_of(model(), X=None), tmp_path / "p.html", 1200, scheme)
    assert (
        tab.evaluate(CONTRAST.replace("'body *'", "'body :not(script):not(style):not(title)'")) >= 4.5
        and complaints == []
    )
    tab.emulate_media(media="print", color_scheme=scheme)
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not tab.locator("#before").is_visible() and tab.locator("#words li").first.is_visible()
    tab.context.close()


def test_a_named_table_names_the_words():
    it = model(2, 30)
    del it.feature_names_in_
    table = NamedTable(topics().X, columns=[f"w{j}" for j in range(30)])
    assert set(map_facts(it, table)["words"]) <= set(table.columns)
    assert set(map_facts(it)["words"]) <= {str(j) for j in range(30)}
